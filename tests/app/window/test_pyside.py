from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot


def test_void_calls_do_not_wear_out_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 loses one reference to None per call on Python 3.10 and 3.11, and aborts after a few thousand."""
    label = QLabel()
    qtbot.addWidget(label)
    for number in range(10_000):
        label.setText(str(number))
    assert label.text() == "9999"
