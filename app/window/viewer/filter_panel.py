"""What of the detections is shown: from which confidence on, and which classes. Acts at once, without another run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QSlider,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.window.viewer.class_delegate import ClassDelegate
from app.window.viewer.class_model import CLASS_ROLE, ClassModel
from app.window.viewer.filter import ViewFilter
from app.window.widgets import theme
from app.window.widgets.form_grid import indent
from app.window.widgets.icons import icon
from app.window.widgets.path_field import clearable


class FilterPanel(QWidget):
    """changed: a ViewFilter."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(5, 100)
        self.slider.setAccessibleName("Confidence from")
        self.slider.setToolTip("Show detections from this confidence on")
        self.spin = QSpinBox(suffix=" %")
        self.spin.setRange(5, 100)
        self.spin.setAccessibleName("Confidence from, in percent")
        indent(self.spin)
        self.spin.setFixedWidth(self.spin.fontMetrics().horizontalAdvance("100 %") + 44)
        self.classes = ClassModel(self)
        self.search = clearable("Search classes")
        self.search.setAccessibleName("Search classes")
        self.search.addAction(QAction(icon("search", theme.MUTED), "", self.search), QLineEdit.ActionPosition.LeadingPosition)
        self.everything, self.nothing = (QPushButton(text) for text in ("All", "None"))
        for button, name in ((self.everything, "Show all classes"), (self.nothing, "Hide all classes")):
            button.setProperty("role", "link")
            button.setAccessibleName(name)
            button.setToolTip(name)
        self.view = QListView()
        self.view.setProperty("role", "classes")
        self.view.setAccessibleName("Classes")
        self.view.installEventFilter(self)
        self.view.setModel(self.classes)
        self.view.setItemDelegate(ClassDelegate(self.view))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._stack = QStackedWidget()
        self._hint = QLabel("The classes of the model appear here.")
        self._hint.setProperty("role", "small")
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._hint.setContentsMargins(16, 6, 16, 0)
        self._hint.setWordWrap(True)
        self._stack.addWidget(self._hint)
        self._stack.addWidget(self.view)
        self._arrange()
        self.slider.valueChanged.connect(self.spin.setValue)
        self.spin.valueChanged.connect(self._confidence_changed)
        self.classes.checked_changed.connect(self._announce)
        self.classes.modelReset.connect(self._show_rows)
        self.search.textChanged.connect(self.classes.search)
        self.everything.clicked.connect(self._show_all)
        self.nothing.clicked.connect(self._hide_all)
        self.view.doubleClicked.connect(self._show_only)
        self.set_confidence(0.25)

    def _arrange(self) -> None:
        heading = QLabel("Confidence")
        heading.setProperty("role", "section")
        heading.setBuddy(self.slider)
        first = QHBoxLayout()
        first.setContentsMargins(16, 12, 16, 0)
        first.addWidget(heading)
        first.addStretch()
        first.addWidget(self.spin)
        second = QHBoxLayout()
        second.setContentsMargins(16, 4, 16, 10)
        second.addWidget(self.slider)
        classes = QLabel("Classes")
        classes.setProperty("role", "section")
        third = QHBoxLayout()
        third.setContentsMargins(16, 4, 12, 4)
        third.setSpacing(2)
        third.addWidget(classes)
        third.addStretch()
        third.addWidget(self.everything)
        third.addWidget(self.nothing)
        fourth = QHBoxLayout()
        fourth.setContentsMargins(16, 0, 16, 6)
        fourth.addWidget(self.search)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 6)
        column.setSpacing(0)
        for row in (first, second, third, fourth):
            column.addLayout(row)
        column.addWidget(self._stack, 1)

    @property
    def filter(self) -> ViewFilter:
        """What is chosen."""
        return ViewFilter(self.spin.value() / 100, self.classes.classes)

    def set_confidence(self, confidence: float) -> None:
        """Move the slider."""
        self.slider.setValue(round(confidence * 100))
        self.spin.setValue(round(confidence * 100))

    def set_floor(self, confidence: float) -> None:
        """What detection was asked for: nothing weaker is stored, so nothing weaker can be chosen."""
        lowest = max(round(confidence * 100), 1)
        self.slider.setMinimum(lowest)
        self.spin.setMinimum(lowest)

    def set_labels(self, labels: Sequence[str]) -> None:
        """The classes of the model."""
        self.classes.set_labels(labels)
        self._stack.setCurrentIndex(1 if labels else 0)

    def set_counts(self, counts: Mapping[int, int]) -> None:
        """How often each class was seen in the file that is shown."""
        self.classes.set_counts(counts, sort=not self.view.underMouse())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """When the mouse leaves the classes, they may move."""
        if watched is self.view and event.type() is QEvent.Type.Leave:
            self.classes.settle()
        return super().eventFilter(watched, event)

    @Slot(int)
    def _confidence_changed(self, value: int) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(value)
        self._announce()

    @Slot()
    def _announce(self) -> None:
        self.changed.emit(self.filter)

    @Slot()
    def _show_rows(self) -> None:
        some = self.classes.rowCount() > 0
        self._hint.setText("No class has such a name." if self.search.text() else "The classes of the model appear here.")
        self._stack.setCurrentIndex(1 if some else 0)

    @Slot()
    def _show_all(self) -> None:
        self.classes.set_all(True)

    @Slot()
    def _hide_all(self) -> None:
        self.classes.set_all(False)

    @Slot(QModelIndex)
    def _show_only(self, index: QModelIndex) -> None:
        self.classes.show_only(index.data(CLASS_ROLE))
