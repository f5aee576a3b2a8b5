"""The area of the pictures: one canvas, or several in a grid with the names of their files."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from framefleet.app.window.viewer.canvas import MIN_SIZE
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import label

GAP = 4


class Pictures(QWidget):
    """Shows canvases in a grid. The main one has a frame when there are others."""

    def __init__(self, main: QWidget) -> None:
        super().__init__()
        self._main = main
        self._names: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.addWidget(main, 0, 0)

    def arrange(self, canvases: Sequence[QWidget], names: Sequence[str], side: int) -> None:
        """Show these canvases in rows of ``side``, with a name on each; one canvas alone has none."""
        while self._grid.count():
            self._grid.takeAt(0)
        for old in self._names:
            old.deleteLater()
        self._names = []
        margin = GAP // 2 if side > 1 else 0
        self._grid.setContentsMargins(margin, margin, margin, margin)
        self._grid.setSpacing(GAP if side > 1 else 0)
        for number in range(3):
            self._grid.setRowStretch(number, int(number < side))
            self._grid.setColumnStretch(number, int(number < side))
        for place, (canvas, name) in enumerate(zip(canvases, names, strict=True)):
            where = divmod(place, side)
            canvas.setMinimumSize(MIN_SIZE / side)  # several pictures need no larger window than one
            self._grid.addWidget(canvas, *where)
            canvas.show()
            if side > 1:
                title = label("small", name)
                title.setMinimumWidth(1)  # a long name does not widen the window
                title.setStyleSheet(f"background: {theme.SURFACE}; padding: 2px 6px;")
                title.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
                self._grid.addWidget(title, *where, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
                title.raise_()
                self._names.append(title)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the gaps and the frame of the main canvas."""
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(theme.BACKGROUND))
            if self._names:
                painter.setPen(QPen(QColor(theme.ACCENT), GAP // 2))
                painter.drawRect(self._main.geometry().adjusted(-1, -1, 1, 1))
