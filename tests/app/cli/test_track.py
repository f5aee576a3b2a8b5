"""The objects of an earlier run are followed without detecting again."""

from __future__ import annotations

import csv
from pathlib import Path

from engine.pool.events import Ledger
from engine.store.session import SessionReader, SessionWriter
from resources import DEMO
from tests.support.cli import read_lines, run_main
from tests.support.goldens import CLIP
from tests.support.store import LABELS, make_frame, video_info, write_session

DEMO_MODEL = ("--model", str(DEMO.cfg), "--labels", str(DEMO.labels), "--devices", "cpu:0", "--precision", "fp32", "--quiet")


def test_a_stored_run_is_tracked(tmp_path: Path) -> None:
    write_session(tmp_path / "session.sqlite", {"a.mp4": 30})
    run = run_main("track", tmp_path)
    assert (run.status, run.out) == (0, "a.mp4: 1 track\n"), run.err
    run = run_main("track", tmp_path / "session.sqlite", "--tracker", "ocsort")
    assert (run.status, run.out) == (0, "a.mp4: 1 track\n"), run.err


def test_a_file_that_a_session_holds_twice_has_two_counts(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        for number in (0, 1):
            writer.add_source(number, "a.mp4", video_info("a.mp4", 9))
            writer.add_frames(make_frame(number, index, boxes=number) for index in range(9))
            writer.finish_source(number, "a.mp4", Ledger(9, 9), 1.0)
    run = run_main("track", tmp_path)
    assert (run.status, run.out) == (0, "a.mp4: 0 tracks\na.mp4: 1 track\n"), run.err


def test_a_missing_session_and_an_unknown_tracker_are_named(tmp_path: Path) -> None:
    run = run_main("track", tmp_path)
    assert run.status == 2
    assert "there is no" in run.err
    run = run_main("track", tmp_path, "--tracker", "sort")
    assert run.status == 2
    assert "ocsort" in run.err


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
