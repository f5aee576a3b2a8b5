"""Stored results are shown again, with their boxes and counts, and can be exported."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.models.files import ModelParts
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.model import FOUND_ROLE
from framefleet.app.window.queue.open_files import drop_title
from framefleet.app.window.queue.opening import MANY, Contents, Intake, expand, listed, sort_paths
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.export import ExportChoice, Exports
from framefleet.app.window.results.interrupted import InterruptedRun
from framefleet.app.window.results.stored import read_stored
from framefleet.engine.media.sources import stamp_of
from framefleet.engine.model.load import check_model
from framefleet.engine.notices import ExportError, ModelError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.exporters.options import ExportOptions
from framefleet.engine.store.reader import View
from framefleet.engine.store.session import SessionWriter
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.notices import words
from tests.support.store import LABELS, make_frame, video_info, write_session
from tests.support.window import drop, feature

PATIENCE = 30_000


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def own_window(open_window: Callable[[], MainWindow]) -> MainWindow:
    """For files without pictures: see ``shared_window``."""
    return open_window()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 frames of a video that is there, and 10 of one that is gone: person 0.9 and bicycle 0.8 in each."""
    folder = tmp_path_factory.mktemp("stored")
    video = make_video(folder / "there.mp4", 40, (640, 480))
    return write_session(folder / "s.sqlite", {str(video): 40, str(folder / "gone.mp4"): 10})


def test_dropped_results_are_shown_with_boxes_and_counts(qtbot: QtBot, window: MainWindow, stored: Path, tmp_path: Path) -> None:
    drop(window, [stored])
    qtbot.waitUntil(lambda: len(window.context.queue) == 2, timeout=PATIENCE)
    first, second = window.context.queue
    assert (first.state, first.progress.frames, first.path) == (ItemState.DONE, 40, stored.parent / "there.mp4")
    assert (second.state, second.progress.frames) == (ItemState.DONE, 10)
    assert window.context.selection.key == first.key
    assert window.status.devices.text().startswith("Stored results of ")
    assert not any("Choose a model" in text for text in window.context.banners.texts), "nothing is to be detected"
    qtbot.waitUntil(lambda: len(window.context.viewer.canvas.visible_detections) == 2, timeout=PATIENCE)
    qtbot.waitUntil(lambda: (tally := window.context.run.tally(first.key)) is not None and tally.complete, timeout=PATIENCE)
    tally = window.context.run.tally(first.key)
    assert tally is not None
    assert tally.counts(0.5) == {0: 40, 1: 40}
    assert tally.counts(0.85) == {0: 40, 1: 0}

    row = window.context.queue.index(0)
    assert row.data(FOUND_ROLE) == (("person", 40), ("bicycle", 40))
    window.context.filter.set_confidence(0.85)
    assert row.data(FOUND_ROLE) == (("person", 40),)
    window.context.filter.set_confidence(0.95)
    assert row.data(FOUND_ROLE) == ()
    assert "done, empty, 40 frames" in row.data(Qt.ItemDataRole.AccessibleTextRole)
    qtbot.waitUntil(lambda: feature(window, QueuePanel).heading.summary.accessibleName() == "2 done, 2 empty")

    assert first.results is not None
    feature(window, Exports).start(ExportChoice(View(first.results.database, 0.25), (0,), ("jsonl",), tmp_path / "again", ExportOptions()))
    qtbot.waitUntil(lambda: "(40 frames)" in window.context.activity.text.text(), timeout=PATIENCE)
    (target,) = (tmp_path / "again").iterdir()
    assert len(target.read_text().splitlines()) == 40

    feature(window, QueuePanel).show_item(second.key)  # its detections are there, its pictures are not
    qtbot.waitUntil(lambda: "gone.mp4" in window.context.viewer.canvas.accessibleDescription(), timeout=PATIENCE)


def test_results_that_are_open_already_are_shown_and_not_doubled(qtbot: QtBot, window: MainWindow, stored: Path) -> None:
    window.open_paths([stored])
    window.open_paths([stored])  # while they are being read
    qtbot.waitUntil(lambda: len(window.context.queue) == 2, timeout=PATIENCE)
    first, second = window.context.queue
    feature(window, QueuePanel).show_item(second.key)
    window.open_paths([stored.parent / "." / stored.name])
    qtbot.waitUntil(lambda: window.context.selection.key == first.key)
    qtbot.waitUntil(lambda: not window.context.background.busy, timeout=PATIENCE)
    assert len(window.context.queue) == 2


