"""The controller with real sessions: real worker processes, a tiny model, generated videos."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, Part, QueueItem
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.run.controller import DetectionController
from framefleet.app.window.run.files import session_name
from framefleet.app.window.settings.preferences import Preferences
from framefleet.app.window.timeline.class_counts import Tally
from framefleet.engine.model.load import check_model
from framefleet.engine.notices import Notice
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Parallel, RunSettings, Track
from framefleet.engine.store.corrections import Corrections, OneDetection, edits
from framefleet.engine.store.files import lock_session
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import DeviceId
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.pool import slow_main
from tests.support.window import CPU, feature

PATIENCE = 30_000
FIRST, SECOND = DeviceId("cpu", "0"), DeviceId("cpu", "1")


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("videos") / "short.mp4", 30, (96, 96))


class Desk:
    def __init__(self, folder: Path) -> None:
        self.items = QueueModel()
        self.controller = DetectionController(self.items, folder)
        self.errors: list[str] = []
        self.phases: list[Phase] = []
        self.controller.failed.connect(self.errors.append)
        self.controller.devices_changed.connect(self._devices_changed)
        self.refusals: list[str] = []
        self.controller.refused.connect(self.refusals.append)
        self.now: dict[DeviceId, Phase] = {}

    def _devices_changed(self, statuses: tuple[DeviceStatus, ...]) -> None:
        self.now = {status.device: status.phase for status in statuses}
        self.phases.extend(self.now.values())

    def devices_of(self, key: int) -> set[DeviceId]:
        """Those that worked on a file."""
        item = self.items.get(key)
        assert item is not None
        assert item.results is not None
        with SessionReader(item.results.database) as reader:
            return {frame.device for frame in reader.frames(item.results.source)}

    def configure(self, seed: int = 1, restart: bool = False, devices: tuple[DeviceId, ...] = ()) -> RunSettings:
        settings = Preferences.of(tiny_files(seed), devices=devices).run_settings()
        self.controller.set_settings(settings, check_model(settings.model).labels, restart)
        return settings

    def state(self, key: int) -> ItemState:
        item = self.items.get(key)
        assert item is not None
        return item.state


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that waits before each batch: a short video takes as long as the test needs."""
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(partial(slow_main, seconds=0.01)))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "sessions")
    yield desk
    desk.controller.stop()


def test_a_row_says_that_the_model_is_prepared(qtbot: QtBot, desk: Desk, short: Path) -> None:
    said = []
    desk.controller.item_changed.connect(lambda key: said.append(desk.items.get(key).summary))  # type: ignore[union-attr]
    desk.configure()
    (key,) = desk.controller.add([short])
    desk.controller.refresh()  # before the worker is ready: a small model may be ready before the timer ends
    assert "Preparing the model" in said
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.DONE, timeout=PATIENCE)
    item = desk.items.get(key)
    assert item is not None
    assert item.reason is None


@pytest.mark.usefixtures("slow")
def test_a_paused_run_goes_on_behind_the_stored_frames(qtbot: QtBot, desk: Desk, short: Path, tmp_path: Path) -> None:
    long = make_video(tmp_path / "long.mp4", 100, (96, 96))
    last = make_video(tmp_path / "last.mp4", 20, (96, 96))
    desk.configure()
    first, second, third = desk.controller.add([short, long, last])
    qtbot.waitUntil(lambda: desk.state(second) is ItemState.RUNNING, timeout=PATIENCE)
    database = desk.items.get(second).results.database  # type: ignore[union-attr]
    desk.controller.set_paused(True)
    assert [desk.state(key) for key in (first, second, third)] == [ItemState.DONE, ItemState.PAUSED, ItemState.WAITING]
    qtbot.waitUntil(lambda: set(desk.now.values()) == {Phase.IDLE}, timeout=PATIENCE)
    with SessionReader(database) as reader:
        stored = reader.count(1)
    assert 0 < stored < 100
    noted: list[Notice] = []
    desk.controller.noted.connect(noted.extend)
    desk.controller.set_paused(False)
    qtbot.waitUntil(lambda: {desk.state(key) for key in (first, second, third)} == {ItemState.DONE}, timeout=PATIENCE)
    with SessionReader(database) as reader:
        assert [reader.count(source.number) for source in reader.sources()] == [30, 100, 20]
    assert list(database.parent.glob("*.sqlite")) == [database], "the same session"
    assert noted == []  # the user has paused it, and knows that it goes on


