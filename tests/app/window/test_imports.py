"""What an import must not do. What the window's process must never load: ``test_main.py``."""

import builtins
import subprocess
import sys

import pytest

from tests.support.paths import PROJECT


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PROJECT, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_import_does_not_look_for_features_of_pyside() -> None:
    assert builtins.__import__.__name__ != "__feature_import__"


@pytest.mark.slow  # tests/test_layers.py reads what the engine imports
def test_the_engine_knows_no_screen() -> None:
    modules = sorted(
        ".".join(("framefleet", *path.relative_to(PROJECT).with_suffix("").parts))
        for folder in ("engine", "plugins")
        for path in (PROJECT / folder).rglob("*.py")
        if path.name != "__main__.py"
    )
    assert "framefleet.engine.media.preview.process" in modules
    loaded = run(
        f"""
import importlib, sys
for name in {modules!r}:
    try:
        importlib.import_module(name)
    except ImportError as error:  # a library that this machine lacks
        assert error.name is not None and not error.name.startswith("framefleet"), error
print(sorted(name for name in sys.modules if name.startswith(("PySide6", "shiboken6", "pyqtgraph", "framefleet.app"))))
"""
    )
    assert loaded.strip().splitlines()[-1] == "[]"
