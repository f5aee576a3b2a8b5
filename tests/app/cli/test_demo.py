from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.app import display
from tests.support.cli import run_main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--devices", "gpu:0"], "argument --devices: 'gpu:0' is not a device"),
        (["--batch", "many"], "argument --batch"),
        (["--precision", "fp64"], "argument --precision"),
        (["street.mp4"], "unrecognized arguments: street.mp4"),
    ],
)
def test_unusable_options(options: list[str], message: str, tmp_path: Path) -> None:
    run = run_main("demo", "--headless", "--out", tmp_path / "out", *options)
    assert run.status == 2
    assert message in run.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    run = run_main("demo", "--out", tmp_path / "file")
    assert run.status == 2
    assert "choose another folder" in run.err


def test_a_device_that_refuses_gives_no_accuracy(tmp_path: Path) -> None:
    run = run_main("demo", "--devices", "openvino:GPU.7", "--quiet", "--out", tmp_path, "--json")
    assert run.status == 2
    assert "openvino:GPU.7" in run.err
    assert run.report["accuracy"] is None
    assert run.report["exit"] == "unusable"


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_a_display_is_what_the_environment_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display.sys, "platform", "linux")
    for other in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(other, raising=False)
    assert not display.has_display()
    monkeypatch.setenv(name, "")
    assert not display.has_display()
    monkeypatch.setenv(name, "x")
    assert display.has_display()