@pytest.mark.slow  # a test below has other settings after a cancelled file
@pytest.mark.usefixtures("slow")
def test_other_settings_in_a_pause_leave_the_stored_results(qtbot: QtBot, desk: Desk, short: Path, tmp_path: Path) -> None:
    long = make_video(tmp_path / "long.mp4", 100, (96, 96))
    desk.configure()
    first, second = desk.controller.add([short, long])
    qtbot.waitUntil(lambda: desk.state(second) is ItemState.RUNNING, timeout=PATIENCE)
    desk.controller.set_paused(True)
    before = desk.items.get(first)
    desk.configure(seed=2)
    desk.controller.set_paused(False)
    qtbot.waitUntil(lambda: desk.state(second) is ItemState.DONE, timeout=PATIENCE)
    after = desk.items.get(second)
    assert before is not None
    assert before.results is not None
    assert after is not None
    assert after.results is not None
    assert after.results.database != before.results.database
    with SessionReader(before.results.database) as reader:
        assert reader.count(before.results.source) == 30


def test_files_wait_for_a_model_then_run_and_their_results_are_stored(qtbot: QtBot, desk: Desk, short: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    good, empty, again = desk.controller.add([short, tmp_path / "empty.mp4", short])
    QApplication.processEvents()
    assert [desk.state(key) for key in (good, empty, again)] == [ItemState.WAITING] * 3
    desk.configure()
    qtbot.waitUntil(lambda: all(item.ended for item in desk.items), timeout=PATIENCE)
    assert [desk.state(key) for key in (good, empty, again)] == [ItemState.DONE, ItemState.FAILED, ItemState.DONE]
    item, failed = desk.items.get(good), desk.items.get(empty)
    assert item is not None
    assert failed is not None
    assert failed.reason is not None
    assert "is empty" in str(failed.reason)
    assert (item.progress.frames, item.progress.failed) == (30, 0)
    assert item.results is not None
    with SessionReader(item.results.database) as reader:
        stored = list(reader.frames(item.results.source))
        assert [frame.ref.index for frame in stored] == list(range(30))
        assert reader.labels == item.results.labels
    tally = desk.controller.tally(good)
    assert tally is not None
    assert sum(tally.counts(0.0).values()) == sum(len(frame.detections or ()) for frame in stored)
    assert Phase.READY in desk.phases

    # the engines are kept: the next file has no start-up, and lands in the same database
    (more,) = desk.controller.add([short])
    qtbot.waitUntil(lambda: desk.state(more) is ItemState.DONE, timeout=PATIENCE)
    later = desk.items.get(more)
    assert later is not None
    assert later.results is not None
    assert later.results.database == item.results.database

    # other settings need another session
    desk.configure(seed=2)
    (last,) = desk.controller.add([short])
    qtbot.waitUntil(lambda: desk.state(last) is ItemState.DONE, timeout=PATIENCE)
    other = desk.items.get(last)
    assert other is not None
    assert other.results is not None
    assert other.results.database != item.results.database
    assert desk.errors == []


def test_cancelling_keeps_what_was_found_and_others_go_on(qtbot: QtBot, desk: Desk, short: Path, long: Path) -> None:
    desk.configure()
    running, waiting, last = desk.controller.add([long, long, short])
    qtbot.waitUntil(lambda: desk.state(running) is ItemState.RUNNING, timeout=PATIENCE)
    desk.controller.cancel(waiting)
    desk.controller.cancel(running)
    qtbot.waitUntil(lambda: desk.state(last) is ItemState.DONE, timeout=PATIENCE)
    item = desk.items.get(running)
    assert item is not None
    assert (item.state, desk.state(waiting)) == (ItemState.CANCELLED, ItemState.CANCELLED)
    assert 0 < item.progress.frames < 3000
    desk.controller.remove(running)
    assert len(desk.items) == 2


@pytest.mark.usefixtures("slow")
def test_a_cancelled_file_goes_on_behind_its_stored_frames(qtbot: QtBot, desk: Desk, short: Path, tmp_path: Path) -> None:
    long = make_video(tmp_path / "long.mp4", 100, (32, 32))
    desk.configure()
    cancelled, waiting, other = desk.controller.add([long, short, short])
    qtbot.waitUntil(lambda: desk.state(cancelled) is ItemState.RUNNING, timeout=PATIENCE)
    for key in (waiting, cancelled):
        desk.controller.cancel(key)
    before = desk.items.get(cancelled)
    assert before is not None
    assert before.results is not None
    assert [item.key for item in desk.controller.stopped()] == [cancelled, waiting]
    noted: list[object] = []
    desk.controller.noted.connect(noted.append)
    desk.controller.continue_files([cancelled, waiting])
    qtbot.waitUntil(lambda: all(item.state is ItemState.DONE for item in desk.items), timeout=PATIENCE)
    after = desk.items.get(cancelled)
    assert after is not None
    assert after.results is not None
    assert (after.results.database, after.progress.frames, desk.state(other)) == (before.results.database, 100, ItemState.DONE)
    with SessionReader(after.results.database) as reader:
        (source,) = [each for each in reader.sources() if each.file == long]
        assert source.ledger.inferred == reader.count(source.number) == 100, "each frame is detected once"
    assert desk.controller.stopped() == []
    assert noted == []  # not "where an earlier run stopped": the user has stopped it here


@pytest.mark.usefixtures("slow")
def test_detecting_again_in_a_continued_session_begins_a_pass_that_goes_on_by_itself(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    """A file is finished, another one is paused and continued. Then the first one is detected again, paused and continued."""
    first, second = (make_video(tmp_path / f"{name}.mp4", frames, (32, 32)) for name, frames in (("a", 60), ("b", 100)))
    desk.configure()
    keys = desk.controller.add([first, second])

    def pause_in(key: int) -> None:
        qtbot.waitUntil(lambda: (item := desk.items.get(key)) is not None and item.progress.frames > 10, timeout=PATIENCE)
        desk.controller.set_paused(True)
        qtbot.waitUntil(lambda: set(desk.now.values()) == {Phase.IDLE}, timeout=PATIENCE)
        assert desk.state(key) is ItemState.PAUSED
        desk.controller.set_paused(False)

    pause_in(keys[1])
    desk.controller.detect_again(keys[0])
    pause_in(keys[0])
    qtbot.waitUntil(lambda: all(item.state is ItemState.DONE for item in desk.items), timeout=PATIENCE)
    results = desk.items.get(keys[0]).results  # type: ignore[union-attr]
    assert results is not None
    with SessionReader(results.database) as reader:
        stored = [(source.number, reader.count(source.number)) for source in reader.sources() if source.file == first]
    assert stored == [(0, 60), (2, 60)]
    assert results.source == 2


@pytest.mark.parametrize("cancels", [False, True])
@pytest.mark.parametrize("continued", [False, True])
def test_a_second_detection_that_is_stopped_at_once_does_not_become_the_first_one(
    qtbot: QtBot, desk: Desk, short: Path, cancels: bool, continued: bool
) -> None:
    """continued: another file goes on in the same session, whose run has not begun."""
    desk.configure()
    other, key = desk.controller.add([short.with_name("none.mp4"), short])
    qtbot.waitUntil(lambda: all(item.ended for item in desk.items), timeout=PATIENCE)
    if continued:
        desk.controller.renew()
        qtbot.waitUntil(lambda: not desk.controller.has_run, timeout=PATIENCE)
        desk.controller.continue_files([other])
    desk.controller.detect_again(key)
    if cancels:
        desk.controller.cancel(key)
        desk.controller.continue_files([key])
    else:
        desk.controller.set_paused(True)
        desk.controller.set_paused(False)
    qtbot.waitUntil(lambda: all(item.ended for item in desk.items), timeout=PATIENCE)
    results = desk.items.get(key).results  # type: ignore[union-attr]
    assert results is not None
    assert results.source > 1
    with SessionReader(results.database) as reader:
        assert [reader.count(source.number) for source in reader.sources() if source.file == short] == [30, 30]


@pytest.mark.usefixtures("slow")
def test_a_file_that_failed_goes_on_behind_its_stored_frames(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    video = make_video(tmp_path / "disk" / "a.mp4", 300, (32, 32), gop=30)
    desk.configure()
    (key,) = desk.controller.add([video])

    def frames() -> int:
        item = desk.items.get(key)
        return 0 if item is None else item.progress.frames

    qtbot.waitUntil(lambda: frames() > 20, timeout=PATIENCE)
    video.parent.rename(tmp_path / "away")
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.FAILED, timeout=2 * PATIENCE)
    before, stored = desk.items.get(key), frames()
    assert stored > 20
    assert [item.key for item in desk.controller.stopped()] == [key]
    (tmp_path / "away").rename(video.parent)
    for _ in range(2):  # the button was pressed twice
        desk.controller.retry(key)
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.DONE, timeout=2 * PATIENCE)
    after = desk.items.get(key)
    assert before is not None
    assert after is not None
    assert before.results is not None
    assert after.results is not None
    assert (after.results.database, after.progress.frames) == (before.results.database, 300)
    with SessionReader(after.results.database) as reader:
        assert reader.count(after.results.source) == 300, "each frame is detected once"


@pytest.mark.usefixtures("slow")
def test_a_file_that_could_not_go_on_keeps_its_stored_frames_for_another_try(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    desk.configure()
    (key,) = desk.controller.add([make_video(tmp_path / "a.mp4", 100, (32, 32), gop=10)])
    qtbot.waitUntil(lambda: (item := desk.items.get(key)) is not None and item.progress.frames > 20, timeout=PATIENCE)
    desk.controller.cancel(key)
    desk.controller.renew()
    qtbot.waitUntil(lambda: not desk.controller.has_run, timeout=PATIENCE)
    before = desk.items.get(key).results  # type: ignore[union-attr]
    assert before is not None
    with lock_session(before.database):  # as another window does
        desk.controller.continue_files([key])
        qtbot.waitUntil(lambda: desk.state(key) is ItemState.FAILED, timeout=PATIENCE)
    qtbot.waitUntil(lambda: not desk.controller.has_run, timeout=PATIENCE)
    desk.controller.retry(key)
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.DONE, timeout=PATIENCE)
    after = desk.items.get(key).results  # type: ignore[union-attr]
    assert after is not None
    assert (after.database, after.source) == (before.database, before.source)
    with SessionReader(after.database) as reader:
        assert [reader.count(source.number) for source in reader.sources()] == [100]


def detect_behind_a_gap(qtbot: QtBot, desk: Desk, tmp_path: Path) -> int:
    """Detect in a video of 300 frames, first at its beginning and then at 9 s; return its key."""
    video = make_video(tmp_path / "long.mp4", 300, (32, 32), gop=30)
    desk.configure()
    (key,) = desk.controller.add([video])
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.RUNNING, timeout=PATIENCE)
    desk.controller.seek(key, 9.0)
    qtbot.waitUntil(lambda: bool(desk.items.get(key).ahead.segments), timeout=PATIENCE)  # type: ignore[union-attr]
    return key


