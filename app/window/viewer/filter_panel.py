"""The controls for the lowest confidence and the classes to show. They take effect at once, without another run."""

from collections.abc import Mapping

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QLineEdit,
    QListView,
    QSlider,
    QSpinBox,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from framefleet.app.window.context import Context, Feature, Place, Placed
from framefleet.app.window.viewer.filter import CLASS_ROLE, COUNT_ROLE, HIGHEST, Filter, Index, ViewFilter
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import Panel, column, label, push_button, row
from framefleet.app.window.widgets.fields import clearable, indent
from framefleet.app.window.widgets.painting import RIGHT, draw_box, icon, pixmap, write
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.media.annotation.layout import class_colour, ink_on

CHECK = 14
_HINT = marked("viewer", "The classes of the model appear here.")


class FilterPanel(Panel):
    """Lets the user choose what is shown."""

    def __init__(self, shown: Filter) -> None:
        super().__init__()
        self._filter, self.classes = shown, shown.classes
        self.slider, self.spin = QSlider(Qt.Orientation.Horizontal), QSpinBox(suffix=" %")
        self.slider.setToolTip(translate("viewer", "Show detections from this confidence on"))
        for control, name in (
            (self.slider, translate("viewer", "Confidence from")),
            (self.spin, translate("viewer", "Confidence from, in percent")),
        ):
            control.setRange(shown.floor, HIGHEST)
            control.setAccessibleName(name)
        indent(self.spin)
        self.spin.setFixedWidth(self.spin.fontMetrics().horizontalAdvance("100 %") + 44)
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
            row(heading, (self.slider, 1), self.spin, spacing=10, margins=(16, 10, 16, 6)),
            row((self.search, 1), self.everything, self.nothing, spacing=2, margins=(16, 0, 12, 4)),
            (self._stack, 1),
            spacing=0,
            margins=(0, 0, 0, 6),
            of=self,
        )
        self.slider.valueChanged.connect(self.spin.setValue)
        self.spin.valueChanged.connect(shown.choose_confidence)
        shown.changed.connect(self._show)
        shown.floor_changed.connect(self._set_floor)
        self.classes.checked_changed.connect(self._show_rows)
        self.classes.layoutChanged.connect(self.view.reset)  # without it, Qt tells screen readers the earlier order
        self.search.textChanged.connect(self._search)
        self.view.clicked.connect(self._toggle)
        self.everything.clicked.connect(lambda: self.classes.set_all(True))
        self.nothing.clicked.connect(lambda: self.classes.set_all(False))
        self.view.doubleClicked.connect(lambda index: self.classes.show_only(index.data(CLASS_ROLE)))
        self._show(shown.value)

    def _show(self, shown: ViewFilter) -> None:
        for control in (self.slider, self.spin):
            with QSignalBlocker(control):
                control.setValue(round(shown.confidence * 100))

    def _set_floor(self, percent: int) -> None:
        for control in (self.slider, self.spin):
            with QSignalBlocker(control):
                control.setMinimum(percent)

    def set_counts(self, counts: Mapping[int, int]) -> None:
        """Show how often each class was seen in the current file."""
        self.classes.set_counts(counts, sort=not self.view.underMouse())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Sort the classes when the mouse leaves them."""
        if watched is self.view and event.type() is QEvent.Type.Leave:
            self.classes.settle()
        return super().eventFilter(watched, event)

    def _search(self, text: str) -> None:
        self.classes.setFilterFixedString(text.strip())
        self._show_rows()

    def _toggle(self, index: QModelIndex) -> None:
        shown = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
        self.classes.setData(index, Qt.CheckState.Unchecked if shown else Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)

    def _show_rows(self) -> None:
        self._hint.setText(translate("viewer", "No class has such a name.") if self.search.text() else translate("viewer", _HINT))
        self._stack.setCurrentIndex(1 if self.classes.rowCount() else 0)


class ClassDelegate(QStyledItemDelegate):
    """Draws one line per class."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """All rows have the same height."""
        return QSize(120, theme.base_size() + 15)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        count: int = index.data(COUNT_ROLE)
        checked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
        shade = 1.0 if count else 0.45
        red, green, blue = class_colour(index.data(CLASS_ROLE))
        rgb = round(shade * red), round(shade * green), round(shade * blue)  # dark for a class without objects
        colour = QColor(*rgb)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(6, 1, -6, -1)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused or option.state & QStyle.StateFlag.State_MouseOver:
            draw_box(painter, area, 5, theme.RAISED, theme.ACCENT if focused else None)
        box = QRectF(area.x() + 10, area.center().y() - CHECK / 2, CHECK, CHECK)
        draw_box(painter, box.adjusted(-2, -2, 2, 2), 6, theme.STAGE)  # the colours of classes need a dark ground
        draw_box(painter, box, 4, colour if checked else None, QPen(colour, 1.5))
        if checked:
            ink = QColor(*ink_on(rgb)).name()
            painter.drawPixmap(box.toRect(), pixmap("check", CHECK, ink))
        painter.setFont(theme.font())
        number = formats.count(count) if count else ""
        room = painter.fontMetrics().horizontalAdvance(number)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area.adjusted(0, 0, -10, 0), RIGHT, number)
        text = area.adjusted(10 + CHECK + 9, 0, -room - 18, 0)
        write(painter, text, index.data(), colour=theme.TEXT if count and checked else theme.MUTED)
        painter.restore()

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """Toggle the class on Space. The view handles clicks."""
        return isinstance(event, QKeyEvent) and super().editorEvent(event, model, option, index)


def attach(context: Context) -> Feature:
    """Add the panel to the window."""
    panel = FilterPanel(context.filter)
    context.viewer.counted.connect(panel.set_counts)
    context.settings.confidence_changed.connect(context.filter.set_confidence)
    context.settings.floor_changed.connect(context.filter.set_floor)
    return Feature([Placed(panel, Place.RIGHT, 180)])
