"""Epochs of live sources: nothing is followed, counted or shown across the gap before one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.appearances import By, mean_counts, read_appearances
from framefleet.engine.store.live_tracking import LiveTracking
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import FIRST_FRAMES, track_session
from framefleet.engine.store.zones import LiveCounts, read_counts
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet

RATE = 25
FRAMES = 50
"""Frames in each epoch."""
ZONES = ZoneSet((640, 480), (Line("gate", (300, 0), (300, 480)), Zone("yard", ((200, 0), (400, 0), (400, 480), (200, 480)))))


def frame(index: int, seconds: float, x: float) -> FrameResult:
    """A frame with one object, which is 40 pixels large."""
    box = np.array([[x, 100, x + 40, 140]], np.float32)
    found = Detections(box, np.array([0.9], np.float32), np.zeros(1, np.int32))
    return FrameResult(FrameRef(0, index, seconds), DeviceId("cpu", "0"), 640, 480, found)


def epochs(gap: float, count: int = 3, frames: int = FRAMES) -> list[list[FrameResult]]:
    """The frames of epochs. An object stands left of the line in the first one, and right of it in the next one, and so on."""
    found = []
    for epoch in range(count):
        begin = epoch * (frames / RATE + gap)
        found.append([frame(epoch * frames + number, begin + number / RATE, 240 + 80 * (epoch % 2)) for number in range(frames)])
    return found


def live_info() -> SourceInfo:
    return SourceInfo("rtsp://cam/a", SourceKind.LIVE, "h264", 640, 480, 0, None, 25.0, (), number=0)


def write(writer: SessionWriter, parts: list[list[FrameResult]], first: int = 0) -> None:
    for number, frames in enumerate(parts, first):
        writer.begin_segment(0, number, None, frames[0].ref.index)
        writer.add_frames(frames)
        writer.commit()


def session(path: Path, gap: float, parts: list[list[FrameResult]] | None = None) -> Path:
    with SessionWriter(path, ("person",), {}) as writer:
        writer.add_source(0, "cam-a", live_info())
        write(writer, parts or epochs(gap))
        writer.finish_source(0, "cam-a", Ledger(3 * FRAMES, 3 * FRAMES, received=3 * FRAMES), 6.0)
    return path


@pytest.mark.parametrize("gap", [0.0, 0.3, 60.0])
def test_tracks_end_with_their_epoch(gap: float, tmp_path: Path) -> None:
    path = session(tmp_path / "s.sqlite", gap)
    track_session(path)
    with SessionReader(path) as reader:
        assert reader.epochs(0).tolist() == [0, FRAMES, 2 * FRAMES]
        spans = [(first, last) for _, _, first, last, *_ in reader.tracks(0)]
        counts = read_counts(reader, reader.source(0), ZONES)
    assert spans == [(0, FRAMES - 1), (FRAMES, 2 * FRAMES - 1), (2 * FRAMES, 3 * FRAMES - 1)]
    assert counts.crossed(0, True) + counts.crossed(0, False) == 0  # the object was never seen to cross the line
    assert counts.visited(1) == 3
    assert (counts.visits["end"] - counts.visits["begin"]).max() <= FRAMES / RATE


def test_the_same_object_within_an_epoch_crosses_the_line(tmp_path: Path) -> None:
    moving = [[frame(number, number / RATE, 180 + 4 * number) for number in range(FRAMES)]]
    path = session(tmp_path / "s.sqlite", 0.0, moving)
    track_session(path)
    with SessionReader(path) as reader:
        counts = read_counts(reader, reader.source(0), ZONES)
    assert counts.crossed(0, True) + counts.crossed(0, False) == 1


def test_counts_while_the_session_grows_do_not_cross_epochs_either(tmp_path: Path) -> None:
    path, parts = tmp_path / "s.sqlite", epochs(0.0)
    with SessionWriter(path, ("person",), {}) as writer:
        writer.add_source(0, "cam-a", live_info())
        write(writer, parts[:1])
        live = LiveCounts(path, 0, ZONES)
        live.update(10.0)
        write(writer, parts[1:], 1)
        counts = live.update(10.0)
    assert counts.crossed(0, True) + counts.crossed(0, False) == 0
    assert counts.visited(1) == 3


def test_tracks_of_a_growing_session_with_epochs_equal_those_of_the_whole_one(tmp_path: Path) -> None:
    path, parts = tmp_path / "s.sqlite", epochs(0.3, 3, FIRST_FRAMES // 2 + 100)
    with SessionWriter(path, ("person",), {}) as writer, LiveTracking(path) as following:
        writer.add_source(0, "cam-a", live_info())
        following.begin(0)
        for number, part in enumerate(parts):
            write(writer, [part], number)
        writer.finish_source(0, "cam-a", Ledger(1, 1, received=1), 1.0)
        following.end(0)
        following.finish()
    with SessionReader(path) as reader:
        found = reader.tracks(0)
    track_session(path)
    with SessionReader(path) as reader:
        assert reader.tracks(0) == found
    assert len(found) == 3


def test_an_appearance_does_not_last_through_the_gap(tmp_path: Path) -> None:
    path = session(tmp_path / "s.sqlite", 60.0)
    track_session(path)
    with SessionReader(path) as reader:
        for by in By:
            found = read_appearances(reader, 0, by)
            assert len(found) == 3
            assert (found["end"] - found["start"]).tolist() == pytest.approx([FRAMES / RATE] * 3, abs=0.001)


def test_nothing_is_counted_in_the_gap(tmp_path: Path) -> None:
    path = session(tmp_path / "s.sqlite", 60.0)
    with SessionReader(path) as reader:
        means, (begin, end) = mean_counts(reader, 0)
    seconds = begin + np.arange(len(means[0])) / len(means[0]) * (end - begin)
    assert means[0][(seconds > 5) & (seconds < 60)].max() == 0
    assert means[0][0] == 1
    assert means[0][-2] == 1


def test_a_video_has_no_epochs(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, ("person",), {}) as writer:
        writer.add_source(0, "a.mp4", replace(live_info(), kind=SourceKind.VIDEO))
        write(writer, [[frame(number, number / RATE, 240) for number in range(part, part + FRAMES)] for part in (0, FRAMES)])
        writer.finish_source(0, "a.mp4", Ledger(2 * FRAMES, 2 * FRAMES), 1.0)
    track_session(path)
    with SessionReader(path) as reader:
        assert len(reader.tracks(0)) == 1