@pytest.mark.usefixtures("slow")
def test_the_share_of_a_paused_file_counts_the_stored_frames_behind_a_gap(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    key = detect_behind_a_gap(qtbot, desk, tmp_path)
    desk.controller.set_paused(True)
    qtbot.waitUntil(lambda: not desk.controller.has_run, timeout=PATIENCE)
    item = desk.items.get(key)
    assert item is not None
    assert item.results is not None
    with SessionReader(item.results.database) as reader:
        stored, position = reader.count(item.results.source), reader.position(item.results.source)
    assert position is not None
    assert position.frames < stored
    assert (item.state, item.fraction) == (ItemState.PAUSED, stored / 300)


@pytest.mark.slow  # the last test here goes to a place, tests/engine/run/test_resume.py replaces frames behind a gap
@pytest.mark.usefixtures("slow")
def test_frames_behind_a_gap_are_counted_once_when_a_cancelled_file_goes_on(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    key = detect_behind_a_gap(qtbot, desk, tmp_path)
    item = desk.items.get(key)
    assert item is not None
    assert item.fraction == (item.progress.frames + item.ahead.frames) / 300, "what waits behind the gap is finished, too"
    desk.controller.set_paused(True)
    qtbot.waitUntil(lambda: set(desk.now.values()) == {Phase.IDLE}, timeout=PATIENCE)
    desk.controller.set_paused(False)
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.DONE, timeout=2 * PATIENCE)
    results, counted, stored = desk.items.get(key).results, desk.controller.tally(key), Tally()  # type: ignore[union-attr]
    assert results is not None
    assert counted is not None
    with SessionReader(results.database) as reader:
        stored.add_stored(reader, results.source, desk.items.get(key).progress.info)  # type: ignore[union-attr]
    assert counted.counts(0.0) == stored.counts(0.0)
    assert sum(stored.counts(0.0).values()) > 0


@pytest.mark.slow  # a test above goes on with a cancelled file, tests/app/window/queue/test_memory.py puts files back
def test_a_removed_file_that_is_put_back_goes_on(qtbot: QtBot, desk: Desk, long: Path) -> None:
    desk.configure()
    (key,) = desk.controller.add([long])
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.RUNNING, timeout=PATIENCE)
    before = desk.items.get(key)
    removed = desk.controller.remove(key)
    assert removed is not None
    assert before is not None
    desk.controller.put_back(removed)
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.RUNNING, timeout=PATIENCE)
    after = desk.items.get(key)
    assert after is not None
    assert before.results is not None
    assert after.results is not None
    assert after.results.database == before.results.database
    assert after.progress.frames >= before.progress.frames


