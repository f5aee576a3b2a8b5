"""A reader shows a part of each source, and detections of some tracks."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.kinds import Moments
from framefleet.engine.store.reader import Span
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from tests.support.notices import words
from tests.support.store import LABELS, make_frame, video_info, write_one, write_session


def span(begin: str | None, end: str | None) -> Span:
    return Span(*(None if text is None else Moments().read(text) for text in (begin, end)))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty frames, 0.04 s each; frame n is shown from n · 0.04 s on."""
    return write_session(tmp_path_factory.mktemp("view") / "s.sqlite", {"a.mp4": 20}, boxes=3)


@pytest.mark.parametrize(
    ("begin", "end", "shown"),
    [
        (None, None, range(20)),
        ("5", None, range(5, 20)),
        (None, "0.2s", range(5)),
        ("0.2s", "0.4s", range(5, 10)),
        ("0.21s", "0.41s", range(5, 11)),  # frames 5 and 10 are on the screen at these times
        ("3", "3s", range(3, 20)),
        ("18", "90", range(18, 20)),
        ("0.79s", None, range(19, 20)),
        ("0.8s", None, range(0)),  # the video ends here
    ],
)
def test_the_frames_between_two_times_or_numbers(database: Path, begin: str | None, end: str | None, shown: range) -> None:
    with SessionReader(database, span=span(begin, end)) as reader:
        frames = [*reader.frames(0)]
        assert [frame.ref.index for frame in frames] == [*shown]
        assert reader.count(0) == len(shown)
        assert [frame.number for block in reader.blocks(0, 4) for frame in block.frames] == [*shown]
        assert reader.length(0) == 20
        with SessionReader.of(reader.view) as other:
            assert other.count(0) == len(shown)


def test_lost_frames_behind_the_last_one_are_not_where_a_part_begins_or_ends(tmp_path: Path) -> None:
    """Three frames from 0.12 s on could not be decoded and are stored at the end, such as the leading frames of HEVC without a keyframe."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.ts", video_info("a.ts", 13))
        writer.add_frames(make_frame(0, index) for index in range(10))
        for index in range(10, 13):
            lost = make_frame(0, index, failure="lost")
            writer.add_frames([replace(lost, ref=lost.ref._replace(pts=0.04 * (index - 7)))])
        writer.finish_source(0, "a.ts", Ledger(13, 10, {}, {words("lost"): 3}), 1.0)
    with SessionReader(tmp_path / "s.sqlite", span=span("0.2s", "0.32s")) as reader:
        assert [frame.ref.index for frame in reader.frames(0)] == [5, 6, 7]


def test_times_count_from_the_first_frame_that_the_probe_found(tmp_path: Path) -> None:
    """The first three frames of a recording could not be decoded and are stored at the end."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        info = replace(video_info("a.ts", 10), origin=-0.12)
        writer.add_source(0, "a.ts", info)
        writer.describe_source(0, info=info)
        writer.add_frames(make_frame(0, index) for index in range(10))
        writer.finish_source(0, "a.ts", Ledger(10, 10), 1.0)
    with SessionReader(tmp_path / "s.sqlite", span=span("0.2s", "0.32s")) as reader:
        assert [frame.ref.index for frame in reader.frames(0)] == [2, 3, 4]


@pytest.mark.parametrize(("begin", "shown"), [("0.79s", [19]), ("0.81s", []), ("30s", [])])
def test_a_run_that_was_stopped_has_no_frames_of_later_times(tmp_path: Path, begin: str, shown: list[int]) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 1000))
        writer.add_frames(make_frame(0, index) for index in range(20))
    with SessionReader(tmp_path / "s.sqlite", span=span(begin, None)) as reader:
        assert [frame.ref.index for frame in reader.frames(0)] == shown


@pytest.mark.parametrize(("begin", "shown"), [("0.7s", [10]), ("0.79s", [10]), ("0.8s", [])])
def test_the_last_sample_stands_for_the_rest_of_the_video(tmp_path: Path, begin: str, shown: list[int]) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {"every": "10"}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 20))
        writer.add_frames(make_frame(0, index) for index in (0, 10))
        writer.finish_source(0, "a.mp4", Ledger(2, 2, skipped=18), 1.0)
    with SessionReader(tmp_path / "s.sqlite", span=span(begin, None)) as reader:
        assert [frame.ref.index for frame in reader.frames(0)] == shown


def test_classes_are_those_of_the_part(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 4))
        writer.add_frames(make_frame(0, index, index) for index in range(4))
    with SessionReader(tmp_path / "s.sqlite", span=span("1", "3")) as reader:
        assert reader.class_ids() == [0, 1]


def test_a_folder_of_pictures_has_no_times(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "trap", SourceInfo("trap", SourceKind.IMAGES, "jpeg", 640, 480, 3, None, None, ()))
        writer.add_frames(make_frame(0, index, 1, f"{index}.jpg") for index in range(3))
    with SessionReader(tmp_path / "s.sqlite", span=span("1", "2")) as reader:
        assert [frame.ref.name for frame in reader.frames(0)] == ["1.jpg"]
    with pytest.raises(UsageError, match="pictures have no times"):
        SessionReader(tmp_path / "s.sqlite", span=span("1s", None))


@pytest.mark.parametrize(("tracks", "shown"), [(None, [1, None]), (frozenset(), [1]), (frozenset({1, 5}), [1]), (frozenset({5}), [])])
def test_only_some_tracks(tmp_path: Path, tracks: frozenset[int] | None, shown: list[int | None]) -> None:
    """The weaker of the two boxes has no track."""
    path = write_session(tmp_path / "s.sqlite", {"a.mp4": 10})
    track_session(path)
    with SessionReader(path, tracks=tracks) as reader:
        for form in ("csv", "jsonl"):
            write_one(form, reader, reader.sources()[0], tmp_path / form)
    rows = [row["track"] for row in csv.DictReader((tmp_path / "csv").read_text().splitlines())]
    assert rows == ["" if track is None else str(track) for track in shown] * 10
    lines = [json.loads(line)["detections"] for line in (tmp_path / "jsonl").read_text().splitlines()]
    assert [[found["track"] for found in line] for line in lines] == [shown] * 10


@pytest.mark.parametrize("taken", [range(0, 40, 10), range(20, 24)])
def test_a_track_ends_in_cvat_although_the_run_left_frames_out(tmp_path: Path, taken: range) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 40))
        writer.add_frames(make_frame(0, index, 1) for index in taken)
        writer.finish_source(0, "a.mp4", Ledger(len(taken), len(taken), skipped=40 - len(taken)), 1.0)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        write_one("cvat", reader, reader.sources()[0], tmp_path / "a.xml")
    root = ElementTree.parse(tmp_path / "a.xml").getroot()
    assert root.findtext("meta/task/size") == "40"
    shown = [[(int(box.get("frame", "")), box.get("outside")) for box in track.iter("box")] for track in root.iter("track")]
    assert shown == [[(frame, "0"), (frame + 1, "1")] for frame in taken]
