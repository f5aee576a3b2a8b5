"""The user's own models in the list, the chart of accuracy against speed, and the comparison of evaluated models."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.models.chart import ModelChart, Speed
from framefleet.app.window.models.comparison import (
    ComparisonDialog,
    Evaluated,
    ExplanationDialog,
    compared,
    open_comparison,
    read_evaluation,
)
from framefleet.app.window.models.files import OwnModels
from framefleet.app.window.models.library import ModelList
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets.banner import Banner
from framefleet.engine.model.registry.catalogue import FAMILY
from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.settings import ModelFiles
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.window import drop

PATIENCE = 30_000


@pytest.fixture
def model(tmp_path: Path) -> ModelFiles:
    """The user's model with its weights beside it."""
    from framefleet.engine.model.describe import describe
    from tests.support.models import TINY_CFG

    folder = tmp_path / "mine"
    folder.mkdir()
    cfg = Path(shutil.copy(TINY_CFG, folder / "street.cfg"))
    weights = folder / "street.weights"
    weights.write_bytes((0).to_bytes(4, "little") + (2).to_bytes(4, "little") + bytes(describe(cfg).weights_bytes - 8))
    return ModelFiles(cfg, weights)


def opened(qtbot: QtBot, window: MainWindow) -> ModelList:
    window.context.settings.open_models()
    models = window.context.settings.library.dialog
    assert models is not None
    qtbot.waitUntil(lambda: not window.context.background.busy, timeout=PATIENCE)
    return models


def test_a_dropped_model_is_added_used_and_removed(qtbot: QtBot, window: MainWindow, model: ModelFiles) -> None:
    models = opened(qtbot, window)
    assert not models.own_heading.isVisible()
    drop(models, [model.cfg, Path(model.weights)])
    qtbot.waitUntil(lambda: len(models.own_cards) == 1, timeout=PATIENCE)
    (card,) = models.own_cards
    assert (models.own_heading.isVisible(), card.accessibleName(), card.use.accessibleName()) == (True, "street", "Use street")
    qtbot.mouseClick(card.use, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.context.settings.summary is not None, timeout=PATIENCE)
    assert window.context.settings.preferences.model is not None
    assert window.context.settings.preferences.model.cfg == model.cfg
    models = opened(qtbot, window)
    (card,) = models.own_cards
    assert (card.use.text(), card.use.isEnabled(), card.remove.isEnabled()) == ("In use", False, False)


def test_the_window_asks_for_a_model_until_there_is_one(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "a.mp4", 3)])
    asking = lambda: [each for each in window.context.banners.findChildren(Banner) if "Choose a model" in each.message]  # noqa: E731
    qtbot.waitUntil(lambda: len(asking()) == 1)
    window.context.settings.open_dialog()
    assert window.context.settings.dialog is not None
    window.context.settings.dialog.accept()
    assert window.context.settings.dialog is None
    assert [each.isVisible() for each in asking()] == [True]


def test_a_drop_that_is_no_whole_model_is_explained_and_changes_nothing(qtbot: QtBot, window: MainWindow, model: ModelFiles) -> None:
    models = opened(qtbot, window)
    Path(model.weights).unlink()
    drop(models, [model.cfg])
    qtbot.waitUntil(lambda: models.note.isVisible(), timeout=PATIENCE)
    assert "street.cfg" in models.note.text()
    Path(model.weights).write_bytes(b"too short")
    drop(models, [model.cfg, Path(model.weights)])
    qtbot.waitUntil(lambda: "street.weights" in models.note.text(), timeout=PATIENCE)
    assert not models.own_cards
    assert window.context.settings.library.dialog is models


def test_a_model_whose_files_are_gone_says_so_and_can_be_taken_off(qtbot: QtBot, window: MainWindow, model: ModelFiles) -> None:
    window.context.settings.library.own.add(model)
    model.cfg.unlink()
    models = opened(qtbot, window)
    (card,) = models.own_cards
    assert "does not exist" in card.accessibleName()
    assert not card.use.isEnabled()
    qtbot.mouseClick(card.remove, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not models.own_cards, timeout=PATIENCE)
    assert window.context.settings.library.own.read() == []
    assert Path(model.weights).exists()


def test_own_models_are_kept_between_starts_newest_first(tmp_path: Path, model: ModelFiles) -> None:
    path = str(tmp_path / "s.ini")
    store = QSettings(path, QSettings.Format.IniFormat)
    own = OwnModels(store)
    other = ModelFiles(tiny_files(1).cfg, "random:1")
    own.add(model)
    own.add(other)
    own.add(model)  # again: it is not kept twice
    store.sync()
    assert [kept.cfg for kept in OwnModels(QSettings(path, QSettings.Format.IniFormat)).read()] == [model.cfg, other.cfg]
    store.setValue("models/own", "no list")
    assert own.read() == []


