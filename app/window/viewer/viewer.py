"""The middle of the window: the picture of one file with its boxes, the controls, the player's keys, and statistics."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QBoxLayout, QWidget

from framefleet.app.window.keys.bindings import PORTABLE, Bindings, Command, Shortcuts
from framefleet.app.window.player.player import Player
from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.results.saving import PictureSaver
from framefleet.app.window.results.stored import is_known, read_clock
from framefleet.app.window.run.background import Background
from framefleet.app.window.timeline.class_counts import Tally, length_of, parts_of
from framefleet.app.window.timeline.contents import Lane
from framefleet.app.window.timeline.seeking import HoverCard, Seeking
from framefleet.app.window.viewer.canvas import NOT_YET, Pictures, VideoCanvas
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.transport import Transport
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import column
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.store.clock import Clock
from framefleet.engine.types import FrameResult

REST_MS = 2500
"""Time without a movement of the mouse after which the controls hide."""


class FloatingControls(QObject):
    """Places the controls of a viewer: in its layout, or at the lower edge over the picture."""

    def __init__(self, viewer: QWidget, layout: QBoxLayout, canvas: VideoCanvas, controls: QWidget) -> None:
        super().__init__(viewer)
        self._viewer, self._layout, self._canvas, self._controls = viewer, layout, canvas, controls
        self._float = False
        self._resting = QTimer(self, interval=REST_MS, singleShot=True)
        self._resting.timeout.connect(self._rest)
        canvas.mouse_moved.connect(self._show)

    def set_floating(self, floating: bool) -> None:
        """Let the controls float, or put them back into the layout."""
        self._float = floating
        if floating:
            self._layout.removeWidget(self._controls)
            self._viewer.installEventFilter(self)
        else:
            self._layout.addWidget(self._controls)
            self._viewer.removeEventFilter(self)
            self._resting.stop()
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep floating controls at the lower edge."""
        if event.type() is QEvent.Type.Resize:
            self._show()
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        self._controls.show()
        self._canvas.unsetCursor()
        if self._float:
            height = self._controls.sizeHint().height()
            self._controls.setGeometry(0, self._viewer.height() - height, self._viewer.width(), height)
            self._controls.raise_()
            self._resting.start()

    def _rest(self) -> None:
        if self._float and not self._controls.underMouse():
            self._controls.hide()
            self._canvas.setCursor(Qt.CursorShape.BlankCursor)


SECONDS = 2.0
"""The number of shown pictures is a mean over this time."""


class Statistics:
    """Text about the shown file, its picture and its detections. ``on``: whether the user wants to see it."""

    def __init__(self) -> None:
        self.on = False
        self._times: deque[float] = deque()

    def count(self, now: float | None = None) -> None:
        """Count a shown picture. now: monotonic seconds."""
        now = time.monotonic() if now is None else now
        self._times.append(now)
        while now - self._times[0] > SECONDS:
            self._times.popleft()

    @property
    def rate(self) -> float:
        """Shown pictures per second, 0 with fewer than two."""
        return (len(self._times) - 1) / (self._times[-1] - self._times[0]) if len(self._times) > 1 else 0.0

    def text(
        self, item: QueueItem, info: SourceInfo, shown: Shown, result: FrameResult | None, visible: int, scale: float, playing: bool
    ) -> str:
        """The lines to show.

        result: of the picture, None = not detected yet. visible: number of boxes on the picture. scale: pixels of the screen for a pixel of
        the video. playing: the rate of shown pictures is known."""
        video = f"{info.width} × {info.height} · {info.codec}" + (
            translate("viewer", " · {rate} frames/s").format(rate=formats.rate(info.rate)) if info.rate else ""
        )
        found = translate("viewer", "not analysed")
        if result is not None:
            found = translate("viewer", "{visible} of %Ln boxes · {device}", None, len(result.detections or ())).format(
                visible=formats.count(visible), device=result.device
            )
            if result.failure is not None:
                found = of_engine(result.failure)
        detection = translate("viewer", "Detection: {summary}").format(summary=item.summary)
        picture = translate("viewer", "Shown: {width} × {height} ({scale})").format(
            width=shown.image.width(), height=shown.image.height(), scale=formats.part(scale)
        ) + (translate("viewer", " · {rate} frames/s").format(rate=formats.rate(self.rate)) if playing else "")
        return "\n".join(
            (
                item.path.name,
                video,
                translate("viewer", "At {pts}: {found}").format(pts=formats.clock(shown.pts - info.begin, 3), found=found),
                picture,
                detection,
            )
        )


