"""The dialog that asks which files use a set of lines and zones."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QColor

from app.window.widgets import theme
from app.window.zones.files_dialog import FilesDialog


def test_unchecked_boxes_can_be_seen_and_do_not_touch(qtbot):
    """The box of a file is as wide as the indentation; its left edge has the colour of edges."""
    dialog = FilesDialog("camera", {Path("/videos/a.mp4"): None, Path("/videos/b.mp4"): None})
    qtbot.addWidget(dialog)
    dialog.show()
    first, second = (dialog.tree.visualItemRect(dialog.tree.topLevelItem(0).child(number)) for number in range(2))
    picture = dialog.tree.viewport().grab().toImage()
    row = [picture.pixelColor(x, first.center().y()) for x in range(first.left(), first.left() + 24)]
    edge, inside = QColor(theme.EDGE), QColor(theme.RAISED)
    assert row.count(edge) == 2
    assert row[row.index(edge) + 1] == inside
    assert second.top() - first.top() >= 20
