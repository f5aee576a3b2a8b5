"""Each layer imports only the layers below it, and each part of the engine only the parts before it in ``ENGINE``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import PROJECT, syntax_tree

ENGINE = (
    "notices",
    "logs",
    "types",
    "settings",
    "processes",
    "model",
    "detection",
    "tracking",
    "zones",
    "cuda",
    "devices",
    "media",
    "backends",
    "pool",
    "cluster",
    "store",
    "evaluation",
    "bench",
    "run",
)
"""From the lowest to the highest: a part imports itself and the parts before it."""

LAYERS = {
    "app": {"app", "engine", "resources"},
    "engine": {"engine", "plugins"},
    "plugins": {"plugins", "engine.notices"},
    "resources": {"resources"},
}


@cache
def _imports(file: Path, *, in_functions: bool = True) -> set[str]:
    """The modules of this project that a file imports, for types only as well."""
    nodes = list(_nodes(syntax_tree(file), in_functions))
    found = {f"{node.module}.{name.name}" for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
    found |= {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    found = {name.removeprefix("framefleet.") for name in found}
    return {name for name in found if name.split(".")[0] in {*LAYERS, "benchmarks", "tests", "tools"}}


def _nodes(tree: ast.AST, in_functions: bool) -> Iterator[ast.AST]:
    """The statements of a file. No expression holds one."""
    left = [tree]
    while left:
        for child in ast.iter_child_nodes(left.pop()):
            if not isinstance(child, ast.expr) and (in_functions or not isinstance(child, ast.FunctionDef)):
                yield child
                left.append(child)


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_import_only_what_is_below_them(layer: str) -> None:
    files = sorted((PROJECT / layer).rglob("*.py"))
    wrong = [
        f"{file.relative_to(PROJECT)}: {name}"
        for file in files
        for name in _imports(file)
        if not any(f"{name}.".startswith(f"{below}.") for below in LAYERS[layer])
    ]
    assert files
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", ENGINE)
def test_parts_of_the_engine_import_only_what_is_below_them(part: str) -> None:
    folder = PROJECT / "engine" / part
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    allowed = ENGINE[: ENGINE.index(part) + 1]
    wrong = [
        f"{file.relative_to(PROJECT)}: {name}"
        for file in files
        for name in sorted(_imports(file))
        if name.split(".")[0] == "engine" and name.split(".")[1] not in allowed
    ]
    assert files
    assert not wrong, "\n".join(wrong)


def test_every_part_of_the_engine_has_its_place() -> None:
    assert {path.stem for path in (PROJECT / "engine").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()} == {
        "__init__",
        *ENGINE,
    }


def _modules() -> dict[str, Path]:
    """The modules of the project with their files. A package has the name of its folder."""
    files = (file for layer in LAYERS for file in (PROJECT / layer).rglob("*.py"))
    return {".".join(file.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def _circles(imports: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """The groups of modules that import each other, directly or by way of others of the group (Tarjan's algorithm)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    found = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        path.append(module)
        for other in sorted(imports[module]):
            if other not in numbers:
                visit(other)
            if other in path:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == numbers[module]:
            group = path[path.index(module) :]
            del path[-len(group) :]
            if len(group) > 1:
                found.append(tuple(sorted(group)))

    for module in imports:
        if module not in numbers:
            visit(module)
    return found


def test_a_circle_is_found() -> None:
    assert _circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [("b", "c")]
    assert _circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_modules_import_each_other() -> None:
    """Also not for types only: what needs each other stands in one file. A function may import a module that is loaded late."""
    modules = _modules()
    imports = {}
    for module, file in modules.items():
        names = {name if name in modules else name.rpartition(".")[0] for name in _imports(file, in_functions=False)}
        imports[module] = {name for name in names if name in modules and name != module}
    assert not _circles(imports), "\n".join(map(str, _circles(imports)))
