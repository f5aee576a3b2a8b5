"""The tests that need no window can be collected on a machine without Qt, as machines with GPUs often are."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.paths import PROJECT, PYTHONPATH

PROGRAM = """
import importlib.abc, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("PySide6", "shiboken6", "pytestqt", "pyqtgraph"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in ("PySide6", "pytestqt") else real(name, package)
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def test_the_gpu_tests_need_no_qt() -> None:
    options = ("--collect-only", "-q", "-p", "no:pytest-qt", "-p", "no:cacheprovider", "-n", "0", "tests/gpu")
    environment = os.environ | {"PYTHONPATH": PYTHONPATH, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-c", PROGRAM, "-p", "xdist.plugin", "-p", "pytest_timeout", *options]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/gpu/test_depth.py::" in done.stdout
