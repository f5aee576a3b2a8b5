"""Cameras and streams in the window: opens them, shows their live pictures, and says when the devices cannot keep up."""

import math
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Qt, QTimer
from PySide6.QtGui import QImage, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.devices.status import DeviceStatus
from framefleet.app.window.player.preview_client import Shown
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.queue.model import THUMBNAIL, thumbnail
from framefleet.app.window.queue.open_files import is_stream
from framefleet.app.window.streams.dialog import RecentStreams, StreamDialog
from framefleet.app.window.streams.pictures import LivePicture
from framefleet.app.window.streams.view import LiveView, StreamBar
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.messages import RecordSettings
from framefleet.engine.pool.events import Ledger
from framefleet.engine.pool.streams import LiveSource
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import FrameResult

INTERVAL, SMALL_INTERVAL, HIDDEN_INTERVAL = 1 / 15, 1 / 8, 5.0
"""The shortest time between two pictures of a source that is shown alone, beside others, and in the queue only, seconds."""
TICK_MS = 250
"""Time between updates of ages and countdowns."""
MEASURE_TICKS = 40
"""Number of ticks over which the capacity is measured."""
ENOUGH = 0.9
"""The devices keep up if they analyse this share of the received frames."""
SUBJECT = "streams"


class Streams(QObject):
    """Shows the live sources of the queue.

    Attributes: bar: under the picture of the shown source. dialog: the last one for opening a stream.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._context = context
        self._recent = RecentStreams(context.store)
        self._views: dict[VideoCanvas, LiveView] = {}
        self.bar = StreamBar()
        self.dialog: StreamDialog | None = None
        self._capacity = Capacity()
        self._devices: Sequence[DeviceStatus] = ()
        self._thumbed: dict[int, float] = {}  # when the queue got the last small picture of a source
        self._asked = 0  # numbers the requests for stored frames
        self._tick = QTimer(self, interval=TICK_MS)
        self._tick.timeout.connect(self._ticked)
        viewer, run = context.viewer, context.run
        viewer.add_bar(self.bar)
        self.bar.live_wanted.connect(viewer.player.play)
        self.bar.snapshot_wanted.connect(lambda: viewer.save_picture(boxes=True))
        self.bar.record_wanted.connect(self._record)
        self.bar.stop_wanted.connect(self._stop_or_continue)
        viewer.player.live_wanted.connect(self._follow)
        viewer.player.live_sought.connect(self._seek)
        context.selection.file_changed.connect(self._file_changed)
        context.requests.live_canvas.connect(self._add_view)
        run.pictured.connect(self._pictured)
        run.item_changed.connect(self._item_changed)
        run.devices_changed.connect(self._devices_changed)
        run.figures_changed.connect(self._devices_changed)
        for changed in (context.queue.rowsInserted, context.queue.rowsRemoved):
            changed.connect(self._queue_changed)

    # opening

    def open_dialog(self, text: str = "") -> None:
        """Ask for a stream. text: its address, "" = what the clipboard holds, if that is one."""
        dialog = self.dialog = StreamDialog(self._recent, self._context.background, self._context.window)
        dialog.chosen.connect(self.open)
        dialog.noted.connect(partial(self._context.banners.show_banner, "keyring", Severity.WARNING))
        dialog.destroyed.connect(self._dialog_gone)
        dialog.fill(text or _pasted())
        dialog.open()

    def _dialog_gone(self) -> None:
        self.dialog = None

    def open(self, address: LiveAddress) -> None:
        """Queue a stream and show it, unless it is there."""
        there = [item for item in self._context.queue if item.stream is not None and str(item.stream.address) == str(address)]
        unfinished = [item.key for item in there if not item.ended]
        if unfinished:
            self._context.selection.show_first(unfinished)
            return
        keys = self._context.run.add_streams([LiveSource(address, watched=True)])
        self._context.selection.begin(keys)
        self._context.selection.show(keys[0])

    def paste(self) -> None:
        """Open the address in the clipboard."""
        if text := _pasted():
            self.open_dialog(text)

    # pictures

    @property
    def _main(self) -> LiveView | None:
        return self._views.get(self._context.viewer.canvas)

    def _add_view(self, key: int, canvas: VideoCanvas) -> None:
        """Show a live item on a canvas until the canvas is gone."""
        view = self._views[canvas] = LiveView(key, canvas, canvas is not self._context.viewer.canvas, self)
        canvas.resized.connect(self._watch)
        if view.small:
            canvas.destroyed.connect(partial(self._views.pop, canvas, None))
            canvas.destroyed.connect(view.deleteLater)
        self._watch()
        self._update()

    def _file_changed(self, item: QueueItem | None) -> None:
        """Show the chosen item, or end what was shown before."""
        canvas, player = self._context.viewer.canvas, self._context.viewer.player
        if (before := self._views.pop(canvas, None)) is not None:
            canvas.resized.disconnect(self._watch)
            before.close()
        live = item is not None and item.live
        self.bar.setVisible(live)
        if item is not None and live:
            self._add_view(item.key, canvas)
            if item.ended or item.state is ItemState.PAUSED:
                player.pause()
                player.seek(item.progress.head or 0.0)
        self._watch()

    def _watch(self, *_: object) -> None:
        """Ask for pictures in the sizes in which they are shown."""
        several = len(self._views) > 1
        for item in self._context.queue:
            if item.stream is None or item.ended:
                continue
            sizes = [view.canvas.device_size() for view in self._views.values() if view.key == item.key]
            if sizes:
                size = max(each.width() for each in sizes), max(each.height() for each in sizes)
                self._context.run.watch(item.key, size, SMALL_INTERVAL if several else INTERVAL)
            else:
                small = THUMBNAIL * 2
                self._context.run.watch(item.key, (small.width(), small.height()), HIDDEN_INTERVAL)

    def _pictured(self, key: int, picture: LivePicture) -> None:
        item = self._context.queue.get(key)
        if item is None:
            return
        now = time.monotonic()
        if now - self._thumbed.get(key, -math.inf) >= HIDDEN_INTERVAL:
            self._thumbed[key] = now
            self._context.queue.set_thumbnail(key, thumbnail(picture.image, self._context.window.devicePixelRatio()))
        for view in self._views.values():
            if view.key != key:
                continue
            if view is not self._main:
                view.picture = picture
                view.canvas.show_picture(picture.image, (picture.result.width, picture.result.height), picture.result)
            elif self._context.viewer.player.playing:
                view.picture, view.stored = picture, ""
                self._context.viewer.player.show_live(Shown(picture.seconds, picture.image, picture.result, None))

    def _follow(self) -> None:
        """Show the newest pictures again."""
        if (view := self._main) is not None:
            view.stored = ""
            self._asked += 1
            self._update()

    def _seek(self, pts: float, step: int) -> None:
        """Show a stored frame."""
        item = self._context.selection.item
        if item is None or item.results is None or item.results.source < 0:
            return
        self._asked += 1
        done = partial(self._show_stored, self._asked, item.key)
        work = partial(stored_frame, item.results, pts, step)
        self._context.background.start(self, work, done, lambda said: self._context.viewer.transport.hint.setText(of_engine(said)))

    def _show_stored(self, asked: int, key: int, result: FrameResult | None) -> None:
        viewer, view = self._context.viewer, self._main
        if result is None or view is None or view.key != key or asked != self._asked:
            return
        current = viewer.player.current
        shown = view.picture is not None and not view.stored and current is not None and current.pts == result.ref.pts
        if not shown:
            view.stored = translate("streams", "Stored: {time}").format(time=formats.clock(result.ref.pts, 1))
            size = viewer.canvas.device_size()
            scale = min(size.width() / result.width, size.height() / result.height, 1.0)
            image = QImage(max(round(scale * result.width), 1), max(round(scale * result.height), 1), QImage.Format.Format_RGB32)
            image.fill(theme.STAGE)
            viewer.player.show_live(Shown(result.ref.pts, image, result, None))
        self._update()

    # state

    def _stop_or_continue(self) -> None:
        item, run = self._context.selection.item, self._context.run
        if item is None:
            return
        if item.ended or item.state is ItemState.PAUSED:
            run.continue_files([item.key])
            self._context.viewer.player.play()
        else:
            run.cancel(item.key)

    def _record(self) -> None:
        """Begin or end a recording of the shown source."""
        item, run = self._context.selection.item, self._context.run
        if item is None or item.stream is None:
            return
        recording = item.progress.recording
        if recording is not None and recording.on:
            run.record(item.key, None)
            return
        folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.MoviesLocation)) / "Framefleet"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            text = translate("streams", "Recording is not possible: {folder}: {problem}").format(folder=folder, problem=error.strerror)
            self._context.banners.show_banner("recording", Severity.WARNING, text)
            return
        self._context.banners.remove("recording")
        run.record(item.key, RecordSettings(str(folder), item.stream.address.name))

    def _item_changed(self, key: int) -> None:
        if any(view.key == key for view in self._views.values()):
            self._update()

    def _queue_changed(self) -> None:
        self._watch()
        if any(item.live for item in self._context.queue):
            self._tick.start()
        else:
            self._tick.stop()
            self._context.banners.remove(SUBJECT)

    def _update(self) -> None:
        """Show states and ages as they are now."""
        for view in list(self._views.values()):
            if (item := self._context.queue.get(view.key)) is not None:
                view.update(item)
        main = self._main
        if main is not None and (item := self._context.queue.get(main.key)) is not None:
            self.bar.show_item(item, self._context.viewer.player.playing and not main.stored)

    def _ticked(self) -> None:
        self._update()
        self._measure()

    def _devices_changed(self, statuses: Sequence[DeviceStatus]) -> None:
        self._devices = statuses

    def _measure(self) -> None:
        """Say what is missing if the devices cannot keep up."""
        running = [item for item in self._context.queue if item.stream is not None and item.state is ItemState.RUNNING]
        text = self._capacity.look({item.key: item.progress.ledger for item in running}, self._devices)
        banners = self._context.banners
        if text is None:
            return
        if not text:
            banners.remove(SUBJECT)
        elif SUBJECT in banners.subjects:
            banners.update_text(SUBJECT, *text)
        else:
            banners.show_banner(SUBJECT, Severity.WARNING, text[0], details=text[1])


class Capacity:
    """Measures what share of the received frames the devices analyse."""

    def __init__(self) -> None:
        self._begun: dict[int, tuple[int, int]] = {}
        self._ticks = 0

    def look(self, ledgers: dict[int, Ledger], devices: Sequence[DeviceStatus]) -> tuple[str, str] | tuple[()] | None:
        """Look at the ledgers of the running streams by key. Called every ``TICK_MS``.

        Returns
        -------
        tuple of str or None
            What to say and its details, empty if the devices keep up; None while the measurement goes on.
        """
        now = {key: (ledger.received or 0, ledger.inferred) for key, ledger in ledgers.items()}
        if now.keys() != self._begun.keys():
            self._begun, self._ticks = now, 0
            return () if not now else None
        self._ticks += 1
        if self._ticks < MEASURE_TICKS:
            return None
        seconds = self._ticks * TICK_MS / 1000
        received = sum(now[key][0] - self._begun[key][0] for key in now) / seconds
        analysed = sum(now[key][1] - self._begun[key][1] for key in now) / seconds
        self._begun, self._ticks = now, 0
        return shortage(received, analysed, len(now), [status for status in devices if status.takes_part])


def shortage(received: float, analysed: float, streams: int, devices: Sequence[DeviceStatus]) -> tuple[str, str] | tuple[()]:
    """What the devices cannot do, and what would help; empty if they keep up. received, analysed: frames/s of all streams together."""
    if not received or analysed >= ENOUGH * received or not devices:
        return ()
    each = translate("streams", "The devices analyse {some} of {all} frames/s of each stream").format(
        some=formats.rate(analysed / streams), all=formats.rate(received / streams)
    )
    if not analysed:
        return each, ""
    more = max(math.ceil(len(devices) * received / analysed) - len(devices), 1)
    kinds = {status.device.kind for status in devices}
    if kinds == {"cuda"}:
        details = translate("streams", "%Ln more GPUs of this kind would do. The newest frame of each stream is analysed.", None, more)
    else:
        smaller = translate("streams", "A GPU, a smaller model or fewer streams would help. The newest frame of each stream is analysed.")
        details = smaller
    return each, details


def stored_frame(results: Results, pts: float, step: int) -> FrameResult | None:
    """Read a frame of a live source from its session.

    Parameters
    ----------
    results : Results
        Where it is.
    pts : float
        A time, seconds.
    step : int
        0: the frame shown at this time, -1: the one before it, 1: the one after it.

    Returns
    -------
    FrameResult or None
        None if there is none.

    Raises
    ------
    ExportError
        The session cannot be read.
    """
    with SessionReader(results.database, created=results.created) as reader:
        if step > 0:
            return reader.frame_after(results.source, pts)
        found = reader.frame_before(results.source, pts if step else math.nextafter(pts, math.inf))
        return found or reader.frame_after(results.source, -1.0)


def _pasted() -> str:
    """The address of a stream in the clipboard, "" if it holds something else."""
    text = QApplication.clipboard().text().strip()
    return text if is_stream(text) else ""


def attach(context: Context) -> Feature:
    """Let the user open cameras and streams, and show them."""
    streams = Streams(context)
    context.actions.open_stream.triggered.connect(lambda: streams.open_dialog())
    context.requests.open_stream.connect(streams.open_dialog)
    paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), context.window)
    paste.setContext(Qt.ShortcutContext.WindowShortcut)
    paste.activated.connect(streams.paste)
    return Feature()
