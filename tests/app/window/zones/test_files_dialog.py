"""The dialog that asks which files use a set of lines and zones."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QColor

from framefleet.app.window.widgets import theme
from framefleet.app.window.zones.files_dialog import FilesDialog


def box_row(picture, item):
    """The colours of a row of pixels through the middle of the item's box."""
    return [picture.pixelColor(x, item.center().y()) for x in range(item.left(), item.left() + 24)]


def test_a_folder_of_which_some_files_are_checked_has_a_dash(qtbot):
    dialog = FilesDialog("camera", {Path("/videos/a.mp4"): "camera", Path("/videos/b.mp4"): None})
    qtbot.addWidget(dialog)
    dialog.show()
    folder = dialog.tree.visualItemRect(dialog.tree.topLevelItem(0))
    row = box_row(dialog.tree.viewport().grab().toImage(), folder)
    inside = row[row.index(QColor(theme.ACCENT)) :]
    dash = [colour for colour in inside[:14] if colour.lightness() < QColor(theme.ACCENT).lightness() - 60]
    assert 4 <= len(dash) <= 10


def test_unchecked_boxes_can_be_seen_and_do_not_touch(qtbot):
    """The box of a file is as wide as the indentation; its left edge has the colour of edges."""
    dialog = FilesDialog("camera", {Path("/videos/a.mp4"): None, Path("/videos/b.mp4"): None})
    qtbot.addWidget(dialog)
    dialog.show()
    first, second = (dialog.tree.visualItemRect(dialog.tree.topLevelItem(0).child(number)) for number in range(2))
    picture = dialog.tree.viewport().grab().toImage()
    row = box_row(picture, first)
    edge, inside = QColor(theme.EDGE), QColor(theme.RAISED)
    assert row.count(edge) == 2
    assert row[row.index(edge) + 1] == inside
    assert second.top() - first.top() >= 20
