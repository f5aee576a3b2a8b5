"""The window's side of the preview: requests to the preview process, its answers and restarts, and the shared memory for pictures."""

import logging
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, QSocketNotifier, Signal
from PySide6.QtGui import QImage

from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.preview import process as preview
from framefleet.engine.media.preview.messages import Answer, Fetch, Found, LookUp, Picture, Place, Request, create_shared_memory
from framefleet.engine.notices import Notice, literal
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.processes.outcome import RestartBudget
from framefleet.engine.store.lookup import DetectionLookup
from framefleet.engine.types import FrameResult

PLACES = 6
"""The current picture, and those requested or waiting behind it."""
UNIT = 1 << 20
"""The sizes of places are multiples of this, bytes, so that a window that grows slowly does not need new memory each time."""


class PictureMemory:
    """Places for pictures of at most this size, width and height in pixels. A place is free when its QImage is gone."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._nbytes = -(-4 * size[0] * size[1] // UNIT) * UNIT
        self._memory = create_shared_memory(PLACES * self._nbytes)
        self._free = [Place(self._memory.name, number * self._nbytes, self._nbytes) for number in range(PLACES)] if self._memory else []

    def holds(self, size: tuple[int, int]) -> bool:
        """Whether pictures of this size fit."""
        return 4 * size[0] * size[1] <= self._nbytes

    def take(self) -> Place | None:
        """Reserve a free place, None if there is none."""
        return self._free.pop(0) if self._free else None

    def give_back(self, place: Place) -> None:
        """Free a place that no picture uses."""
        self._free.append(place)

    def image(self, picture: Picture) -> QImage:
        """A QImage of the picture in a place. The place is free again when that is gone."""
        assert self._memory is not None
        assert self._memory.buf is not None
        assert picture.place is not None
        with self._memory.buf[picture.place.offset :] as pixels:
            image = image_over(pixels, picture)
        weakref.finalize(image, self.give_back, picture.place)  # keeps the memory as long as the image
        return image

    def unlink(self) -> None:
        """Remove the memory's name. The memory goes with the last image."""
        if self._memory is not None:
            self._memory.unlink()


def image_over(pixels: memoryview, picture: Picture) -> QImage:
    """A QImage that uses these pixels; it does not keep them."""
    return QImage(pixels, picture.width, picture.height, 4 * picture.width, QImage.Format.Format_RGB32)


IN_FLIGHT = 2
RESTARTS = 3
FROZEN_SECONDS = 20.0
"""A process without a heartbeat for this long counts as frozen."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Shown:
    """A picture with its detections. result: None = not detected yet. name: of the picture's file in a folder, None for a video."""

    pts: float
    image: QImage
    result: FrameResult | None
    name: str | None


