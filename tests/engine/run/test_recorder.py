"""Tracks made while a run detects equal those that are made of the stored session, whatever the devices and strategy."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.pool.events import FramesDone
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, Isolation, ModelFiles, Parallel, Precision, RunSettings, Track
from framefleet.engine.store import live_tracking
from framefleet.engine.store.corrections import Corrections
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import track_session
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO
from tests.support.goldens import CLIP

CPUS = DeviceId("cpu", "0"), DeviceId("cpu", "1")
SETTINGS = RunSettings(
    ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels, (192, 128)),
    CPUS[:1],
    engine=EngineSettings(Precision.FP32, stored_confidence=0.1, threads=1),
    isolation=Isolation.THREAD,
    track=Track.BYTETRACK,
)
LABELS = tuple(DEMO.labels.read_text().split("\n")[:8])


def detect(database: Path, sources: Sequence[Path], settings: RunSettings = SETTINGS, stop: int | None = None) -> list[str]:
    with DetectionRun(settings, database, LABELS) as session:
        for source in sources:
            session.add(source)
        session.finish()
        inferred = 0
        for event in session.events():
            inferred += len(event.frames) if isinstance(event, FramesDone) else 0
            if stop is not None and inferred >= stop:
                break
        return [*map(str, session.notes)]


def read_tracks(database: Path) -> list[tuple[int, int, int, int, int]]:
    with SessionReader(database) as reader:
        return reader.tracks(0)


def tracks(database: Path, source: int = 0) -> list[object]:
    with SessionReader(database) as reader:
        found = [frame.detections for frame in reader.frames(source)]
        return [reader.tracks(source), [None if each is None or each.tracks is None else each.tracks.tolist() for each in found]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = tmp_path_factory.mktemp("undisturbed") / "s.sqlite"
    detect(database, [CLIP])
    return database


@pytest.mark.parametrize(
    ("parallel", "devices"),
    [(Parallel.SEGMENTS, 2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((Parallel.FRAMES, 2), (Parallel.TILES, 1)))],
)
def test_tracks_equal_those_of_the_stored_session(parallel: Parallel, devices: int, tmp_path: Path) -> None:
    detect(tmp_path / "s.sqlite", [CLIP], replace(SETTINGS, parallel=parallel, devices=CPUS[:devices]))
    found = tracks(tmp_path / "s.sqlite")
    assert found[0]
    track_session(tmp_path / "s.sqlite")
    assert tracks(tmp_path / "s.sqlite") == found


def test_an_interrupted_run_has_the_tracks_of_an_undisturbed_one(undisturbed: Path, tmp_path: Path) -> None:
    detect(tmp_path / "s.sqlite", [CLIP], stop=5)
    assert tracks(tmp_path / "s.sqlite")[0] == []
    detect(tmp_path / "s.sqlite", [CLIP])
    assert tracks(tmp_path / "s.sqlite") == tracks(undisturbed)


def age(database: Path) -> None:
    """Let the tracks be those of an earlier version."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE trackers SET tracker = 'bytetrack 1'")


def test_a_newer_tracker_tracks_a_finished_session_again(undisturbed: Path, tmp_path: Path) -> None:
    database = Path(shutil.copy(undisturbed, tmp_path))
    age(database)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM tracks")
        connection.execute("DELETE FROM frame_tracks")
    assert tracks(database) != tracks(undisturbed)
    detect(database, [CLIP])
    assert tracks(database) == tracks(undisturbed)


def test_tracks_that_were_split_by_hand_stay(undisturbed: Path, tmp_path: Path) -> None:
    database = Path(shutil.copy(undisturbed, tmp_path))
    number, _, first, last, _ = max(read_tracks(database), key=lambda track: track[4])
    with Corrections(database) as corrections:
        corrections.split(0, number, (first + last) // 2)
    age(database)
    before = tracks(database)
    notes = detect(database, [CLIP])
    assert tracks(database) == before
    assert len([note for note in notes if "its tracks were joined or split by hand and stay" in note]) == 1


def test_several_sources_share_a_process_and_a_crashed_one_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_tracking, "MAX_PROCESSES", 1)
    clips = [Path(shutil.copy(CLIP, tmp_path / name)) for name in ("a.mp4", "b.mp4")]
    database = tmp_path / "s.sqlite"
    with DetectionRun(SETTINGS, database, LABELS) as session:
        for clip in clips:
            session.add(clip)
        session.finish()
        killed = False
        for event in session.events():
            if isinstance(event, FramesDone) and not killed:
                killed = True
                for process in multiprocessing.active_children():
                    if "tracking" in process.name:
                        process.kill()
    assert killed
    assert tracks(database)[0]
    assert tracks(database, 0) == tracks(database, 1)
