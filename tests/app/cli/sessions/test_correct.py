"""Stored detections and tracks are corrected on the command line."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.files import lock_session
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.store.tracks import track_session
from tests.support.cli import read_lines, run_main
from tests.support.store import LABELS, make_frame, video_info, write_session


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Each frame has the boxes person, bicycle and car; persons are track 1, cars track 2."""
    database = write_session(tmp_path / "session.sqlite", {"a.mp4": 20}, boxes=3, apart=8)
    track_session(database)
    return tmp_path


def labels(folder: Path, *options: str) -> list[list[tuple[str, object, object]]]:
    run = run_main("results", folder, *options)
    assert run.status == 0, run.err
    return [
        [(found["label"], found["track"], found.get("verified")) for found in line["detections"]] for line in read_lines(folder / "a.jsonl")
    ]


def test_results_have_the_corrections_unless_they_are_not_wanted(session: Path) -> None:
    for action, said in (
        (("relabel", "--track", "2", "--label", "Bicycle"), "track 2 of a.mp4 labelled bicycle"),
        (("delete", "--frame", "3", "--object", "0"), "detection 0 (person, 0.90) in frame 3 of a.mp4 deleted"),
        (("split", "--track", "1", "--at", "0.4s"), "track 1 of a.mp4 split at frame 10, the new track is 3"),
    ):
        run = run_main("correct", session, *action)
        assert (run.status, run.out) == (0, f"{said}\n"), run.err
    found = labels(session)
    assert found[3] == [("bicycle", None, False), ("bicycle", 2, True)]
    assert found[12] == [("person", 3, False), ("bicycle", None, False), ("bicycle", 2, True)]
    assert labels(session, "--uncorrected") == [[("person", 1, None), ("bicycle", None, None), ("car", 2, None)]] * 20
    assert run_main("correct", session, "undo").out == "undone: track 1 of a.mp4 split at frame 10, the new track is 3\n"
    assert run_main("correct", session, "redo").out == "redone: track 1 of a.mp4 split at frame 10, the new track is 3\n"
    assert run_main("correct", session, "redo").out == "nothing to redo\n"
    assert run_main("correct", session, "undo").status == 0
    assert [line[21:] for line in run_main("correct", session, "list").out.splitlines()] == [
        "track 2 of a.mp4 labelled bicycle",
        "detection 0 (person, 0.90) in frame 3 of a.mp4 deleted",
    ]
    assert labels(session)[12][0] == ("person", 1, False)


def test_an_object_is_added_and_a_box_moved(session: Path) -> None:
    for action, said in (
        (("add", "--frame", "3", "--label", "car", "--box", "100,50,20,30.5"), "car added in frame 3 of a.mp4"),
        (("move", "--frame", "3", "--object", "0", "--box", "1,2,3,4"), "detection 0 (person, 0.90) in frame 3 of a.mp4: box moved"),
    ):
        run = run_main("correct", session, *action)
        assert (run.status, run.out) == (0, f"{said}\n"), run.err
    assert run_main("results", session).status == 0
    found = read_lines(session / "a.jsonl")[3]["detections"]
    assert [(each["label"], each["box"], each["drawn"]) for each in found[:2]] == [
        ("car", [100, 50, 20, 30.5], True),
        ("person", [1, 2, 3, 4], True),
    ]
    assert run_main("correct", session, "undo").status == run_main("correct", session, "undo").status == 0
    assert run_main("results", session, "--overwrite").status == 0
    assert "drawn" not in (session / "a.jsonl").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "--frame", "3", "--label", "car"), "add needs --box"),
        (("add", "--frame", "3", "--label", "car", "--box", "1,2,3"), "'1,2,3' is not a box"),
        (("move", "--frame", "3", "--object", "0", "--box", "1,2,0,4"), "'1,2,0,4' is not a box"),
        (("move", "--frame", "3", "--object", "7", "--box", "1,2,3,4"), "there is no detection 7"),
        (("add", "--frame", "99", "--label", "car", "--box", "1,2,3,4"), "frame 99 of a.mp4 has no results"),
    ],
)
def test_boxes_that_cannot_be_stored_are_refused(session: Path, arguments: tuple[str, ...], said: str) -> None:
    run = run_main("correct", session, *arguments)
    assert run.status == 2
    assert said in run.err


