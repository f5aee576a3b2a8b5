"""The middle of the window: the picture of one file with its boxes, and the controls."""

from functools import partial

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QWidget

from framefleet.app.window.grid.pictures import Pictures
from framefleet.app.window.keys.bindings import Bindings
from framefleet.app.window.player.player import Player
from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.player.sound import Sound
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.results.saving import PictureSaver
from framefleet.app.window.results.stored import is_known, read_clock
from framefleet.app.window.session.background import Background
from framefleet.app.window.timeline.class_counts import Tally, length_of
from framefleet.app.window.timeline.glimpse import Glimpse
from framefleet.app.window.timeline.lanes import Lane
from framefleet.app.window.timeline.seeking import Seeking
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.floating_controls import FloatingControls
from framefleet.app.window.viewer.keys import PlayerKeys
from framefleet.app.window.viewer.picture_view import NOT_YET
from framefleet.app.window.viewer.statistics import Statistics
from framefleet.app.window.viewer.transport import Transport
from framefleet.app.window.widgets.build import column
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.store.clock import Clock

LANES = 20
"""The largest number of classes that the timeline shows, the most frequent first."""
COUNT_MS = 1000
"""Time between updates of how often each class was seen."""

_MISSING = {
    ItemState.FAILED: marked("viewer", "Not analysed: detection failed"),
    ItemState.CANCELLED: marked("viewer", "Not analysed: detection was cancelled"),
    ItemState.DONE: marked("viewer", "Not analysed"),
}
"""The note over pictures without a result, by the state of their file."""
_OUTSIDE = marked("viewer", "Not analysed: outside the analysed part")
_REPLACED = marked("viewer", "No boxes: another run has replaced these results")


