"""The conversation with the preview process: requests under way, requests to send next, and restarts after a crash."""

from __future__ import annotations

import logging
import time
from collections import deque
from dataclasses import dataclass, replace
from multiprocessing.shared_memory import SharedMemory
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.window.results.lookup import DetectionLookup, Lookup
from app.window.widgets.engine_text import of_engine
from app.window.widgets.formats import capitalised
from app.window.widgets.translation import translate
from engine.media.preview import process as preview
from engine.media.preview.process import Fetch, Picture
from engine.processes.child import ChildProcess
from engine.processes.outcome import Outcome
from engine.processes.restart_budget import RestartBudget
from engine.processes.shared_memory import create_shared_memory
from engine.types import FrameResult

IN_FLIGHT = preview.SLOTS
RESTARTS = 3
LOOKUP_SECONDS = 0.1
"""Time between lookups of detections that a held picture waits for."""
FROZEN_SECONDS = 20.0
"""A process without a heartbeat for this long counts as frozen."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """A picture with its detections. result: None = not detected yet. name: of the picture's file in a folder, None for a video."""

    ticket: int
    pts: float
    image: QImage
    result: FrameResult | None
    name: str | None


class PreviewSignals(QObject):
    """The signals of the preview, emitted from its thread.

    opened: path and SourceInfo, before the first picture. shown: Shown. holding: ticket of a picture that waits for its detections.
    ended: ticket of a source without further pictures. unavailable: ticket and reason. found: ticket, pts and FrameResult.
    still: path, and QImage or None. glimpsed: path, pts, and QImage or None. crashed: a message, and whether the process is restarted.
    """

    opened = Signal(str, object)
    shown = Signal(object)
    holding = Signal(int)
    ended = Signal(int)
    unavailable = Signal(int, str)
    found = Signal(int, object, object)
    still = Signal(str, object)
    glimpsed = Signal(str, object, object)
    crashed = Signal(str, bool)


