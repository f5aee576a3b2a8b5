"""The controls for the lowest confidence and the classes to show. They take effect at once, without another run."""

import json
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSettings, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QListView, QSlider, QSpinBox, QStackedWidget

from framefleet.app.window.viewer.classes import CLASS_ROLE, ClassDelegate, ClassModel
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import Panel, column, label, push_button, row
from framefleet.app.window.widgets.fields import clearable, indent
from framefleet.app.window.widgets.painting import icon
from framefleet.app.window.widgets.translation import marked, translate

CONFIDENCE, HIDDEN = "window/confidence", "window/hidden_classes"
"""Keys of the stored choice: from 0 to 1, and a JSON list of names."""
_HINT = marked("viewer", "The classes of the model appear here.")


class FilterPanel(Panel):
    """Lets the user choose a ``ViewFilter``. changed: the new one."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.slider, self.spin = QSlider(Qt.Orientation.Horizontal), QSpinBox(suffix=" %")
        self.slider.setToolTip(translate("viewer", "Show detections from this confidence on"))
        for control, name in (
            (self.slider, translate("viewer", "Confidence from")),
            (self.spin, translate("viewer", "Confidence from, in percent")),
        ):
            control.setRange(5, 100)
            control.setAccessibleName(name)
        indent(self.spin)
        self.spin.setFixedWidth(self.spin.fontMetrics().horizontalAdvance("100 %") + 44)
        self.classes = ClassModel(self)
        self.search = clearable(translate("viewer", "Search classes"))
        self.search.addAction(QAction(icon("search", theme.MUTED), "", self.search), QLineEdit.ActionPosition.LeadingPosition)
        self.everything = push_button(translate("viewer", "All"), role="link", tip=translate("viewer", "Show all classes"))
        self.nothing = push_button(translate("viewer", "None"), role="link", tip=translate("viewer", "Hide all classes"))
        for button in (self.everything, self.nothing):
            button.setAccessibleName(button.toolTip())
        self.view = QListView(uniformItemSizes=True)
        self.view.setMouseTracking(True)
        self.view.setAccessibleName(translate("viewer", "Classes"))
        self.view.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.view.setProperty("role", "classes")
        self.view.installEventFilter(self)
        self.view.setModel(self.classes)
        self.view.setItemDelegate(ClassDelegate(self.view))
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._hint = label("small", translate("viewer", _HINT), wrap=True)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._hint.setContentsMargins(16, 6, 16, 0)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._hint)
        self._stack.addWidget(self.view)
        heading = label("section", translate("viewer", "Confidence"))
        heading.setBuddy(self.slider)
        column(
            row(heading, None, self.spin, margins=(16, 12, 16, 0)),
            row(self.slider, margins=(16, 4, 16, 10)),
            row(label("section", translate("viewer", "Classes")), None, self.everything, self.nothing, spacing=2, margins=(16, 4, 12, 4)),
            row(self.search, margins=(16, 0, 16, 6)),
            (self._stack, 1),
            spacing=0,
            margins=(0, 0, 0, 6),
            of=self,
        )
        self.slider.valueChanged.connect(self.spin.setValue)
        self.spin.valueChanged.connect(self._confidence_changed)
        self.classes.checked_changed.connect(self._emit_changed)
        self.classes.layoutChanged.connect(self.view.reset)  # without it, Qt tells screen readers the earlier order
        self.search.textChanged.connect(self._search)
        self.view.clicked.connect(self._toggle)
        self.everything.clicked.connect(lambda: self.classes.set_all(True))
        self.nothing.clicked.connect(lambda: self.classes.set_all(False))
        self.view.doubleClicked.connect(lambda index: self.classes.show_only(index.data(CLASS_ROLE)))
        self.set_confidence(0.25)

    @property
    def filter(self) -> ViewFilter:
        """What the user chose."""
        return ViewFilter(self.spin.value() / 100, self.classes.classes)

    def remember(self, store: QSettings) -> None:
        """Show the choice that is kept in the store, and keep each change there."""
        self.classes.hidden = frozenset(json.loads(str(store.value(HIDDEN, "[]"))))
        self.set_confidence(float(str(store.value(CONFIDENCE, self.filter.confidence))))

        def keep(shown: ViewFilter) -> None:
            store.setValue(CONFIDENCE, shown.confidence)
            store.setValue(HIDDEN, json.dumps(sorted(self.classes.hidden)))

        self.changed.connect(keep)

    def set_confidence(self, confidence: float) -> None:
        """Choose a confidence, 0..1."""
        self.slider.setValue(round(confidence * 100))
        self.spin.setValue(round(confidence * 100))

    def set_floor(self, confidence: float) -> None:
        """Set the lowest confidence that can be chosen: weaker detections are not stored."""
        lowest = max(round(confidence * 100), 1)
        self.slider.setMinimum(lowest)
        self.spin.setMinimum(lowest)

    def set_labels(self, labels: Sequence[str]) -> None:
        """Set the classes of the model."""
        self.classes.set_labels(labels)
        self._show_rows()

    def set_counts(self, counts: Mapping[int, int]) -> None:
        """Show how often each class was seen in the current file."""
        self.classes.set_counts(counts, sort=not self.view.underMouse())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Sort the classes when the mouse leaves them."""
        if watched is self.view and event.type() is QEvent.Type.Leave:
            self.classes.settle()
        return super().eventFilter(watched, event)

    def _confidence_changed(self, value: int) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(value)
        self._emit_changed()

    def _emit_changed(self) -> None:
        self.changed.emit(self.filter)

    def _search(self, text: str) -> None:
        self.classes.setFilterFixedString(text.strip())
        self._show_rows()

    def _toggle(self, index: QModelIndex) -> None:
        shown = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
        self.classes.setData(index, Qt.CheckState.Unchecked if shown else Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)

    def _show_rows(self) -> None:
        self._hint.setText(translate("viewer", "No class has such a name.") if self.search.text() else translate("viewer", _HINT))
        self._stack.setCurrentIndex(1 if self.classes.rowCount() else 0)