class PreviewClient(QObject):
    """Requests pictures from the preview process. Nothing here blocks, except what ``release`` returns.

    answered: Answer to a request of the player, and its pictures as a list of Shown. found: ticket, pts, and FrameResult or None.
    still: path, and QImage or None. near_arrived: path, pts and QImage, or two None. moment_arrived: path, the requested pts, and QImage or
    None. crashed: how the process ended, a Notice, and whether it starts again. nice: niceness that the process adds to the window's.
    """

    answered = Signal(object, object)
    found = Signal(int, object, object)
    still = Signal(object, object)  # not str: Qt would change a path that is not UTF-8
    near_arrived = Signal(object, object, object)
    moment_arrived = Signal(object, float, object)
    crashed = Signal(object, bool)

    def __init__(self, parent: QObject | None = None, nice: int = 0) -> None:
        super().__init__(parent)
        self._nice = nice
        self._process: ChildProcess | None = None
        self._notifier: QSocketNotifier | None = None
        self._memory: PictureMemory | None = None
        self._under_way: deque[tuple[Request, PictureMemory | None]] = deque()
        self._wanted: deque[Fetch] = deque()
        self._stills: deque[Fetch] = deque()
        self._ticket = 0
        self._position: float | None = None
        self._budget = RestartBudget(RESTARTS)
        self._released = False

    @property
    def process_id(self) -> int | None:
        """The id of the preview process, None if it does not run."""
        return self._process.pid if self._process is not None else None

    def jump(self, fetch: Fetch) -> None:
        """Request a picture in place of all requests that are not sent yet. Tickets increase; answers with an older one are ignored."""
        self._ticket, self._position = fetch.ticket, None
        self._wanted = deque((fetch,))
        self._pump()

    def more(self, fetch: Fetch) -> None:
        """Request the pictures after those already requested."""
        self._wanted.append(fetch)
        self._pump()

    def look_up(self, request: LookUp) -> None:
        """Look up the detections of one frame again; ``found`` follows."""
        if self._process is not None:
            self._send(request, None)

    def fetch_still(self, path: str, size: tuple[int, int]) -> None:
        """Request a small picture of a source, sent when nothing else is under way; ``still`` follows."""
        self._stills.append(Fetch(0, path, size, still=True))
        self._pump()

    def fetch_near(self, path: str, pts: float, size: tuple[int, int]) -> None:
        """Request a small picture near a time, before other small ones and in place of the last such request; ``near_arrived`` follows."""
        self._stills = deque(still for still in self._stills if still.at is None or still.exact)
        self._stills.appendleft(Fetch(0, path, size, at=pts, still=True))
        self._pump()

    def fetch_moments(self, moments: Iterable[tuple[str, float]], size: tuple[int, int]) -> None:
        """Request small pictures of moments, path and pts, in place of the last ones; ``moment_arrived`` follows for each."""
        self._stills = deque(still for still in self._stills if not still.exact)
        self._stills += (Fetch(0, path, size, at=pts, still=True, exact=True) for path, pts in moments)
        self._pump()

    def _pump(self) -> None:
        """Send as many requests as may be under way."""
        if self._released:  # the player's timer may come later
            return
        while self._wanted and len(self._under_way) < (IN_FLIGHT if self._wanted[0].sequential else 1):
            self._fetch(self._wanted.popleft())
        if self._stills and not self._wanted and not self._under_way:
            self._send(self._stills.popleft(), None)

    def _fetch(self, fetch: Fetch) -> None:
        if self._memory is None or not self._memory.holds(fetch.size):
            self._forget_memory()
            self._memory = PictureMemory(fetch.size)
        self._send(replace(fetch, places=tuple(self._memory.take() for _ in fetch.places)), self._memory)

    def _send(self, request: Request, memory: PictureMemory | None) -> None:
        if self._process is None:
            self._process = ChildProcess(
                "preview", preview.main, DetectionLookup, words=Notice("media.preview_process"), patience=FROZEN_SECONDS, nice=self._nice
            )
            self._notifier = QSocketNotifier(self._process.connection.fileno(), QSocketNotifier.Type.Read, self)
            self._notifier.activated.connect(self._receive)
        self._under_way.append((request, memory))
        self._process.send(request)

    def _receive(self) -> None:
        """Receive one answer with its pictures; restart the process if it has ended."""
        assert self._process is not None
        answer = self._process.receive()
        images: list[QImage] = []
        try:
            if isinstance(answer, Answer):
                images = [self._image(picture) for picture in answer.pictures]
        except (EOFError, OSError):
            answer = None
        if answer is None or self._process.exit_message is not None:
            self._reap()
        else:
            request, memory = self._under_way.popleft()
            _give_back(request, memory, answer.pictures if isinstance(answer, Answer) else ())
            self._deliver(request, answer, images)
        self._pump()

    def _image(self, picture: Picture) -> QImage:
        memory = self._under_way[0][1]
        if picture.place is not None and memory is not None:
            return memory.image(picture)
        assert self._process is not None
        return image_over(memoryview(self._process.connection.recv_bytes()), picture).copy()

    def _deliver(self, request: Request, answer: Answer | Found, images: list[QImage]) -> None:
        if isinstance(answer, Found):
            self.found.emit(answer.ticket, answer.pts, answer.result)
        elif isinstance(request, Fetch) and request.still:
            self._deliver_still(request, answer.pictures[0].pts if images else None, images[0] if images else None)
        else:
            if answer.ticket == self._ticket and answer.pictures:
                self._position = answer.pictures[-1].pts
            pairs = zip(answer.pictures, images, strict=True)
            self.answered.emit(answer, [Shown(picture.pts, image, picture.result, picture.name) for picture, image in pairs])

    def _deliver_still(self, request: Fetch, pts: float | None, image: QImage | None) -> None:
        if request.at is None:
            self.still.emit(request.path, image)
        elif request.exact:
            self.moment_arrived.emit(request.path, request.at, image)
        else:
            self.near_arrived.emit(request.path, pts, image)

    def _reap(self) -> None:
        """Report that the process ended unexpectedly. Repeat the current request, unless all restarts are used up."""
        lost = [request for request, _ in self._under_way]
        for request, memory in self._under_way:
            _give_back(request, memory, ())
        self._under_way.clear()
        outcome = self._detach()
        assert outcome is not None
        reason = outcome.end(1.0).reason
        again = self._budget.spend(time.monotonic())
        _log.error("%s while it worked on %s", reason, lost)
        fetches = [request for request in lost if isinstance(request, Fetch)]
        for fetch in fetches:
            if fetch.still:
                self._deliver_still(fetch, None, None)
        current = [fetch for fetch in fetches if fetch.ticket == self._ticket and not fetch.still]
        if current and again:
            # a new process has no position, so a request for the next picture needs one
            if current[0].sequential:
                current[0] = replace(current[0], at=self._position, after=None)
            self._wanted.extendleft(reversed(current))
        elif current:
            self._wanted.clear()
            text = translate("viewer", "The preview process ended {restarts} times on this file: {reason}.")
            said = literal(text.format(restarts=RESTARTS + 1, reason=of_engine(reason)))
            self.answered.emit(Answer(self._ticket, reason=said), [])
        self.crashed.emit(reason, again)

    def _detach(self) -> ChildProcess | None:
        process, self._process = self._process, None
        if self._notifier is not None:
            self._notifier.setEnabled(False)
            self._notifier.deleteLater()
            self._notifier = None
        return process

    def _forget_memory(self) -> None:
        if self._memory is not None:
            self._memory.unlink()
            self._memory = None

    def release(self) -> Callable[[], object]:
        """Send and receive no more. Returns what ends the process, which takes as long as decoding a picture; any thread may call it."""
        self._released = True
        self._under_way.clear()
        self._forget_memory()
        process = self._detach()
        return partial(process.end, 1.0) if process is not None else lambda: None

    def stop(self) -> None:
        """End the process, and wait for it."""
        self.release()()


def _give_back(request: Request, memory: PictureMemory | None, used: Sequence[Picture]) -> None:
    """Free the places of a request that no picture uses."""
    if memory is not None and isinstance(request, Fetch):
        for place in set(request.places) - {picture.place for picture in used}:
            if place is not None:
                memory.give_back(place)