def test_a_picture_is_named_as_in_the_tables(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        for number, folder in enumerate(("north/cam1", "south/cam1")):
            writer.add_source(number, folder, SourceInfo(folder, SourceKind.IMAGES, "jpg", 640, 480, 3, None, None, ()))
            writer.add_frames(make_frame(number, index, boxes=2, name=f"IMG_{index}.JPG") for index in range(3))
            writer.finish_source(number, folder, Ledger(3, 3), 1.0)
    run = run_main("correct", tmp_path, "delete", "--source", "south/cam1/IMG_1.JPG", "--object", "1")
    assert run.out == "detection 1 (bicycle, 0.80) in IMG_1.JPG of south/cam1 deleted\n", run.err
    assert run_main("results", tmp_path, "--source", "south/cam1").status == 0
    assert [len(line["detections"]) for line in read_lines(tmp_path / "cam1-2.jsonl")] == [2, 1, 2]
    run = run_main("correct", tmp_path, "delete", "--source", "south/cam1/IMG_7.JPG", "--object", "1")
    assert (run.status, run.err) == (2, "framefleet: the session has no picture 'south/cam1/IMG_7.JPG'\n")
    run = run_main("correct", tmp_path, "add", "--source", "south/cam1/IMG_2.JPG", "--label", "car", "--box", "10,10,50,50")
    assert run.out == "car added in IMG_2.JPG of south/cam1\n", run.err
    run = run_main("correct", tmp_path, "add", "--source", "south/cam1", "--label", "car", "--box", "10,10,50,50")
    assert (run.status, run.err) == (2, "framefleet: add needs --frame\n")


def test_times_count_from_the_first_frame(tmp_path: Path) -> None:
    """The container's times begin at 5 s, as in recordings of broadcasts."""
    with SessionWriter(tmp_path / "session.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.ts", video_info("a.ts", 20))
        for index in range(20):
            frame = make_frame(0, index)
            writer.add_frames([replace(frame, ref=frame.ref._replace(pts=5 + index / 25))])
        writer.finish_source(0, "a.ts", Ledger(20, 20), 1.0)
    track_session(tmp_path / "session.sqlite")
    run = run_main("correct", tmp_path, "split", "--track", "1", "--at", "0.4s")
    assert (run.status, run.out) == (0, "track 1 of a.ts split at frame 10, the new track is 2\n"), run.err


def test_the_list_has_local_times_also_during_a_run(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_main("correct", session, "list").out == ""
    assert run_main("correct", session, "confirm", "--track", "1").status == 0
    with lock_session(session / "session.sqlite"):
        shown = []
        for zone in ("UTC0", "XXX-5:30"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            shown.append(datetime.fromisoformat(run_main("correct", session, "list").out[:19]))
    monkeypatch.delenv("TZ")
    time.tzset()
    assert shown[1] - shown[0] == timedelta(hours=5, minutes=30)


def test_several_tracks_are_corrected_all_or_none(session: Path) -> None:
    wrong = run_main("correct", session, "confirm", "--track", "1,99")
    assert (wrong.status, run_main("correct", session, "list").out) == (2, "")
    assert run_main("correct", session, "confirm", "--track", "1,2").out == "track 1 of a.mp4 confirmed\ntrack 2 of a.mp4 confirmed\n"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("relabel", "--track", "1"), "relabel needs --label"),
        (("relabel", "--track", "1", "--label", "persn"), "did you mean person?"),
        (("delete",), "delete needs either --track, or --frame and --object"),
        (("delete", "--frame", "3"), "--frame and --object belong together"),
        (("delete", "--track", "9"), "there is no track 9 of a.mp4"),
        (("split", "--track", "1", "--at", "100s"), "a.mp4 has no frame from 100s on"),
        (("split", "--track", "1,2", "--at", "0.4s"), "split divides one track at a time"),
        (("join", "--track", "1,2"), "are both in frame 0"),
        (("confirm", "--track", "1", "--source", "b.mp4"), "no source is named 'b.mp4'"),
        (("destroy",), "invalid choice"),
    ],
)
def test_what_cannot_be_done_is_said(session: Path, given: tuple[str, ...], says: str) -> None:
    run = run_main("correct", session, *given)
    assert run.status == 2
    assert says in run.err
    assert run_main("correct", session, "undo").out == "nothing to undo\n"
