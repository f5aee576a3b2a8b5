"""What running streams stored in past intervals of clock time moves into parts of the session, while the run goes on writing it."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from framefleet.app.main import main
from framefleet.engine.media.live.messages import LiveState, RecordedFile
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.store import parts
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.corrections import Corrections, OneDetection
from framefleet.engine.store.facts import TRACK, LiveChange, LiveRecord, RecordedFiles
from framefleet.engine.store.files import session_parts, stamp_of_part, tracking_lock
from framefleet.engine.store.parts import PartMover, begin_of_interval, end_of_part, move_past
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_growing
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult, InferenceFailure

BEGUN = datetime(2026, 11, 26, 13, 59, 50).astimezone()
"""The first frame: 10 s before the second interval."""
MINUTES, RATE = 1, 5
SECONDS = 130
"""The frames lie in four intervals of a minute: 10 s, 60 s, 60 s, and the rest that is still current."""
NOW = BEGUN + timedelta(seconds=SECONDS + 11)


def frame(index: int, source: int = 0) -> FrameResult:
    """A frame with an object that moves to the right, and every 20 s begins again."""
    x = 10 + 2 * (index % (20 * RATE))
    found = Detections(np.array([[x, 100, x + 60, 180]], np.float32), np.array([0.9], np.float32), np.zeros(1, np.int32))
    failed = index % 100 == 99
    result = InferenceFailure(Notice("general.detail", detail="broken")) if failed else found
    return FrameResult(FrameRef(source, index, 3.0 + index / RATE), DeviceId("cpu", "0"), 640, 480, result)


def info(number: int) -> SourceInfo:
    return SourceInfo(f"rtsp://cam/{number}", SourceKind.LIVE, "h264", 640, 480, 0, None, 25.0, (), number=number)


def begin(path: Path, sources: Sequence[int] = (0,), facts: dict[str, str] | None = None) -> SessionWriter:
    writer = SessionWriter(path, ("person",), {"model": "m", "folder": str(path.parent), **(facts or {})})
    for source in sources:
        writer.add_source(source, f"cam-{source}", info(source))
        writer.set_start(source, BEGUN)
        writer.begin_segment(source, 0, None, 0)
        writer.add_frames(frame(index, source) for index in range(SECONDS * RATE))
    writer.commit()
    return writer


def stored(result: FrameResult) -> object:
    """The boxes of a frame, or why it has none."""
    return result.failure if result.detections is None else result.detections.boxes.tolist()


def indices(path: Path, source: int = 0) -> list[int]:
    with SessionReader(path) as reader:
        return [frame.ref.index for frame in reader.frames(source)]


def test_intervals_are_those_of_the_clock() -> None:
    moment = datetime(2026, 11, 26, 14, 37, 12, 500).astimezone()
    assert begin_of_interval(moment, 60) == datetime(2026, 11, 26, 14).astimezone()
    assert begin_of_interval(moment, 10) == datetime(2026, 11, 26, 14, 30).astimezone()
    assert begin_of_interval(moment.astimezone(UTC), 1440) == datetime(2026, 11, 26).astimezone()


def test_past_intervals_move_while_the_run_goes_on(tmp_path: Path) -> None:
    database = tmp_path / "session.sqlite"
    with begin(database, (0, 4)) as writer:
        made = move_past(database, MINUTES, NOW)
        assert made == session_parts(database)
        assert [stamp_of_part(part, database) for part in made] == ["2026-11-26_13-59-00", "2026-11-26_14-00-00", "2026-11-26_14-01-00"]
        assert [len(indices(part, source)) for part in made for source in (0, 4)] == [50, 50, 300, 300, 300, 300]
        assert not indices(database)
        writer.add_frames(frame(index) for index in range(SECONDS * RATE, SECONDS * RATE + 40))
        writer.commit()
        assert indices(database) == [*range(SECONDS * RATE, SECONDS * RATE + 40)]
    for part in made:
        with SessionReader(part) as reader:
            source = reader.source(0)
            frames = [*reader.frames(0)]
            clock = Clock.of(reader, source)
            for each in (frames[0], frames[-1]):
                assert clock.at(each.ref.pts) == BEGUN + timedelta(seconds=each.ref.index / RATE)
            failed = sum(each.failure is not None for each in frames)
            assert source.succeeded
            assert (source.ledger.decoded, source.ledger.inferred) == (len(frames), len(frames) - failed)
            assert source.ledger.balanced
            assert sum(source.ledger.failed.values()) == failed
            assert reader.epochs(0).tolist() == [0]
    with SessionReader(database) as reader:
        clock = Clock.of(reader, reader.source(0))
        assert clock.at(3.0 + SECONDS) == BEGUN + timedelta(seconds=SECONDS)
        assert not reader.source(0).finished


def test_the_file_of_a_long_run_does_not_grow(tmp_path: Path) -> None:
    database = tmp_path / "session.sqlite"
    pages = []
    with begin(database) as writer:
        end = SECONDS * RATE
        for _ in range(6):
            move_past(database, 10, BEGUN + timedelta(seconds=end / RATE + 11))
            writer.add_frames(frame(index) for index in range(end, end + 600 * RATE))
            writer.commit()
            end += 600 * RATE
            with closing(sqlite3.connect(database)) as connection:
                pages += connection.execute("PRAGMA page_count").fetchone()
    assert len(session_parts(database)) > 4
    assert pages[-1] <= 1.1 * pages[2]


def test_facts_and_recorded_files_go_with_their_time(tmp_path: Path) -> None:
    database = tmp_path / "session.sqlite"
    files = tuple(
        RecordedFile(f"/r/{n}.mkv", (BEGUN + timedelta(seconds=50 * n)).isoformat(), 3.0 + 50 * n, 53.0 + 50 * n, 9) for n in range(3)
    )
    changes = tuple(LiveChange(3.0 + 40 * n, LiveState.RUNNING.value, Notice("live.first")) for n in range(4))
    with begin(database) as writer:
        writer.set_live(0, LiveRecord("rtsp://cam/0", changes))
        writer.set_recorded(0, RecordedFiles(files))
        made = move_past(database, MINUTES, NOW)
    found = []
    for part in made:
        with SessionReader(part) as reader:
            record = LiveRecord.read(reader.facts[LiveRecord.key(0)])
            found.append(([change.seconds for change in record.changes], [file.path for file in RecordedFiles.of(reader.facts, 0).files]))
    assert found == [([3.0], ["/r/0.mkv"]), ([43.0], ["/r/0.mkv", "/r/1.mkv"]), ([83.0, 123.0], ["/r/1.mkv", "/r/2.mkv"])]


def test_parts_have_tracks_if_the_run_tracks(tmp_path: Path) -> None:
    database = tmp_path / "session.sqlite"
    with begin(database, facts={TRACK: "bytetrack"}):
        made = move_past(database, MINUTES, NOW)
    with SessionReader(made[1]) as reader:
        assert len(reader.tracks(0)) >= 3


def test_a_running_session_can_be_tracked_and_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "session.sqlite"
    with begin(database) as writer:
        ((path, tracks, _),) = track_growing(database)
        assert (path, tracks) == ("cam-0", 7)
        writer.add_frames(frame(index) for index in range(SECONDS * RATE, SECONDS * RATE + 40))
        writer.commit()
        assert main(["results", str(tmp_path), "--format", "csv,events", "--quiet"]) == 0
        assert "2026-11-26T13:59:50.000" in (tmp_path / "cam-0.detections.csv").read_text()
        events = (tmp_path / "events.csv").read_text().splitlines()
        assert len(events) > 7
        assert len(indices(database)) == SECONDS * RATE + 40
    capsys.readouterr()


def test_commands_take_a_folder_with_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = tmp_path / "session.sqlite"
    with begin(database, (0, 1)) as writer:
        move_past(database, MINUTES, NOW - timedelta(minutes=1))
        for source in (0, 1):
            writer.finish_source(source, f"cam-{source}", Ledger(SECONDS * RATE, SECONDS * RATE, received=SECONDS * RATE), 130.0)
    assert main(["track", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert main(["results", str(tmp_path), "--format", "jsonl", "--quiet", "--source", "cam-1"]) == 0
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.jsonl"))
    assert written == ["2026-11-26_13-59-00/cam-1.jsonl", "2026-11-26_14-00-00/cam-1.jsonl", "cam-1.jsonl"]
    lines = [len((tmp_path / name).read_text().splitlines()) for name in written]
    assert lines == [50, 300, 300]
    capsys.readouterr()
    assert main(["results", str(tmp_path), "--source", "cam-7"]) == 2
    assert "no source is named 'cam-7': the session has cam-0, cam-1\n" in capsys.readouterr().err


def test_parts_are_joined_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, whole = tmp_path / "session.sqlite", tmp_path / "whole.sqlite"
    with begin(database, (0, 1)) as writer:
        writer.set_live(0, LiveRecord("rtsp://cam/0", (LiveChange(3.0, LiveState.RUNNING.value, Notice("live.first")),)))
        move_past(database, MINUTES, NOW - timedelta(minutes=1))
        ledger = Ledger(SECONDS * RATE, SECONDS * RATE, {Notice("live.device_busy"): 7}, received=SECONDS * RATE + 7)
        for source in (0, 1):
            writer.finish_source(source, f"cam-{source}", ledger, 130.0)
    with begin(whole, (0, 1)):
        pass
    assert main(["merge", str(tmp_path), "--out", str(tmp_path / "merged")]) == 0
    assert "2 sources" in capsys.readouterr().out
    with SessionReader(tmp_path / "merged" / "session.sqlite") as joined, SessionReader(whole) as expected:
        for number in (0, 1):
            source = joined.source(number)
            pairs = zip(joined.frames(number), expected.frames(number), strict=True)
            assert all(one.ref == other.ref and stored(one) == stored(other) for one, other in pairs)
            assert source.succeeded
            assert source.ledger.dropped == {Notice("live.device_busy"): 7}
            assert Clock.of(joined, source).at(3.0) == BEGUN
            assert joined.epochs(number).tolist() == [0]
        assert LiveRecord.read(joined.facts[LiveRecord.key(0)]).address == "rtsp://cam/0"


def test_a_move_that_was_killed_is_completed(tmp_path: Path) -> None:
    database = tmp_path / "session.sqlite"
    with begin(database):
        pass
    shutil.copy(database, tmp_path / "before.sqlite")
    made = move_past(database, MINUTES, NOW)
    (tmp_path / "before.sqlite").replace(database)  # the parts are there, and nothing was deleted
    assert move_past(database, MINUTES, NOW) == []
    assert not indices(database)
    assert [len(indices(part)) for part in made] == [50, 300, 300]


def test_corrections_go_with_their_frames(tmp_path: Path) -> None:
    database = tmp_path / "session.sqlite"
    with begin(database):
        with Corrections(database) as corrections:
            corrections.delete(OneDetection(0, 10, 0))
        first, *_ = move_past(database, MINUTES, NOW)
    with SessionReader(first) as reader:
        assert [len(each.detections or ()) for each in reader.frames(0)][9:12] == [1, 0, 1]


def test_two_do_not_change_the_frames_at_once(tmp_path: Path) -> None:
    database = tmp_path / "session.sqlite"
    with begin(database), FileLock(tracking_lock(database)), pytest.raises(Exception, match="locked"):
        move_past(database, MINUTES, NOW)


def test_a_process_moves_them_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SETTLE_SECONDS", 0.0)
    database = tmp_path / "session.sqlite"
    with begin(database):
        mover = PartMover(database, 60, past=True)
        answers: list[object] = []
        while not answers:
            answers += mover.look()
        mover.close()
    assert answers == [session_parts(database)]
    (hour, current) = session_parts(database)
    assert end_of_part(hour, database, 60) == datetime(2026, 11, 26, 14).astimezone()
    assert [len(indices(each)) for each in (hour, current)] == [50, SECONDS * RATE - 50]


def test_what_cannot_be_moved_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SETTLE_SECONDS", 0.0)
    mover = PartMover(tmp_path / "missing.sqlite", 60, past=True)
    answers: list[object] = []
    while not answers:
        answers += mover.look()
    mover.close()
    assert isinstance(answers[0], Notice)


def test_a_process_that_dies_is_said_and_another_one_goes_on_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SETTLE_SECONDS", 0.0)
    database = tmp_path / "session.sqlite"
    with begin(database):
        mover = PartMover(database, 60, past=True)
        assert [*mover.look()] == []
        (child,) = [each for each in multiprocessing.active_children() if each.name == "framefleet session parts"]
        child.kill()
        answers: list[object] = []
        while not answers:
            answers += mover.look()
        mover.close()
        assert isinstance(answers[0], Notice)
        assert answers[0].code == "store.parts_not_moved"
        assert move_past(database, 60, NOW) == session_parts(database)
