"""A run goes on where an earlier one stopped, and its results equal those of an undisturbed run."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from framefleet.engine.media.sources import stamp_of
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceReady, DeviceStarting, FramesAhead, FramesDone, Ledger, Position, SourceOpened
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.run.resume import ResumePlan, removed_corrections
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, Isolation, Parallel, Precision, RunSettings, Track
from framefleet.engine.store import schema
from framefleet.engine.store.corrections import Corrections, OneDetection, edits
from framefleet.engine.store.export import export_session
from framefleet.engine.store.facts import run_facts
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.sources import counts_text, reason_text
from framefleet.engine.types import DeviceId, EngineInfo, FrameResult, InferenceFailure
from tests.support.media import damaged, make_video
from tests.support.models import small_files
from tests.support.notices import words
from tests.support.pool import CPUS, engine_fault_main
from tests.support.store import LABELS, make_frame, same_frame, video_info

SETTINGS = RunSettings(
    small_files(),
    (DeviceId("cpu", "0"),),
    engine=EngineSettings(Precision.FP32, stored_confidence=0.05, threads=1),
    isolation=Isolation.THREAD,
)


class Run:
    """A run, stopped after some frames if ``stop`` is given. worked: whether a device was started. inferred: number of frames."""

    def __init__(
        self, database: Path, *sources: Path, stop: int | None = None, settings: RunSettings = SETTINGS, restart: bool = False
    ) -> None:
        self.worked, self.inferred = False, 0
        with DetectionRun(settings, database, LABELS, restart=restart) as session:
            for source in sources:
                session.add(source)
            session.finish()
            for event in session.events():
                self.worked |= isinstance(event, DeviceStarting)
                if isinstance(event, FramesDone):
                    self.inferred += len(event.frames)
                    if stop is not None and self.inferred >= stop:
                        break
            self.notes, self.sources, self.report = [*map(str, session.notes)], session.sources, session.report("ok")


def stored(database: Path) -> list[tuple[str, Ledger, bool, list[FrameResult]]]:
    with SessionReader(database) as reader:
        return [(source.path, source.ledger, source.complete, list(reader.frames(source.number))) for source in reader.sources()]


def equal(one: Path, other: Path) -> bool:
    """Whether two sessions hold the same, to the last bit."""
    pairs = list(zip(stored(one), stored(other), strict=True))
    return all(left[:3] == right[:3] and len(left[3]) == len(right[3]) and all(map(same_frame, left[3], right[3])) for left, right in pairs)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    return [make_video(folder / name, frames, (160, 120), gop=12) for name, frames in (("a.mp4", 90), ("b.mp4", 80), ("c.mp4", 40))]


@pytest.fixture(scope="module")
def undisturbed(clips: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = tmp_path_factory.mktemp("undisturbed") / "s.sqlite"
    Run(database, *clips)
    return database


@pytest.mark.parametrize("stop", [140, *(pytest.param(stop, marks=pytest.mark.slow) for stop in (1, 95, 175))])
def test_an_interrupted_run_goes_on_behind_what_is_stored(clips: list[Path], undisturbed: Path, tmp_path: Path, stop: int) -> None:
    database = tmp_path / "s.sqlite"
    first = Run(database, *clips, stop=stop)
    with SessionReader(database) as reader:
        before = sum(reader.count(source.number) for source in reader.sources())
    assert before >= first.inferred >= stop
    second = Run(database, *clips)
    assert before + second.inferred == 210
    assert equal(database, undisturbed)
    assert sorted(tmp_path.iterdir()) == [database]
    report = second.report["sources"]
    assert [source["frames"]["decoded"] for source in report] == [90, 80, 40]
    third = Run(database, *clips)
    assert (third.worked, third.inferred) == (False, 0)
    assert third.notes == ["3 sources finished by an earlier run: the results stay"]
    assert [source["frames"] for source in third.report["sources"]] == [source["frames"] for source in report]
    assert equal(database, undisturbed)
    assert exported(database, tmp_path / "out") == exported(undisturbed, tmp_path / "other")


def exported(database: Path, out: Path) -> list[bytes]:
    with SessionReader(database) as reader:
        return [item.path.read_bytes() for item in export_session(reader, out, ["jsonl"])]


@pytest.mark.parametrize("parallel", [Parallel.FRAMES, pytest.param(Parallel.STREAMS, marks=pytest.mark.slow)])
def test_every_strategy_goes_on(clips: list[Path], undisturbed: Path, tmp_path: Path, parallel: Parallel) -> None:
    settings = replace(SETTINGS, parallel=parallel)
    Run(tmp_path / "s.sqlite", *clips, stop=100, settings=settings)
    Run(tmp_path / "s.sqlite", *clips, settings=settings)
    assert equal(tmp_path / "s.sqlite", undisturbed)


def test_failed_frames_of_both_runs_are_counted(clips: list[Path], tmp_path: Path) -> None:
    spoiled = damaged(clips[1], tmp_path / "spoiled.mp4", [(0.2, 900), (0.8, 900)])
    for database, stop in (("whole.sqlite", None), ("s.sqlite", 80)):
        Run(tmp_path / database, spoiled, stop=stop)
    Run(tmp_path / "s.sqlite", spoiled)
    assert stored(tmp_path / "whole.sqlite")[0][1].failed
    assert equal(tmp_path / "s.sqlite", tmp_path / "whole.sqlite")


@pytest.mark.parametrize("first", [1, *(pytest.param(first, marks=pytest.mark.slow) for first in (0, 55))])
def test_a_file_that_was_removed_during_the_run_goes_on_when_it_is_back(clips: list[Path], tmp_path: Path, first: int) -> None:
    database, undisturbed = tmp_path / "s.sqlite", tmp_path / "undisturbed.sqlite"
    Run(undisturbed, clips[0])
    shutil.copy(undisturbed, database)
    gone = words(f"{clips[0]} does not exist")
    with closing(schema.open_existing(database, "rw")) as connection:
        connection.execute("UPDATE frames SET failure = ? WHERE frame >= ?", (reason_text(gone), first))
        connection.execute("UPDATE frames SET boxes = x'' WHERE frame >= ?", (first,))
        failed = counts_text({gone: 90 - first})
        connection.execute("UPDATE sources SET inferred = ?, failed = ?, error = ?", (first, failed, reason_text(gone)))
    again = Run(database, clips[0])
    assert again.inferred == 90 - first
    assert equal(database, undisturbed)


def test_a_changed_file_is_done_again_and_the_others_stay(clips: list[Path], undisturbed: Path, tmp_path: Path) -> None:
    mine, database = [Path(shutil.copy(clip, tmp_path)) for clip in clips], tmp_path / "s.sqlite"
    Run(database, *mine)
    os.utime(mine[0])  # the same content
    shutil.copy(clips[2], mine[1])
    changed = Run(database, *mine)
    assert changed.inferred == 40
    assert f"{mine[1]} has changed since an earlier run: it is detected again" in changed.notes
    assert [len(source[3]) for source in stored(database)] == [90, 40, 40]
    assert [len(source[3]) for source in stored(tmp_path / "s.previous.sqlite")] == [90, 80, 40], "a complete source is never lost"
    mine[1].unlink()
    gone = Run(database, *mine)
    assert gone.sources[1].error is not None
    assert [len(source[3]) for source in stored(database)] == [90, 40, 40], "its results stay"


def test_other_settings_are_done_again_and_say_so(clips: list[Path], tmp_path: Path) -> None:
    database = tmp_path / "s.sqlite"
    Run(database, clips[2])
    other = replace(SETTINGS, engine=replace(SETTINGS.engine, stored_confidence=0.5))
    again = Run(database, clips[2], settings=other)
    assert again.inferred == 40
    (note,) = again.notes
    assert note == (
        f"all is detected again: confidence is 0.5, it was 0.05; the earlier results are kept in {tmp_path / 's.previous.sqlite'}"
    )
    faster = replace(other, parallel=Parallel.STREAMS, engine=replace(other.engine, batch=2))
    assert Run(database, clips[2], settings=faster).inferred == 0, "they change no result"
    assert Run(database, clips[2], settings=other, restart=True).inferred == 40


def test_other_sources_join_the_session(clips: list[Path], undisturbed: Path, tmp_path: Path) -> None:
    database = tmp_path / "s.sqlite"
    Run(database, clips[0])
    both = Run(database, clips[1])
    assert (both.inferred, list(both.sources)) == (80, [1])
    assert Run(database, *clips).inferred == 40
    assert equal(database, undisturbed)


def test_pictures_go_on_and_a_new_picture_changes_the_folder(tmp_path: Path) -> None:
    import cv2
    import numpy as np

    folder, database = tmp_path / "pictures", tmp_path / "s.sqlite"
    folder.mkdir()
    for number in range(80):
        cv2.imwrite(str(folder / f"{number}.png"), np.full((48, 64, 3), number, np.uint8))
    first = Run(database, folder, stop=10)
    with SessionReader(database) as reader:
        before = reader.count(0)
    assert first.inferred <= before < 80
    assert before + Run(database, folder).inferred == 80
    assert [frame.ref.name for frame in stored(database)[0][3]] == [f"{number}.png" for number in range(80)]
    cv2.imwrite(str(folder / "30b.png"), np.zeros((48, 64, 3), np.uint8))
    assert Run(database, folder).inferred == 81


@pytest.mark.parametrize("before", [40, pytest.param(64, marks=pytest.mark.slow)])  # with part of a segment, and with whole segments
def test_pictures_added_at_the_end_are_detected_alone_and_corrections_stay(tmp_path: Path, before: int) -> None:
    folder, database = tmp_path / "pictures", tmp_path / "s.sqlite"
    folder.mkdir()
    for number in range(before):
        (folder / f"IMG_{number:04}.png").write_bytes(_picture(number))
    assert Run(database, folder).inferred == before
    with SessionReader(database) as reader:
        (first,) = (source.seconds for source in reader.sources())
        corrected = next(frame.ref.index for frame in reader.frames(0) if frame.detections)
    with Corrections(database) as corrections:
        corrections.delete(OneDetection(0, corrected, 0))
    added = [folder / f"IMG_{number:04}.png" for number in range(before, before + 5)]
    for number, path in enumerate(added, before):
        path.write_bytes(_picture(number))
    second = Run(database, folder)
    assert second.inferred == 5
    with SessionReader(database) as reader:
        assert reader.sources()[0].seconds == pytest.approx(first + second.sources[0].seconds), "the time of all stored pictures"
    assert second.notes == [f"{folder} has more pictures than in an earlier run: it goes on at picture {before}"]
    assert len(edits(database)) == 1
    assert not list(tmp_path.glob("*previous*"))
    everything = tmp_path / "all.sqlite"
    Run(everything, folder)
    with SessionReader(database, corrected=False) as reader, SessionReader(everything) as other:
        assert all(map(same_frame, reader.frames(0), other.frames(0)))
        assert reader.sources()[0].ledger == other.sources()[0].ledger
    assert Run(database, folder).inferred == 0


def test_corrections_that_a_changed_source_loses_are_told(tmp_path: Path) -> None:
    folder, database = tmp_path / "pictures", tmp_path / "s.sqlite"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.png").write_bytes(_picture(number))
    Run(database, folder)
    with Corrections(database) as corrections:
        corrections.delete(OneDetection(0, 0, 0))
    (folder / "1.png").write_bytes(_picture(90))
    assert set(Run(database, folder).notes) == {
        f"{folder} has changed since an earlier run: it is detected again",
        f"the earlier results are kept in {tmp_path / 's.previous.sqlite'}",
        f"{folder}: 1 correction is removed, because the frames are detected again",
    }


def _picture(number: int) -> bytes:
    import cv2
    import numpy as np

    random = np.random.default_rng(number)
    return bytes(cv2.imencode(".png", random.integers(0, 256, (48, 64, 3), np.uint8))[1])


def test_a_cancelled_run_goes_on_before_the_first_gap(clips: list[Path], undisturbed: Path, tmp_path: Path) -> None:
    """A cancelled run also stores frames of later segments. Their numbers are estimates, so they are detected again."""
    database = tmp_path / "s.sqlite"
    settings = replace(SETTINGS, devices=(DeviceId("cpu", "0"), DeviceId("cpu", "1")))
    with DetectionRun(settings, database, LABELS) as session:
        for clip in clips:
            session.add(clip)
        session.finish()
        for event in session.events():
            if isinstance(event, FramesDone):
                session.cancel()
    Run(database, *clips)
    frames = [[replace_device(frame) for frame in source[3]] for source in stored(database)]
    whole = [[replace_device(frame) for frame in source[3]] for source in stored(undisturbed)]
    assert [len(source) for source in frames] == [90, 80, 40]
    assert all(map(same_frame, chain(*frames), chain(*whole)))
    assert [source[1:3] for source in stored(database)] == [source[1:3] for source in stored(undisturbed)]


def replace_device(frame: FrameResult) -> FrameResult:
    return replace(frame, device=DeviceId("cpu", "0"))


def test_frames_behind_a_gap_are_replaced(tmp_path: Path) -> None:
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 50))
        writer.begin_segment(0, 0, 0, 0)
        writer.add_frames(make_frame(0, index) for index in range(12))
        writer.begin_segment(0, 1, 12, 12)
        writer.add_frames(make_frame(0, index, failure="broken" if index in (13, 30) else None) for index in range(12, 17))
        writer.begin_segment(0, None, None, 17)
        writer.add_frames(make_frame(0, index) for index in range(17, 36))
        writer.finish_source(0, "a.mp4", Ledger(36, 34, {}, {words("broken"): 2}), 1.0, None, cancelled=True)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert reader.position(0) == Position(17, 16 / 25, 1, 12, 5, {words("broken"): 1})


def with_gap(database: Path, first: int, last: int) -> None:
    """Make a finished session one that was cancelled with a gap from frame ``first`` to ``last`` of its first source."""
    with closing(schema.open_existing(database, "rw")) as connection:
        connection.execute("DELETE FROM frames WHERE source = 0 AND frame BETWEEN ? AND ?", (first, last))
        connection.execute("DELETE FROM segments WHERE source = 0 AND frame > ?", (first,))
        connection.execute("INSERT INTO segments VALUES (0, ?, NULL, ?)", (schema.BEHIND_GAP, last + 1))
        connection.execute("UPDATE sources SET cancelled = 1 WHERE source = 0")


def test_the_corrections_that_a_continued_source_loses_are_counted_before(clips: list[Path], undisturbed: Path, tmp_path: Path) -> None:
    database, clip = tmp_path / "s.sqlite", tmp_path / "a.mp4"
    shutil.copy(clips[0], clip)
    Run(database, clip)
    with SessionReader(database) as reader:
        corrected = [frame.ref.index for frame in reader.frames(0) if frame.detections is not None and len(frame.detections)]
    assert corrected[0] < 30
    assert corrected[-1] > 60
    with Corrections(database) as corrections:
        for frame in (corrected[0], corrected[-1]):
            corrections.delete(OneDetection(0, frame, 0))
    assert removed_corrections(database, clip, 0) == 0, "its results stay"
    with_gap(database, 40, 60)
    assert removed_corrections(database, clip, 0) == 1
    assert f"{clip}: 1 correction is removed, because the frames are detected again" in Run(database, clip).notes
    with_gap(database, 40, 60)
    assert removed_corrections(database, clip, 0) == 0
    assert edits(database)
    clip.write_bytes(clips[1].read_bytes())
    assert removed_corrections(database, clip, 0) == 1, "the file has changed"


@pytest.mark.parametrize("first", [0, 30])
def test_an_interrupted_continuation_leaves_no_fewer_frames(clips: list[Path], undisturbed: Path, tmp_path: Path, first: int) -> None:
    database = tmp_path / "s.sqlite"
    shutil.copy(undisturbed, database)
    with_gap(database, first, 49)
    counts = [90 - (50 - first)]
    for _ in range(2):
        with DetectionRun(SETTINGS, database, LABELS) as session:
            session.add(clips[0])
            session.finish()
            for event in session.events():
                if isinstance(event, SourceOpened):
                    session.cancel()
        with SessionReader(database) as reader:
            source, count = reader.sources()[0], reader.count(0)
            assert source.ledger.decoded == source.ledger.inferred == count
            assert source.complete is (count == 90)
            pts = [frame.ref.pts for frame in reader.frames(0)]
            assert pts == sorted(set(pts))
        counts.append(count)
    assert counts == sorted(counts)
    Run(database, *clips)
    assert equal(database, undisturbed)


def test_a_killed_continuation_begins_again_at_its_last_frame_in_order(clips: list[Path], undisturbed: Path, tmp_path: Path) -> None:
    """Frames that follow without a gap may come from the earlier run, whose numbers are estimates."""
    database = tmp_path / "s.sqlite"
    shutil.copy(undisturbed, database)
    with_gap(database, 30, 49)
    with SessionReader(undisturbed) as reader:
        frames = list(reader.frames(0))
    writer = SessionWriter(database, LABELS, run_facts(SETTINGS), go_on=True)
    writer.go_on(0, 30)
    writer.add_frames(frames[30:60])
    writer.commit()
    writer.close(complete=False)
    with SessionReader(database) as reader:
        position = reader.position(0)
        assert position is not None
        assert (position.frames, reader.count(0)) == (60, 90)


def test_an_earlier_frame_is_replaced_under_another_index_with_the_same_time(tmp_path: Path) -> None:
    """The container announced one frame too many for the segment in the gap."""
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 31))
        writer.begin_segment(0, 0, 0, 0)
        writer.add_frames(make_frame(0, index) for index in range(10))
        writer.begin_segment(0, None, None, 21)
        frames = (make_frame(0, index) for index in range(20, 30))
        writer.add_frames(replace(frame, ref=frame.ref._replace(index=frame.ref.index + 1)) for frame in frames)
        writer.finish_source(0, "a.mp4", Ledger(20, 20), 1.0, None, cancelled=True)
        writer.go_on(0, 10)
        writer.add_source(0, "a.mp4", video_info("a.mp4", 31))
        writer.add_frames(make_frame(0, index) for index in range(10, 25))
        writer.finish_source(0, "a.mp4", Ledger(25, 25), 1.0, None, cancelled=True)
    with SessionReader(tmp_path / "s.sqlite") as reader:
        assert [frame.ref.pts for frame in reader.frames(0)] == [index / 25 for index in range(30)]
        assert reader.sources()[0].ledger == Ledger(30, 30)
        position = reader.position(0)
    assert position is not None
    assert position.frames == 25


def test_a_continued_run_keeps_its_engine(tmp_path: Path) -> None:
    """Else its results would depend on what was tuned in between."""
    video, database = make_video(tmp_path / "a.mp4", 30, (96, 64)), tmp_path / "s.sqlite"
    settings = replace(SETTINGS, engine=replace(SETTINGS.engine, precision=Precision.AUTO))

    def engine(stop: int | None) -> EngineInfo:
        with DetectionRun(settings, database, LABELS) as session:
            session.add(video)
            session.finish()
            inferred = 0
            for event in session.events():
                match event:
                    case DeviceReady(found):
                        ready = found
                    case FramesDone(_, frames):
                        inferred += len(frames)
                        if stop is not None and inferred >= stop:
                            break
        return ready

    first, again = engine(stop=5), engine(stop=None)
    assert first.reason.code != "backends.as_before"
    assert again.reason.code == "backends.as_before"
    assert again.choice == first.choice
    with SessionReader(database) as reader:
        assert reader.engines() == [first.choice]


@pytest.mark.parametrize("number", [30, pytest.param(0, marks=pytest.mark.slow)])
def test_frames_on_which_a_worker_crashed_are_tried_again(
    clips: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    database, settings = tmp_path / "s.sqlite", replace(SETTINGS, isolation=Isolation.PROCESS)
    monkeypatch.setattr(EnginePool, "worker_main", partial(engine_fault_main, numbers=frozenset({number}), how="kill"))
    first = Run(database, clips[2], settings=settings)
    assert sum(first.sources[0].ledger.failed.values()) == 1
    again = Run(database, clips[2], settings=settings)
    assert again.sources[0].ledger.failed == first.sources[0].ledger.failed, "it crashes again"
    monkeypatch.undo()
    last = Run(database, clips[2], settings=settings)
    assert last.notes[0] == f"{clips[2]}: 1 frame on which a worker crashed is detected again, with those behind it"
    assert last.inferred == 40 - number
    Run(tmp_path / "undisturbed.sqlite", clips[2])
    assert equal(database, tmp_path / "undisturbed.sqlite")
    assert Run(database, clips[2], settings=settings).inferred == 0


def test_frames_that_fail_by_themselves_or_are_corrected_are_not_tried_again(tmp_path: Path) -> None:
    database, failures = tmp_path / "s.sqlite", (Notice("pool.died_twice"), Notice("pool.died_twice"), words("damaged"))
    with SessionWriter(database, LABELS, run_facts(SETTINGS)) as writer:
        for number, failure in enumerate(failures):
            path = tmp_path / f"{number}.mp4"
            path.write_bytes(bytes(100))
            writer.add_source(number, str(path), video_info("", 3), stamp_of(path))
            frame = make_frame(number, 1)
            writer.add_frames([make_frame(number, 0), replace(frame, found=InferenceFailure(failure)), make_frame(number, 2)])
            writer.finish_source(number, str(path), Ledger(3, 2, {}, {failure: 1}), 1.0)
    with Corrections(database) as corrections:
        corrections.confirm(OneDetection(1, 0, 0))
    plan = ResumePlan(database)
    assert [plan.start(tmp_path / f"{number}.mp4").kept is None for number in range(3)] == [True, False, False]


@pytest.mark.parametrize(("number", "begins"), [(None, (0, True)), (-1, (1, False)), (0, (0, True)), (1, (1, False)), (2, (2, False))])
def test_of_several_sources_with_one_path_the_one_with_the_number_goes_on(
    tmp_path: Path, number: int | None, begins: tuple[int, bool]
) -> None:
    database, path = tmp_path / "s.sqlite", tmp_path / "a.mp4"
    path.write_bytes(bytes(100))
    with SessionWriter(database, LABELS, {}) as writer:
        writer.add_source(0, str(path), video_info("", 1), stamp_of(path))
        writer.add_frames([make_frame(0, 0)])
        writer.finish_source(0, str(path), Ledger(1, 1, {}, {}), 1.0)
        writer.add_source(1, str(path), video_info("", 1), stamp_of(path))
    resume = ResumePlan(database).start(path, number)
    assert (resume.number, resume.kept is not None) == begins


@pytest.fixture(scope="module")
def long_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video that is cut into five segments."""
    return make_video(tmp_path_factory.mktemp("long") / "long.mp4", 540, (64, 48), gop=20)


