"""Where this checkout is, and where programs that a test starts find its packages."""

import ast
import os
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
