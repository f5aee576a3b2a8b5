"""Cameras and streams in the window: opens them, shows their live pictures, and says when the devices cannot keep up."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Qt, QTimer
from PySide6.QtGui import QImage, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.devices.bottleneck import Bottleneck, Limit
from framefleet.app.window.devices.status import DeviceStatus
from framefleet.app.window.player.preview_client import Shown
from framefleet.app.window.queue import model, open_files
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.streams.dialog import RecentStreams, StreamDialog
from framefleet.app.window.streams.pictures import LivePicture
from framefleet.app.window.streams.view import LiveView, StreamBar
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.live import messages
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.notices import Notice
from framefleet.engine.pool import events
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.store import facts, files
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import FrameResult

INTERVAL, SMALL_INTERVAL, HIDDEN_INTERVAL = 1 / 15, 1 / 8, 5.0
"""The shortest time between two pictures of a source that is shown alone, beside others, and in the queue only, seconds."""
TICK_MS = 250
"""Time between updates of ages and countdowns."""
MEASURE_TICKS = 40
"""Number of ticks over which the capacity is measured."""
PLAY_MS = 60
"""The pause between two recorded pictures that are played. Each is the one that is due then."""
MAX_PLAYED = 30.0
"""Recorded pictures are not played faster than this, pictures/s."""
GPU_LIMITS = (Limit.NETWORK, Limit.VIDEO_DECODER, Limit.PREPARE)
"""What another GPU would have more of."""
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
        self._limit: Bottleneck | None = None
        self._thumbed: dict[int, float] = {}  # when the queue got the last small picture of a source
        self._asked = 0  # numbers the requests for stored frames
        self._stored: StoredMoment | None = None  # that is decoded, or shown
        context.preview.moment_arrived.connect(self._recorded_arrived)
        self._playing = False
        self._play_from = (0.0, 0.0)  # a time of the source, and when it was shown
        self._play = QTimer(self, interval=PLAY_MS, singleShot=True)
        self._play.timeout.connect(self._play_on)
        self._tick = QTimer(self, interval=TICK_MS)
        self._tick.timeout.connect(self._ticked)
        viewer, run = context.viewer, context.run
        viewer.add_bar(self.bar)
        self.bar.live_wanted.connect(self._go_live)
        self.bar.snapshot_wanted.connect(lambda: viewer.save_picture(boxes=True))
        self.bar.record_wanted.connect(self._record)
        self.bar.stop_wanted.connect(self._stop_or_continue)
        self.bar.play_wanted.connect(self._play_or_pause)
        viewer.player.live_wanted.connect(self._play_wanted)
        viewer.player.live_sought.connect(self._sought)
        context.selection.file_changed.connect(self._file_changed)
        context.requests.live_canvas.connect(self._add_view)
        run.pictured.connect(self._pictured)
        run.item_changed.connect(self._item_changed)
        run.devices_changed.connect(self._devices_changed)
        run.figures_changed.connect(self._devices_changed)
        context.requests.bottleneck.connect(self._limited)
        for changed in (context.queue.rowsInserted, context.queue.rowsRemoved):
            changed.connect(self._queue_changed)

    # opening

    def open_dialog(self, text: str = "") -> None:
        """Ask for a stream. text: its address, "" = what the clipboard holds, if that is one."""
        dialog = self.dialog = StreamDialog(self._recent, self._context.background, self._context.window)
        dialog.chosen.connect(self.open)
        dialog.password_lost.connect(self._say_password_lost)
        dialog.destroyed.connect(self._dialog_gone)
        dialog.fill(text or _pasted())
        dialog.open()

    def _say_password_lost(self, why: Notice) -> None:
        title = translate("streams", "The password was not kept")
        self._context.banners.show_banner("keyring", Severity.WARNING, title, details=why)

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
        self._playing, self._stored = False, None
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
        self._update()

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
                small = model.THUMBNAIL * 2
                self._context.run.watch(item.key, (small.width(), small.height()), HIDDEN_INTERVAL)

    def _pictured(self, key: int, picture: LivePicture) -> None:
        item = self._context.queue.get(key)
        if item is None:
            return
        now = time.monotonic()
        if now - self._thumbed.get(key, -math.inf) >= HIDDEN_INTERVAL:
            self._thumbed[key] = now
            self._context.queue.set_thumbnail(key, model.thumbnail(picture.image, self._context.window.devicePixelRatio()))
        for view in self._views.values():
            if view.key != key:
                continue
            if view is not self._main:
                view.picture = picture
                view.canvas.show_picture(picture.image, (picture.result.width, picture.result.height), picture.result)
            elif self._context.viewer.player.playing:
                view.picture, view.stored = picture, ""
                self._context.viewer.player.show_live(Shown(picture.seconds, picture.image, picture.result, None))

    def _play_wanted(self) -> None:
        """Play what was recorded, or stop there, if the user looks at that; else show the newest pictures again."""
        view = self._main
        if view is not None and view.stored and view.recorded:
            self._context.viewer.player.pause()
            self._play_or_pause()
        else:
            self._follow()

    def _go_live(self) -> None:
        self._follow()
        self._context.viewer.player.play()

    def _follow(self) -> None:
        """Show the newest pictures again."""
        if (view := self._main) is not None:
            view.stored = ""
            self._asked += 1
            self._playing, self._stored = False, None
            self._update()

    # what was stored

    def _sought(self, pts: float, step: int) -> None:
        """Show a stored frame, and stay there."""
        self._playing = False
        self._seek(pts, step)

    def _seek(self, pts: float, step: int) -> None:
        item = self._context.selection.item
        if item is None or item.results is None or item.results.source < 0:
            return
        self._asked += 1
        done = partial(self._found, self._asked, item.key)
        work = partial(stored_frame, item.results, pts, step)
        self._context.background.start(self, work, done, lambda said: self._context.viewer.transport.hint.setText(of_engine(said)))

    def _found(self, asked: int, key: int, found: StoredMoment | None) -> None:
        """Show a stored frame with its recorded picture, or without one."""
        viewer, view = self._context.viewer, self._main
        if found is None or view is None or view.key != key or asked != self._asked:
            return
        current = viewer.player.current
        self._stored = found
        if view.picture is not None and not view.stored and current is not None and current.pts == found.result.ref.pts:
            viewer.player.show_live(replace(current, result=found.result))  # corrections may have changed it
            self._update()
        elif found.file is None:
            self._show_stored(found, None)
        else:
            size = viewer.canvas.device_size()
            self._context.preview.fetch_moments([(found.file, found.at)], (size.width(), size.height()))

    def _recorded_arrived(self, path: str, at: float, image: QImage | None) -> None:
        found = self._stored
        if found is not None and (found.file, found.at) == (path, at):
            self._show_stored(found, image)

    def _show_stored(self, found: StoredMoment, image: QImage | None) -> None:
        viewer, view, result = self._context.viewer, self._main, found.result
        if view is None:
            return
        view.stored = translate("streams", "Stored: {time}").format(time=clock_text(self._context.queue.get(view.key), result.ref.pts))
        view.recorded = image is not None
        if image is None:
            size = viewer.canvas.device_size()
            scale = min(size.width() / result.width, size.height() / result.height, 1.0)
            image = QImage(max(round(scale * result.width), 1), max(round(scale * result.height), 1), QImage.Format.Format_RGB32)
            image.fill(theme.STAGE)
        viewer.player.show_live(Shown(result.ref.pts, image, result, None))
        self._update()
        if self._playing:
            self._play.start()

    def _play_or_pause(self) -> None:
        """Play what was recorded, from the shown frame on, or stop there."""
        self._playing = not self._playing
        if self._playing:
            self._play_from = self._context.viewer.player.position, time.monotonic()
            self._play_on()
        self._update()

    def _play_on(self) -> None:
        """Show the recorded picture that is due now, but at least the next one."""
        if not self._playing:
            return
        begun, since = self._play_from
        position, due = self._context.viewer.player.position, begun + time.monotonic() - since
        ahead = due > position + 1 / MAX_PLAYED
        self._seek(due if ahead else position, 0 if ahead else 1)

    # state

    def _stop_or_continue(self) -> None:
        item, run = self._context.selection.item, self._context.run
        if item is None:
            return
        if item.ended or item.state is ItemState.PAUSED:
            run.continue_files([item.key])
            self._go_live()
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
            title = translate("streams", "Recording is not possible")
            self._context.banners.show_banner("recording", Severity.WARNING, title, details=f"{folder}: {error.strerror}")
            return
        self._context.banners.remove("recording")
        run.record(item.key, messages.RecordSettings(str(folder), item.stream.address.name))

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
        there = self._context.viewer.saver.possible = main is None or not main.stored or main.recorded
        self.bar.snapshot.setEnabled(there and self._context.viewer.player.current is not None)
        if main is not None and (item := self._context.queue.get(main.key)) is not None:
            by = None if main.picture is None or item.ended else main.picture.result.device
            device = next((status for status in self._devices if status.device == by), None)
            self.bar.show_item(item, self._context.viewer.player.playing and not main.stored, device)
            self.bar.show_playing(self._playing, bool(main.stored) and main.recorded)

    def _ticked(self) -> None:
        self._update()
        self._measure()

    def _devices_changed(self, statuses: Sequence[DeviceStatus]) -> None:
        self._devices = statuses

    def _limited(self, found: Bottleneck | None) -> None:
        self._limit = found

    def _measure(self) -> None:
        """Say what is missing if the devices cannot keep up."""
        running = [item for item in self._context.queue if item.stream is not None and item.state is ItemState.RUNNING and item.connected]
        text = self._capacity.look({item.key: item.progress.ledger for item in running}, self._devices, self._limit)
        banners = self._context.banners
        if text is None:
            return
        if not text:
            banners.remove(SUBJECT)
        elif SUBJECT in banners.subjects:
            banners.update_text(SUBJECT, *text)
        else:
            banners.show_banner(SUBJECT, Severity.WARNING, text[0], details=text[1])


def _too_many(ledger: events.Ledger) -> int:
    """How many frames were dropped because decoding or the device could not keep up: not the damaged ones, and those of a reconnection."""
    return sum(count for reason, count in ledger.dropped.items() if reason.code in ("live.device_busy", "live.decoder_behind"))


class Capacity:
    """Measures what share of the frames that could be analysed the devices analyse."""

    def __init__(self) -> None:
        self._begun: dict[int, tuple[int, int]] = {}
        self._ticks = 0

    def look(
        self, ledgers: dict[int, events.Ledger], devices: Sequence[DeviceStatus], limit: Bottleneck | None = None
    ) -> tuple[str, str] | tuple[()] | None:
        """Look at the ledgers of the connected streams by key. Called every ``TICK_MS``. limit: of the run.

        A measurement leaves out streams that were not connected all the time: the first frames of a connection come at once.

        Returns
        -------
        tuple of str or None
            What to say and its details, empty if the devices keep up; None while the measurement goes on.
        """
        now = {key: (ledger.inferred + _too_many(ledger), ledger.inferred) for key, ledger in ledgers.items()}
        kept = {key: begun for key, begun in self._begun.items() if key in now}
        if not kept:
            self._begun, self._ticks = now, 0
            return () if not now else None
        self._begun, now = kept, {key: now[key] for key in kept}
        self._ticks += 1
        if self._ticks < MEASURE_TICKS:
            return None
        seconds = self._ticks * TICK_MS / 1000
        received = sum(now[key][0] - self._begun[key][0] for key in now) / seconds
        analysed = sum(now[key][1] - self._begun[key][1] for key in now) / seconds
        self._begun, self._ticks = {}, 0
        return shortage(received, analysed, len(now), [status for status in devices if status.takes_part], limit)


def shortage(
    received: float, analysed: float, streams: int, devices: Sequence[DeviceStatus], limit: Bottleneck | None = None
) -> tuple[str, str] | tuple[()]:
    """What the devices cannot do, what limits them, and what would help; empty if they keep up.

    received, analysed: frames/s of all streams together. limit: of the run, None: unknown.
    """
    if not received or analysed >= ENOUGH * received or not devices:
        return ()
    each = translate("streams", "The devices analyse {some} of {all} frames/s of each stream").format(
        some=formats.rate(analysed / streams), all=formats.rate(received / streams)
    )
    if not analysed:
        return each, ""
    if limit is not None and limit.limit is Limit.DISK:  # streams are not read from there
        limit = None
    more = max(math.ceil(len(devices) * received / analysed) - len(devices), 1)
    if {status.device.kind for status in devices} != {"cuda"}:
        helps = translate("streams", "A GPU, a smaller model or fewer streams would help. The newest frame of each stream is analysed.")
    elif limit is None or limit.limit in GPU_LIMITS:
        helps = translate("streams", "%Ln more GPUs of this kind would do. The newest frame of each stream is analysed.", None, more)
    else:
        helps = translate(
            "streams", "Fewer streams, or streams with fewer pixels, would help. The newest frame of each stream is analysed."
        )
    return each, helps if limit is None else f"{limit.text} {helps}"


def clock_text(item: QueueItem | None, pts: float) -> str:
    """The local time of day at a time of a live source, with the date unless it is today; the time since its begin if that is unknown."""
    info = None if item is None else item.progress.info
    if info is None or info.created is None:
        return formats.clock(pts, 1)
    moment = (datetime.fromisoformat(info.created) + timedelta(seconds=pts)).astimezone()
    return f"{moment:%H:%M:%S}" if moment.date() == datetime.now().astimezone().date() else f"{moment:%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True, eq=False)
class StoredMoment:
    """A stored frame. file, at: the recorded file that has its picture, None: none, and the time in that file, seconds."""

    result: FrameResult
    file: str | None
    at: float


def stored_frame(results: Results, pts: float, step: int) -> StoredMoment | None:
    """Read a frame of a live source from its session or the parts of that.

    pts: a time, seconds. step: 0 = the frame shown then, -1 = the one before it, 1 = the one after it. None if there is none. Raises
    ExportError if the session cannot be read.
    """
    found: StoredMoment | None = None
    just_after = math.nextafter(pts, math.inf)
    for database in (results.database, *reversed(files.session_parts(results.database))):
        with SessionReader(database, created=results.created) as reader:
            before = reader.frame_before(results.source, pts if step < 0 else just_after)
            wanted = before if step <= 0 else reader.frame_after(results.source, pts)
            wanted = wanted or (reader.frame_after(results.source, -1.0) if step <= 0 else None)
            if wanted is not None:
                place = facts.RecordedFiles.of(reader.facts, results.source).at(wanted.ref.pts)
                found = StoredMoment(wanted, None if place is None else place[0].path, 0.0 if place is None else place[1])
            if before is not None:
                break
    return found


def _pasted() -> str:
    """The address of a stream in the clipboard, "" if it holds something else."""
    text = QApplication.clipboard().text().strip()
    return text if open_files.is_stream(text) else ""


def attach(context: Context) -> Feature:
    """Let the user open cameras and streams, and show them."""
    streams = Streams(context)
    context.actions.open_stream.triggered.connect(lambda: streams.open_dialog())
    context.requests.open_stream.connect(streams.open_dialog)
    paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), context.window)
    paste.setContext(Qt.ShortcutContext.WindowShortcut)
    paste.activated.connect(streams.paste)
    return Feature()
