"""A layout for rows of buttons that may be wider than their panel."""

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class Flow(QLayout):
    """Widgets from left to right, in further rows where they do not fit, each in the middle of its row. spacing: logical pixels."""

    def __init__(self, *widgets: QWidget, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        """Add a widget at the end."""
        self._items.append(item)

    def count(self) -> int:
        """The number of widgets."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """A widget's item, None if there is none with this number."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove a widget."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        """A narrow layout has more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all rows."""
        return self._arrange(QRect(0, 0, width, 0), place=False)

    def setGeometry(self, area: QRect) -> None:
        """Place the widgets."""
        super().setGeometry(area)
        self._arrange(area, place=True)

    def sizeHint(self) -> QSize:
        """The size of one row with all widgets."""
        hints = [item.sizeHint() for item in self._items]
        return QSize(sum(hint.width() + self.spacing() for hint in hints), max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        """The size of the largest widget, so that no text is cut."""
        hints = [item.sizeHint() for item in self._items]
        return QSize(max((hint.width() for hint in hints), default=0), max((hint.height() for hint in hints), default=0))

    def _arrange(self, area: QRect, place: bool) -> int:
        """Return the height of all rows. place: also place the widgets."""
        rows: list[list[tuple[QLayoutItem, QSize]]] = []
        used = 0
        for item in self._items:
            hint = item.sizeHint()
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