@dataclass(frozen=True, kw_only=True)
class PlayerCommand(Command):
    """A command of the player. act: carries it out."""

    act: Callable[[Viewer], object]


def _command(name: str, keys: str, meaning: str, act: Callable[[Viewer], object]) -> PlayerCommand:
    return PlayerCommand(f"player/{name}", meaning, tuple(keys.split()), act=act)


PLAYER = (
    _command("play", "Space", marked("keys", "Play or pause"), lambda viewer: viewer.player.toggle()),
    _command("next_frame", ".", marked("keys", "Next frame"), lambda viewer: viewer.player.step(1)),
    _command("previous_frame", ",", marked("keys", "Previous frame"), lambda viewer: viewer.player.step(-1)),
    _command("forward_5", "Right", marked("keys", "5 seconds forward"), lambda viewer: viewer.seeking.by(5.0)),
    _command("back_5", "Left", marked("keys", "5 seconds back"), lambda viewer: viewer.seeking.by(-5.0)),
    _command("forward_1", "Shift+Right", marked("keys", "1 second forward"), lambda viewer: viewer.seeking.by(1.0)),
    _command("back_1", "Shift+Left", marked("keys", "1 second back"), lambda viewer: viewer.seeking.by(-1.0)),
    _command("first", "Home", marked("keys", "First frame"), lambda viewer: viewer.player.seek(0.0)),
    _command("last", "End", marked("keys", "Last frame"), lambda viewer: viewer.seeking.to_end()),
    _command("shuttle_back", "J", marked("keys", "Play backwards; again: twice as fast"), lambda viewer: viewer.seeking.shuttle(-1)),
    _command("shuttle_stop", "K", marked("keys", "Pause at normal speed"), lambda viewer: viewer.seeking.shuttle(0)),
    _command("shuttle", "L", marked("keys", "Play; again: twice as fast"), lambda viewer: viewer.seeking.shuttle(1)),
    _command("slower", "[", marked("keys", "Slower"), lambda viewer: viewer.transport.nudge_speed(-1)),
    _command("faster", "]", marked("keys", "Faster"), lambda viewer: viewer.transport.nudge_speed(1)),
    _command(
        "next_detection",
        "N",
        marked("keys", "Next start of a shown class"),
        lambda viewer: viewer.seeking.to_detection(forward=True),
    ),
    _command(
        "previous_detection",
        "P",
        marked("keys", "Previous start of a shown class"),
        lambda viewer: viewer.seeking.to_detection(forward=False),
    ),
    _command("wait", "D", marked("keys", "Wait for detection, on or off"), lambda viewer: viewer.transport.wait.toggle()),
    _command("save", "S", marked("keys", "Save the picture with its boxes"), lambda viewer: viewer.save_picture(boxes=True)),
    _command("save_plain", "Shift+S", marked("keys", "Save the picture without boxes"), lambda viewer: viewer.save_picture(boxes=False)),
    _command("part_begin", "Shift+I", marked("keys", "Begin a part of the video here"), lambda viewer: viewer.mark(end=False)),
    _command("part_end", "O Shift+O", marked("keys", "End the part here"), lambda viewer: viewer.mark(end=True)),
    _command("part_none", "X", marked("keys", "Choose the whole video again"), lambda viewer: viewer.transport.timeline.set_part(None)),
    _command("statistics", "I", marked("keys", "Statistics over the picture"), lambda viewer: viewer.toggle_statistics()),
    _command("fit", "Ctrl+0", marked("keys", "Fit an enlarged picture again"), lambda viewer: viewer.canvas.set_zoom(1.0)),
)
TIMELINE = (
    PlayerCommand(
        "timeline/part_begin",
        marked("keys", "Begin a part, while the mouse or the focus is on the timeline"),
        ("I",),
        focused=True,
        act=lambda viewer: viewer.mark(end=False),
    ),
)


