"""The preview process: it decodes the picture that the window shows, so that no decoder bug can take the window down.

The window asks for one picture at a time (``Fetch``) and gets exactly one answer to each (``Picture`` or ``NoPicture``), in
order. Pixels go through shared memory, in the slot that the request names; only pictures too large for that follow their answer
through the pipe. The process ends when the other end of its pipe closes. Importing this module loads no media library: the
window uses its messages.
"""

from __future__ import annotations

from contextlib import closing
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
"""A picture takes longer only if the decoder or the disk hangs."""

LOOK_BACK = (1.0, 8.0, 64.0)
"""Seconds before a frame in which its predecessor is looked for, nearest first."""


@dataclass(frozen=True)
class Fetch:
    """Asks for one picture. ticket: comes back with the answer. size: width and height that it is to fill. slot: for its pixels.

    at: the frame shown at this pts. before: the frame before this pts. Neither: the next one, but none before pts ``after``.
    For pictures a pts is a position. still: a picture of this source besides the one being played.
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
        """Whether it goes on from the picture before it."""
        return self.at is None and self.before is None and not self.still


@dataclass(frozen=True)
class Picture:
    """Its pixels: ``height`` rows of ``4 * width`` bytes: blue, green, red, 255. shared: they are in the slot, else they follow.

    info: of the source, in the first answer after it was opened. name: the file, where the source is a folder.
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
    """There is none. reason: why, for a person; None = the source is at its end."""

    ticket: int
    reason: str | None = None


Answer: TypeAlias = Picture | NoPicture


def main(connection: Connection[Answer, Fetch], memory: str) -> None:
    """Answer requests until the window goes away: what runs in the process. memory: name of the shared memory, all slots."""
    clock = start_clock(connection, STALL_SECONDS)
    shared = SharedMemory(memory)
    assert shared.buf is not None
    player = _Player(shared.buf)
    with connection, closing(shared), closing(player):
        while True:
            try:
                request: Fetch = connection.recv()
                clock.start(f"decoding a picture of {request.path}", STALL_SECONDS)
                answer, pixels = player.answer(request)
                clock.stop()
                connection.send(answer)
                if pixels is not None:
                    connection.send_bytes(pixels)
            except (EOFError, OSError):  # the window is gone
                break


class _Player:
    def __init__(self, memory: memoryview) -> None:
        self._slots = [memory[number * SLOT_BYTES : (number + 1) * SLOT_BYTES] for number in range(SLOTS)]
        self._reader: VideoReader | None = None
        self._path: str | None = None
        self._news: SourceInfo | None = None

    def answer(self, request: Fetch) -> tuple[Answer, bytes | memoryview | None]:
        try:
            frame = self._still(request) if request.still else self._frame(request)
        except FramefleetError as error:
            self._close_reader()
            return NoPicture(request.ticket, str(error)), None
        if frame is None:
            return NoPicture(request.ticket), None
        from engine.media.preview.screen import for_screen

        pixels = for_screen(frame.image, request.size, self._slots[request.slot])
        height, width, _ = pixels.shape
        shared = pixels.nbytes <= SLOT_BYTES
        info = None
        if not request.still:
            info, self._news = self._news, None
        answer = Picture(request.ticket, frame.pts, width, height, shared, info, frame.name)
        return answer, None if shared else pixels.data.cast("B")

    def close(self) -> None:
        self._close_reader()
        for slot in self._slots:
            slot.release()

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
        self._reader = self._path = None

    def _frame(self, request: Fetch) -> DecodedFrame | None:
        reader = self._open(request)
        # Far too large pictures are made smaller while they are converted; the rest is done by ``for_screen``.
        wide, high = request.size
        reader.resize((2 * wide, 2 * high) if reader.info.width > 2 * wide or reader.info.height > 2 * high else None)
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
            self._path, self._news = request.path, self._reader.info
        return self._reader

    def _still(self, request: Fetch) -> DecodedFrame | None:
        from engine.media.preview.still import first_picture

        return first_picture(Path(request.path), request.size)


def _frame_before(reader: VideoReader, pts: float) -> DecodedFrame | None:
    """The last frame that begins before ``pts``, else the first; the next one the reader gives is the one after it."""
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
