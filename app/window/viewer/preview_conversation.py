"""The conversation with the preview process: what is under way, what is wanted next, what happens when it crashes."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.window.queue.item import Results
from engine.errors import FramefleetError
from engine.media.preview import process as preview
from engine.media.preview.process import Answer, Fetch, Picture
from engine.store.session import SessionReader
from engine.types import FrameResult

IN_FLIGHT = preview.SLOTS
RESTARTS, RESTART_SECONDS = 3, 60.0
LOOK_AGAIN = 0.1  # seconds between looks for detections that are still to come

_log = logging.getLogger(__name__)
_context = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Shown:
    """One picture ready to be drawn. result: its detections, None while there are none. name: the file, in a folder."""

    ticket: int
    pts: float
    image: QImage
    result: FrameResult | None
    name: str | None


@dataclass(frozen=True)
class Look:
    """Where detections are looked up. hold: while playing on, a picture waits until its own have come."""

    results: Results | None = None
    hold: bool = False


class PreviewSignals(QObject):
    """What is told of the preview, from its thread.

    opened: path, SourceInfo, before its first picture. shown: Shown. holding: the ticket of a picture that waits for its
    detections. ended: the ticket whose source has no more pictures. unavailable: ticket, reason. found: ticket, pts,
    FrameResult. still: path, QImage or None. crashed: what happened, and whether the process is being started again.
    """

    opened = Signal(str, object)
    shown = Signal(object)
    holding = Signal(int)
    ended = Signal(int)
    unavailable = Signal(int, str)
    found = Signal(int, object, object)
    still = Signal(str, object)
    crashed = Signal(str, bool)


class PreviewTalk:
    """What the preview's thread knows and does; only ``process_id`` is for others."""

    def __init__(self, signals: PreviewSignals) -> None:
        self._signals = signals
        self.closed = False
        self.stills: deque[Fetch] = deque()
        self._look = Look()
        self._reader: SessionReader | None = None
        self._process: Any = None
        self._connection: Connection[Fetch, Answer] | None = None
        self._under_way: deque[Fetch] = deque()
        self._wanted: deque[Fetch] = deque()
        self._held: Shown | None = None
        self._position: float | None = None
        self._ticket = 0
        self._memory: SharedMemory | None = None
        self._crashes: deque[float] = deque(maxlen=RESTARTS)

    @property
    def process_id(self) -> int | None:
        """Of the preview process, while there is one."""
        process = self._process
        return process.pid if process is not None else None

    @property
    def awaited(self) -> list[Any]:
        """What ``multiprocessing.connection.wait`` should watch besides the window's commands."""
        return [self._connection] if self._connection is not None else []

    @property
    def patience(self) -> float | None:
        """Seconds to wait at most; None = until something comes."""
        return LOOK_AGAIN if self._held is not None else None

    def jump(self, fetch: Fetch, look: Look) -> None:
        """Forget what was wanted and want this."""
        self._ticket, self._position, self._held = fetch.ticket, None, None
        self._wanted.clear()
        self._wanted.append(fetch)
        self.set_look(look)

    def more(self, fetch: Fetch) -> None:
        """Want this next."""
        if fetch.ticket == self._ticket:
            self._wanted.append(fetch)

    def set_look(self, look: Look) -> None:
        """Look detections up there from now on."""
        if self._reader is not None and (look.results is None or look.results.database != self._reader.path):
            self._reader.close()
            self._reader = None
        self._look = look

    def look_up(self, ticket: int, pts: float) -> None:
        """Look one frame up; tell if it is there."""
        if ticket == self._ticket and (result := self._result(pts)) is not None:
            self._signals.found.emit(ticket, pts, result)

    def pump(self) -> None:
        """Send on what may be sent, hand out what was held."""
        if self._held is not None:
            result = self._result(self._held.pts)
            if result is not None or not self._look.hold:
                self._signals.shown.emit(replace(self._held, result=result))
                self._held = None
        while self._wanted and self._held is None and len(self._under_way) < (IN_FLIGHT if self._wanted[0].sequential else 1):
            self._request(self._wanted.popleft())
        if self.stills and not self._wanted and not self._under_way:
            self._request(self.stills.popleft())

    def _request(self, fetch: Fetch) -> None:
        if self._connection is None:
            self._start()
        assert self._connection is not None
        taken = {other.slot for other in self._under_way}
        fetch = replace(fetch, slot=next(slot for slot in range(preview.SLOTS) if slot not in taken))
        self._under_way.append(fetch)
        try:
            self._connection.send(fetch)
        except OSError:
            self._reap()

    def receive(self) -> None:
        """Take one answer, with its pixels."""
        assert self._connection is not None
        try:
            answer = self._connection.recv()
            pixels = self._connection.recv_bytes() if isinstance(answer, Picture) and not answer.shared else None
        except (EOFError, OSError):
            self._reap()
            return
        request = self._under_way.popleft()
        image = self._image(answer, request.slot, pixels) if isinstance(answer, Picture) else None
        if isinstance(answer, Picture) and answer.info is not None:
            self._signals.opened.emit(request.path, answer.info)
        if request.still:
            self._signals.still.emit(request.path, image)
        elif request.ticket != self._ticket:
            return
        elif isinstance(answer, Picture):
            assert image is not None
            self._position = answer.pts
            self._show(Shown(answer.ticket, answer.pts, image, self._result(answer.pts), answer.name), request.sequential)
        elif answer.reason is None:
            self._signals.ended.emit(answer.ticket)
        else:
            self._signals.unavailable.emit(answer.ticket, answer.reason)

    def _image(self, picture: Picture, slot: int, pixels: bytes | None) -> QImage:
        assert self._memory is not None
        assert self._memory.buf is not None
        start = slot * preview.SLOT_BYTES
        with memoryview(pixels) if pixels is not None else self._memory.buf[start : start + 4 * picture.width * picture.height] as data:
            # copied at once: the slot is used again by the next request
            return QImage(data, picture.width, picture.height, 4 * picture.width, QImage.Format.Format_RGB32).copy()

    def _show(self, shown: Shown, may_wait: bool) -> None:
        if shown.result is None and self._look.hold and may_wait:
            self._held = shown
            self._signals.holding.emit(shown.ticket)
        else:
            self._signals.shown.emit(shown)

    def _result(self, pts: float) -> FrameResult | None:
        results = self._look.results
        if results is None:
            return None
        try:
            if self._reader is None:
                self._reader = SessionReader(results.database)
            return self._reader.frame_at(results.source, pts)
        except FramefleetError as error:  # the session has not begun, or its file is gone; detection reports that itself
            _log.info("no detections for the preview: %s", error)
            return None

    def _start(self) -> None:
        if self._memory is None:
            self._memory = SharedMemory(create=True, size=preview.SLOTS * preview.SLOT_BYTES)
        self._connection, theirs = _context.Pipe()
        # daemon: should the window never close it, the interpreter ends it
        self._process = _context.Process(target=preview.main, args=(theirs, self._memory.name), name="framefleet preview", daemon=True)
        with theirs:
            self._process.start()

    def _reap(self) -> None:
        """The process ended unasked: say so, and try the same again, but not for ever."""
        lost, self._under_way = self._under_way, deque()
        exit_code = self._end_process()
        now = time.monotonic()
        again = len(self._crashes) < RESTARTS or now - self._crashes[0] > RESTART_SECONDS
        self._crashes.append(now)
        _log.error("the preview process ended with %s while it worked on %s", exit_code, [fetch.path for fetch in lost])
        for fetch in lost:
            if fetch.still:
                self._signals.still.emit(fetch.path, None)
        current = next((fetch for fetch in lost if fetch.ticket == self._ticket and not fetch.still), None)
        if current is not None and again:
            # A fresh process stands nowhere: "the next one" has to become a place.
            self._wanted.appendleft(replace(current, at=self._position, after=None) if current.sequential else current)
        elif current is not None:
            self._wanted.clear()
            self._signals.unavailable.emit(self._ticket, f"The preview process crashed {RESTARTS + 1} times on this file.")
        self._signals.crashed.emit(f"The preview process ended unexpectedly ({_cause(exit_code)}).", again)

    def _end_process(self) -> int | None:
        connection, process = self._connection, self._process
        self._connection = self._process = None
        if connection is not None:
            connection.close()  # which ends it, once it has answered
        if process is None:
            return None
        for push in (None, process.terminate, process.kill):
            if push is not None:
                push()
            process.join(1.0)
            if process.exitcode is not None:
                break
        exit_code: int | None = process.exitcode
        process.close()
        return exit_code

    def close(self) -> None:
        """End the process, release memory and database; harmless when repeated."""
        if not self.closed:
            self.closed = True
            self._end_process()
            if self._memory is not None:
                self._memory.close()
                self._memory.unlink()
            if self._reader is not None:
                self._reader.close()
                self._reader = None


def _cause(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        with suppress(ValueError):
            return signal.Signals(-exit_code).name
    return f"exit code {exit_code}"