def test_with_other_settings_a_cancelled_file_begins_again_elsewhere(qtbot: QtBot, desk: Desk, long: Path, short: Path) -> None:
    desk.configure()
    (key,) = desk.controller.add([long])
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.RUNNING, timeout=PATIENCE)
    desk.controller.cancel(key)
    before = desk.items.get(key)
    notes: list[str] = []
    desk.controller.noted.connect(lambda found: notes.extend(map(str, found)))
    desk.configure(seed=2)
    desk.controller.continue_files([key])
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.RUNNING, timeout=PATIENCE)
    assert notes[0].startswith(f"{long.name} is detected from the beginning: the model or the settings")
    after = desk.items.get(key)
    assert before is not None
    assert after is not None
    assert before.results is not None
    assert after.results is not None
    assert after.results.database != before.results.database
    with SessionReader(before.results.database) as reader:
        assert reader.count(0) >= before.progress.frames, "what was stored stays"


@pytest.mark.slow  # tests/app/window/test_main_window.py restarts a run in the whole window
def test_new_settings_can_restart_what_runs(qtbot: QtBot, desk: Desk, long: Path) -> None:
    desk.configure()
    (key,) = desk.controller.add([long])
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.RUNNING, timeout=PATIENCE)
    before = desk.items.get(key)
    desk.configure(seed=2, restart=True)
    assert desk.state(key) is ItemState.WAITING
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.RUNNING, timeout=PATIENCE)
    after = desk.items.get(key)
    assert before is not None
    assert after is not None
    assert before.results is not None
    assert after.results is not None
    assert after.results.database != before.results.database
    desk.controller.stop()  # in the middle of the work, which is not completed
    assert desk.state(key) is ItemState.RUNNING


