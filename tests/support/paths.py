"""Where this checkout is, and where programs that a test starts find its packages."""

import ast
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PYTHONPATH = os.pathsep.join((str(PROJECT / "src"), str(PROJECT)))

PATIENCE_MS = 30_000
"""The longest that a test waits for something that other programs may delay."""


@cache
def syntax_tree(file: Path) -> ast.Module:
    """The syntax tree of a source file. Several tests look at all of them."""
    return ast.parse(file.read_text("utf-8"))


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree, in any order: as ``ast.walk``, in half the time."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                left.append(value)
            elif isinstance(value, list):
                left += [each for each in value if isinstance(each, ast.AST)]
