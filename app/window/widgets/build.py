"""Makes labels, buttons, panels, rows and columns in one call each, and lays out rows of buttons that may be wider than their panel."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from PySide6 import QtWidgets
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent

from framefleet.app.window.widgets import painting, theme

Part: TypeAlias = QtWidgets.QWidget | QtWidgets.QLayout
Item: TypeAlias = Part | int | float | tuple[Part, int] | tuple[Part, int, Qt.AlignmentFlag] | None
Margins: TypeAlias = tuple[int, int, int, int]
FRAME = QSize(16, 48)
"""The frame and the title bar that the window system adds, logical pixels."""


def row(*items: Item, spacing: int = -1, margins: Margins = (0, 0, 0, 0), of: QtWidgets.QWidget | None = None) -> QtWidgets.QBoxLayout:
    """A layout with these items from left to right.

    An item is a widget or a layout, or a tuple of one with a stretch factor and, optionally, an alignment. An int is a space in
    logical pixels, a float a stretch of this factor, None a stretch of factor 0.
    spacing: between items, logical pixels, -1 = that of the style. margins: left, top, right, bottom. of: the widget to lay out.
    """
    box = QtWidgets.QBoxLayout(QtWidgets.QBoxLayout.Direction.LeftToRight, of)
    box.setContentsMargins(*margins)
    box.setSpacing(spacing)
    for item in items:
        part, stretch, *where = item if isinstance(item, tuple) else (item, 0)
        if isinstance(part, QtWidgets.QWidget):
            box.addWidget(part, stretch, *where)
        elif isinstance(part, QtWidgets.QLayout):
            box.addLayout(part, stretch)
        elif isinstance(part, int):
            box.addSpacing(part)
        else:
            box.addStretch(int(part or 0))
    return box


def column(*items: Item, spacing: int = -1, margins: Margins = (0, 0, 0, 0), of: QtWidgets.QWidget | None = None) -> QtWidgets.QBoxLayout:
    """A layout with these items from top to bottom; the parameters are those of ``row``."""
    box = row(*items, spacing=spacing, margins=margins, of=of)
    box.setDirection(QtWidgets.QBoxLayout.Direction.TopToBottom)
    return box


class Panel(QtWidgets.QWidget):
    """A widget with the background of its role: "panel" or "bar"."""

    def __init__(self, role: str = "panel") -> None:
        super().__init__()
        self.setProperty("role", role)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


def label(role: str, text: str = "", *, tip: str = "", wrap: bool = False, rich: bool = False) -> QtWidgets.QLabel:
    """A label in the style of this role. tip: its tooltip. wrap: break long text into lines. rich: the text has markup."""
    made = QtWidgets.QLabel(text, wordWrap=wrap)
    made.setToolTip(tip)
    made.setProperty("role", role)
    made.setTextFormat(Qt.TextFormat.RichText if rich else Qt.TextFormat.PlainText)
    return made


_SIGNS = {"error": ("error", "DANGER"), "notice": ("warning", "WARNING")}
"""The icon of a role and the name of its colour."""


class SignedLabel(QtWidgets.QLabel):
    """Sentences with the icon of their role, so that colour is not the only sign of a problem. role: "error" or "notice"."""

    def __init__(self, role: str) -> None:
        super().__init__(wordWrap=True, textFormat=Qt.TextFormat.PlainText, alignment=Qt.AlignmentFlag.AlignTop)
        self.setContentsMargins(20, 0, 0, 0)  # for the icon; an indent would move the text down as well
        self.setProperty("role", role)
        self._sign = _SIGNS[role]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon before the first line."""
        super().paintEvent(event)
        name, colour = self._sign
        with QPainter(self) as painter:
            painter.drawPixmap(0, (self.fontMetrics().height() - 14) // 2, painting.pixmap(name, 14, theme.colour(colour)))


def wrapped(role: str) -> QtWidgets.QLabel:
    """A label for whole sentences, hidden until ``say`` sets its text."""
    made = SignedLabel(role) if role in _SIGNS else label(role, wrap=True)
    made.hide()
    return made


def say(line: QtWidgets.QLabel, text: str) -> None:
    """Show this text, or hide the label if it is empty."""
    line.setText(text)
    line.setVisible(bool(text))


class ElidedLabel(QtWidgets.QLabel):
    """One line of plain text with an ellipsis if it does not fit. It does not widen its parent. mode: where the ellipsis is."""

    def __init__(self, role: str, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._mode, self._texts = mode, tuple[str, ...]()
        self.setProperty("role", role)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def show_parts(self, parts: Sequence[str]) -> None:
        """Show parts with " · " between them; the last ones that do not fit are left out, not cut."""
        self.show_longest([" · ".join(parts[:kept]) for kept in range(len(parts), 0, -1)])

    def show_longest(self, texts: Sequence[str]) -> None:
        """Show the first of these texts that fits, else the last one, elided. The first one is the whole text."""
        self._texts = tuple(texts)
        self.setText(next(iter(texts), ""))
        self.update()

    def minimumSizeHint(self) -> QSize:
        """The height of one line; no minimum width."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the text, elided to the width."""
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            texts, metrics = self._texts or (self.text(),), self.fontMetrics()
            text = next((text for text in texts if metrics.horizontalAdvance(text) <= self.width()), texts[-1])
            text = metrics.elidedText(text, self._mode, self.width())
            painter.drawText(self.rect(), int(self.alignment()), text)


class Light(QtWidgets.QLabel):
    """A small round light, which can be seen once it has a colour."""

    def set_colour(self, colour: str) -> None:
        """Change the colour."""
        sheet = f"background: {colour}; border-radius: 4px;"
        if sheet != self.styleSheet():
            self.setFixedSize(8, 8)
            self.setStyleSheet(sheet)


def set_role(widget: QtWidgets.QWidget, role: str) -> None:
    """Show a widget in the style of another role."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def push_button(title: str, clicked: Any = None, *, symbol: str = "", role: str = "", tip: str = "") -> QtWidgets.QPushButton:
    """A button with a title; Enter elsewhere in a dialog does not press it.

    clicked: the signal or function to call. symbol: its icon, "" = none. role: of the style sheet.
    """
    button = QtWidgets.QPushButton(title, autoDefault=False)
    if symbol:
        button.setIcon(painting.icon(symbol))
    if clicked is not None:
        button.clicked.connect(clicked)
    button.setProperty("role", role)
    button.setToolTip(tip)
    return button


class Clickable(QtWidgets.QAbstractButton):
    """A button without a button's look: it paints itself. Enter presses it, too."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


def tool_button(name: str, title: str, keys: str = "", clicked: Any = None, menu: QtWidgets.QMenu | None = None) -> QtWidgets.QToolButton:
    """A flat button with an icon ("" = none), a tooltip that names its key, and a name for screen readers. menu: opens at a click."""
    button = QtWidgets.QToolButton()
    button.setProperty("role", "flat")
    if name:
        button.setIcon(painting.icon(name))
    if clicked is not None:
        button.clicked.connect(clicked)
    if menu is not None:
        button.setMenu(menu)
        button.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setIconSize(QSize(18, 18))
    button.setToolTip(f"{title} ({keys})" if keys else title)
    button.setAccessibleName(title)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


class ScrollPane(QtWidgets.QScrollArea):
    """Scrolls its content vertically. name: of the content, for screen readers.

    It accepts the keyboard focus while it can scroll, because its content may have no widget that does.
    """

    def __init__(self, name: str, inside: QtWidgets.QWidget) -> None:
        super().__init__()
        self.setProperty("role", "pane")
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        show_inside(self, inside, "panel")
        self.verticalScrollBar().rangeChanged.connect(
            lambda least, most: self.setFocusPolicy(Qt.FocusPolicy.TabFocus if most > least else Qt.FocusPolicy.NoFocus)
        )


def show_inside(area: QtWidgets.QScrollArea, inside: QtWidgets.QWidget, role: str = "clear") -> None:
    """Scroll a widget on the background of a role, without a frame and without keyboard focus for the area itself."""
    inside.setProperty("role", role)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setWidget(inside)


def stand_beside(dialog: QtWidgets.QWidget) -> None:
    """Move a dialog beside its main window, or to the edge of the screen, so that the picture can be seen."""
    parent = dialog.parentWidget()
    if parent is not None:
        window, edge = parent.frameGeometry(), parent.screen().availableGeometry().right() + 1
        dialog.move(min(window.right() + 1, edge - dialog.frameSize().width()), window.top())


def within_screen(widget: QtWidgets.QWidget, width: int, height: int) -> QSize:
    """The size of a window, logical pixels, limited to the available size of its screen, so that every button can be clicked."""
    return QSize(width, height).boundedTo(widget.screen().availableSize() - FRAME)


class Flow(QtWidgets.QLayout):
    """Widgets from left to right, in further rows where they do not fit, each in the middle of its row. spacing: logical pixels."""

    def __init__(self, *widgets: QtWidgets.QWidget, spacing: int) -> None:
        super().__init__()
        self._items: list[QtWidgets.QLayoutItem] = []
        self._hints: list[QSize] = []  # the sizes of the widgets and the heights for widths: Qt asks for them again and again
        self._heights: dict[int, int] = {}
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QtWidgets.QLayoutItem) -> None:
        """Add a widget at the end."""
        self._items.append(item)

    def count(self) -> int:
        """The number of widgets."""
        return len(self._items)

    def itemAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        """A widget's item, None if there is none with this number."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QtWidgets.QLayoutItem | None:
        """Remove a widget."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def invalidate(self) -> None:
        """Ask the widgets for their sizes again."""
        self._hints, self._heights = [], {}
        super().invalidate()

    def _sizes(self) -> list[QSize]:
        if len(self._hints) != len(self._items):
            self._hints = [item.sizeHint() for item in self._items]
        return self._hints

    def hasHeightForWidth(self) -> bool:
        """A narrow layout has more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all rows."""
        if width not in self._heights:
            self._heights[width] = self._arrange(QRect(0, 0, width, 0), place=False)
        return self._heights[width]

    def setGeometry(self, area: QRect) -> None:
        """Place the widgets."""
        super().setGeometry(area)
        self._arrange(area, place=True)

    def sizeHint(self) -> QSize:
        """The size of one row with all widgets."""
        hints = self._sizes()
        return QSize(sum(hint.width() + self.spacing() for hint in hints), max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        """The size of the largest widget, so that no text is cut."""
        hints = self._sizes()
        return QSize(max((hint.width() for hint in hints), default=0), max((hint.height() for hint in hints), default=0))

    def _arrange(self, area: QRect, place: bool) -> int:
        """Return the height of all rows. place: also place the widgets."""
        rows: list[list[tuple[QtWidgets.QLayoutItem, QSize]]] = []
        used = 0
        for item, hint in zip(self._items, self._sizes(), strict=True):
            if not rows or used + hint.width() > area.width():
                rows.append([])
                used = 0
            rows[-1].append((item, hint))
            used += hint.width() + self.spacing()
        y = area.y()
        for each in rows:
            x, height = area.x(), max(hint.height() for _, hint in each)
            for item, hint in each:
                if place:
                    item.setGeometry(QRect(QPoint(x, y + (height - hint.height()) // 2), hint))
                x += hint.width() + self.spacing()
            y += height + self.spacing()
        return max(y - self.spacing() - area.y(), 0)
