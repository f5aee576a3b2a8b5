"""What the window shows of a live source: its state over the picture, and the bar below it."""

import time

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from framefleet.app.window.devices import figures, status
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.streams.pictures import LivePicture
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import ElidedLabel, Light, column, label, push_button, row
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.media.live.messages import LiveState
from framefleet.engine.pool.events import StreamChanged

MANY_FRAMES = 50
"""After this many results without a picture, the GPU decodes the stream: only its keyframes are decoded for the window."""
OLD_SECONDS = 2.0
"""From this age on, the age of a picture is a warning."""
MARGIN = 10
WIDTH = 420
"""The largest width of the state over a picture, logical pixels."""

STATES = {
    LiveState.CONNECTING: (marked("streams", "Connecting…"), "ON_STAGE_MUTED"),
    LiveState.WAITING_FOR_KEYFRAME: (marked("streams", "Waiting for a keyframe…"), "ON_STAGE_MUTED"),
    LiveState.RUNNING: (marked("streams", "Live"), "GOOD"),
    LiveState.STALLED: (marked("streams", "Stalled"), "ON_STAGE_WARNING"),
    LiveState.WAITING_TO_RECONNECT: (marked("streams", "Connects again in {seconds}"), "ON_STAGE_WARNING"),
    LiveState.STOPPED: (marked("streams", "Stopped"), "ON_STAGE_MUTED"),
}
"""The words for each state, and the name of its colour."""


class StateClock:
    """Knows when the state of a source changed, so that the time to the next attempt can be counted down."""

    def __init__(self) -> None:
        self._known: StreamChanged | None = None
        self._since = 0.0

    def words(self, item: QueueItem) -> tuple[str, str, str]:
        """The state in words, its reason ("" if it is not worth a line), and the name of its colour."""
        changed = item.progress.state
        if item.state is ItemState.PAUSED:
            return translate("streams", "Paused"), "", "ON_STAGE_MUTED"
        if item.ended and item.stream is None:
            return translate("streams", "Stored results"), "", "ON_STAGE_MUTED"
        if changed is None or (item.state is ItemState.WAITING and item.results is None):
            return translate("streams", "Waiting"), item.explained, "ON_STAGE_MUTED"
        if changed != self._known:
            self._known, self._since = changed, time.monotonic()
        text, colour = STATES[changed.state]
        reason = changed.reason
        if changed.state is LiveState.WAITING_TO_RECONNECT:
            left = float(reason.fields.get("seconds", 0.0)) - (time.monotonic() - self._since)
            why = reason.fields.get("why", reason)
            return translate("streams", text).format(seconds=formats.remaining(max(left, 1.0))), of_engine(why, capital=True), colour
        if changed.state is LiveState.RUNNING:
            preparing = item.explained if item.state is ItemState.WAITING else ""
            return translate("streams", text), preparing, colour
        quiet = changed.state is LiveState.WAITING_FOR_KEYFRAME or reason.code in ("live.asked", "live.stopped")
        colour = "ON_STAGE_WARNING" if item.state is ItemState.FAILED else colour
        return translate("streams", text), "" if quiet else of_engine(reason, capital=True), colour


