"""What a run stored is written again, in other formats, from another folder."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import av
import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import literal
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.session import SessionWriter
from tests.support.cli import FAST, read_lines, run_main
from tests.support.media import make_video
from tests.support.store import LABELS, make_frame, video_info, write_session


def test_a_run_is_written_in_other_formats_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there"
    there.mkdir()
    make_video(there / "a.mp4", frames=10, size=(96, 64))
    monkeypatch.chdir(there)
    assert run_main("detect", "a.mp4", *FAST, "--confidence", "0.05", "--out", "out").status == 0
    first = (there / "out" / "a.jsonl").read_text()

    monkeypatch.chdir(tmp_path)
    run = run_main("results", there / "out", "--out", "again", "--format", "jsonl,coco,video")
    assert run.status == 0, run.err
    assert run.out.splitlines() == ["again/a.jsonl", "again/a.coco.json", "again/a.annotated.mp4"]
    assert (tmp_path / "again" / "a.jsonl").read_text() == first
    with av.open(str(tmp_path / "again" / "a.annotated.mp4")) as container:
        assert len(list(container.decode(video=0))) == 10
    assert (there / "out" / "a.jsonl").read_text() == first


def test_some_of_what_is_stored(tmp_path: Path) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 4}, boxes=3)  # person 0.9, bicycle 0.8, car 0.7
    run = run_main("results", database, "--confidence", "0.75", "--classes", "person,2")
    assert run.status == 0, run.err
    assert [[each["label"] for each in line["detections"]] for line in read_lines(tmp_path / "a.jsonl")] == [["person"]] * 4
    run = run_main("results", database, "--classes", "persn")
    assert run.status == 2
    assert "no class 'persn': did you mean person?" in run.err


def test_clock_times_that_pictures_do_not_get_are_said_to_be_missing(tmp_path: Path) -> None:
    database = tmp_path / "s.sqlite"
    with SessionWriter(database, LABELS, {}) as writer:
        writer.add_source(0, "trap", SourceInfo("trap", SourceKind.IMAGES, "jpeg", 640, 480, 2, None, None, ()))
        writer.add_source(1, "a.mp4", video_info("a.mp4", 1))
        writer.add_frames([make_frame(0, 0, 1, "2026-05-04 23-14-01.jpg"), make_frame(0, 1, 1, "b.jpg"), make_frame(1, 0)])
        for number, name in enumerate(("trap", "a.mp4")):
            writer.finish_source(number, name, Ledger(2 - number, 2 - number), 1.0)
    words = "framefleet: no clock time for"
    for clock, said in (
        ("name", "1 of 2 pictures: none is in the name"),
        ("metadata", "2 of 2 pictures: none is stored from EXIF data; in a session of an older Framefleet, detect --restart stores them"),
        ("2026-11-01 08:00", "2 of 2 pictures: --clock gives the start of a video: use name or metadata"),
    ):
        assert f"{words} {said}\n" in run_main("results", database, "--clock", clock).err
    assert words not in run_main("results", database, "--clock", "name", "--source", "a.mp4").err
    assert words not in run_main("results", database).err


def test_what_was_cancelled_is_said_to_be_a_part(tmp_path: Path) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 4}, cancelled=True)
    run = run_main("results", database, "--format", "coco")
    assert run.status == 0, run.err
    assert "a.coco.json (incomplete: 4 frames)" in run.out
    assert len(json.loads((tmp_path / "a.coco.json").read_text())["images"]) == 4


def test_detections_that_are_not_stored_are_said_to_be_missing(tmp_path: Path) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 2}, facts={"confidence": "0.25"})
    words = "detections below a confidence of 0.25 are not stored: detect again with --confidence 0.1"
    for confidence, said in (("0.1", True), ("0.25", False), ("0.5", False)):
        run = run_main("results", database, "--confidence", confidence)
        assert run.status == 0
        assert (words in run.err) is said


def test_tracks_that_no_source_has_are_refused(tmp_path: Path) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 30})
    for wanted in ("any", "1"):
        run = run_main("results", database, "--tracks", wanted)
        assert (run.status, run.out) == (2, "")
        assert f"has no tracks: 'framefleet track {tmp_path}' adds them" in run.err
    assert run_main("track", database).status == 0
    assert run_main("results", database, "--tracks", "1").status == 0
    run = run_main("results", database, "--tracks", "1,77")
    assert run.status == 2
    assert "no source has track 77" in run.err


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_session_without_results_is_said_to_have_none(tmp_path: Path, form: str) -> None:
    """The run ended before it stored a source, or before the first frame, or no source could be used."""
    database = tmp_path / "s.sqlite"
    for sources in ({}, {"a.mp4": 0}):
        run = run_main("results", write_session(database, sources, cancelled=True), "--format", form)
        assert (run.status, run.out) == (2, "")
        assert f"{database} has no results: no frame of a source is stored\n" in run.err
        database.unlink()
    with SessionWriter(database, LABELS, {}) as writer:
        for number, name in enumerate(("a.mp4", "b.mp4")):
            writer.finish_source(number, name, Ledger(), 0.0, literal(f"{name} is no video"))
    run = run_main("results", database, "--format", form)
    assert (run.status, run.out) == (2, "")
    assert f"{database} has no results: a.mp4 is no video; 1 other source failed, too\n" in run.err
    assert [*tmp_path.iterdir()] == [database]


def test_a_video_without_frames_has_results(tmp_path: Path) -> None:
    run = run_main("results", write_session(tmp_path / "s.sqlite", {"a.mp4": 0}))
    assert (run.status, run.out) == (0, f"{tmp_path / 'a.jsonl'}\n"), run.err


def test_what_cannot_be_read_or_written_is_said(tmp_path: Path) -> None:
    run = run_main("results", tmp_path)
    assert (run.status, run.out) == (2, "")
    assert f"there is no {tmp_path / 'session.sqlite'}: give the folder that an earlier run wrote to" in run.err
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to be looked at" * 100)
    run = run_main("results", tmp_path / "text.sqlite")
    assert run.status == 2
    assert "not a session database" in run.err
    database = write_session(tmp_path / "s.sqlite", {"gone.mp4": 4})
    run = run_main("results", database, "--format", "video,jsonl")
    assert run.status == 1
    assert "gone.mp4 does not exist" in run.err
    assert len(read_lines(tmp_path / "gone.jsonl")) == 4, "what can be written is"


@pytest.mark.parametrize(("name", "what"), [("interval", "options of formats"), ("zones", "zones")])
def test_facts_that_no_run_writes_are_said_to_be_the_session_s(tmp_path: Path, name: str, what: str) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 4})
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("INSERT INTO session VALUES (?, '[[[')", (name,))
    run = run_main("results", database, "--format", "zones" if name == "zones" else "csv")
    assert run.status == 2
    assert f"the {what} that the session holds cannot be used: " in run.err


def test_every_format_is_written_from_one_session(tmp_path: Path) -> None:
    make_video(tmp_path / "a.mp4", 4, (640, 480), rate=25)
    database = write_session(tmp_path / "s.sqlite", {str(tmp_path / "a.mp4"): 4})
    zones = {"version": 1, "width": 640, "height": 480, "lines": [{"name": "gate", "from": [5, 0], "to": [5, 99]}]}
    (tmp_path / "zones.json").write_text(json.dumps(zones))
    assert run_main("track", database).status == 0
    options = (
        "--zones",
        tmp_path / "zones.json",
        "--interval",
        "30s",
        "--bom",
        "--pictures",
        "png",
        "--every",
        "2",
        "--category-map",
        "car=vehicle",
    )
    run = run_main("results", database, "--out", tmp_path / "out", "--format", ",".join(EXPORTERS), *options)
    assert run.status == 0, run.err
    written = [Path(line).name for line in run.out.splitlines() if line.startswith(str(tmp_path / "out"))]
    assert sorted(written) == sorted(path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith("."))
    assert {"a.detections.csv", "counts.csv", "files.csv", "a.detections.parquet", "yolo", "a.mot", "megadetector.json"} <= {*written}
    assert len([*(tmp_path / "out" / "yolo").rglob("*.png")]) == 2
    assert (tmp_path / "out" / "files.csv").read_bytes().startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "csv", "--interval", "15"), "'15' is not a time: write 30s, 15m or 1h"),
        (("--format", "jsonl", "--interval", "15m"), "--interval is for --format csv"),
        (("--format", "csv", "--least-seen", "0"), "'0' is not a length: write a number of frames, such as 10, or a time"),
        (("--format", "csv", "--pictures", "png"), "--pictures is for --format yolo"),
        (("--format", "yolo", "--between", "0.6,0.3"), "is not a range of confidences"),
        (("--format", "yolo", "--every", "0"), "is not a distance between frames"),
        (("--format", "megadetector", "--category-map", "dog"), "maps no labels"),
        (("--clock", "yesterday"), "'yesterday' is not a time: write name, metadata, or when the file began"),
        (("--time-zone", "UTC"), "--time-zone is for --clock"),
        (("--clock", "name", "--time-zone", "Mars"), "'Mars' is not a known time zone"),
    ],
)
def test_options_that_cannot_be_used_are_refused_with_what_to_write(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    database = write_session(tmp_path / "s.sqlite", {"a.mp4": 4})
    run = run_main("results", database, *options)
    assert (run.status, message in run.err) == (2, True), run.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.sqlite"]


def test_a_table_too_long_for_spreadsheets_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.store.exporters.csv.MAX_ROWS", 5)
    run = run_main("results", write_session(tmp_path / "s.sqlite", {"a.mp4": 4}), "--format", "csv")
    assert run.status == 0
    assert "a.detections.csv has 9 rows, and spreadsheet programs show the first 5 only" in run.err


def test_without_pyarrow_the_other_formats_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run = run_main("results", write_session(tmp_path / "s.sqlite", {"a.mp4": 4}), "--format", "parquet,jsonl")
    assert run.status == 1
    assert "--format parquet needs pyarrow: install framefleet[parquet]" in run.err
    assert (tmp_path / "a.jsonl").exists()
