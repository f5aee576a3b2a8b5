from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSettings
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow


class Changes(QObject):
    """Counts the changes of style of all widgets."""

    count = 0

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.count += event.type() is QEvent.Type.StyleChange
        return False


def test_widgets_compute_their_style_only_a_few_times_while_the_window_is_built(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> None:
    """3.4 times each on average; 11 times if each part is filled before it has its place in the window."""
    changes = Changes()
    qapp.installEventFilter(changes)
    try:
        window = MainWindow(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat), tmp_path / "sessions")
    finally:
        qapp.removeEventFilter(changes)
    qtbot.addWidget(window)
    assert 0 < changes.count < 5 * len(window.findChildren(QWidget))