def test_the_queue_of_the_last_run_and_the_same_session_opened_again_give_each_file_once(
    qtbot: QtBot, window: MainWindow, stored: Path
) -> None:
    remembered = [
        {"path": str(stored.parent / name), "database": str(stored), "source": source, "ended": True, "part": None}
        for source, name in enumerate(("there.mp4", "gone.mp4"))
    ]
    folder = window.context.folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "queue.json").write_text(json.dumps(remembered))
    feature(window, InterruptedRun).look()
    window.open_paths([stored])  # as at the start: both read it at the same time
    qtbot.waitUntil(lambda: len(window.context.queue) >= 2 and not window.context.background.busy, timeout=PATIENCE)
    assert [item.path.name for item in window.context.queue] == ["there.mp4", "gone.mp4"]
    assert window.context.selection.key == next(iter(window.context.queue)).key


@pytest.mark.slow  # tests/app/window/corrections/test_during_a_run.py detects again
def test_a_stored_file_can_be_detected_again(qtbot: QtBot, window: MainWindow, stored: Path) -> None:
    window.open_paths([stored])
    qtbot.waitUntil(lambda: len(window.context.queue) == 2, timeout=PATIENCE)
    key = next(iter(window.context.queue)).key
    window.context.settings.begin(tiny_files())
    qtbot.waitUntil(lambda: window.context.settings.summary is not None, timeout=PATIENCE)
    window.context.run.detect_again(key)

    def done_again() -> bool:
        item = window.context.queue.get(key)
        return item is not None and item.state is ItemState.DONE and item.results is not None and item.results.database != stored

    qtbot.waitUntil(done_again, timeout=PATIENCE)


def test_the_menu_asks_for_stored_results_where_the_windows_own_ones_are(window: MainWindow) -> None:
    window.context.actions.open_results.trigger()
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    assert Path(dialog.directory().absolutePath()) == window.context.folder
    assert dialog.nameFilters()[0] == "Stored results (*.sqlite *worst-frames*.json)"
    dialog.reject()