@pytest.fixture(scope="module")
def undisturbed_long(long_clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = tmp_path_factory.mktemp("undisturbed") / "s.sqlite"
    Run(database, long_clip)
    return database


SOUGHT = 14.5
"""Seconds."""


def sought_run(database: Path, clip: Path, end: str, settings: RunSettings = SETTINGS) -> list[FrameResult]:
    """Seek to the last quarter of a clip after its first frame, and return the frames that came ahead.

    end: whether the run is "killed" or "cancelled" at the first of them, or ends "later", with the file.
    """
    ahead: list[FrameResult] = []
    with DetectionRun(settings, database, LABELS) as session:
        number = session.add(clip)
        session.finish()
        sought = False
        for event in session.events():
            if isinstance(event, FramesDone) and not sought:
                sought = True
                session.seek(number, SOUGHT)
            if isinstance(event, FramesAhead):
                assert session.progress_of(event) is None
                ahead += event.frames
                if end == "killed":
                    break
                if end == "cancelled":
                    session.cancel()
    return ahead


@pytest.mark.parametrize("parallel", [Parallel.STREAMS, pytest.param(Parallel.FRAMES, marks=pytest.mark.slow)])
def test_a_sought_place_comes_first_and_changes_no_byte(
    long_clip: Path, undisturbed_long: Path, tmp_path: Path, parallel: Parallel
) -> None:
    database = tmp_path / "s.sqlite"
    ahead = sought_run(database, long_clip, "later", replace(SETTINGS, parallel=parallel))
    check_ahead(database, ahead)
    assert equal(database, undisturbed_long)


def check_ahead(database: Path, ahead: list[FrameResult]) -> None:
    """The frames that came ahead are those around the sought place, as they are stored."""
    assert any(frame.ref.pts <= SOUGHT < frame.ref.pts + 1 for frame in ahead)
    with SessionReader(database) as reader:
        frames = {frame.ref.pts: frame for frame in reader.frames(0)}
    assert all(same_frame(frames[frame.ref.pts], frame) for frame in ahead)


@pytest.mark.slow
@pytest.mark.parametrize("parallel", [Parallel.TILES, Parallel.DEPTH])
def test_devices_that_share_each_picture_go_to_a_sought_place_together(long_clip: Path, tmp_path: Path, parallel: Parallel) -> None:
    settings = replace(SETTINGS, parallel=parallel, devices=CPUS)
    Run(tmp_path / "in_order.sqlite", long_clip, settings=settings)
    ahead = sought_run(tmp_path / "sought.sqlite", long_clip, "later", settings)
    assert any(frame.ref.pts <= SOUGHT < frame.ref.pts + 1 for frame in ahead)
    assert {frame.device for frame in ahead} == {DeviceId.group(*CPUS)}
    assert equal(tmp_path / "sought.sqlite", tmp_path / "in_order.sqlite")


@pytest.mark.parametrize("end", ["killed", pytest.param("cancelled", marks=pytest.mark.slow)])
def test_a_run_that_ends_at_a_sought_place_goes_on_in_the_gap(long_clip: Path, undisturbed_long: Path, tmp_path: Path, end: str) -> None:
    database = tmp_path / "s.sqlite"
    assert sought_run(database, long_clip, end)
    with SessionReader(database) as reader:
        position = reader.position(0)
        assert position is not None
        assert 0 < position.frames < 400
    Run(database, long_clip)
    assert equal(database, undisturbed_long)


@pytest.mark.slow
def test_tracks_after_a_sought_place_equal_those_in_order(long_clip: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, track=Track.BYTETRACK)
    Run(tmp_path / "in_order.sqlite", long_clip, settings=settings)
    check_ahead(tmp_path / "sought.sqlite", sought_run(tmp_path / "sought.sqlite", long_clip, "later", settings))
    assert equal(tmp_path / "sought.sqlite", tmp_path / "in_order.sqlite")
    content = []
    for name in ("in_order", "sought"):
        with SessionReader(tmp_path / f"{name}.sqlite") as reader:
            content.append([item.path.read_bytes() for item in export_session(reader, tmp_path / name, ["jsonl", "csv"])])
    assert content[0] == content[1]
