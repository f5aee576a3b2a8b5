from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.checks import Status
from app.cli.checks_libraries import _library, _python, _window
from app.cli.checks_system import _folder
from app.main import main
from app.system_libraries import PACKAGES, missing_libraries


def test_this_machine_is_usable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["usable"] is True
    checks = {check["name"]: check for check in report["checks"]}
    for name in ("Python", "processor", "memory", "cache folder", "numpy", "openvino", "av", "opencv-python-headless", "PySide6"):
        assert checks[name]["status"] == "ok", checks[name]
    assert any(check["name"] == "device" and "cpu:0" in check["detail"] for check in report["checks"])
    assert all(check["remedy"] for check in report["checks"] if check["status"] != "ok")


def test_text_says_what_to_do() -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    done = subprocess.run([sys.executable, "-m", "app", "doctor"], capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "This machine is ready." in done.stdout
    if sys.platform.startswith("linux"):
        assert "warning  display: there is none\n         → " in done.stdout


def test_a_library_that_crashes_is_a_finding() -> None:
    assert _python("import os; os.abort()")[1] == "it crashes (SIGABRT)"
    assert _python("raise ImportError('libfoo.so.1 is missing')")[1] == "ImportError: libfoo.so.1 is missing"
    assert _python("print(6 * 7)") == ("42", None)
    broken = _library("numpy", "import numpy.no_such_module")
    assert broken.status is Status.PROBLEM
    assert "no_such_module" in broken.detail
    assert broken.remedy
    assert _library("no-such-distribution", "").detail == "not installed"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="system packages are Debian's")
def test_missing_qt_libraries_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "libno-such-thing.so.9", "libno-such-thing9")
    assert "libno-such-thing.so.9" in missing_libraries()
    check = next(check for check in _window() if check.name == "Qt's system libraries")
    assert check.status is Status.WARNING
    assert "libno-such-thing.so.9" in check.detail
    assert check.remedy is not None
    assert check.remedy.startswith("sudo apt-get install -y ")
    assert "libno-such-thing9" in check.remedy


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    assert _folder("cache folder", tmp_path / "new").status is Status.OK
    (tmp_path / "file").write_text("in the way")
    check = _folder("cache folder", tmp_path / "file" / "cache")
    assert check.status is Status.WARNING
    assert str(tmp_path / "file" / "cache") in check.detail
    assert check.remedy
