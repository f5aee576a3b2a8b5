"""The preview process: decodes the pictures that the window shows, so that a crash of a decoder cannot end the window.

The window requests one picture at a time (``Fetch``). The process sends one answer to each request, in order: ``Picture`` or
``NoPicture``. It writes the pixels to the slot of shared memory that the request names. Without shared memory, or if they are too large for
a slot, the pixels follow the answer through the pipe. The process ends when the window closes its end of the pipe.

Importing this module loads no media library, because the window imports the messages.
"""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from engine.errors import FramefleetError
from engine.media.types import SourceInfo, SourceKind
from engine.processes.watchdog import start_clock

if TYPE_CHECKING:
    from engine.media.preview.reader import VideoReader
    from engine.media.types import DecodedFrame

SLOTS, SLOT_BYTES = 2, 4 * 1920 * 1080
STALL_SECONDS = 60.0
"""The time limit for one picture. A picture takes longer only if the decoder or the disk hangs."""

LOOK_BACK = (1.0, 8.0, 64.0)
"""Distances before a frame from which the search for the previous frame starts, seconds, shortest first."""


@dataclass(frozen=True)
class Fetch:
    """A request for one picture.

    ticket: the number that identifies the answer. size: width and height of the area to fill, pixels. slot: where to write the pixels.
    at: request the frame shown at this pts. before: request the last frame before this pts. Neither: request the next frame, but not
    one before pts ``after``. A pts is in seconds; in a folder of pictures it is a position.
    still: request a picture from the middle of the source, or the keyframe before pts ``at``, without moving the position of the source
    being played.
    """

    ticket: int
    path: str
    size: tuple[int, int]
    slot: int = 0
    at: float | None = None
    before: float | None = None
    after: float | None = None
    still: bool = False

    @property
    def sequential(self) -> bool:
        """Whether it requests the frame after the previous one."""
        return self.at is None and self.before is None and not self.still


@dataclass(frozen=True)
class Picture:
    """The answer with a picture. Its pixels are ``height`` rows of ``4 * width`` bytes: blue, green, red, 255.

    shared: whether the pixels are in the slot; if not, they follow through the pipe. info: about the source, only in the first answer
    after opening it. name: the file's name if the source is a folder.
    """

    ticket: int
    pts: float
    width: int
    height: int
    shared: bool
    info: SourceInfo | None = None
    name: str | None = None


@dataclass(frozen=True)
class NoPicture:
    """The answer without a picture. reason: the error message; None: the source is at its end."""

    ticket: int
    reason: str | None = None


Answer: TypeAlias = Picture | NoPicture


def main(connection: Connection[Answer, Fetch], memory: str | None) -> None:
    """Answer requests until the window closes the pipe: the main function of the process. memory: name of the shared memory, if any."""
    clock = start_clock(connection, STALL_SECONDS)
    shared = SharedMemory(memory) if memory is not None else None
    player = _Player(shared.buf if shared is not None else None)
    with connection, closing(shared) if shared is not None else nullcontext(), closing(player):
        while True:
            try:
                request: Fetch = connection.recv()
                clock.start(f"decoding a picture of {request.path}", STALL_SECONDS)
                answer, pixels = player.answer(request)
                clock.stop()
                connection.send(answer)
                if pixels is not None:
                    connection.send_bytes(pixels)
            except (EOFError, OSError):  # the window has closed the pipe
                break


class _Player:
    def __init__(self, memory: memoryview | None) -> None:
        self._slots = [memory[number * SLOT_BYTES : (number + 1) * SLOT_BYTES] for number in range(SLOTS)] if memory is not None else []
        self._reader: VideoReader | None = None
        self._path: str | None = None
        self._unsent_info: SourceInfo | None = None
        from engine.media.preview.still import Stills

        self._stills = Stills()

    def answer(self, request: Fetch) -> tuple[Answer, bytes | memoryview | None]:
        try:
            frame = self._stills.picture(Path(request.path), request.size, request.at) if request.still else self._frame(request)
        except FramefleetError as error:
            self._close_reader()
            return NoPicture(request.ticket, str(error)), None
        if frame is None:
            return NoPicture(request.ticket), None
        from engine.media.preview.screen import for_screen

        pixels = for_screen(frame.image, request.size, self._slots[request.slot] if self._slots else None)
        height, width, _ = pixels.shape
        shared = bool(self._slots) and pixels.nbytes <= SLOT_BYTES
        info = None
        if not request.still:
            info, self._unsent_info = self._unsent_info, None
        answer = Picture(request.ticket, frame.pts, width, height, shared, info, frame.name)
        return answer, None if shared else pixels.data.cast("B")

    def close(self) -> None:
        self._close_reader()
        self._stills.close()
        for slot in self._slots:
            slot.release()

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = self._path = None

    def _frame(self, request: Fetch) -> DecodedFrame | None:
        reader = self._open(request)
        # the conversion scales large pictures down, which costs much less than converting all pixels; ``for_screen`` enlarges small ones
        larger = reader.info.width > request.size[0] or reader.info.height > request.size[1]
        reader.resize(request.size if larger else None)
        if request.before is not None:
            return _frame_before(reader, request.before)
        if request.at is not None:
            reader.seek(request.at)
        for frame in reader:
            if request.after is None or frame.pts >= request.after:
                return frame
        return None

    def _open(self, request: Fetch) -> VideoReader:
        from engine.media.preview.reader import VideoReader

        if self._reader is None or self._path != request.path:
            self._close_reader()
            self._reader = VideoReader(Path(request.path))
            self._path, self._unsent_info = request.path, self._reader.info
        return self._reader


def _frame_before(reader: VideoReader, pts: float) -> DecodedFrame | None:
    """Read the last frame that begins before ``pts``, or the first frame. Leaves the reader at the frame after it."""
    if reader.info.kind is SourceKind.IMAGES:
        reader.seek(pts - 1)
        return next(reader, None)
    for back in LOOK_BACK:
        reader.seek(pts - back)
        earlier = None
        for frame in reader:
            if frame.pts >= pts - 1e-6:
                break
            earlier = frame
        if earlier is not None:
            reader.seek(earlier.pts)
            return next(reader, earlier)
    reader.seek(pts)
    return next(reader, None)