def test_a_file_that_has_changed_since_is_named(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", frames=4)
    with SessionWriter(tmp_path / "s.sqlite", LABELS, {}) as writer:
        for number, stamp in enumerate((stamp_of(video), None)):
            writer.add_source(number, str(video), video_info(str(video), 4), stamp)
            writer.add_frames([make_frame(number, 0)])
    make_video(video, frames=5)
    window.open_paths([writer.path])
    qtbot.waitUntil(lambda: len(window.context.queue) == 2)
    (warning,) = [text for text in window.context.banners.texts if "has changed" in text]
    assert warning.count(str(video)) == 1


def test_what_is_no_session_is_explained(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    (tmp_path / "other.sqlite").write_text("something else" * 1000)
    window.open_paths([tmp_path / "other.sqlite", tmp_path / "missing.sqlite"])
    qtbot.waitUntil(lambda: any("other.sqlite" in text and "not a session database" in text for text in window.context.banners.texts))
    qtbot.waitUntil(lambda: any("missing.sqlite" in text and "cannot be opened" in text for text in window.context.banners.texts))
    assert len(window.context.queue) == 0


def test_every_end_of_a_source_is_told_as_it_was(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "s.sqlite", LABELS, {"folder": str(tmp_path)})
    for number, name in enumerate(("done.mp4", "cancelled.mp4", "torn.mp4")):
        writer.add_source(number, name, video_info(name, 10))
        writer.add_frames(make_frame(number, index, failure="it is spoiled" if index == 2 else None) for index in range(4))
    writer.finish_source(0, "done.mp4", Ledger(4, 3, {}, {words("it is spoiled"): 1}), 2.0)
    writer.finish_source(1, "cancelled.mp4", Ledger(4, 3, {}, {words("it is spoiled"): 1}), 2.0, cancelled=True)
    writer.finish_source(2, "torn.mp4", Ledger(4, 3, {}, {words("it is spoiled"): 1}), 2.0, error=words("it ends too early"))
    writer.finish_source(3, "unreadable.mp4", Ledger(), 0.0, error=words("it is no video"))
    writer.close(complete=True)
    found = read_stored(tmp_path / "s.sqlite")
    assert [item.path for item in found[:3]] == [tmp_path / name for name in ("done.mp4", "cancelled.mp4", "torn.mp4")]
    assert [item.state for item in found] == [ItemState.DONE, ItemState.CANCELLED, ItemState.FAILED, ItemState.FAILED]
    assert [(item.progress.frames, item.progress.failed, item.progress.head) for item in found] == [(4, 1, 3 / 25)] * 3 + [(0, 0, None)]
    assert [item.reason for item in found] == [None, None, words("it ends too early"), words("it is no video")]


def test_a_session_that_saw_no_file_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"s\.sqlite holds no results"):
        read_stored(write_session(tmp_path / "s.sqlite", {}))


def test_many_files_of_a_folder_are_queued_after_a_question(qtbot: QtBot, own_window: MainWindow, tmp_path: Path) -> None:
    for number in range(MANY + 1):
        (tmp_path / f"{number}.mp4").touch()
    answers = {"Cancel": 0, "Add": MANY + 1}
    for answer, queued in answers.items():
        own_window.open_paths([tmp_path])
        qtbot.waitUntil(lambda: any(box.isVisible() for box in own_window.findChildren(QMessageBox)))
        (box,) = (box for box in own_window.findChildren(QMessageBox) if box.isVisible())
        assert box.text() == "Add 21 files to the queue?"
        assert not len(own_window.context.queue)
        next(button for button in box.buttons() if button.text() == answer).click()
        qtbot.waitUntil(lambda queued=queued: len(own_window.context.queue) == queued)  # type: ignore[misc]


def test_files_that_are_named_one_by_one_are_queued_at_once(qtbot: QtBot, own_window: MainWindow, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.mp4" for number in range(MANY + 1)]
    for file in files:
        file.touch()
    own_window.open_paths(files)
    qtbot.waitUntil(lambda: len(own_window.context.queue) == MANY + 1)


def test_an_unfinished_file_is_not_queued_twice(
    qtbot: QtBot, own_window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*paths: Path) -> list[str]:
        own_window.open_paths(paths)
        qtbot.waitUntil(lambda: not own_window.context.background.busy, timeout=PATIENCE)
        return [item.path.name for item in own_window.context.queue]

    one, other, link = (tmp_path / name for name in ("one.mp4", "other.mp4", "link.mp4"))
    one.touch()
    other.touch()
    link.symlink_to(one)
    monkeypatch.chdir(tmp_path)
    line = own_window.context.activity
    own_window.open_paths([one])
    assert opened(one) == ["one.mp4"]  # the second drop comes while the first one is being searched
    assert (line.isVisible(), line.text.text(), line.reveal.isVisible()) == (True, "one.mp4 is already in the queue", False)
    first = next(iter(own_window.context.queue)).key
    assert opened(one, other, link) == ["one.mp4", "other.mp4"]
    assert line.text.text() == "2 files are already in the queue"
    for same in (one, Path("one.mp4"), tmp_path / "x" / ".." / "one.mp4", link):
        (tmp_path / "x").mkdir(exist_ok=True)
        feature(own_window, QueuePanel).show_item([item.key for item in own_window.context.queue][1])
        assert opened(same) == ["one.mp4", "other.mp4"]
        assert (own_window.context.selection.key, line.text.text()) == (first, f"{same.name} is already in the queue")
    own_window.context.run.cancel(first)
    assert opened(one, link) == ["one.mp4", "other.mp4"]
    assert line.text.text() == "one.mp4 goes on"
    for frames, said in ((0, "one.mp4 is tried again"), (7, "one.mp4 goes on")):
        item = own_window.context.queue.get(first)
        assert item is not None
        own_window.context.queue.update(replace(item, state=ItemState.FAILED, progress=replace(item.progress, frames=frames)))
        assert opened(one) == ["one.mp4", "other.mp4"], "the failed file goes on, and is not there twice"
        item = own_window.context.queue.get(first)
        assert item is not None
        assert (item.state, line.text.text()) == (ItemState.WAITING, said)
    for item in own_window.context.queue:
        own_window.context.queue.update(replace(item, state=ItemState.DONE))
    own_window.context.run.file_done.emit(item)
    assert line.isHidden(), "it is said for as long as it is true"


def test_many_files_that_are_all_in_the_queue_need_no_question(qtbot: QtBot, own_window: MainWindow, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.mp4" for number in range(MANY + 1)]
    for file in files:
        file.touch()
    own_window.open_paths(files)
    qtbot.waitUntil(lambda: len(own_window.context.queue) == MANY + 1)
    own_window.open_paths([tmp_path])
    qtbot.waitUntil(lambda: own_window.context.activity.text.text() == "21 files are already in the queue")
    assert not any(box.isVisible() for box in own_window.findChildren(QMessageBox))


def touch(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.touch()
    return paths


def test_model_files_are_told_from_sources_by_their_suffix() -> None:
    intake = sort_paths(map(Path, ("a.mp4", "m.CFG", "folder", "m.weights", "x.names", "b.jpg")))
    assert (intake.cfg, intake.weights, intake.labels) == (Path("m.CFG"), Path("m.weights"), Path("x.names"))
    assert intake.sources == (Path("a.mp4"), Path("folder"), Path("b.jpg"))
    assert not sort_paths([Path("a.mp4")]).has_model


def test_a_dropped_model_of_pytorch_is_told_how_to_export_it(tmp_path: Path) -> None:
    (model,) = touch(tmp_path, "best.pt")
    files = ModelParts().updated(sort_paths([model])).files
    assert files is not None
    with pytest.raises(ModelError, match=r"is a PyTorch model, .* export it as ONNX"):
        check_model(files)


def test_dropping_a_cfg_finds_its_weights(tmp_path: Path) -> None:
    cfg, weights = touch(tmp_path, "m.cfg", "m.weights")
    files = ModelParts().updated(sort_paths([cfg])).files
    assert files is not None
    assert (files.cfg, files.weights, files.labels) == (cfg, weights, None)


def test_dropping_weights_finds_their_cfg_or_takes_those_there_are(tmp_path: Path) -> None:
    cfg, weights, other, best = touch(tmp_path, "m.cfg", "m.weights", "other.weights", "m_best.weights")
    assert ModelParts().updated(sort_paths([best])).cfg == cfg
    parts = ModelParts(cfg, weights).updated(sort_paths([other]))
    assert (parts.cfg, parts.weights) == (cfg, other)


def test_a_new_cfg_does_not_keep_the_weights_of_another_model(tmp_path: Path) -> None:
    cfg, weights, lonely = touch(tmp_path, "m.cfg", "m.weights", "lonely.cfg")
    parts = ModelParts(cfg, weights).updated(sort_paths([lonely]))
    assert parts.files is None
    assert "no weights beside lonely.cfg" in parts.missing
    assert parts.updated(sort_paths([weights])).cfg == cfg  # its own cfg lies beside it


def test_parts_can_come_one_after_the_other(tmp_path: Path) -> None:
    cfg, weights, labels = touch(tmp_path, "m.cfg", "trained.weights", "x.names")
    parts = ModelParts().updated(sort_paths([labels])).updated(sort_paths([weights]))
    assert "belongs to" in parts.missing
    parts = parts.updated(sort_paths([cfg, weights, labels]))
    assert parts == ModelParts(cfg, weights, labels)
    assert parts.missing == ""


def test_the_overlay_says_what_dropping_will_do() -> None:
    def title(*names: str) -> str:
        return drop_title(sort_paths(map(Path, names)))

    assert title("a.mp4") == "Drop to add a.mp4"
    assert title("a.mp4", "b.mp4") == "Drop to add 2 items"
    assert title("m.cfg", "m.weights") == "Drop to use this model"
    assert title("m.cfg", "a.mp4") == "Drop to set the model and add 1 item"
    assert title("crossing.json") == "Drop to open crossing.json"


def test_every_path_that_holds_nothing_is_told_or_counted(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").touch()
    found = expand([tmp_path / "a.mp4", *(tmp_path / f"gone {number}.mp4" for number in range(5))])
    problems = found.problems
    assert found.sources == (tmp_path / "a.mp4",)
    assert len(problems) == 5
    lines = listed(problems)
    assert len(lines) == 4
    assert "gone 0.mp4 does not exist" in lines[0]
    assert lines[3] == "… and 2 more"
    assert listed(problems[:3]) == [*problems[:3]]


def test_a_file_that_is_dropped_with_its_folder_is_one_source(tmp_path: Path) -> None:
    one, other = touch(tmp_path, "a.mp4", "b.mp4")
    assert expand([other, tmp_path]).sources == (other, one)


def test_a_folder_that_holds_a_model_gives_it(tmp_path: Path) -> None:
    cfg, weights = touch(tmp_path, "m.cfg", "other_name.weights")
    assert expand([tmp_path]) == Contents((), Intake(cfg, weights, None, ()), ())
    (video,) = touch(tmp_path, "a.mp4")
    assert expand([tmp_path]) == Contents((video,), Intake(cfg, weights, None, ()), ())


def test_of_several_cfgs_in_a_folder_the_one_with_weights_is_the_model(tmp_path: Path) -> None:
    cfg, weights, _ = touch(tmp_path, "m.cfg", "m_best.weights", "n.cfg")
    assert expand([tmp_path]).model == Intake(cfg, weights, None, ())
    touch(tmp_path, "n.weights")
    found = expand([tmp_path])
    assert found.model is None
    assert "holds several models (m.cfg, n.cfg): drop the .cfg of the one you want" in found.problems[0]


def test_a_folder_with_half_a_model_is_no_model(tmp_path: Path) -> None:
    touch(tmp_path, "m.cfg")
    found = expand([tmp_path])
    assert found.model is None
    assert "no video and no picture" in found.problems[0]


def test_stored_results_are_told_from_sources() -> None:
    intake = sort_paths(map(Path, ("a.mp4", "20261121.SQLITE", "session.sqlite")))
    assert intake.sessions == (Path("20261121.SQLITE"), Path("session.sqlite"))
    assert intake.sources == (Path("a.mp4"),)
    assert drop_title(sort_paths([Path("session.sqlite")])) == "Drop to open these results"
