"""No code takes texts apart that were made for people: it decides by the code and the fields of a notice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.paths import PROJECT, nodes_of, syntax_tree

TAKES_APART = {
    *("split", "rsplit", "splitlines", "partition", "rpartition", "replace"),
    *("startswith", "endswith", "removeprefix", "removesuffix", "find", "index"),
}
"""Methods of ``str`` that look for words in a text."""
PATTERNS = {"match", "fullmatch", "search", "split", "sub", "subn", "findall", "finditer"}
"""Functions of ``re``."""
FOR_PEOPLE = re.compile(
    r"_*(\w+_)?(advice|caption|error|explanation|message|note|notice|problem|reason|refusal|remark|sentence|summary|tooltip|warning)s?"
)
"""Names of values that hold what people read. Texts that a program wrote for programs have other names."""
RENDERED = {"of_engine", "translate"}
"""Functions that make text for people."""
EXCEPTIONS = {
    # texts of libraries that have no codes: argparse, NVML's exceptions as another process prints them, cuda-core, PyYAML, threading
    "app/cli/options.py": 3,
    "app/cli/doctor.py": 3,
    "engine/devices/cuda.py": 1,
    "engine/evaluation/yolo.py": 1,
    "engine/processes/outcome.py": 1,
}
"""Files with such places, and how many there are."""


def is_for_people(node: ast.expr) -> bool:
    """Whether an expression is, by its name or by what makes it, a text for people."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return FOR_PEOPLE.fullmatch(name) is not None
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return is_for_people(inner)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in RENDERED
        case ast.Subscript(value=inner) | ast.BoolOp(values=[inner, *_]):
            return is_for_people(inner)
    return False


def taken_apart(tree: ast.AST) -> Iterator[int]:
    """The lines that look for words in such a text."""
    for node in nodes_of(tree):
        if not isinstance(node, ast.Call | ast.Compare):
            continue
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=arguments) if name in PATTERNS:
                if any(map(is_for_people, arguments)):
                    yield node.lineno
            case ast.Call(func=ast.Attribute(value=text, attr=name)) if name in TAKES_APART and is_for_people(text):
                yield node.lineno
            case ast.Compare(left=ast.Constant(value=str()), ops=[ast.In() | ast.NotIn()], comparators=[text]) if is_for_people(text):
                yield node.lineno


def test_no_text_for_people_is_taken_apart() -> None:
    found: dict[str, list[int]] = {}
    for folder in ("app", "engine", "plugins"):
        for path in sorted((PROJECT / folder).rglob("*.py")):
            if lines := [*taken_apart(syntax_tree(path))]:
                found[path.relative_to(PROJECT).as_posix()] = lines
    wrong = [f"{path}:{line}" for path, lines in found.items() if len(lines) > EXCEPTIONS.get(path, 0) for line in lines]
    assert not wrong, "decide by the code and the fields of a notice:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("info.reason.split('; batch ')", True),
        ("str(error).rpartition(': ')", True),
        ("of_engine(event.message).removeprefix('cpu:0: ')", True),
        ("re.sub(r' .--.*', '', note)", True),
        ("'is empty' in item.reason", True),
        ("(event.problem or '').partition(' ')", True),
        ("notice.code.startswith('media.')", False),
        ("line.split(',')", False),
        ("reasons = text.splitlines()", False),
        ("name in problems", False),
    ],
)
def test_the_rule_finds_what_it_shall_find(code: str, wrong: bool) -> None:
    assert bool([*taken_apart(ast.parse(code))]) is wrong