def test_only_files_of_the_present_settings_need_not_be_added_again(qtbot: QtBot, desk: Desk, long: Path, short: Path) -> None:
    def unfinished() -> list[int]:
        return [item.key for item in desk.controller.unfinished()]

    settings = desk.configure()
    (running,) = desk.controller.add([long])
    (own,) = desk.controller.add([short], (replace(settings, track=Track.BYTETRACK), tuple(check_model(settings.model).labels)))
    qtbot.waitUntil(lambda: desk.state(running) is ItemState.RUNNING, timeout=PATIENCE)
    assert unfinished() == [running]
    desk.configure(seed=2)
    assert unfinished() == [], "what runs keeps its settings"
    (waiting,) = desk.controller.add([long])
    assert unfinished() == [waiting]
    desk.controller.set_paused(True)
    assert (desk.state(running), unfinished()) == (ItemState.PAUSED, [running, waiting])  # it goes on with the new settings
    desk.controller.detect_again(running, Part(0.0, 1.0))
    assert unfinished() == [waiting]
    assert desk.state(own) is ItemState.WAITING


def test_a_session_that_cannot_begin_says_why(qtbot: QtBot, desk: Desk, short: Path, tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file where a folder should be")
    desk.configure()
    (key,) = desk.controller.add([short])
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.FAILED, timeout=PATIENCE)
    assert len(desk.errors) == 1
    (tmp_path / "sessions").unlink()
    desk.controller.detect_again(key)
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.DONE, timeout=PATIENCE)


