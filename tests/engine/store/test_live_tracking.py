"""Sources are tracked in child processes while their frames are stored."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.live_tracking import LiveTracking
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import FIRST_FRAMES, has_current_tracks, track_session
from tests.support.store import LABELS, make_frame, video_info

FRAMES = FIRST_FRAMES + 500


def tracks(path: Path) -> list[object]:
    with SessionReader(path) as reader:
        found = [frame.detections.tracks for frame in reader.frames(0) if frame.detections is not None]
        return [reader.tracks(0), [None if each is None else each.tolist() for each in found]]


@pytest.mark.parametrize("stored", [FIRST_FRAMES + 1, pytest.param(0, marks=pytest.mark.slow)])
def test_tracks_of_a_growing_session_equal_those_of_the_whole_one(tmp_path: Path, stored: int) -> None:
    """stored: number of frames before the process begins."""
    path = tmp_path / "s.sqlite"
    frames = [make_frame(0, index, 3 if index % 40 else 0) for index in range(FRAMES)]
    with SessionWriter(path, LABELS, {}) as writer, LiveTracking(path) as following:
        writer.add_source(0, "a.mp4", video_info("a.mp4", FRAMES))
        writer.add_frames(frames[:stored])
        writer.commit()
        following.begin(0)
        for begin in range(stored, FRAMES, 100):
            writer.add_frames(frames[begin : begin + 100])
            writer.commit()
        writer.finish_source(0, "a.mp4", Ledger(FRAMES, FRAMES), 1.0)
        following.end(0)
        following.finish()
    found = tracks(path)
    assert found[0]
    track_session(path)
    assert tracks(path) == found


def test_a_cancelled_source_has_no_tracks_and_its_process_takes_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.store.live_tracking.MAX_PROCESSES", 1)
    path = tmp_path / "s.sqlite"
    with SessionWriter(path, LABELS, {}) as writer, LiveTracking(path) as following:
        for number in range(2):
            writer.add_source(number, f"{number}.mp4", video_info("", 5))
            writer.add_frames(make_frame(number, index) for index in range(5))
            writer.finish_source(number, f"{number}.mp4", Ledger(5, 5), 1.0, cancelled=number == 0)
            following.begin(number)
        following.end(1)
        following.cancel(0)
        following.finish()
    assert [has_current_tracks(path, number) for number in range(2)] == [False, True]
    with SessionReader(path) as reader:
        assert (len(reader.tracks(0)), len(reader.tracks(1))) == (0, 1)


@pytest.mark.parametrize("when", ["before the end", "at the end", "behind the end"])
def test_a_source_whose_process_is_killed_is_tracked_at_the_end_of_the_run(tmp_path: Path, when: str) -> None:
    path, frames = tmp_path / "s.sqlite", [make_frame(0, index, 3) for index in range(50)]

    def kill() -> None:
        for process in multiprocessing.active_children():
            if "tracking" in process.name:
                os.kill(process.pid or 0, signal.SIGKILL)
                process.join()

    with SessionWriter(path, LABELS, {}) as writer, LiveTracking(path) as tracking:
        for number in range(2):
            writer.add_source(number, f"{number}.mp4", video_info("", len(frames)))
        tracking.begin(0)
        if when == "before the end":
            kill()
            tracking.begin(1)  # takes the answers: the death is known before the source ends
        for number in range(2):
            writer.add_frames(make_frame(number, index, 3) for index in range(len(frames)))
            writer.commit()
        if when == "at the end":
            kill()
        if when != "before the end":
            tracking.begin(1)
        tracking.end(0)
        tracking.end(1)
        if when == "behind the end":
            kill()
        tracking.finish()
    assert [has_current_tracks(path, number) for number in range(2)] == [True, True]
    with SessionReader(path) as reader:
        assert [len(reader.tracks(number)) for number in range(2)] == [1, 1]