class PlayerKeys(QObject):
    """Lets a viewer obey its keys while it shows a file.

    Printable keys are shortcuts of the window, so that lists do not take them for a search; fields for text take them first. The other
    keys belong to the widget with the focus, and reach ``press`` if that widget does not use them. ``I`` shows statistics, as in mpv; it
    begins a part while the mouse or the focus is on the timeline.
    """

    def __init__(self, viewer: Viewer, bindings: Bindings) -> None:
        super().__init__(viewer)
        self._viewer, self._bindings = viewer, bindings
        bindings.add((*PLAYER, *TIMELINE))
        acts = {command.name: partial(self._act, command) for command in PLAYER}
        Shortcuts(viewer, bindings, acts, takes=_printable)
        viewer.transport.timeline.installEventFilter(self)

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key that no widget has used; return False for a key that is not the player's."""
        command = self._bindings.owner(_name(event))
        if not isinstance(command, PlayerCommand):
            return False
        return (event.isAutoRepeat() and command is PLAYER[0]) or self._act(command)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys of the timeline while it has the focus, before those of the window. Its arrow keys are the player's."""
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            command = self._bindings.owner(_name(event), focused=True)
            if event.type() is QEvent.Type.ShortcutOverride and isinstance(command, PlayerCommand):
                event.accept()
                return True
            if event.type() is QEvent.Type.KeyPress:
                return self._act(command) if isinstance(command, PlayerCommand) else self.press(event)
        return super().eventFilter(watched, event)

    def _act(self, command: PlayerCommand) -> bool:
        if self._viewer.item is None:
            return False
        if self._viewer.transport.timeline.underMouse():
            keys = set(self._bindings.keys(command.name))
            command = next((other for other in TIMELINE if keys & set(self._bindings.keys(other.name))), command)
        command.act(self._viewer)
        return True


def _name(event: QKeyEvent) -> str:
    return QKeySequence(event.keyCombination()).toString(PORTABLE)


def _printable(key: str) -> bool:
    return len(key.rpartition("+")[2] or "+") == 1


LANES = 20
"""The largest number of classes that the timeline shows, the most frequent first."""
COUNT_MS = 1000
"""Time between updates of how often each class was seen."""

