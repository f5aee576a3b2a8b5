"""What the window and the preview process send each other: messages, and pictures in shared memory. Loads no media library."""

import errno
import logging
import os
from dataclasses import dataclass
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, TypeAlias

from framefleet.engine.media.types import SourceInfo
from framefleet.engine.notices import Notice
from framefleet.engine.types import FrameResult


@dataclass(frozen=True)
class Place:
    """Room for a picture in the shared memory with this name. offset, nbytes: its beginning and size."""

    name: str
    offset: int
    nbytes: int


@dataclass(frozen=True)
class Fetch:
    """A request for pictures.

    ticket: the number that identifies the answer. size: width and height of the area to fill, pixels. places: where to write the pixels
    of each picture, None: nowhere. There are as many pictures as places.
    at: request the frame shown at this pts. before: request the last frame before this pts. Neither: request the next frames, but none
    before pts ``after``. A pts is in seconds; in a folder of pictures it is a position.
    still: request a picture from the middle of the source, or the keyframe before pts ``at``, without moving the position of the source
    being played. exact: the frame shown at ``at`` instead of the keyframe.
    stored: where the detections are, None: nowhere. hold: send no next frame without detections.
    """

    ticket: int
    path: str
    size: tuple[int, int]
    places: tuple[Place | None, ...] = (None,)
    at: float | None = None
    before: float | None = None
    after: float | None = None
    still: bool = False
    stored: Any = None
    hold: bool = False
    exact: bool = False

    @property
    def words(self) -> Notice:
        """What the process does, for an error message."""
        return Notice("media.decoding_picture", path=Path(self.path))

    @property
    def sequential(self) -> bool:
        """Whether it requests the frames after the previous one."""
        return self.at is None and self.before is None and not self.still


@dataclass(frozen=True)
class LookUp:
    """A request for the detections of one frame."""

    ticket: int
    pts: float
    stored: Any
    words = Notice("media.looking_up")


@dataclass(frozen=True)
class Picture:
    """A picture of ``height`` rows of ``4 * width`` bytes: blue, green, red, 255.

    place: where its pixels are, None: they follow through the pipe. name: the file's name if the source is a folder.
    """

    pts: float
    width: int
    height: int
    place: Place | None
    name: str | None
    result: FrameResult | None


@dataclass(frozen=True)
class Answer:
    """The answer to a ``Fetch``: pictures, and why there are fewer than requested.

    ended: the source is at its end. waits: the next frame has no detections yet. reason: what failed, None: nothing.
    info: about the source, only in the first answer after opening it.
    """

    ticket: int
    pictures: tuple[Picture, ...] = ()
    ended: bool = False
    waits: bool = False
    reason: Notice | None = None
    info: SourceInfo | None = None


@dataclass(frozen=True)
class Found:
    """The answer to a ``LookUp``."""

    ticket: int
    pts: float
    result: FrameResult | None


Request: TypeAlias = Fetch | LookUp

SHARED_MEMORY = Path("/dev/shm")
"""Where Linux shows shared memory as files."""

_log = logging.getLogger(__name__)


def create_shared_memory(nbytes: int) -> SharedMemory | None:
    """Create shared memory, and reserve its pages, so that no process dies of SIGBUS when it writes to it.

    Returns
    -------
    SharedMemory or None
        None: the system has too little, as in a container with a small ``/dev/shm``.
    """
    try:
        memory = SharedMemory(create=True, size=nbytes)
    except OSError as error:
        _log.warning("no shared memory of %d bytes: %s", nbytes, error)
        return None
    try:
        _reserve(SHARED_MEMORY / memory.name, nbytes)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # these: this system cannot reserve, which says nothing about its memory
            _log.warning("no shared memory of %d bytes: %s", nbytes, error)
            memory.close()
            memory.unlink()
            return None
    return memory


def _reserve(file: Path, nbytes: int) -> None:
    if not file.exists():  # not Linux
        return
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.posix_fallocate(descriptor, 0, nbytes)
    finally:
        os.close(descriptor)
