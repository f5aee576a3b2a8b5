"""The card above the timeline that shows the picture, the time and the counts under the mouse."""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QLabel

from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.viewer.transport import Transport
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import column, label
from framefleet.app.window.widgets.translation import translate

APART = 0.5
"""The least difference of the picture's time from that under the mouse which is said, seconds."""
SIZE = QSize(176, 99)
"""The largest size of the picture, logical pixels."""


class HoverCard(QFrame):
    """Follows the mouse over the timeline. ``path``: of the shown source, None = none.

    The picture is the keyframe before the time under the mouse, which takes little time to decode; its own time is beside it.
    """

    def __init__(self, transport: Transport, client: PreviewClient) -> None:
        super().__init__(transport.timeline, Qt.WindowType.ToolTip)
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.path: str | None = None
        self._transport, self._client = transport, client
        self._asked: float | None = None
        self._shown: float | None = None
        self.picture, self.text = QLabel(), label("small")
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column(self.picture, self.text, spacing=4, margins=(6, 6, 6, 6), of=self)
        transport.timeline.hovered.connect(self._hover)
        client.near_arrived.connect(self._arrived)

    def _hover(self, time: float | None) -> None:
        if time is None or self.path is None:
            self.hide()
            return
        if time != self._asked:
            self._asked = time
            size = SIZE * self.devicePixelRatio()
            self._client.fetch_near(self.path, self._transport.begin + time, (size.width(), size.height()))
        self._write()
        self._place()
        self.show()

    def _write(self) -> None:
        if self._asked is None:
            return
        text = self._transport.timeline.text_at(self._asked)
        if self._shown is not None and abs(self._shown - self._asked) >= APART:
            text += "\n" + translate("timeline", "picture of {time}").format(time=formats.clock(self._shown, 1))
        self.text.setText(text)

    def _arrived(self, path: str, pts: float | None, image: QImage | None) -> None:
        if path != self.path:
            return
        self._shown = None if pts is None else pts - self._transport.begin
        self._write()
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
            self.path, self._asked, self._shown = path, None, None
            self.picture.clear()
            self.hide()

    def _place(self) -> None:
        """Stand above the mouse, within the timeline's width."""
        self.adjustSize()
        timeline = self._transport.timeline
        middle = timeline.mapFromGlobal(self.cursor().pos()).x()
        left = min(max(middle - self.width() // 2, 0), max(timeline.width() - self.width(), 0))
        self.move(timeline.mapToGlobal(QPoint(left, -self.height() - 4)))
