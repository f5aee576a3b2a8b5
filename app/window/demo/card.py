"""What the demo shows, and how right its detections are."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.window.queue.item import ItemState, QueueItem
from app.window.widgets import formats, theme
from engine.detection.accuracy import Accuracy

ABOUT = "Rendered streets, seen by the small model that comes with Framefleet. What is truly in each frame is known exactly."
COLUMNS = 2


def _label(role: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setProperty("role", role)
    return label


class DemoCard(QWidget):
    """A panel for the right of the window. model_requested: the user has seen enough."""

    model_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.state = _label("small")
        self.state.setWordWrap(True)
        about = _label("small", ABOUT)
        about.setWordWrap(True)
        self.map50, self.map50_95 = _label("figure"), _label("figure")
        head = QHBoxLayout()
        head.addWidget(_label("section", "Demo"))
        head.addStretch()
        choose = QPushButton("Choose your own model…")
        choose.setProperty("role", "link")
        choose.setStyleSheet("padding-left: 0")  # in line with the text above it
        choose.clicked.connect(self.model_requested)
        foot = QHBoxLayout()
        foot.setContentsMargins(0, 2, 0, 0)
        foot.addWidget(choose)
        foot.addStretch()
        self.figures = QWidget()
        figures = QGridLayout(self.figures)
        figures.setContentsMargins(0, 4, 0, 2)
        figures.setVerticalSpacing(0)
        figures.setColumnStretch(2, 1)
        figures.setHorizontalSpacing(3 * theme.SPACE)
        units = (
            (self.map50, "mAP@0.5", "Mean average precision where a box that overlaps an object by half counts as right"),
            (self.map50_95, "mAP@0.5:0.95", "The same, averaged over overlaps from 0.5 to 0.95: how exactly the boxes fit"),
        )
        for number, (figure, unit, why) in enumerate(units):
            for row, widget in enumerate((figure, _label("small", unit))):
                widget.setToolTip(why)
                figures.addWidget(widget, row, number)
        self.classes = QWidget()
        self._grid = QGridLayout(self.classes)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.SPACE)
        self._grid.setVerticalSpacing(1)
        for column in range(COLUMNS):
            self._grid.setColumnStretch(3 * column, 1)
            self._grid.setColumnMinimumWidth(3 * column + 2, 12)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(16, 10, 16, 12)
        rows.setSpacing(4)
        rows.addLayout(head)
        rows.addWidget(about)
        rows.addWidget(self.figures)
        rows.addWidget(self.state)
        rows.addWidget(self.classes)
        rows.addLayout(foot)
        self._show("", figures=False)

    def show_progress(self, item: QueueItem) -> None:
        """The clip is not done."""
        if item.state is ItemState.FAILED:
            self.show_problem(item.summary)
        elif item.state is ItemState.CANCELLED:
            self._show("Cancelled: the accuracy is measured when all frames are detected.", figures=False)
        else:
            so_far = f" {formats.percent(item.fraction)} so far." if item.fraction else ""
            self._show(f"The accuracy follows when all frames are detected.{so_far}", figures=False)

    def show_comparing(self) -> None:
        """The clip is done."""
        self._show("Comparing with the truth…", figures=False)

    def show_problem(self, message: str) -> None:
        """There will be no accuracy."""
        self._show(message, figures=False)

    def show_accuracy(self, accuracy: Accuracy) -> None:
        """How right the detections are."""
        self.map50.setText(f"{accuracy.map50:.1%}")
        self.map50_95.setText(f"{accuracy.map50_95:.1%}")
        while (old := self._grid.takeAt(0)) is not None:
            if (widget := old.widget()) is not None:
                widget.deleteLater()
        rows = -(-len(accuracy.classes) // COLUMNS)
        for number, found in enumerate(accuracy.classes):
            column, row = divmod(number, rows)
            name, value = _label("small", found.label), _label("small", f"{found.ap50:.1%}")
            for widget in (name, value):
                widget.setToolTip(f"{found.label}: AP@0.5 {found.ap50:.1%}, AP@0.5:0.95 {found.ap50_95:.1%}, {found.objects:,} objects")
            self._grid.addWidget(name, row, 3 * column)
            self._grid.addWidget(value, row, 3 * column + 1, Qt.AlignmentFlag.AlignRight)
        objects = sum(found.objects for found in accuracy.classes)
        self._show(f"Measured against {objects:,} known objects. Each class at 0.5:", figures=True)
        self.setAccessibleDescription(f"Accuracy: mAP@0.5 {self.map50.text()}, mAP@0.5:0.95 {self.map50_95.text()}")

    def _show(self, text: str, figures: bool) -> None:
        self.state.setText(text)
        self.figures.setVisible(figures)
        self.classes.setVisible(figures)