class Viewer(QWidget):
    """Shows one queue item. counted: class id → detections of the shown file at the chosen confidence."""

    counted = Signal(object)

    def __init__(self, client: PreviewClient, background: Background, bindings: Bindings) -> None:
        super().__init__()
        self._background, self.bindings = background, bindings
        self._statistics = Statistics()
        self.item: QueueItem | None = None
        self._tally: Tally | None = None
        self._filter = ViewFilter()
        self._clock_of: tuple[Results | None, bool] | None = None
        self.canvas: VideoCanvas = VideoCanvas()
        self.pictures = Pictures(self.canvas)
        self.transport: Transport = Transport()
        self.player: Player = Player(client, self)
        self._bars: list[QWidget] = []
        self._column = column((self.pictures, 1), self.transport, spacing=0, of=self)
        self.controls = FloatingControls(self, self._column, self.canvas, self.transport)
        self.seeking: Seeking = Seeking(self.player, self.transport, background, lambda: self.item, lambda: self._filter)
        self.sound = Sound(self.player, self)
        self.saver = PictureSaver(self.player, self.canvas, background, self)
        self.glimpse = Glimpse(self.transport, client)
        self.keys = PlayerKeys(self, bindings)
        self._counting = QTimer(self, interval=COUNT_MS, singleShot=True)
        self._counting.timeout.connect(self._count)
        player, transport = self.player, self.transport
        player.shown.connect(self._shown)
        player.result.connect(self.canvas.show_result)
        player.opened.connect(self._opened)
        player.changed.connect(transport.set_playback)
        for button, name in (
            (transport.back, "previous_frame"),
            (transport.forward, "next_frame"),
            (transport.sound, "mute"),
        ):
            bindings.show_on(button, f"player/{name}")
        waits = translate("viewer", "Wait for detection: play no further than what is analysed")
        bindings.show_on(transport.wait, "player/wait", waits)
        bindings.show_on(transport.fullscreen, "window/fullscreen")
        name_keys = bindings.show_on(transport.play, "player/play")
        player.changed.connect(lambda _: name_keys())
        for changed in (player.changed, player.result):
            changed.connect(lambda _: self._show_statistics())
        player.failed.connect(self.canvas.show_message)
        transport.play.clicked.connect(player.toggle)
        transport.back.clicked.connect(lambda: player.step(-1))
        transport.forward.clicked.connect(lambda: player.step(1))
        transport.sought.connect(player.seek)
        transport.speed_chosen.connect(player.set_speed)
        transport.wait.toggled.connect(player.set_wait)
        transport.sound.toggled.connect(self.sound.set_on)
        self.sound.silent.connect(transport.show_silent)
        self.saver.failed.connect(transport.hint.setText)
        self.canvas.resized.connect(player.set_viewport)

    def stop(self) -> None:
        """Close the file."""
        self.player.close_file()
        self.sound.stop()

    @property
    def rows(self) -> list[QWidget]:
        """The pictures, the bars below them and the controls, from top to bottom."""
        return [self.pictures, *self._bars, self.transport]

    def add_bar(self, bar: QWidget) -> None:
        """Put a bar between the picture and the controls."""
        self._bars.append(bar)
        self._column.insertWidget(len(self._bars), bar)

    def show_item(self, item: QueueItem, tally: Tally | None, play: bool, at: float = 0.0) -> None:
        """Show a file from a time on, seconds."""
        self.item, self._tally = item, tally
        self.transport.timeline.set_part(None)
        self.glimpse.set_path(str(item.path))
        self.canvas.show_message(translate("viewer", "Opening…"))
        self.canvas.set_labels(item.results.labels if item.results else ())
        self.transport.set_source(item.progress.info)
        self.transport.show_silent("")
        self.player.set_viewport(self.canvas.device_size())
        self.player.open(item, play, at)
        self._detected(item)
        self._count()
        self.transport.set_clock(None)
        self._clock_of = None
        self._find_clock(item)

    def clear(self) -> None:
        """Show nothing."""
        self.item = self._tally = None
        self.transport.timeline.set_part(None)
        self.glimpse.set_path(None)
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
        self._show_statistics()
        if not self._counting.isActive():
            self._counting.start()

    def _find_clock(self, item: QueueItem) -> None:
        """Read in the background when the shown video began or pictures were taken, once the session knows that, and again at the end."""
        results = item.results
        state = results, item.progress.finished is not None

        def found(clock: Clock | None) -> None:
            if self.item is not None and self.item.results == results:
                self.transport.set_clock(clock)

        if state != self._clock_of and is_known(item):
            self._clock_of = state
            self._background.start(self, partial(read_clock, item), found, lambda said: self.transport.hint.setText(of_engine(said)))

    def set_filter(self, view_filter: ViewFilter) -> None:
        """Draw and count only these detections."""
        self._filter = view_filter
        self.canvas.set_filter(view_filter)
        self._show_statistics()
        self._count()

    def save_picture(self, boxes: bool) -> None:
        """Save the current picture as a file, with or without boxes."""
        if self.item is not None:
            self.saver.save(self.item.path, boxes)

    def mark(self, end: bool) -> None:
        """Let the chosen part begin or end at the current picture."""
        self.transport.part.mark(self.player.position - self.transport.begin, end, self.player.info)

    def toggle_statistics(self) -> None:
        """Show or hide the statistics."""
        self._statistics.on = not self._statistics.on
        self._show_statistics()

    def _show_statistics(self) -> None:
        info, shown = self.player.info, self.player.current
        text = ""
        if self._statistics.on and self.item is not None and info is not None and shown is not None:
            visible, playing = len(self.canvas.visible_detections), self.player.playing
            text = self._statistics.text(self.item, info, shown, self.canvas.result, visible, self.canvas.scale, playing)
        self.canvas.set_statistics(text)

    def _detected(self, item: QueueItem | None) -> None:
        begin = end = 0.0
        self.transport.wait.setEnabled(item is not None and not item.ended)
        if item is not None:
            info = item.progress.info
            length = length_of(info)
            if item.part is not None and length:
                begin = item.part.begin / length
            if item.state is ItemState.DONE:
                end = item.part.end / length if item.part is not None and length else 1.0
            elif item.progress.head is not None and info is not None and length:
                end = (item.progress.head - info.begin) / length
            self.canvas.set_missing(translate("viewer", _missing(item)))
        self.transport.timeline.set_detected(min(end, 1.0), begin)

    def _count(self) -> None:
        tally, shown = self._tally, self._filter
        lanes = []
        if tally is not None:
            found = tally.lanes(shown.confidence, shown.classes, LANES)
            lanes = [Lane(self.canvas.label_of(class_id), class_id, counts, tally.frames) for class_id, counts in found]
        info = self.item.progress.info if self.item is not None else None
        self.transport.timeline.set_lanes(lanes, tally.failures if tally is not None else None, info.frames if info is not None else 0)
        self.counted.emit(tally.counts(shown.confidence) if tally is not None else {})

    def _shown(self, shown: Shown) -> None:
        info = self.player.info
        size = (info.width, info.height) if info is not None else (shown.image.width(), shown.image.height())
        if info is not None and info.kind is SourceKind.IMAGES and shown.result is None:
            size = (shown.image.width(), shown.image.height())  # pictures of one folder differ in size
        self.canvas.show_picture(shown.image, size, shown.result)
        self.transport.show_name(shown.name or "")
        own = shown.result is not None and shown.result.ref.pts == shown.pts  # else the boxes are those of a sample before
        self.transport.set_position(shown.pts, shown.result.ref.index if own and shown.result is not None else None)
        self._statistics.count()
        self._show_statistics()

    def _opened(self, info: SourceInfo) -> None:
        self.transport.set_source(info)
        if self.item is not None:
            self._detected(self.item)


def _missing(item: QueueItem) -> str:
    """The note over pictures of a file without a result."""
    if item.replaced:
        return _REPLACED
    return _OUTSIDE if item.part is not None and item.state is ItemState.DONE else _MISSING.get(item.state, NOT_YET)
