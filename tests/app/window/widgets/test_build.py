"""Windows and dialogs fit the screen, and what does not fit scrolls."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.events.clips import ClipsDialog
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.models.files import ModelDownloads
from framefleet.app.window.models.library import ModelList
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.results.export import ExportDialog
from framefleet.app.window.run.background import Background
from framefleet.app.window.settings.dialog import SettingsDialog
from framefleet.app.window.settings.preferences import Preferences
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import translation
from framefleet.app.window.widgets.build import FRAME, ElidedLabel, Flow, ScrollPane, within_screen
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.store.session import SessionReader
from tests.support.window import feature, queue_item, write_results

SMALL = QSize(960, 540)
"""What a display of 1920×1080 has at a scale of 2."""


@pytest.fixture(autouse=True)
def _small_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: SMALL)
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: QRect(0, 0, SMALL.width(), SMALL.height()))


def fits(widget: QWidget) -> bool:
    return widget.width() <= SMALL.width() - FRAME.width() and widget.height() <= SMALL.height() - FRAME.height()


def test_what_fits_stays_as_it_is(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    assert within_screen(widget, 300, 200) == QSize(300, 200)
    assert within_screen(widget, 300, 2000) == QSize(300, SMALL.height() - FRAME.height())


def test_no_button_of_a_dialog_is_below_the_screen(qtbot: QtBot, tmp_path: Path) -> None:
    background = Background()
    settings = SettingsDialog(Preferences(), background, QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    models = ModelList(ModelDownloads(background), None)
    for dialog in (settings, models):
        qtbot.addWidget(dialog)
        dialog.show()
        assert fits(dialog)
    assert settings.rect().contains(settings.buttons.geometry())
    assert models.rect().contains(models.close_button.geometry())
    background.stop()


def test_a_form_scrolls_on_a_low_screen(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    low = QSize(1000, 330)
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: low)
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: QRect(0, 0, low.width(), low.height()))
    background, results = Background(), write_results(tmp_path / "a.sqlite", tmp_path / "a.mp4", 4)
    with SessionReader(results.database) as reader:
        export = ExportDialog(queue_item(tmp_path / "a.mp4", ItemState.DONE, results), reader.sources(), ViewFilter(), ["csv"], tmp_path)
    for dialog in (export, ClipsDialog(results, ViewFilter(), tmp_path, background)):
        qtbot.addWidget(dialog)
        dialog.show()
        qtbot.waitUntil(lambda dialog=dialog: dialog.height() == low.height() - FRAME.height())
        assert dialog.rect().contains(dialog.buttons.geometry())
        assert dialog.folder.height() == dialog.folder.sizeHint().height()
        for _ in range(40):
            if dialog.focusWidget() is not dialog.folder.edit:
                qtbot.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Tab)
        seen = dialog.rect().intersected(QRect(dialog.folder.mapTo(dialog, QPoint()), dialog.folder.size()))
        assert seen.size() == dialog.folder.size()
    background.stop()


def test_the_first_start_fits_a_small_screen(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), tmp_path / "sessions")
    qtbot.addWidget(window)
    window.show()
    assert fits(window)
    window.resize(800, 500)
    assert window.size() == QSize(800, 500)
    window.close()


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_window_with_all_panels_fits_a_laptop(qtbot: QtBot, qapp: QApplication, tmp_path: Path, language: str) -> None:
    translation.install(qapp, language)
    window = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), tmp_path / "sessions")
    translation.install(qapp, "en")
    qtbot.addWidget(window)
    window.show()
    window.context.actions.zones.setChecked(True)
    window.context.actions.correct.setChecked(True)
    feature(window, Zones).panel.set_counts(None, "A long sentence that says what is wrong. " * 3, can_track=True)
    window.resize(1000, 650)
    assert window.minimumSizeHint().width() <= 1000
    window.close()


def test_it_is_a_stop_of_the_tab_key_only_while_there_is_something_to_scroll(qtbot: QtBot) -> None:
    inside = QLabel("devices")
    pane = ScrollPane("Devices", inside)
    qtbot.addWidget(pane)
    pane.resize(200, 100)
    pane.show()
    assert pane.focusPolicy() is Qt.FocusPolicy.NoFocus
    inside.setMinimumHeight(300)
    qtbot.waitUntil(lambda: pane.focusPolicy() is Qt.FocusPolicy.TabFocus)
    pane.setFocus()
    qtbot.keyClick(pane, Qt.Key.Key_PageDown)
    assert pane.verticalScrollBar().value() > 0
    inside.setMinimumHeight(20)
    qtbot.waitUntil(lambda: pane.focusPolicy() is Qt.FocusPolicy.NoFocus)


def test_the_panels_that_scroll_have_names(qtbot: QtBot) -> None:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panes = panel.findChildren(ScrollPane)
    assert [pane.accessibleName() for pane in panes] == ["Topology", "Devices"]


def test_rows_of_a_flow_follow_the_texts_of_its_widgets(qtbot: QtBot) -> None:
    """Heights are kept for the widths that Qt asks for, until a widget changes."""
    widget, labels = QWidget(), [QLabel("text") for _ in range(3)]
    qtbot.addWidget(widget)
    flow = Flow(*labels, spacing=4)
    widget.setLayout(flow)
    width = flow.sizeHint().width()
    one, two = flow.heightForWidth(width), flow.heightForWidth(width // 2)
    assert two > one == labels[0].sizeHint().height()
    assert (flow.heightForWidth(width), flow.heightForWidth(width // 2)) == (one, two)
    labels[0].setText("a much longer text")
    assert flow.heightForWidth(width) > one
    assert flow.heightForWidth(flow.sizeHint().width()) == one


def test_a_line_leaves_out_the_parts_that_do_not_fit(qtbot: QtBot) -> None:
    line, whole = ElidedLabel("small"), ElidedLabel("small")
    for each in (line, whole):
        qtbot.addWidget(each)
        each.setFixedSize(each.fontMetrics().horizontalAdvance("70 events · N, P: ne"), 20)
    line.show_parts(["70 events", "N, P: next, previous"])
    whole.setText("70 events")
    assert line.text() == "70 events · N, P: next, previous"
    assert line.grab().toImage() == whole.grab().toImage()
    line.setFixedWidth(400)
    whole.setFixedWidth(400)
    assert line.grab().toImage() != whole.grab().toImage()
