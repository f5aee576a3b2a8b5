"""The card above the timeline that shows the picture, the time and the counts under the mouse."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QLabel

from app.window.timeline.timeline import Timeline
from app.window.viewer.preview_client import PreviewClient
from app.window.widgets.build import column, label

SIZE = QSize(176, 99)
"""The largest size of the picture, logical pixels."""


class Glimpse(QFrame):
    """Follows the mouse over a timeline. ``path``: of the shown source, None = none."""

    def __init__(self, timeline: Timeline, client: PreviewClient) -> None:
        super().__init__(timeline, Qt.WindowType.ToolTip)
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.path: str | None = None
        self._timeline, self._client = timeline, client
        self._asked: float | None = None
        self.picture, self.text = QLabel(), label("small")
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column(self.picture, self.text, spacing=4, margins=(6, 6, 6, 6), of=self)
        timeline.hovered.connect(self._hover)
        client.glimpsed.connect(self._arrived)

    def _hover(self, pts: float | None) -> None:
        if pts is None or self.path is None:
            self.hide()
            return
        self.text.setText(self._timeline.text_at(pts))
        if pts != self._asked:
            self._asked = pts
            size = SIZE * self.devicePixelRatio()
            self._client.glimpse(self.path, pts, (size.width(), size.height()))
        self._place()
        self.show()

    def _arrived(self, path: str, _pts: float, image: QImage | None) -> None:
        if path != self.path:
            return
        if image is None:
            self.picture.clear()
        else:
            pixmap = QPixmap.fromImage(image)
            pixmap.setDevicePixelRatio(self.devicePixelRatio())
            self.picture.setPixmap(pixmap)
        if self.isVisible():
            self._place()

    def set_path(self, path: str | None) -> None:
        """Show pictures of this source from now on, None = of none."""
        if path != self.path:
            self.path, self._asked = path, None
            self.picture.clear()
            self.hide()

    def _place(self) -> None:
        """Stand above the mouse, within the timeline's width."""
        self.adjustSize()
        timeline = self._timeline
        middle = timeline.mapFromGlobal(self.cursor().pos()).x()
        left = min(max(middle - self.width() // 2, 0), max(timeline.width() - self.width(), 0))
        self.move(timeline.mapToGlobal(QPoint(left, -self.height() - 4)))
