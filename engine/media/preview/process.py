"""The preview process: decodes the pictures that the window shows, so that a crash of a decoder cannot end the window.

The window requests pictures (``Fetch``) and detections (``LookUp``). The process sends one answer to each request, in order. It writes
the pixels of a picture to the place in shared memory that the request names. Without such a place, the pixels follow the answer through
the pipe. The process ends when the window closes its end of the pipe.

Importing this module loads no media library, because the window imports the messages.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from framefleet.engine.media.preview.messages import Answer, Fetch, Found, LookUp, Picture, Place, Request
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.notices import FramefleetError, Notice, SourceError
from framefleet.engine.processes.watchdog import start_clock
from framefleet.engine.types import FrameResult

if TYPE_CHECKING:
    from framefleet.engine.media.preview.reader import VideoReader
    from framefleet.engine.media.types import DecodedFrame
    from framefleet.engine.types import Image

STALL_SECONDS = 60.0
"""The time limit for one request. It takes longer only if the decoder or the disk hangs."""


class Lookup(Protocol):
    """Looks detections up. stored: where those of a source are."""

    def result(self, stored: Any, pts: float) -> FrameResult | None:
        """The detections of the frame at this time (seconds), None if there are none yet."""

    def never_comes(self, stored: Any, pts: float) -> bool:
        """Whether this frame never gets detections."""

    def close(self) -> None:
        """Close what is open."""


def main(connection: Connection[Answer | Found, Request], detections: Callable[[], Lookup]) -> None:
    """Answer requests until the window closes the pipe: the main function of the process."""
    clock = start_clock(connection, STALL_SECONDS)
    with connection, closing(_Preview(detections())) as preview:
        while True:
            try:
                request = connection.recv()
                clock.start(request.words, STALL_SECONDS)
                answer, unshared = preview.answer(request)
                clock.stop()
                connection.send(answer)
                for pixels in unshared:
                    connection.send_bytes(pixels)
            except (EOFError, OSError):  # the window has closed the pipe
                break


class _Preview:
    def __init__(self, detections: Lookup) -> None:
        from framefleet.engine.media.preview.reader import Stills

        self._detections = detections
        self._stills = Stills()
        self._reader: VideoReader | None = None
        self._path: str | None = None
        self._info: SourceInfo | None = None  # not sent yet
        self._held: DecodedFrame[Image] | None = None  # the next frame, which waits for its detections
        self._memory: SharedMemory | None = None

    def answer(self, request: Request) -> tuple[Answer | Found, list[memoryview]]:
        """The answer to a request, and the pixels to send after it."""
        if isinstance(request, LookUp):
            return Found(request.ticket, request.pts, self._detections.result(request.stored, request.pts)), []
        pictures: list[Picture] = []
        unshared: list[memoryview] = []
        ended, waits = False, False
        reason: Notice | None = None
        try:
            for place in request.places:
                frame = self._frame(request)
                ended = frame is None
                if frame is None:
                    break
                result = self._detections.result(request.stored, frame.ref.pts) if request.stored is not None else None
                waits = request.hold and request.sequential and result is None
                if waits and not self._detections.never_comes(request.stored, frame.ref.pts):
                    self._held = frame
                    break
                pictures.append(self._picture(frame, request.size, place, result, unshared))
                request = replace(request, at=None, before=None)
        except FramefleetError as error:
            reason = error.notice
        except OSError as error:  # of the file: ``main`` would take it for the end of the pipe
            reason = Notice("general.unreadable", path=Path(request.path), detail=error.strerror or str(error))
        if reason is not None and not request.still:
            self._close_reader()
        info = None
        if not request.still:
            info, self._info = self._info, None
        return Answer(request.ticket, tuple(pictures), ended, self._held is not None, reason, info), unshared

    def _picture(
        self, frame: DecodedFrame[Image], size: tuple[int, int], place: Place | None, result: FrameResult | None, unshared: list[memoryview]
    ) -> Picture:
        from framefleet.engine.media.preview.reader import for_screen

        memory = self._memory_of(place) if place is not None else None
        pixels = for_screen(frame.image, size, memory)
        height, width, _ = pixels.shape
        if memory is None or pixels.nbytes > len(memory):
            place = None
            unshared.append(pixels.data.cast("B"))
        return Picture(frame.ref.pts, width, height, place, frame.ref.name, result)

    def _memory_of(self, place: Place) -> memoryview | None:
        if self._memory is None or self._memory.name != place.name:
            self._close_memory()
            try:
                self._memory = SharedMemory(place.name)
            except OSError:  # the window has replaced it meanwhile
                return None
        assert self._memory.buf is not None
        return self._memory.buf[place.offset : place.offset + place.nbytes]

    def close(self) -> None:
        self._close_reader()
        self._close_memory()
        self._stills.close()
        self._detections.close()

    def _close_memory(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = self._path = self._held = None

    def _frame(self, request: Fetch) -> DecodedFrame[Image] | None:
        if request.still:
            return self._stills.picture(Path(request.path), request.size, request.at, request.exact)
        held, self._held = self._held, None
        if held is not None and request.sequential:
            return held
        reader = self._open(request)
        # the conversion scales large pictures down, which costs much less than converting all pixels; ``for_screen`` enlarges small ones
        larger = reader.info.width > request.size[0] or reader.info.height > request.size[1]
        reader.resize(request.size if larger else None)
        if request.before is not None:
            reader.seek_before(request.before)
        elif request.at is not None:
            reader.seek(request.at)
        for frame in reader:
            if request.after is None or frame.ref.pts >= request.after:
                return frame
        if not request.sequential:  # a seek finds the nearest frame, so there is none in the whole file
            raise SourceError(Notice("media.nothing_decoded", path=Path(request.path)))
        return None

    def _open(self, request: Fetch) -> VideoReader:
        from framefleet.engine.media.preview.reader import VideoReader

        if self._reader is None or self._path != request.path:
            self._close_reader()
            self._reader = VideoReader(Path(request.path))
            self._path, self._info = request.path, self._reader.info
        return self._reader
