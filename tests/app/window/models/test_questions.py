"""An ONNX file that is dropped on the window: used at once, or after the user has said how it is read and what its classes are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.models.questions import LabelsDialog, ReadingDialog
from framefleet.app.window.queue.opening import sort_paths
from framefleet.engine.model.onnx.network import Reading
from tests.support.media import make_video
from tests.support.onnx_models import CELLS, write_model, write_sorted_fractions
from tests.support.window import drop

PATIENCE = 60_000


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEFLEET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FRAMEFLEET_MODELS", str(tmp_path / "models"))


def ambiguous(folder: Path) -> Path:
    objects = np.zeros((1, 300, 6), np.float32)
    objects[0, 0] = [8, 8, 40, 24, 0.9, 1]
    return write_model(folder / "a.onnx", {"o": objects}).cfg


def test_a_dropped_file_is_used(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    licence = "AGPL-3.0 License (https://ultralytics.com/license)"
    metadata = {"names": "['cat', 'dog']", "stride": "32", "task": "detect", "license": licence}
    path = write_model(tmp_path / "a.onnx", {"o": np.zeros((1, 6, CELLS), np.float32)}, metadata).cfg
    drop(window, [path])
    settings = window.context.settings
    qtbot.waitUntil(lambda: settings.summary is not None, timeout=PATIENCE)
    assert settings.summary is not None
    assert (settings.summary.reading, settings.labels, settings.summary.licence) == (Reading.YOLOV8, ("cat", "dog"), licence)
    settings.open_models()
    dialog = settings.library.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: bool(dialog.own_cards), timeout=PATIENCE)
    (card,) = dialog.own_cards
    texts = "\n".join(each.text() for each in card.findChildren(QLabel))
    assert licence in texts
    assert "Read as yolov8" in texts

    card.labels.click()
    qtbot.waitUntil(lambda: settings.library.questions.dialog is not None, timeout=PATIENCE)
    labels = settings.library.questions.dialog
    assert isinstance(labels, LabelsDialog)
    assert labels.text.toPlainText() == "cat\ndog"
    labels.text.setPlainText("hare")
    labels.save.click()
    qtbot.waitUntil(lambda: "has 1 labels, but the model has 2 classes" in labels.note.text(), timeout=PATIENCE)
    labels.text.setPlainText("hare\nfox")
    labels.save.click()
    qtbot.waitUntil(lambda: settings.labels == ("hare", "fox"), timeout=PATIENCE)


def test_labels_that_are_dropped_with_the_file(tmp_path: Path) -> None:
    found = sort_paths([tmp_path / "data.yaml", tmp_path / "a.onnx", tmp_path / "b.mp4"])
    assert (found.cfg, found.labels, found.sources) == (tmp_path / "a.onnx", tmp_path / "data.yaml", (tmp_path / "b.mp4",))
    assert sort_paths([tmp_path / "data.yaml"]).sources == (tmp_path / "data.yaml",)


def test_the_user_chooses_the_reading_by_its_boxes(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = ambiguous(tmp_path)
    (tmp_path / "a.names").write_text("cat\ndog\n")
    drop(window, [make_video(tmp_path / "a.mp4", 4, (64, 64))])
    qtbot.waitUntil(lambda: len(window.context.queue) == 1, timeout=PATIENCE)  # else the boxes are shown on the demo's clip
    drop(window, [path])
    settings = window.context.settings
    qtbot.waitUntil(lambda: settings.library.questions.dialog is not None, timeout=PATIENCE)
    dialog = settings.library.questions.dialog
    assert isinstance(dialog, ReadingDialog)
    assert list(dialog.pictures) == [Reading.END2END, Reading.RTDETR]
    qtbot.waitUntil(lambda: not dialog.pictures[Reading.END2END].pixmap().isNull(), timeout=PATIENCE)
    assert dialog.pictures[Reading.END2END].accessibleName() == "1 box"
    picture = dialog.pictures[Reading.END2END].pixmap().toImage()
    scale = picture.width() / 64
    edge, beside = picture.pixelColor(round(8 * scale), round(16 * scale)), picture.pixelColor(round(50 * scale), round(16 * scale))
    assert edge.blue() > edge.red() + 50, "the box is drawn in the accent's blue"
    assert abs(beside.blue() - beside.red()) < 50
    dialog.choices[Reading.END2END].click()
    qtbot.waitUntil(lambda: settings.summary is not None, timeout=PATIENCE)
    assert settings.summary is not None
    assert settings.summary.reading is Reading.END2END
    assert settings.library.questions.dialog is None


def test_the_user_names_the_classes_that_the_file_does_not_name(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = write_sorted_fractions(tmp_path / "a.onnx").cfg
    drop(window, [path])
    settings = window.context.settings
    qtbot.waitUntil(lambda: settings.library.questions.dialog is not None, timeout=PATIENCE)
    dialog = settings.library.questions.dialog
    assert isinstance(dialog, LabelsDialog)
    dialog.coco.click()
    dialog.save.click()
    qtbot.waitUntil(lambda: len(settings.labels) == 80, timeout=PATIENCE)
    assert settings.labels[0] == "person"