@pytest.mark.usefixtures("slow")
def test_nothing_has_a_rate_when_a_session_was_lost(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", 300, (32, 32))
    rates: list[float] = []
    desk.controller.rate_changed.connect(rates.append)
    desk.configure()
    (key,) = desk.controller.add([video])
    qtbot.waitUntil(lambda: bool(rates) and rates[-1] > 0, timeout=PATIENCE)
    desk.controller.folder.rename(tmp_path / "away")
    qtbot.waitUntil(lambda: desk.state(key) is ItemState.FAILED, timeout=2 * PATIENCE)
    assert rates[-1] == 0
    assert len(desk.errors) == 1


def test_devices_join_and_leave_while_a_session_runs(qtbot: QtBot, desk: Desk, short: Path) -> None:
    desk.configure(devices=(FIRST,))
    (before,) = desk.controller.add([short])
    qtbot.waitUntil(lambda: desk.state(before) is ItemState.DONE, timeout=PATIENCE)
    desk.controller.add_device(SECOND)
    qtbot.waitUntil(lambda: desk.now == {FIRST: Phase.READY, SECOND: Phase.READY}, timeout=PATIENCE)
    desk.controller.remove_device(FIRST)
    qtbot.waitUntil(lambda: desk.now[FIRST] is Phase.LEFT, timeout=PATIENCE)
    (after,) = desk.controller.add([short])
    qtbot.waitUntil(lambda: desk.state(after) is ItemState.DONE, timeout=PATIENCE)
    assert (desk.devices_of(before), desk.devices_of(after)) == ({FIRST}, {SECOND})
    assert desk.refusals == []
    desk.controller.add_device(SECOND)
    assert [*map(str, desk.refusals)] == ["cpu:1 takes part already"]
    desk.controller.add_device(FIRST)
    qtbot.waitUntil(lambda: desk.now[FIRST] is Phase.READY, timeout=PATIENCE)


def test_without_a_session_no_device_can_join(desk: Desk) -> None:
    desk.controller.add_device(SECOND)
    assert [str(refusal) for refusal in desk.refusals] == ["nothing is being detected"]


def test_other_devices_in_the_settings_join_the_session_that_runs(qtbot: QtBot, desk: Desk, short: Path) -> None:
    settings = desk.configure(devices=(FIRST,))
    (before,) = desk.controller.add([short])
    qtbot.waitUntil(lambda: desk.state(before) is ItemState.DONE, timeout=PATIENCE)
    labels = check_model(settings.model).labels
    assert not desk.controller.would_change(replace(settings, devices=(SECOND,)), labels)
    assert desk.controller.would_change(replace(settings, devices=(SECOND,), parallel=Parallel.STREAMS), labels)
    desk.configure(devices=(SECOND,))
    (after,) = desk.controller.add([short])
    qtbot.waitUntil(lambda: desk.state(after) is ItemState.DONE, timeout=PATIENCE)
    qtbot.waitUntil(lambda: desk.now == {FIRST: Phase.LEFT, SECOND: Phase.READY}, timeout=PATIENCE)
    first, second = desk.items.get(before), desk.items.get(after)
    assert first is not None
    assert second is not None
    assert first.results is not None
    assert second.results is not None
    assert first.results.database == second.results.database  # one session


def test_a_session_is_named_after_its_first_file(tmp_path: Path) -> None:
    assert re.fullmatch(r"\d{8}-\d{6}-\d{6} street\.sqlite", session_name(tmp_path / "street.mp4"))
    for stem in ("\U0001f6b2" * 100, "caf\udce9", "two\nlines"):
        name = session_name(tmp_path / f"{stem}.mp4")
        assert len(name.encode()) <= 255
        assert name.isprintable()


def test_files_devices_and_the_total_show_one_rate_at_every_moment(qtbot: QtBot, desk: Desk, long: Path) -> None:
    desk.configure(devices=(FIRST, SECOND))
    totals: list[float] = []
    desk.controller.rate_changed.connect(totals.append)
    seen: list[tuple[float, float, float]] = []

    def compare(statuses: tuple[DeviceStatus, ...]) -> None:
        files = sum(item.rate or 0.0 for item in desk.items)
        if files:
            seen.append((totals[-1], sum(status.rate for status in statuses) or files, files))

    for changed in (desk.controller.devices_changed, desk.controller.figures_changed):
        changed.connect(compare)
    keys = desk.controller.add([long, long])
    qtbot.waitUntil(lambda: len(seen) >= 3 or all(item.ended for item in desk.items), timeout=PATIENCE)
    for key in keys:
        desk.controller.cancel(key)
    qtbot.waitUntil(lambda: all(item.ended for item in desk.items), timeout=PATIENCE)
    assert seen
    for total, devices, files in seen:
        assert (devices, files) == (pytest.approx(total), pytest.approx(total))


MOMENTS = 4


@pytest.mark.slow  # the test above compares the rates themselves
def test_every_part_of_the_window_shows_the_same_rate(qtbot: QtBot, window: MainWindow, long: Path) -> None:
    shown: list[tuple[str, str, str]] = []

    def look(_: object) -> None:
        (item,) = window.context.queue
        if item.rate and feature(window, DevicePanel).cards[0].row.content.rate:
            shown.append((window.status.queue.text(), item.brief[0], feature(window, DevicePanel).cards[0].row.content.rate_text))

    for changed in (window.context.run.devices_changed, window.context.run.figures_changed):
        changed.connect(look)  # behind the connections of the window
    settings = Preferences.of(tiny_files(), devices=(CPU,)).run_settings()
    window.context.run.set_settings(settings, check_model(settings.model).labels, restart=False)
    window.open_paths([long])
    qtbot.waitUntil(lambda: len(shown) >= MOMENTS or any(item.ended for item in window.context.queue), timeout=60_000)
    (item,) = window.context.queue
    window.context.run.cancel(item.key)
    qtbot.waitUntil(lambda: any(item.ended for item in window.context.queue))
    assert shown
    for total, file, device in shown:
        assert total.startswith(f"{device} frames/s")
        assert file.startswith(f"{device}/s")
    qtbot.waitUntil(lambda: window.status.queue.text() == "")
    (card,) = feature(window, DevicePanel).cards
    assert card.row.content.rate > 0  # the average of the run stays


@pytest.mark.usefixtures("slow")
def test_detection_goes_to_the_place_at_which_the_user_looks(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "long.mp4", 300, (32, 32), gop=30)
    settings = Preferences.of(tiny_files(), devices=(CPU,)).run_settings()
    window.context.run.set_settings(settings, check_model(settings.model).labels, restart=False)
    window.open_paths([video])
    viewer, heads = window.context.viewer, list[float]()

    def item() -> QueueItem:
        (only,) = window.context.queue
        return only

    def shown_ahead(result: object) -> None:
        if result is not None and viewer.player.position > 8:
            heads.append(item().progress.head or 0.0)

    viewer.player.result.connect(shown_ahead)
    qtbot.waitUntil(lambda: len(window.context.queue) == 1 and item().state is ItemState.RUNNING, timeout=PATIENCE)
    viewer.transport.sought.emit(9.0)
    qtbot.waitUntil(lambda: bool(heads), timeout=PATIENCE)
    assert heads[0] < 7, "boxes are there long before those of the frames before"
    (span,) = viewer.transport.timeline.ahead[:1]
    assert 0.7 < span[0] < 0.91
    window.context.run.cancel(item().key)
    timeline = viewer.transport.timeline
    qtbot.waitUntil(lambda: timeline.detected[1] < span[0] and len(timeline.ahead) == 1, timeout=PATIENCE)  # the gap stays visible
    assert timeline.ahead[0][0] == pytest.approx(span[0], abs=0.01)
    window.context.run.continue_files([item().key])
    qtbot.waitUntil(lambda: item().state is ItemState.DONE, timeout=2 * PATIENCE)
    results = item().results
    assert results is not None
    assert not item().ahead.segments
    assert not viewer.transport.timeline.ahead
    with SessionReader(results.database) as reader:
        assert [frame.ref.index for frame in reader.frames(results.source)] == list(range(300))


@pytest.mark.parametrize("way", ["pause", *(pytest.param(way, marks=pytest.mark.slow) for way in ("undo", "cancel")), "open"])
@pytest.mark.usefixtures("slow")
def test_corrections_behind_a_gap_are_not_removed_without_a_question(qtbot: QtBot, window: MainWindow, tmp_path: Path, way: str) -> None:
    """A file is stopped after a place was sought, corrected there, and continued by its button or by opening it again.

    undo: it is also removed from the queue and put back.
    """
    video = make_video(tmp_path / "long.mp4", 300, (32, 32), gop=30)
    settings = Preferences.of(tiny_files(), devices=(CPU,)).run_settings()
    run, queue, panel = window.context.run, window.context.queue, feature(window, QueuePanel)
    run.set_settings(settings, check_model(settings.model).labels, restart=False)
    window.open_paths([video])
    qtbot.waitUntil(lambda: [item.state for item in queue] == [ItemState.RUNNING], timeout=PATIENCE)
    (key,) = (item.key for item in queue)
    run.seek(key, 9.0)
    qtbot.waitUntil(lambda: bool(queue.get(key).ahead.segments), timeout=PATIENCE)  # type: ignore[union-attr]
    if way in ("pause", "undo"):
        panel.heading.pause.click()
        state = ItemState.PAUSED
    else:
        run.cancel(key)
        state = ItemState.CANCELLED
    run.renew()
    qtbot.waitUntil(lambda: not run.has_run, timeout=PATIENCE)
    results = queue.get(key).results  # type: ignore[union-attr]
    assert results is not None
    with SessionReader(results.database) as reader:
        found = [frame.ref.index for frame in reader.frames(results.source) if frame.detections is not None and len(frame.detections)]
        position = reader.position(results.source)
    assert position is not None
    assert found[-1] > position.frames
    with Corrections(results.database) as corrections:
        corrections.delete(OneDetection(results.source, found[-1], 0))
    if way == "undo":
        removed = run.remove(key)
        assert removed is not None
        run.put_back(removed)
        state = ItemState.WAITING

    def go_on(answer: str) -> None:
        if way in ("pause", "undo"):
            panel.heading.pause.click()
        elif way == "cancel":
            panel.continue_requested.emit([key])
        else:
            window.open_paths([video])
        qtbot.waitUntil(lambda: bool(window.findChildren(QMessageBox)), timeout=PATIENCE)
        (box,) = window.findChildren(QMessageBox)
        assert box.text() == "Continue, and remove 1 correction?"
        next(button for button in box.buttons() if button.text() == answer).click()
        qtbot.waitUntil(lambda: not window.findChildren(QMessageBox))

    go_on("Cancel")
    assert [(item.state, item.stored) for item in queue] == [(state, results)]
    assert edits(results.database)
    go_on("Continue")
    qtbot.waitUntil(lambda: [item.state for item in queue] == [ItemState.DONE], timeout=2 * PATIENCE)
    assert not edits(results.database)
