"""Fields of forms, and tables."""

from pathlib import Path

from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from framefleet.app.window.widgets.fields import PathField, combo_box, sorted_table

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


def test_columns_that_fill_a_table_shrink_again_to_their_least_width(qtbot: QtBot) -> None:
    table = sorted_table(QStandardItemModel(3, 4), "Numbers", (100, 40, 60, 100), 1, 2)
    qtbot.addWidget(table)
    table.show()
    beside = table.width() - table.viewport().width()

    def widths() -> list[int]:
        return [table.columnWidth(number) for number in range(4)]

    for width, expected in ((600, [100, 200, 200, 100]), (220, [100, 40, 60, 100]), (310, [100, 50, 60, 100])):
        table.resize(width + beside, 300)
        assert widths() == expected
    table.setColumnHidden(3, True)
    assert widths() == [100, 105, 105, 0]
    table.setColumnWidth(0, 90)
    assert widths() == [90, 110, 110, 0]
