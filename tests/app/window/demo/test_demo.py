from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.demo import demo_settings
from framefleet.app.window.demo.demo import Demo
from framefleet.app.window.main_window import QUEUE_WIDTH, MainWindow
from framefleet.app.window.queue.item import ItemState, Results
from framefleet.engine.evaluation.accuracy import read_truth
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings import EngineSettings, Precision, RunSettings
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult
from framefleet.resources import DEMO
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.store import CPU, video_info
from tests.support.window import changed, feature


def write_truth_as_session(database: Path, images: int | None = None) -> Results:
    """A session that found exactly what is there in the first images (None = all), and nothing in the others."""
    truth = read_truth(DEMO.truth)
    rows: dict[int, list[list[float]]] = {}
    for note in truth["annotations"]:
        if not note["iscrowd"]:
            x, y, width, height = note["bbox"]
            rows.setdefault(note["image_id"], []).append([note["category_id"] - 1, x, y, x + width, y + height])
    labels = tuple(DEMO.labels.read_text().split())
    with SessionWriter(database, labels, {}) as writer:
        writer.add_source(0, str(DEMO.clip), video_info(str(DEMO.clip), len(truth["images"])))
        for image in range(len(truth["images"]) if images is None else images):
            table = np.array(rows.get(image, []), np.float32).reshape(-1, 5)
            found = Detections(table[:, 1:].copy(), np.full(len(table), 0.9, np.float32), table[:, 0].astype(np.int32))
            writer.add_frames([FrameResult(FrameRef(0, image, image / 25), CPU, 1280, 720, found)])
        writer.finish_source(0, str(DEMO.clip), Ledger(len(truth["images"]), len(truth["images"])), 10.0)
    return Results(database, 0, labels)


def test_the_accuracy_is_told_when_the_clip_is_done(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    card = feature(window, Demo).card
    assert not card.isVisible()
    window.start.watch.click()
    item = feature(window, Demo).item
    assert item is not None
    assert item.path == DEMO.clip
    assert window.context.selection.key == item.key
    assert card.isVisible()
    assert not card.figures.isVisible()
    window.context.run.cancel(item.key)
    assert "Cancelled" in card.state.text()

    for images, exact in ((3, False), (None, True)):
        results = write_truth_as_session(tmp_path / f"{images}.sqlite", images)
        window.context.queue.update(changed(item, state=ItemState.DONE, results=results, frames=675, seconds=10.0))
        window.context.run.item_changed.emit(item.key)
        assert card.state.text() == "Comparing with the true objects…"
        qtbot.waitUntil(card.figures.isVisible)
        assert (card.map50.text() == "100.0 %") is exact
        assert (card.map50_95.text() == "100.0 %") is exact
    assert "22,040 known objects" in card.state.text()
    assert window.left.minimumSizeHint().width() <= QUEUE_WIDTH, "the accuracy does not widen the column of the queue"
    shown = {widget.text() for widget in card.classes.findChildren(QWidget) if hasattr(widget, "text")}  # type: ignore[attr-defined]
    assert set(DEMO.labels.read_text().split()) < shown

    feature(window, Demo).watch()
    assert len(window.context.queue) == 1, "the clip is there already"
    window.context.run.remove(item.key)
    assert not card.isVisible()
    assert feature(window, Demo).item is None


def test_the_demo_leaves_the_user_s_model_alone(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    own = RunSettings(tiny_files(2), engine=EngineSettings(stored_confidence=0.05))
    video, other, third = (make_video(tmp_path / f"{name}.mp4", 20) for name in "abc")
    first, second = window.context.run.add([video], (own, ("x", "y", "z")))[0], window.context.run.add([other])[0]
    waiting = window.context.queue.get(second)
    assert waiting is not None
    assert waiting.reason == "Needs a model"
    states = [ItemState.DONE, ItemState.WAITING]
    qtbot.waitUntil(lambda: [item.state for item in window.context.queue] == states)
    more = window.context.run.add([make_video(tmp_path / f"more{number}.mp4", 20) for number in range(9)])
    window.context.run.set_settings(RunSettings(tiny_files(1)), ("p", "q", "r"), restart=False)
    assert not any(item.reason == "Needs a model" for item in window.context.queue), "also those that the session has no room for yet"
    for key in more:
        window.context.run.remove(key)
    last = window.context.run.add([third], (own, ("x", "y", "z")))[0]
    qtbot.waitUntil(lambda: all(item.state is ItemState.DONE for item in window.context.queue))
    made = {}
    for key in (first, second, last):
        item = window.context.queue.get(key)
        assert item is not None
        assert item.results is not None
        with SessionReader(item.results.database) as reader:
            made[key] = (reader.facts["weights"], reader.labels)
            assert reader.count(item.results.source) == 20
    assert made == {first: ("random:2", ("x", "y", "z")), second: ("random:1", ("p", "q", "r")), last: ("random:2", ("x", "y", "z"))}


def test_the_demo_s_settings_are_its_own() -> None:
    settings = demo_settings()
    assert settings.model.cfg == DEMO.cfg
    assert settings.engine.stored_confidence < 0.05, "average precision wants the weak detections"
    assert settings.engine.precision is Precision.FP32, "trials of precisions take longer than the demo's clip"
    assert demo_settings({"precision": Precision.AUTO}).engine.precision is Precision.AUTO