class PreviewConversation:
    """The state of the preview's thread. Other threads may only read ``process_id``."""

    def __init__(self, signals: PreviewSignals) -> None:
        self._signals = signals
        self.closed = False
        self.stills: deque[Fetch] = deque()
        self.detections = DetectionLookup()
        self._process: ChildProcess | None = None
        self._under_way: deque[Fetch] = deque()
        self._wanted: deque[Fetch] = deque()
        self._held: Shown | None = None
        self._position: float | None = None
        self._ticket = 0
        self._memory: SharedMemory | None = None
        self._budget = RestartBudget(RESTARTS)

    @property
    def process_id(self) -> int | None:
        """The id of the preview process, None if it does not run."""
        process = self._process
        return process.pid if process is not None else None

    @property
    def connections(self) -> list[Any]:
        """The connection to the preview process, if it runs, for ``multiprocessing.connection.wait``."""
        return [self._process.connection] if self._process is not None else []

    @property
    def timeout(self) -> float | None:
        """The longest time to wait for an answer or a command, seconds; None = no limit."""
        return LOOKUP_SECONDS if self._held is not None else None

    def jump(self, fetch: Fetch, lookup: Lookup) -> None:
        """Replace all requests that are not sent yet by this one."""
        self._ticket, self._position, self._held = fetch.ticket, None, None
        self._wanted.clear()
        self._wanted.append(fetch)
        self.detections.set(lookup)

    def glimpse(self, fetch: Fetch) -> None:
        """Request a small picture before all others of its kind, and forget the last such request."""
        self.stills = deque(still for still in self.stills if still.at is None)
        self.stills.appendleft(fetch)

    def more(self, fetch: Fetch) -> None:
        """Append a request, unless a jump has made its ticket obsolete."""
        if fetch.ticket == self._ticket:
            self._wanted.append(fetch)

    def look_up(self, ticket: int, pts: float) -> None:
        """Emit ``found`` if there are detections of this frame."""
        if ticket == self._ticket and (result := self.detections.result(pts)) is not None:
            self._signals.found.emit(ticket, pts, result)

    def pump(self) -> None:
        """Show the held picture if it need not wait any longer, and send as many requests as may be under way."""
        if self._held is not None:
            result = self.detections.result(self._held.pts)
            if result is not None or not self.detections.waits(self._held.pts):
                self._signals.shown.emit(replace(self._held, result=result))
                self._held = None
        while self._wanted and self._held is None and len(self._under_way) < (IN_FLIGHT if self._wanted[0].sequential else 1):
            self._request(self._wanted.popleft())
        if self.stills and not self._wanted and not self._under_way:
            self._request(self.stills.popleft())

    def _request(self, fetch: Fetch) -> None:
        if self._process is None:
            self._start()
        assert self._process is not None
        taken = {other.slot for other in self._under_way}
        fetch = replace(fetch, slot=next(slot for slot in range(preview.SLOTS) if slot not in taken))
        self._under_way.append(fetch)
        self._process.send(fetch)

    def receive(self) -> None:
        """Receive one answer with its pixels; restart the process if it has ended."""
        assert self._process is not None
        answer, pixels = self._process.receive(), None
        try:
            if isinstance(answer, Picture) and not answer.shared:
                pixels = self._process.connection.recv_bytes()
        except (EOFError, OSError):
            answer = None
        if answer is None or self._process.exit_message is not None:
            self._reap()
            return
        request = self._under_way.popleft()
        image = self._image(answer, request.slot, pixels) if isinstance(answer, Picture) else None
        if isinstance(answer, Picture) and answer.info is not None:
            self._signals.opened.emit(request.path, answer.info)
        if request.still:
            self._still(request, image)
        elif request.ticket != self._ticket:
            return
        elif isinstance(answer, Picture):
            assert image is not None
            self._position = answer.pts
            self._show(Shown(answer.ticket, answer.pts, image, self.detections.result(answer.pts), answer.name), request.sequential)
        elif answer.reason is None:
            self._signals.ended.emit(answer.ticket)
        else:
            self._signals.unavailable.emit(answer.ticket, answer.reason)

    def _still(self, request: Fetch, image: QImage | None) -> None:
        if request.at is None:
            self._signals.still.emit(request.path, image)
        else:
            self._signals.glimpsed.emit(request.path, request.at, image)

    def _image(self, picture: Picture, slot: int, pixels: bytes | None) -> QImage:
        if pixels is None:
            assert self._memory is not None
            assert self._memory.buf is not None
            start = slot * preview.SLOT_BYTES
            data = self._memory.buf[start : start + 4 * picture.width * picture.height]
        else:
            data = memoryview(pixels)
        with data:
            # copied because the next request uses the slot again
            return QImage(data, picture.width, picture.height, 4 * picture.width, QImage.Format.Format_RGB32).copy()

    def _show(self, shown: Shown, may_wait: bool) -> None:
        if shown.result is None and may_wait and self.detections.waits(shown.pts):
            self._held = shown
            self._signals.holding.emit(shown.ticket)
        else:
            self._signals.shown.emit(shown)

    def _start(self) -> None:
        if self._memory is None:
            self._memory = create_shared_memory(preview.SLOTS * preview.SLOT_BYTES)
        name = self._memory.name if self._memory is not None else None
        self._process = ChildProcess("preview", preview.main, name, words="the preview process", patience=FROZEN_SECONDS, nice=0)

    def _reap(self) -> None:
        """Report that the process ended unexpectedly. Repeat the current request, unless all restarts are used up."""
        lost, self._under_way = self._under_way, deque()
        outcome = self._end_process()
        again = self._budget.spend(time.monotonic())
        _log.error("%s while it worked on %s", outcome.reason, [fetch.path for fetch in lost])
        for fetch in lost:
            if fetch.still:
                self._still(fetch, None)
        current = next((fetch for fetch in lost if fetch.ticket == self._ticket and not fetch.still), None)
        if current is not None and again:
            # A new process has no position, so a request for the next picture needs one.
            self._wanted.appendleft(replace(current, at=self._position, after=None) if current.sequential else current)
        elif current is not None:
            self._wanted.clear()
            self._signals.unavailable.emit(
                self._ticket,
                translate("viewer", "The preview process ended {restarts} times on this file: {reason}.").format(
                    restarts=RESTARTS + 1, reason=of_engine(outcome.reason)
                ),
            )
        self._signals.crashed.emit(f"{capitalised(outcome.reason)}.", again)

    def _end_process(self) -> Outcome:
        assert self._process is not None
        process, self._process = self._process, None
        return process.end(1.0)  # it ends once it has answered

    def close(self) -> None:
        """End the process and release the shared memory and the database. Further calls do nothing."""
        if not self.closed:
            self.closed = True
            if self._process is not None:
                self._end_process()
            if self._memory is not None:
                self._memory.close()
                self._memory.unlink()
            self.detections.close()