_MISSING = {
    ItemState.RUNNING: marked("viewer", "Not analysed yet: detection goes through the file in order"),
    ItemState.FAILED: marked("viewer", "Not analysed: detection failed"),
    ItemState.CANCELLED: marked("viewer", "Not analysed: detection was cancelled"),
    ItemState.DONE: marked("viewer", "Not analysed"),
}
"""The note over pictures without a result, by the state of their file."""
_NEXT = marked("viewer", "Not analysed yet: detection goes here next")
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
        self.saver = PictureSaver(self.player, self.canvas, background, self)
        self.hover_card = HoverCard(self.transport, client)
        self.keys = PlayerKeys(self, bindings)
        self._counting = QTimer(self, interval=COUNT_MS, singleShot=True)
        self._counting.timeout.connect(self._count)
        player, transport = self.player, self.transport
        player.shown.connect(self._shown)
        player.result.connect(self.canvas.show_result)
        player.opened.connect(self._opened)
        player.changed.connect(transport.set_playback)
        for button, name in ((transport.back, "previous_frame"), (transport.forward, "next_frame")):
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
        self.saver.failed.connect(transport.hint.setText)
        self.canvas.resized.connect(player.set_viewport)

    def stop(self) -> None:
        """Close the file."""
        self.player.close_file()

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
        self.hover_card.set_path(None if item.live else str(item.path))
        self.canvas.show_message(translate("viewer", "Opening…"))
        self.canvas.set_labels(item.results.labels if item.results else ())
        self.transport.set_source(item.progress.info)
        self.player.set_viewport(self.canvas.device_size())
        self.player.open(item, play, at)
        self._count()
        self.transport.set_clock(None)
        self._clock_of = None
        self._find_clock(item)

    def clear(self) -> None:
        """Show nothing."""
        self.item = self._tally = None
        self.transport.timeline.set_part(None)
        self.hover_card.set_path(None)
        self.player.close_file()
        self.canvas.show_message("")
        self.transport.set_source(None)
        self._count()

    def update_item(self, item: QueueItem, tally: Tally | None, queue_busy: bool) -> None:
        """Show a changed state of the shown file. queue_busy: detection runs in another file."""
        before, self.item, self._tally = self.item, item, tally
        if item.results is not None and (before is None or before.results is None or before.results.labels != item.results.labels):
            self.canvas.set_labels(item.results.labels)
        if item.progress.info is not None and (before is None or before.progress.info is None):
            self.transport.set_source(item.progress.info)
            self.transport.set_position(self.player.position)
        elif item.live and item.progress.info is not None:
            self.transport.set_live_length(item.progress.info, item.progress.head)
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

        def shown() -> bool:
            return self.item is not None and self.item.results == results

        def found(clock: Clock | None) -> None:
            if shown():
                self.transport.set_clock(clock)

        def failed(said: Notice) -> None:
            if shown():
                self.transport.hint.setText(of_engine(said))

        if state != self._clock_of and is_known(item):
            self._clock_of = state
            self._background.start(self, partial(read_clock, item), found, failed)

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
        ahead: tuple[tuple[float, float], ...] = ()
        self.transport.wait.setEnabled(item is not None and not item.ended and not item.live)
        if item is not None and item.live:
            self.transport.speed.setEnabled(False)
        if item is not None:
            info = item.progress.info
            length = length_of(info)
            if item.part is not None and length:
                begin = item.part.begin / length
            if item.state is ItemState.DONE:
                end = item.part.end / length if item.part is not None and length else 1.0
            elif item.progress.head is not None and info is not None and length:
                end = (item.progress.head - info.begin) / length
                ahead = tuple(((first - info.begin) / length, (last - info.begin) / length) for first, last in item.ahead.parts)
            stopped = item.ended or item.state is ItemState.PAUSED
            if stopped and item.state is not ItemState.DONE and not item.live and self._tally is not None and self._tally.frames.any():
                (begin, end), *behind = parts_of(self._tally.frames + self._tally.failures)  # a place may have been sought
                ahead = tuple(behind)
            self.canvas.set_missing(translate("viewer", _missing(item)))
        self.transport.timeline.expect_lanes(item is not None and not item.ended and item.results is not None)
        self.transport.timeline.set_detected(min(end, 1.0), begin)
        self.transport.timeline.set_ahead(ahead)

    def _count(self) -> None:
        tally, shown = self._tally, self._filter
        lanes = []
        if tally is not None:
            found = tally.lanes(shown.confidence, shown.classes, LANES)
            lanes = [Lane(self.canvas.label_of(class_id), class_id, counts, tally.frames) for class_id, counts in found]
        info = self.item.progress.info if self.item is not None else None
        self.transport.timeline.set_lanes(lanes, tally.failures if tally is not None else None, info.frames if info is not None else 0)
        self.counted.emit(tally.counts(shown.confidence) if tally is not None else {})
        self._detected(self.item)

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
    if item.state is ItemState.RUNNING and item.progress.info is not None and len(item.progress.info.segments) > 1:
        return _NEXT
    return _OUTSIDE if item.part is not None and item.state is ItemState.DONE else _MISSING.get(item.state, NOT_YET)
