"""Each layer imports only the layers below it, and each part of the engine only the parts before it in ``ENGINE``."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.paths import PROJECT

ENGINE = (
    "logs",
    "notices",
    "errors",
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


def _imports(file: Path) -> set[str]:
    """The modules of this project that a file imports, also inside functions."""
    tree = ast.parse(file.read_text())
    found = {f"{node.module}.{name.name}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names}
    found |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    found = {name.removeprefix("framefleet.") for name in found}
    return {name for name in found if name.split(".")[0] in {*LAYERS, "benchmarks", "tests", "tools"}}


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
