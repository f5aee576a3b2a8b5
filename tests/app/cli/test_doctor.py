from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from framefleet.app.cli.doctor import (
    LIBRARIES,
    Check,
    Status,
    as_text,
    check_folder,
    check_library,
    check_nvidia,
    check_window,
    has_gpu,
    try_python,
    verdict,
)
from framefleet.app.display import PACKAGES, missing_libraries
from tests.support.cli import run_main


def test_this_machine_is_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    run = run_main("doctor", "--json")
    assert run.status == 0
    assert run.report["usable"] is True
    checks = {check["name"]: check for check in run.report["checks"]}
    for name in ("Python", "processor", "memory", "cache folder", "numpy", "openvino", "av", "opencv-python-headless", "PySide6"):
        assert checks[name]["status"] == "ok", checks[name]
    assert any(check["name"] == "device" and "cpu:0" in check["detail"] for check in run.report["checks"])
    assert all(check["remedy"] for check in run.report["checks"] if check["status"] != "ok")
    if sys.platform.startswith("linux"):
        assert (checks["display"]["status"], checks["display"]["detail"]) == ("warning", "there is none")


def test_every_library_that_is_installed_with_framefleet_is_checked() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {re.split(r"[><=;\s]", line, maxsplit=1)[0] for line in project["dependencies"]}
    assert needed == {*LIBRARIES, "PySide6-Essentials", "pyqtgraph"}


def test_text_says_what_to_do() -> None:
    fine, warning = Check("numpy", Status.OK, "2.4"), Check("display", Status.WARNING, "there is none", "start it on a desktop")
    assert as_text(fine) == "ok       numpy: 2.4"
    assert as_text(warning) == "warning  display: there is none\n         → start it on a desktop"
    assert verdict([fine]) == "This machine is ready."
    assert verdict([fine, warning]) == "This machine is ready. 1 warning."
    problem = Check("openvino", Status.PROBLEM, "not installed", "install it")
    assert verdict([warning, warning, problem]) == "Detection cannot work here until the problems above are solved. 2 warnings."


def test_a_library_that_crashes_is_a_finding() -> None:
    assert try_python("import os; os.abort()")[1] == "it crashes (SIGABRT)"
    assert try_python("raise ImportError('libfoo.so.1 is missing')")[1] == "ImportError: libfoo.so.1 is missing"
    assert try_python("print(6 * 7)") == ("42", None)
    broken = check_library("numpy", "import numpy.no_such_module")
    assert broken.status is Status.PROBLEM
    assert "no_such_module" in broken.detail
    assert broken.remedy
    assert check_library("no-such-distribution", "").detail == "not installed"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="system packages are Debian's")
def test_missing_qt_libraries_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "libno-such-thing.so.9", "libno-such-thing9")
    assert "libno-such-thing.so.9" in missing_libraries()
    check = next(check for check in check_window() if check.name == "Qt's system libraries")
    assert check.status is Status.WARNING
    assert "libno-such-thing.so.9" in check.detail
    assert check.remedy is not None
    assert check.remedy.startswith("sudo apt-get install -y ")
    assert "libno-such-thing9" in check.remedy


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    assert check_folder("cache folder", tmp_path / "new").status is Status.OK
    (tmp_path / "file").write_text("in the way")
    check = check_folder("cache folder", tmp_path / "file" / "cache")
    assert check.status is Status.WARNING
    assert str(tmp_path / "file" / "cache") in check.detail
    assert check.remedy


def device(folder: Path, address: str, vendor: str, kind: str) -> None:
    (folder / address).mkdir(parents=True)
    (folder / address / "vendor").write_text(f"{vendor}\n")
    (folder / address / "class").write_text(f"{kind}\n")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shows the bus")
def test_a_gpu_without_a_driver_is_found_on_the_bus(tmp_path: Path) -> None:
    assert not has_gpu(tmp_path / "none")
    device(tmp_path, "0000:00:01.0", "0x8086", "0x030000")
    device(tmp_path, "0000:00:02.0", "0x10de", "0x040300")  # the sound that comes with one
    (tmp_path / "0000:00:03.0").mkdir()
    assert not has_gpu(tmp_path)
    device(tmp_path, "0000:00:06.0", "0x10de", "0x030200")
    assert has_gpu(tmp_path)
    (check,) = check_nvidia(
        tmp_path, tmp_path / "none", lambda _: ("", "framefleet.engine.devices.nvml.NoNvmlError: there is no NVIDIA driver")
    )
    assert (check.status, check.detail) == (Status.WARNING, "there is an NVIDIA GPU, but no driver")
    assert "nvidia-driver-580" in str(check.remedy)


def test_what_nvidia_needs_is_checked_part_by_part(tmp_path: Path) -> None:
    answers = {
        "Nvml": "580.1, CUDA 13.0",
        "version('cuda-core')": "cuda-core 1",
        "nvrtcVersion": "13.0",
        "find_library": None,
        "find_cudnn": "not installed, not needed",
        "nvcuvid": None,
        "tested_engines": "decodes JPEGs",
    }
    reasons = {"find_library": "framefleet.engine.notices.DeviceError: no TensorRT", "nvcuvid": "OSError: libnvcuvid.so.1: not found"}

    def attempt(code: str) -> tuple[str, str | None]:
        key = next(key for key in answers if key in code)
        return answers[key] or "", reasons.get(key)

    checks = list(check_nvidia(tmp_path, tmp_path, attempt))
    assert [(check.name, check.status is Status.OK) for check in checks] == [
        ("NVIDIA driver", True),
        ("CUDA", True),
        ("NVRTC", True),
        ("TensorRT", False),
        ("cuDNN", True),
        ("NVDEC", False),
        ("nvJPEG", True),
    ]
    assert (checks[3].detail, checks[5].detail) == ("no TensorRT", "libnvcuvid.so.1: not found")
    assert "[rtx]" in str(checks[3].remedy)
    assert "libnvidia-decode-580" in str(checks[5].remedy)
    reasons["cuda-core"] = reasons["version('cuda-core')"] = "DeviceError: CUDA cannot be started"
    assert [check.name for check in check_nvidia(tmp_path, tmp_path, attempt)] == ["NVIDIA driver", "CUDA"]


@pytest.mark.parametrize(
    ("error", "detail", "remedy"),
    [
        (
            "framefleet.engine.devices.nvml.NoNvmlError: nvidia-ml-py is not installed",
            "nvidia-ml-py is not installed",
            "[rtx]",
        ),
        ("framefleet.engine.notices.DeviceError: NVIDIA's driver does not answer", "NVIDIA's driver does not answer", "nvidia-driver-580"),
        ("AssertionError: 550.1 speaks CUDA 12.4, 13.0 is needed", "550.1 speaks CUDA 12.4, 13.0 is needed", "nvidia-driver-580"),
        ("it crashes (SIGSEGV)", "it crashes (SIGSEGV)", "nvidia-driver-580"),
    ],
)
def test_a_driver_that_cannot_be_used(tmp_path: Path, error: str, detail: str, remedy: str) -> None:
    (check,) = check_nvidia(tmp_path, tmp_path, lambda _: ("", error))
    assert (check.status, check.detail) == (Status.WARNING, detail)
    assert remedy in str(check.remedy)
