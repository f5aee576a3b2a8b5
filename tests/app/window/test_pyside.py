import importlib
import pkgutil

from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

import framefleet.app.window


def test_void_calls_do_not_wear_out_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 loses one reference to None per call on Python 3.10 and 3.11, and aborts after a few thousand."""
    label = QLabel()
    qtbot.addWidget(label)
    for number in range(10_000):
        label.setText(str(number))
    assert label.text() == "9999"


def test_an_error_in_a_widget_does_not_end_the_program() -> None:
    """PySide6 6.11 crashes if a widget overrides ``event``, and a handler raises that it calls: ``paintEvent``, for example.

    A widget that installs itself as its own event filter has no such problem.
    """
    for module in pkgutil.walk_packages(framefleet.app.window.__path__, "framefleet.app.window."):
        importlib.import_module(module.name)
    assert [widget for widget in _widgets(QWidget) if "event" in vars(widget)] == []


def _widgets(kind: type[QWidget]) -> list[type[QWidget]]:
    """The project's widgets."""
    found = [each for child in kind.__subclasses__() for each in (child, *_widgets(child))]
    return [each for each in found if each.__module__.startswith("framefleet.app.")]
