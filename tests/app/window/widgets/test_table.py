"""The look of tables."""

from PySide6.QtGui import QStandardItemModel
from pytestqt.qtbot import QtBot

from framefleet.app.window.widgets.table import sorted_table


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
