"""The fixture ``qtbot`` of all tests of the window, as a plugin: a machine without Qt runs the other tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

import framefleet.app.window  # noqa: F401 # before other modules: they are imported faster
from tests.support.paths import PATIENCE_MS


class PatientBot(QtBot):
    """Waits longer than pytest-qt's own bot, because other programs may use the processor."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **options: Any) -> Any:  # noqa: N802
        return super().waitSignal(signal, timeout=timeout, **options)

    @staticmethod
    def mouseMove(widget: QWidget, at: QPoint) -> None:  # noqa: N802
        """Send a movement to the widget itself: Qt's own function sends it to any window that lies above, or not at all."""
        buttons, modifiers = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        place = widget.mapToGlobal(at)
        QApplication.sendEvent(widget, QMouseEvent(QEvent.Type.MouseMove, at, place, buttons, buttons, modifiers))


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> Iterator[QtBot]:
    """Replaces pytest-qt's fixture. The windows of a test are deleted at its end, not in the next event loop of another test.

    The keys that a test held are released at its end. Qt keeps the modifiers of the last key that a test pressed. If they are Ctrl,
    ``setCurrentItem`` clears the selection of a row that is already selected, for example.
    """
    yield PatientBot(request)
    if QApplication.keyboardModifiers() is not Qt.KeyboardModifier.NoModifier:
        QTest.keyClick(QWidget(), Qt.Key.Key_Control)  # the next key replaces the modifiers
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # type: ignore[arg-type] # None is allowed: all objects