class StatusOverlay(QFrame):
    """Shows the state of a live source at the top left of its picture."""

    def __init__(self, canvas: VideoCanvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.setObjectName("stream-status")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.light, self.title, self.details = Light(), label(""), label("", wrap=True)
        self.title.setStyleSheet(f"color: {theme.ON_STAGE}; font-weight: 600;")
        self.details.setStyleSheet(f"color: {theme.ON_STAGE};")
        self.setStyleSheet("#stream-status { background: rgba(10, 12, 16, 205); border-radius: 6px; }")
        column(row(self.light, self.title, None, spacing=7), self.details, spacing=2, margins=(9, 6, 9, 6), of=self)
        canvas.installEventFilter(self)
        self.hide()

    def show_state(self, title: str, details: str, colour: str) -> None:
        """Show these texts. colour: name of the light's colour."""
        self.light.set_colour(theme.colour(colour))
        if (title, details) != (self.title.text(), self.details.text()):
            self.title.setText(title)
            self.details.setText(details)
            self.details.setVisible(bool(details))
            self.setAccessibleName(title)
            self.setAccessibleDescription(details)
            self._place()
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay within the canvas."""
        if event.type() is QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        room = self._canvas.width() - 2 * MARGIN
        wanted = max(self.details.fontMetrics().horizontalAdvance(line) for line in (self.details.text() or " ").splitlines()) + 24
        self.setFixedWidth(max(min(max(wanted, self.title.sizeHint().width() + 40), room, WIDTH), 40))
        self.adjustSize()
        self.move(MARGIN, MARGIN)


class LiveView(QObject):
    """Shows a live source on a canvas. key: of the item. small: there are other pictures beside it, and less room.

    Attributes: picture: the newest one. stored: the time of an earlier frame that is shown, "" without one. recorded: whether that has its
    picture.
    """

    def __init__(self, key: int, canvas: VideoCanvas, small: bool, parent: QObject) -> None:
        super().__init__(parent)
        self.key, self.canvas, self.small = key, canvas, small
        self.overlay = StatusOverlay(canvas)
        self.picture: LivePicture | None = None
        self.stored: str = ""
        self.recorded = False
        self._clock = StateClock()

    @property
    def age(self) -> float | None:
        """Seconds since the shown frame arrived, None without one."""
        return None if self.picture is None else time.perf_counter() - self.picture.arrival

    def update(self, item: QueueItem) -> None:
        """Show the state of the item now."""
        title, reason, colour = self._clock.words(item)
        if self.canvas.placement is None:
            self.overlay.hide()
            if item.progress.frames >= MANY_FRAMES and not item.ended:
                reason = translate("streams", "The GPU decodes this stream, so a picture is shown with each keyframe only.")
            self.canvas.show_message("\n".join(filter(None, (title, reason))))
            return
        if self.stored:
            missing = translate("streams", "This moment was not recorded.")
            self.overlay.show_state(self.stored, "" if self.recorded else missing, "ACCENT")
            return
        lines = [reason] if reason else []
        if (age := self.age) is not None and not item.ended:
            if age >= OLD_SECONDS:
                colour = "ON_STAGE_WARNING" if colour == "GOOD" else colour
            title = translate("streams", "{state} · picture {age} s old").format(state=title, age=formats.decimal(age))
        if self.picture is not None and not self.small and not item.ended:
            p50, p99 = map(formats.milliseconds, self.picture.latency)
            lines.append(translate("streams", "From packet to boxes: {p50} ms, 99 of 100 within {p99} ms").format(p50=p50, p99=p99))
        self.overlay.show_state(title, "\n".join(lines), colour)

    def close(self) -> None:
        """Remove the state from the canvas."""
        self.overlay.hide()
        self.overlay.deleteLater()
        self.deleteLater()


class StreamBar(QWidget):
    """The bar under the picture of a live source. live_wanted: return to the newest picture. stop_wanted: stop or continue.

    snapshot_wanted: save the shown picture. record_wanted: begin or end a recording. play_wanted: play what was recorded, or pause.
    """

    live_wanted = Signal()
    stop_wanted = Signal()
    snapshot_wanted = Signal()
    record_wanted = Signal()
    play_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.live = push_button(
            translate("streams", "Live"), self.live_wanted, symbol="follow", tip=translate("streams", "Return to the newest picture")
        )
        self.play = push_button("", self.play_wanted, tip=translate("streams", "Play what was recorded from this moment on"))
        self.play.hide()
        self.figures = ElidedLabel("small")
        self.snapshot = push_button(
            translate("streams", "Snapshot"),
            self.snapshot_wanted,
            symbol="image",
            tip=translate("streams", "Save the picture with its boxes (S)"),
        )
        self.record = push_button(
            "", self.record_wanted, tip=translate("streams", "Keep the stream as it arrives, in files of some minutes")
        )
        self.stop = push_button("", self.stop_wanted)
        for button in (self.live, self.play, self.snapshot, self.record, self.stop):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row(self.live, self.play, 8, (self.figures, 1), self.snapshot, self.record, self.stop, spacing=6, margins=(12, 6, 12, 6), of=self)
        self.hide()

    def show_item(self, item: QueueItem, following: bool, device: status.DeviceStatus | None = None) -> None:
        """Show the figures of a live item. following: the newest picture is shown. device: that analyses it, None: none now."""
        counted = item.progress.finished.ledger if item.progress.finished is not None else item.progress.counted
        self.figures.show_parts(figures_of(item))
        self.figures.setAccessibleName(self.figures.text())
        losses = {**counted.dropped, **counted.failed} if counted is not None else {}
        listed = sorted(losses.items(), key=lambda each: -each[1])
        lines = [f"{formats.count(count)}: {of_engine(reason)}" for reason, count in listed]
        self.figures.setToolTip("\n".join([*lines, *([] if device is None else [limit_text(device)])]))
        self.live.setEnabled(not following and item.stream is not None and not item.ended)
        self.stop.setVisible(item.stream is not None)
        ended = item.ended or item.state is ItemState.PAUSED
        recording = item.progress.recording is not None and item.progress.recording.on
        self.record.setText(translate("streams", "Stop recording") if recording else translate("streams", "Record"))
        self.record.setVisible(item.stream is not None and not ended)
        self.stop.setText(translate("streams", "Continue") if ended else translate("streams", "Stop"))

    def show_playing(self, playing: bool, possible: bool) -> None:
        """Show whether recorded pictures are played. possible: whether the shown moment was recorded."""
        self.play.setVisible(possible)
        self.play.setText(translate("streams", "Pause") if playing else translate("streams", "Play"))


def limit_text(device: status.DeviceStatus) -> str:
    """What limits the streams of a device."""
    if device.bottleneck in (None, "sources"):
        return translate("streams", "Analysed by {device}, which waits for frames").format(device=device.device)
    text = translate("streams", "Analysed by {device}, where these streams are limited by: {stage}")
    return text.format(device=device.device, stage=figures.stage_name(device.bottleneck or ""))


def figures_of(item: QueueItem) -> list[str]:
    """``dropped 34``, ``received 1,234``, ``analysed 1,200``, ``25.0 frames/s``, ``recorded to …``: a narrow line shows the first ones."""
    counted = item.progress.finished.ledger if item.progress.finished is not None else item.progress.counted
    parts: list[str] = []
    if counted is not None and counted.received is not None:
        lost = counted.received - counted.inferred
        parts.append(translate("streams", "dropped {count}").format(count=formats.count(lost)))
        parts.append(translate("streams", "received {count}").format(count=formats.count(counted.received)))
        parts.append(translate("streams", "analysed {count}").format(count=formats.count(counted.inferred)))
    if item.rate:
        parts.append(translate("streams", "{rate} frames/s").format(rate=formats.rate(item.rate)))
    if item.progress.recording is not None and not item.ended:
        parts.append(of_engine(item.progress.recording.reason))
    return parts
