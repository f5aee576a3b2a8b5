"""The middle of the window: the picture of one file with its boxes, and the controls."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.window.queue.item import ItemState, QueueItem
from app.window.timeline.class_counts import Tally, length_of
from app.window.viewer.canvas import NOT_YET, VideoCanvas
from app.window.viewer.filter import ViewFilter
from app.window.viewer.player import Player
from app.window.viewer.preview_client import PreviewClient
from app.window.viewer.preview_conversation import Shown
from app.window.viewer.transport import Transport
from app.window.widgets.build import column
from engine.media.types import SourceInfo, SourceKind

JUMP = 5.0
"""Seconds of one jump with Shift and an arrow key."""
COUNT_MS = 1000
"""Time between updates of how often each class was seen."""


_MISSING = {
    ItemState.FAILED: "Not analysed: detection failed",
    ItemState.CANCELLED: "Not analysed: detection was cancelled",
    ItemState.DONE: "Not analysed",
}
"""The note over pictures without a result, by the state of their file."""


class Viewer(QWidget):
    """Shows one queue item. counted: class id → detections of the shown file at the chosen confidence."""

    counted = Signal(object)
    fullscreen_requested = Signal()

    def __init__(self, client: PreviewClient) -> None:
        super().__init__()
        self.item: QueueItem | None = None
        self._tally: Tally | None = None
        self._filter = ViewFilter()
        self.canvas = VideoCanvas()
        self.transport = Transport()
        self.player = Player(client, self)
        column((self.canvas, 1), self.transport, spacing=0, of=self)
        self._counting = QTimer(self, interval=COUNT_MS, singleShot=True)
        self._counting.timeout.connect(self._count)
        player, transport = self.player, self.transport
        player.shown.connect(self._shown)
        player.result.connect(self.canvas.show_result)
        player.opened.connect(self._opened)
        player.changed.connect(transport.set_playback)
        player.failed.connect(self.canvas.show_message)
        transport.play_toggled.connect(player.toggle)
        transport.stepped.connect(player.step)
        transport.sought.connect(player.seek)
        transport.speed_chosen.connect(player.set_speed)
        transport.follow_toggled.connect(player.set_follow)
        transport.fullscreen_requested.connect(self.fullscreen_requested)
        self.canvas.resized.connect(player.set_viewport)
        self.canvas.activated.connect(self.fullscreen_requested)

    def show_item(self, item: QueueItem, tally: Tally | None, play: bool) -> None:
        """Show a file from its beginning."""
        self.item, self._tally = item, tally
        self.canvas.show_message("Opening…")
        self.canvas.set_labels(item.results.labels if item.results else ())
        self.transport.set_source(item.progress.info)
        self.player.set_viewport(self.canvas.device_size())
        self.player.open(item, play)
        self._detected(item)
        self._count()

    def clear(self) -> None:
        """Show nothing."""
        self.item = self._tally = None
        self.player.close_file()
        self.canvas.show_message("")
        self.transport.set_source(None)
        self._detected(None)
        self._count()

    def update_item(self, item: QueueItem, tally: Tally | None, queue_busy: bool) -> None:
        """Show a changed state of the shown file. queue_busy: detection runs in another file."""
        before, self.item, self._tally = self.item, item, tally
        if item.results is not None and (before is None or before.results is None or before.results.labels != item.results.labels):
            self.canvas.set_labels(item.results.labels)
        if item.progress.info is not None and (before is None or before.progress.info is None):
            self.transport.set_source(item.progress.info)
            self.transport.set_position(self.player.position)
        self.player.update_item(item, queue_busy)
        self._detected(item)
        if not self._counting.isActive():
            self._counting.start()

    def set_filter(self, view_filter: ViewFilter) -> None:
        """Draw and count only these detections."""
        self._filter = view_filter
        self.canvas.set_filter(view_filter)
        self._count()

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key of the player; return False for any other key."""
        if self.item is None or event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            return False
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        player, transport = self.player, self.transport
        match event.key():
            case Qt.Key.Key_Space | Qt.Key.Key_K:
                if not event.isAutoRepeat():
                    player.toggle()
            case Qt.Key.Key_Left:
                self.seek_by(-JUMP) if shift else player.step(-1)
            case Qt.Key.Key_Right:
                self.seek_by(JUMP) if shift else player.step(1)
            case Qt.Key.Key_Home:
                player.seek(0.0)
            case Qt.Key.Key_End:
                self.seek_end()
            case Qt.Key.Key_BracketLeft:
                transport.nudge_speed(-1)
            case Qt.Key.Key_BracketRight:
                transport.nudge_speed(1)
            case Qt.Key.Key_L:
                transport.follow.toggle()
            case _:
                return False
        return True

    def seek_by(self, seconds: float) -> None:
        """Jump forward, or back if negative."""
        info = self.player.info
        length = info.duration if info is not None and info.duration else float("inf")
        self.player.seek(min(self.player.position + seconds, length))

    def seek_end(self) -> None:
        """Jump to the last picture."""
        info = self.player.info
        if info is not None:
            self.player.seek(info.duration if info.duration is not None else float(info.frames))

    def _detected(self, item: QueueItem | None) -> None:
        fraction = 0.0
        if item is not None:
            length = length_of(item.progress.info)
            if item.state is ItemState.DONE:
                fraction = 1.0
            elif item.progress.head is not None and length:
                fraction = min(item.progress.head / length, 1.0)
            self.canvas.set_missing(_MISSING.get(item.state, NOT_YET))
        self.transport.timeline.set_detected(fraction)

    def _count(self) -> None:
        tally, shown = self._tally, self._filter
        self.transport.timeline.set_activity(tally.activity(shown.confidence, shown.classes) if tally is not None else None)
        self.counted.emit(tally.counts(shown.confidence) if tally is not None else {})

    def _shown(self, shown: Shown) -> None:
        info = self.player.info
        size = (info.width, info.height) if info is not None else (shown.image.width(), shown.image.height())
        if info is not None and info.kind is SourceKind.IMAGES and shown.result is None:
            size = (shown.image.width(), shown.image.height())  # pictures of one folder differ in size
        self.canvas.show_picture(shown.image, size, shown.result)
        self.transport.set_position(shown.pts)

    def _opened(self, info: SourceInfo) -> None:
        self.transport.set_source(info)
        if self.item is not None:
            self._detected(self.item)
