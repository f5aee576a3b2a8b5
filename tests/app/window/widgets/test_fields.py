"""Fields of forms."""

from pathlib import Path

from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from framefleet.app.window.widgets.fields import PathField, combo_box

LONG = "The lines and zones of the camera at the north entrance"


def test_a_combo_box_that_is_too_narrow_for_its_text_shows_an_ellipsis(qtbot: QtBot) -> None:
    elided, plain = combo_box("set", elided=True), QComboBox()
    for combo in (elided, plain):
        qtbot.addWidget(combo)
        combo.addItems(["All", LONG])
        combo.show()
        combo.resize(140, 30)
    assert elided.grab().toImage() == plain.grab().toImage()
    for combo in (elided, plain):
        combo.setCurrentText(LONG)
    assert elided.grab().toImage() != plain.grab().toImage()
    assert elided.minimumSizeHint().width() < 140 < elided.sizeHint().width()


def test_the_home_of_an_unknown_user_stays_as_it_is_written(qtbot: QtBot) -> None:
    field = PathField("Folder", "", "", folders=True)
    qtbot.addWidget(field)
    field.edit.setText("~unknown-user/a")
    assert field.path == Path("~unknown-user/a")
