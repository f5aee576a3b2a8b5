"""The objects of an earlier run are followed without detecting again."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.resources import DEMO
from tests.support.cli import FAST, read_lines, run_main
from tests.support.goldens import CLIP
from tests.support.media import make_video
from tests.support.store import LABELS, make_frame, video_info, write_session

SMALL = ("--devices", "cpu:0", "--precision", "fp32", "--size", "320x192")
DEMO_MODEL = ("--model", str(DEMO.cfg), "--labels", str(DEMO.labels), *SMALL, "--to", "12", "--quiet")


def test_a_stored_run_is_tracked(tmp_path: Path) -> None:
    write_session(tmp_path / "session.sqlite", {"a.mp4": 30})
    run = run_main("track", tmp_path)
    assert (run.status, run.out) == (0, "a.mp4: 1 track\n"), run.err
    run = run_main("track", tmp_path / "session.sqlite", "--tracker", "bytetrack")
    assert (run.status, run.out) == (0, "a.mp4: 1 track\n"), run.err


def test_a_file_that_a_session_holds_twice_has_two_counts(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        for number in (0, 1):
            writer.add_source(number, "a.mp4", video_info("a.mp4", 9))
            writer.add_frames(make_frame(number, index, boxes=number) for index in range(9))
            writer.finish_source(number, "a.mp4", Ledger(9, 9), 1.0)
    run = run_main("track", tmp_path)
    assert (run.status, run.out) == (0, "a.mp4: 0 tracks: nothing was detected\na.mp4: 1 track\n"), run.err


def weak_session(path: Path, highest: float, every: int = 1) -> Path:
    """Write a session of a model that is unsure of its object. highest: its highest confidence. every: the number of frames between two."""
    with SessionWriter(path / "session.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 60))
        for index in range(0, 60 * every, every):
            frame = make_frame(0, index, boxes=1)
            weak = np.full(1, highest - index % 7 / 100, np.float32)
            writer.add_frames([replace(frame, found=replace(frame.detections, scores=weak))])
            writer.add_frames(make_frame(0, index + 1, boxes=0) for _ in range(every > 1))
        writer.finish_source(0, "a.mp4", Ledger(60, 60), 1.0)
    return path


def test_the_objects_of_a_weak_model_are_followed(tmp_path: Path) -> None:
    run = run_main("track", weak_session(tmp_path, 0.4))
    assert (run.status, run.out) == (0, "a.mp4: 1 track\n"), run.err


def test_without_tracks_the_reason_is_said(tmp_path: Path) -> None:
    (tmp_path / "sparse").mkdir()
    run = run_main("track", weak_session(tmp_path, 0.2))
    assert run.out == (
        "a.mp4: 0 tracks: 60 detections with confidences up to 0.20, and a track begins at 0.60:"
        " use a model that is surer of these objects\n"
    )
    run = run_main("track", weak_session(tmp_path / "sparse", 0.9, every=75))
    assert "0 tracks: 60 detections with confidences up to 0.90, but no object was seen in several frames in a row" in run.out


def test_objects_that_move_too_far_from_frame_to_frame_are_said(tmp_path: Path) -> None:
    """The box is 10.5 pixels wide and moves by 20 from one analysed frame to the next."""
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 600))
        writer.add_frames(make_frame(0, index, boxes=1) for index in range(0, 600, 20))
        writer.finish_source(0, "a.mp4", Ledger(30, 30), 1.0)
    run = run_main("track", tmp_path)
    assert "100% of the objects' steps from one analysed frame to the next are longer than their boxes (1.25 frames/s)" in run.out
    assert "Analyse more frames a second (a smaller --every)" in run.out


def test_a_run_says_why_no_object_was_followed(tmp_path: Path) -> None:
    run = run_main("detect", make_video(tmp_path / "a.mp4", frames=1), *FAST, "--track", "bytetrack", "--out", tmp_path / "out")
    assert "a.mp4: no object was followed: " in run.out, run.err


def test_a_missing_session_and_an_unknown_tracker_are_named(tmp_path: Path) -> None:
    run = run_main("track", tmp_path)
    assert run.status == 2
    assert "there is no" in run.err
    run = run_main("track", tmp_path, "--tracker", "sort")
    assert run.status == 2
    assert "bytetrack" in run.err


def test_pictures_have_neither_tracks_nor_clips(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "trap", SourceInfo("trap", SourceKind.IMAGES, "jpeg", 640, 480, 1, None, None, ()))
        writer.add_frames([make_frame(0, 0, name="a.jpg")])
    for command, says in (("track", "no frames of videos"), ("clips", "no videos")):
        run = run_main(command, tmp_path)
        assert (run.status, says in run.err) == (2, True), run.err
    run = run_main("clips", tmp_path, "--source", "trap")
    assert (run.status, run.err.count("trap is not a video that was detected: clips are cut out of videos")) == (2, 1), run.err


def test_a_run_with_a_tracker_stores_weak_detections_and_exports_the_others(tmp_path: Path) -> None:
    plain = run_main("detect", CLIP, *DEMO_MODEL, "--out", tmp_path / "plain")
    assert plain.status == 0, plain.err
    tracked = run_main("detect", CLIP, *DEMO_MODEL, "--out", tmp_path / "tracked", "--track", "bytetrack", "--format", "jsonl,csv")
    assert tracked.status == 0, tracked.err
    name = f"{CLIP.stem}.jsonl"
    lines = read_lines(tmp_path / "tracked" / name)
    tracks = {found.pop("track") for line in lines for found in line["detections"]}
    assert lines == read_lines(tmp_path / "plain" / name)
    assert len(tracks - {None}) > 1
    with (tmp_path / "tracked" / f"{CLIP.stem}.detections.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert min(float(row["confidence"]) for row in rows) >= 0.25
    assert len({row["track"] for row in rows if row["track"]}) > 1
    with SessionReader(tmp_path / "tracked" / "session.sqlite") as reader:
        assert any((frame.detections.scores < 0.25).any() for frame in reader.frames(0) if frame.detections is not None)


def test_results_of_a_tracked_run_have_the_confidence_of_the_run(tmp_path: Path) -> None:
    run = run_main("detect", CLIP, *DEMO_MODEL, "--out", tmp_path, "--track", "bytetrack", "--confidence", "0.4")
    assert run.status == 0, run.err
    first = (tmp_path / f"{CLIP.stem}.jsonl").read_bytes()
    assert run_main("results", tmp_path, "--out", tmp_path / "again", "--quiet").status == 0
    assert (tmp_path / "again" / f"{CLIP.stem}.jsonl").read_bytes() == first
    assert run_main("results", tmp_path, "--out", tmp_path / "all", "--confidence", "0.1", "--quiet").status == 0
    assert len((tmp_path / "all" / f"{CLIP.stem}.jsonl").read_bytes()) > len(first)
    other = run_main("detect", CLIP, *DEMO_MODEL, "--out", tmp_path, "--track", "bytetrack", "--confidence", "0.6")
    assert (other.status, "finished by an earlier run" in other.err) == (0, True)
    assert run_main("results", tmp_path, "--out", tmp_path / "less", "--quiet").status == 0
    confidences = [found["confidence"] for line in read_lines(tmp_path / "less" / f"{CLIP.stem}.jsonl") for found in line["detections"]]
    assert min(confidences) >= 0.6
