"""ONNX files on the command line: the boxes of an exported cfg, ways of sharing, and what is asked or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from framefleet.app.cli.sessions import DATABASE
from framefleet.engine.store.session import SessionReader
from framefleet.resources import DEMO
from tests.support.cli import TINY, read_lines, run_main
from tests.support.faults.counts import others_slow
from tests.support.media import make_video
from tests.support.onnx_models import CELLS, write_model, write_yolox
from tests.support.yolox import boxes_of, matched

FP32 = ("--devices", "cpu:0", "--precision", "fp32")
DEMO_MODEL = ("--model", DEMO.cfg, "--weights", DEMO.weights, "--labels", DEMO.labels)


@pytest.mark.slow  # tests/engine/model/test_onnx_export.py compares the networks, the tests below detect
def test_an_exported_network_finds_what_its_cfg_finds(tmp_path: Path) -> None:
    exported = tmp_path / "demo.onnx"
    assert run_main("export", *DEMO_MODEL, "-o", exported).status == 0
    part = ("--to", "6", *FP32, "--format", "jsonl")
    for name, model in (("cfg", DEMO_MODEL), ("onnx", ("--model", exported))):
        run = run_main("detect", DEMO.clip, *model, *part, "--out", tmp_path / name)
        assert run.status == 0, run.err
    assert "outputs read as framefleet" in run.err
    cfg, onnx = (boxes_of(read_lines(tmp_path / name / f"{DEMO.clip.stem}.jsonl")) for name in ("cfg", "onnx"))
    count = sum(map(len, cfg))
    assert (len(cfg), count > 50) == (6, True)
    for ours, theirs in ((cfg, onnx), (onnx, cfg)):
        agreeing = sum(matched(one, other, (10_000, 10_000)) for one, other in zip(ours, theirs, strict=True))
        assert agreeing >= 0.999 * sum(map(len, ours))


@pytest.mark.parametrize("parallel", others_slow(("segments", "frames", "tiles"), "segments"))
def test_ways_of_sharing_the_work(tmp_path: Path, parallel: str) -> None:
    model, video = write_yolox(tmp_path / "a.onnx").cfg, make_video(tmp_path / "a.mp4", 8, (96, 64))
    run = run_main("detect", video, "--model", model, "--parallel", parallel, *FP32, "--format", "jsonl", "--out", tmp_path / "out")
    assert run.status == 0, run.err
    assert len(read_lines(tmp_path / "out" / "a.jsonl")) == 8


def test_stages_are_refused(tmp_path: Path) -> None:
    model, video = write_yolox(tmp_path / "a.onnx").cfg, make_video(tmp_path / "a.mp4", 4, (96, 64))
    run = run_main("detect", video, "--model", model, "--parallel", "depth", "--devices", "cpu:0,cpu:1", "--out", tmp_path / "out")
    assert run.status == 2
    assert "an ONNX model cannot be cut into stages: use --parallel segments" in run.err


def test_a_file_with_two_readings_is_asked_about_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEFLEET_CACHE", str(tmp_path / "cache"))
    objects = np.array([[[8, 8, 24, 24, 0.9, 1], *np.zeros((299, 6))]], np.float32)
    model, video = write_model(tmp_path / "a.onnx", {"o": objects}).cfg, make_video(tmp_path / "a.mp4", 4, (64, 64))
    (tmp_path / "a.names").write_text("cat\ndog\n")
    detect = ("detect", video, "--model", model, *FP32, "--format", "jsonl", "--out", tmp_path / "out")
    run = run_main(*detect)
    assert run.status == 2
    assert "can be read in more than one way: end2end (" in run.err
    assert "rtdetr (" in run.err
    assert "Choose one with --reading NAME" in run.err

    assert "only as end2end (" in run_main(*detect, "--reading", "yolov5").err
    assert run_main(*detect, "--reading", "end2end").status == 0
    (box,) = read_lines(tmp_path / "out" / "a.jsonl")[0]["detections"]
    assert (box["label"], box["box"]) == ("dog", pytest.approx([8, 8, 16, 16], abs=0.01))
    again = run_main(*detect)
    assert again.status == 0, again.err
    assert "outputs read as end2end" in again.err
    other = run_main(*detect, "--reading", "rtdetr")
    assert "model" in other.err, "other boxes need a new run"
    with SessionReader(tmp_path / "out" / DATABASE) as session:
        assert session.labels == ("cat", "dog")


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": np.zeros((1, 84, CELLS), np.float32)})
    video = make_video(tmp_path / "a.mp4", 4, (64, 64))
    for given, message in (
        (("--model", files.cfg, "--weights", files.cfg), "--weights is for Darknet models"),
        ((*TINY, "--reading", "yolov8"), "--reading is for ONNX files"),
        (("--model", tmp_path / "a.pt"), "which can run any program when it is loaded: export it as ONNX"),
        (("--model", tmp_path / "none.onnx"), "does not exist"),
    ):
        run = run_main("detect", video, *given, "--out", tmp_path / "out")
        assert (run.status, message in run.err) == (2, True), run.err
    assert "is an ONNX file already" in run_main("export", "--model", write_yolox(tmp_path / "b.onnx").cfg, "-o", tmp_path / "c.onnx").err


def test_labels_of_coco_by_name(tmp_path: Path) -> None:
    objects = np.array([[[8, 8, 24, 24, 0.9, 16], *np.zeros((98, 6))]], np.float32)
    model, video = write_model(tmp_path / "a.onnx", {"o": objects}).cfg, make_video(tmp_path / "a.mp4", 2, (64, 64))
    detect = ("detect", video, "--model", model, *FP32, "--format", "jsonl", "--out", tmp_path / "out", "--reading", "end2end")
    assert "give their names with --labels" in run_main(*detect).err
    assert run_main(*detect, "--labels", "coco").status == 0
    assert read_lines(tmp_path / "out" / "a.jsonl")[0]["detections"][0]["label"] == "dog"
