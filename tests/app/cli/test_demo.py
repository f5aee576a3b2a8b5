from __future__ import annotations

from pathlib import Path

import av
import pytest

from app import display
from tests.support.cli import TINY, read_lines, run_main
from tests.support.media import make_video


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
    run = run_main("demo", "--devices", "openvino:GPU.7", "--out", tmp_path, "--json")
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


def test_detect_without_a_model_says_where_there_are_some(tmp_path: Path) -> None:
    run = run_main("detect", tmp_path / "a.mp4")
    assert run.status == 2
    assert "'framefleet models'" in run.err
    assert "'framefleet demo'" in run.err


def test_detect_writes_annotated_videos(tmp_path: Path) -> None:
    video, picture = make_video(tmp_path / "a.mp4", 20), tmp_path / "p.png"
    make_video(picture, 1, codec="png", pix_fmt="rgb24", container="image2")
    run = run_main("detect", video, picture, *TINY, "--out", tmp_path, "--format", "jsonl,video")
    assert run.status == 0, run.err
    assert f"{picture}: pictures have no video" in run.err
    assert str(tmp_path / "a.annotated.mp4") in run.out
    with av.open(str(tmp_path / "a.annotated.mp4")) as container:
        assert len(list(container.decode(video=0))) == 20
    assert len(read_lines(tmp_path / "a.jsonl")) == 20
    assert not (tmp_path / "p.annotated.mp4").exists()
    run = run_main("detect", picture, *TINY, "--out", tmp_path / "none", "--format", "video")
    assert run.status == 2
    assert "choose jsonl or coco" in run.err
    assert not (tmp_path / "none").exists()
