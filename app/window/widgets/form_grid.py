"""The grid of a form: titles at the left, fields at the right, with the same columns in every form."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QAbstractSpinBox, QGridLayout, QLabel, QWidget

from app.window.widgets import theme
from app.window.widgets.indicators import label

TITLE_WIDTH = 8
"""Width of titles, times the height of body text."""


def indent(spin: QAbstractSpinBox) -> None:
    """Indent the number, because style sheets cannot, and leave dropped files to the window."""
    spin.lineEdit().setTextMargins(6, 0, 0, 0)
    spin.lineEdit().setAcceptDrops(False)


def form_grid(rows: Sequence[tuple[str, QWidget] | tuple[str, QWidget, str]]) -> QGridLayout:
    """A grid with a row for each title, field and, optionally, note beside the field. An empty title is left out."""
    grid = QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(8)
    grid.setColumnMinimumWidth(0, TITLE_WIDTH * theme.base_size())
    grid.setColumnStretch(2, 1)
    for number, (title, field, *note) in enumerate(rows):
        if title:
            heading = QLabel(title)
            heading.setBuddy(field)
            grid.addWidget(heading, number, 0)
        grid.addWidget(field, number, 1, 1, 1 if note else 2)
        if note:
            grid.addWidget(label("small", note[0]), number, 2)
    return grid
