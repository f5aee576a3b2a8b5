"""``detect`` and ``export`` replace no file that they did not write."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import cv2
import pytest

from tests.support.cli import FAST, run_main
from tests.support.media import make_video, numbered, write_pictures
from tests.support.models import TINY_CFG


def test_sources_and_other_files_in_the_output_folder_are_kept(tmp_path: Path) -> None:
    make_video(tmp_path / "clip.mp4", frames=12)
    shutil.copy(tmp_path / "clip.mp4", tmp_path / "clip.annotated.mp4")  # the user's own
    (tmp_path / "clip.coco.json").write_text("made by hand")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    command = ("detect", tmp_path, "--out", tmp_path, "--format", "coco,video", *FAST)
    first = run_main(*command)
    assert first.status == 0, first.err
    made = {
        "clip-2.annotated.mp4",
        "clip-2.coco.json",
        "clip.annotated.annotated.mp4",
        "clip.annotated.coco.json",
        "session.sqlite",
    }
    assert {path.name for path in tmp_path.iterdir()} == {*before, *made}
    second = run_main(*command)
    assert second.status == 0, second.err
    assert f"left out, because Framefleet wrote them: 2 videos in {tmp_path}" in second.err
    assert "2 sources finished by an earlier run" in second.err
    assert ", 0 of them new, in " in second.out
    assert {path.name for path in tmp_path.iterdir()} == {*before, *made}
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert run_main(*command, "--overwrite").status == 0
    assert (tmp_path / "clip.coco.json").read_text() != "made by hand"
    assert (tmp_path / "clip.annotated.mp4").read_bytes() == before["clip.annotated.mp4"], "a source is never replaced"


def test_a_folder_with_nothing_but_written_videos_has_no_source(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    video = make_video(tmp_path / "in" / "clip.mp4", frames=12)
    assert run_main("detect", video, "--out", tmp_path / "out", "--format", "video", *FAST).status == 0
    again = run_main("detect", tmp_path / "out", "--out", tmp_path / "other", *FAST)
    assert again.status == 2
    assert "Framefleet wrote all videos" in again.err
    assert run_main("detect", tmp_path / "out" / "clip.annotated.mp4", "--out", tmp_path / "other", *FAST).status == 0


@pytest.mark.parametrize("second", ["out", "other"])
def test_written_pictures_are_no_sources_unless_they_are_named(second: str, tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "in", 2)
    options = ("--format", "yolo", "--pictures", "jpeg", *FAST)
    assert run_main("detect", folder, "--out", folder / "out", *options).status == 0
    (written,) = {path.parent for path in (folder / "out").rglob("*.jpg")}
    again = run_main("detect", folder, "--out", folder / second, "--json", *options)
    assert again.status == 0, again.err
    assert f"left out, because Framefleet wrote them: 1 folder of pictures in {folder}; name one to use it" in again.err
    assert [source["path"] for source in again.report["sources"]] == [str(folder)]
    assert run_main("detect", written, "--out", tmp_path / "named", *FAST).status == 0
    shutil.copy(folder / "0.png", written / "mine.png")
    assert len(run_main("detect", folder, "--out", tmp_path / "mine", "--json", *FAST).report["sources"]) == 2


def test_the_onnx_export_replaces_only_its_own_files(tmp_path: Path) -> None:
    cfg, weights, target = tmp_path / "tiny.cfg", tmp_path / "tiny.weights", tmp_path / "tiny.onnx"
    shutil.copy(TINY_CFG, cfg)
    model = ("export", "--model", cfg, "--weights", "random:1", "-o")
    assert run_main(*model, target).status == 0
    assert run_main(*model, target).status == 0, "its own file"
    target.write_bytes(b"another program's file")
    refused = run_main(*model, target)
    assert (refused.status, "--overwrite" in refused.err) == (2, True)
    assert target.read_bytes() == b"another program's file"
    assert run_main(*model, target, "--overwrite").status == 0
    os.link(cfg, tmp_path / "linked.onnx")
    for path in (cfg, tmp_path / "linked.onnx"):
        refused = run_main(*model, path, "--overwrite")
        assert (refused.status, "a file of the model" in refused.err) == (2, True)
    assert cfg.read_bytes() == TINY_CFG.read_bytes()
    assert not weights.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="devices are POSIX")
def test_the_onnx_export_does_not_replace_a_fifo(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    refused = run_main("export", "--model", TINY_CFG, "--weights", "random:1", "-o", tmp_path / "pipe.onnx", "--overwrite")
    assert (refused.status, "not a regular file" in refused.err) == (2, True)
    assert (tmp_path / "pipe.onnx").is_fifo()


def test_an_empty_name_is_not_the_current_folder() -> None:
    run = run_main("detect", "", *FAST)
    assert (run.status, "argument SOURCE: '' names no file" in run.err) == (2, True)


def test_the_current_folder_may_hold_the_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later, the files have the same names from everywhere."""
    for name in ("trap.1", "elsewhere"):
        (tmp_path / name).mkdir()
    cv2.imwrite(str(tmp_path / "trap.1" / "a.png"), numbered(1))
    monkeypatch.chdir(tmp_path / "trap.1")
    run = run_main("detect", ".", "--out", tmp_path / "out", "--format", "jsonl,coco", *FAST)
    assert run.status == 0, run.err
    made = {"trap.1.jsonl", "trap.1.coco.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*made, "session.sqlite"}
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run_main("results", tmp_path / "out", "--out", tmp_path / "again", "--format", "jsonl,coco").status == 0
    assert {path.name for path in (tmp_path / "again").iterdir()} == made
