"""The middle of the window: the picture of one file with its boxes, and the controls."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, QStandardPaths, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.window.queue.item import ItemState, QueueItem, Results
from app.window.results.clock_time import is_known, read_clock
from app.window.session.background import Background
from app.window.timeline.appearances import next_appearance
from app.window.timeline.class_counts import Tally, length_of
from app.window.timeline.timeline import Lane
from app.window.viewer.canvas import NOT_YET, VideoCanvas
from app.window.viewer.filter import ViewFilter
from app.window.viewer.keys import PlayerKeys
from app.window.viewer.player import Player
from app.window.viewer.preview_client import PreviewClient
from app.window.viewer.preview_conversation import Shown
from app.window.viewer.statistics import Statistics
from app.window.viewer.transport import SPEEDS, Transport
from app.window.widgets import formats
from app.window.widgets.build import column
from engine.errors import ExportError
from engine.media.types import SourceInfo, SourceKind
from engine.store.clock import Clock

LANES = 6
"""The largest number of classes that the timeline shows, the most frequent first."""
REST_MS = 2500
"""Time without a movement of the mouse after which the controls hide in full screen."""
COUNT_MS = 1000
"""Time between updates of how often each class was seen."""


_MISSING = {
    ItemState.FAILED: "Not analysed: detection failed",
    ItemState.CANCELLED: "Not analysed: detection was cancelled",
    ItemState.DONE: "Not analysed",
}
"""The note over pictures without a result, by the state of their file."""


class Viewer(QWidget):
    """Shows one queue item.

    counted: class id → detections of the shown file at the chosen confidence. picture_saved: the Path of a saved picture.
    """

    counted = Signal(object)
    picture_saved = Signal(object)
    fullscreen_requested = Signal()

    def __init__(self, client: PreviewClient, background: Background) -> None:
        super().__init__()
        self._background = background
        self._statistics = Statistics()
        self._saving: tuple[bool, bool] | None = None
        self._full = False
        self._resting = QTimer(self, interval=REST_MS, singleShot=True)
        self._resting.timeout.connect(self._rest)
        self.item: QueueItem | None = None
        self._tally: Tally | None = None
        self._filter = ViewFilter()
        self._clock_of: Results | None = None
        self.canvas: VideoCanvas = VideoCanvas()
        self.transport: Transport = Transport()
        self.player: Player = Player(client, self)
        self._column = column((self.canvas, 1), self.transport, spacing=0, of=self)
        self.keys = PlayerKeys(self)
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
        self.canvas.mouse_moved.connect(self._wake_controls)

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
        self.transport.set_clock(None)
        self._clock_of = None
        self._find_clock(item)

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
        self._find_clock(item)
        if not self._counting.isActive():
            self._counting.start()

    def _find_clock(self, item: QueueItem) -> None:
        """Read in the background when the shown video began, once its session knows that."""
        results = item.results

        def found(clock: Clock | None) -> None:
            if self.item is not None and self.item.results == results:
                self.transport.set_clock(clock)

        if results != self._clock_of and is_known(item):
            self._clock_of = results
            self._background.start(partial(read_clock, item), found, self.transport.hint.setText)

    def set_filter(self, view_filter: ViewFilter) -> None:
        """Draw and count only these detections."""
        self._filter = view_filter
        self.canvas.set_filter(view_filter)
        self._count()

    def shuttle(self, direction: int) -> None:
        """Play forwards (1) or backwards (-1), twice as fast if it does so already; 0 pauses."""
        speed = self.player.speed
        same = self.player.playing and speed * direction > 0
        self.transport.choose_speed(direction * min(max(2 * abs(speed), 1.0), SPEEDS[-1]) if same else float(direction or 1))
        self.player.play() if direction else self.player.pause()

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

    def seek_detection(self, forward: bool) -> None:
        """Jump to the next or previous time at which shown objects appear."""
        if self.item is None or self.item.results is None or self.item.results.source < 0:
            return
        ticket, where = self.item.key, "after" if forward else "before"

        def found(pts: float | None) -> None:
            if self.item is None or self.item.key != ticket:
                return
            if pts is None:
                self.transport.hint.setText(f"Nothing that is shown appears {where} this")
            else:
                self.transport.hint.setText("")
                self.player.pause()
                self.player.seek(pts)

        search = partial(next_appearance, self.item.results, self._filter, self.player.position, forward)
        self._background.start(search, found, self.transport.hint.setText)

    def save_picture(self, boxes: bool) -> None:
        """Save the current picture in the size of the video, with or without boxes; ``picture_saved`` follows."""
        info, current = self.player.info, self.player.current
        if info is None or current is None or self._saving is not None:
            return
        self._saving = boxes, self.player.playing
        self.player.pause()
        size = QSize(info.width, info.height)
        if (current.image.width(), current.image.height()) == size.toTuple():
            self._save(current)
        else:
            self.player.set_viewport(size)

    def _save(self, shown: Shown) -> None:
        assert self.item is not None
        assert self._saving is not None
        (boxes, playing), self._saving = self._saving, None
        image = shown.image.copy()
        if boxes:
            self.canvas.draw_boxes(image)
        folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation))
        name = shown.name or formats.clock(shown.pts, 3).replace(":", "-")
        target = folder / f"{self.item.path.stem} {name}{'' if boxes else ' plain'}.png"
        self._background.start(partial(_write, image, target), self.picture_saved.emit, self.transport.hint.setText)
        self.player.set_viewport(self.canvas.device_size())
        if playing:
            self.player.play()

    def toggle_statistics(self) -> None:
        """Show or hide the statistics."""
        self._statistics.on = not self._statistics.on
        self._show_statistics()

    def _show_statistics(self) -> None:
        info, shown = self.player.info, self.player.current
        text = ""
        if self._statistics.on and self.item is not None and info is not None and shown is not None:
            text = self._statistics.text(self.item, info, shown, len(self.canvas.visible_detections), self.canvas.zoom)
        self.canvas.set_statistics(text)

    def set_fullscreen(self, full: bool) -> None:
        """Let the controls float over the picture, and hide them while the mouse rests."""
        self._full = full
        if full:
            self._column.removeWidget(self.transport)
        else:
            self._column.addWidget(self.transport)
            self._resting.stop()
        self._wake_controls()

    def _wake_controls(self) -> None:
        self.transport.show()
        self.canvas.unsetCursor()
        if self._full:
            height = self.transport.sizeHint().height()
            self.transport.setGeometry(0, self.height() - height, self.width(), height)
            self.transport.raise_()
            self._resting.start()

    def _rest(self) -> None:
        if self._full and not self.transport.underMouse():
            self.transport.hide()
            self.canvas.setCursor(Qt.CursorShape.BlankCursor)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep floating controls at the lower edge."""
        super().resizeEvent(event)
        if self._full:
            self._wake_controls()

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
        found = tally.lanes(shown.confidence, shown.classes, LANES) if tally is not None else []
        self.transport.timeline.set_lanes([Lane(self.canvas.label_of(class_id), class_id, counts) for class_id, counts in found])
        self.counted.emit(tally.counts(shown.confidence) if tally is not None else {})

    def _shown(self, shown: Shown) -> None:
        info = self.player.info
        size = (info.width, info.height) if info is not None else (shown.image.width(), shown.image.height())
        if info is not None and info.kind is SourceKind.IMAGES and shown.result is None:
            size = (shown.image.width(), shown.image.height())  # pictures of one folder differ in size
        self.canvas.show_picture(shown.image, size, shown.result)
        self.transport.set_position(shown.pts, shown.result.ref.index if shown.result is not None else None)
        self._statistics.count()
        if self._statistics.on:
            self._show_statistics()
        if self._saving is not None:
            self._save(shown)

    def _opened(self, info: SourceInfo) -> None:
        self.transport.set_source(info)
        if self.item is not None:
            self._detected(self.item)


def _write(image: QImage, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not image.save(str(target)):
        raise ExportError(f"cannot write {target}: check that the folder may be written and that the disk is not full")
    return target