def test_the_chart_tells_published_from_measured(qtbot: QtBot) -> None:
    chart = ModelChart(FAMILY)
    qtbot.addWidget(chart)
    chart.show_speeds({"yolov4-tiny": Speed(283.2, "Some Processor")})
    assert "YOLOv4-tiny: 283 frames/s, YOLOv4-CSP," in chart.accessibleName()
    symbols = [item.opts["symbol"] for item in chart.item.listDataItems()]
    assert symbols.count("s") == 1
    assert symbols.count("o") == len(FAMILY) - 1


def report(path: Path, names: tuple[str, ...]) -> Path:
    """An evaluation.json as ``framefleet evaluate`` writes it, without curves."""
    sessions = [
        {
            "name": name,
            "map50": 0.5 + 0.1 * number,
            "map50_95": 0.3,
            "precision": 0.8,
            "recall": 0.7 - 0.1 * number,
            "classes": [{"label": "car", "ap50": 0.6}, {"label": "person", "ap50": 0.4 + 0.2 * number}],
        }
        for number, name in enumerate(names)
    ]
    path.write_text(json.dumps({"confidence": 0.25, "sessions": sessions}))
    return path


def test_two_models_are_compared_class_by_class(qtbot: QtBot, tmp_path: Path) -> None:
    one, other = read_evaluation(report(tmp_path / "evaluation.json", ("old", "new")))
    rows = compared(one, other)
    assert [title for title, *_ in rows] == [
        "mAP@0.5",
        "mAP@0.5:0.95",
        "Precision at confidence 25.0 %",
        "Recall at confidence 25.0 %",
        "person",
        "car",
    ]
    assert rows[4][1:] == (0.4, 0.6000000000000001)
    dialog = ComparisonDialog([one, other])
    qtbot.addWidget(dialog)
    dialog.show()
    cells = [[dialog.table.topLevelItem(line).text(column) for column in range(4)] for line in (0, 3)]
    assert all(dialog.table.headerItem().textAlignment(column) & Qt.AlignmentFlag.AlignRight for column in (1, 2, 3))
    assert cells == [["mAP@0.5", "50.0 %", "60.0 %", "+10.0"], ["Recall at confidence 25.0 %", "70.0 %", "60.0 %", "\N{MINUS SIGN}10.0"]]
    qtbot.keyClick(dialog.second, Qt.Key.Key_Up)
    assert dialog.table.topLevelItem(0).text(3) == "0.0"


def test_long_names_of_sessions_leave_room_for_the_rows(qtbot: QtBot) -> None:
    names = "20261123-091053-498011 people", "20261123-091253-498011 people"
    one, other = (
        Evaluated(name, value, 0.3, 0.8, 0.9996 - value / 1e5, 0.25, {}) for name, value in zip(names, (0.4414, 0.4436), strict=True)
    )
    dialog = ComparisonDialog([one, other])
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.table.columnWidth(0) >= dialog.table.sizeHintForColumn(0)
    assert dialog.table.header().length() <= dialog.table.viewport().width()
    assert [dialog.table.topLevelItem(line).text(3) for line in (0, 3)] == ["+0.3", "0.0"]  # 44.1 to 44.4: as shown


def test_the_window_explains_what_a_comparison_needs(qtbot: QtBot, window: MainWindow) -> None:
    models = opened(qtbot, window)
    models.compare.click()
    (dialog,) = models.findChildren(ExplanationDialog)
    assert dialog.isVisible()
    dialog.copy.click()
    assert QApplication.clipboard().text() == dialog.command.text()
    dialog.open_button.click()
    assert models.findChildren(QFileDialog)


def test_what_is_no_comparison_is_explained(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(UsageError, match="is not an evaluation"):
        read_evaluation(tmp_path / "other.json")
    with pytest.raises(UsageError, match="has one model only"):
        read_evaluation(report(tmp_path / "one.json", ("only",)))
    background, failures = Background(), list[Notice]()
    window = ComparisonDialog(read_evaluation(report(tmp_path / "e.json", ("a", "b"))))
    open_comparison(window, background, failures.append, tmp_path / "none.json")
    qtbot.waitUntil(lambda: bool(failures), timeout=PATIENCE)
    assert "none.json" in str(failures[0])
    open_comparison(window, background, failures.append, tmp_path / "e.json")
    delete(window)  # the list of models, before the evaluation is read
    with qtbot.captureExceptions() as problems:
        qtbot.waitUntil(lambda: not background.busy, timeout=PATIENCE)
    assert (len(failures), problems) == (1, [])
    background.stop()
