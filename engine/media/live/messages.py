"""What a capture process sends, and the states of a live source. Loads no media library, so the window may import it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from framefleet.engine.notices import Notice


class LiveState(StrEnum):
    """The state of a live source.

    CONNECTING: the source is being opened. WAITING_FOR_KEYFRAME: packets arrive, and none of them can be decoded alone yet. RUNNING: frames
    arrive. STALLED: no frame has arrived for much longer than usual. WAITING_TO_RECONNECT: the next attempt follows after a pause. STOPPED:
    no frame follows.
    """

    CONNECTING = "connecting"
    WAITING_FOR_KEYFRAME = "waiting_for_keyframe"
    RUNNING = "running"
    STALLED = "stalled"
    WAITING_TO_RECONNECT = "waiting_to_reconnect"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Format:
    """What a decoder has to know of a stream.

    codec: FFmpeg's name of the decoder. width, height: pixels, 0 if unknown. rate: declared frames/s. aspect: width and height of a pixel.
    """

    codec: str
    extradata: bytes | None = field(default=None, repr=False)
    width: int = 0
    height: int = 0
    pixel_format: str | None = None
    rate: float | None = None
    aspect: tuple[int, int] | None = None


MIN_FREE = 2**30
"""Recording stops while the disk has fewer free bytes: the session and the machine need them."""


@dataclass(frozen=True)
class RecordSettings:
    """How a live source is recorded. folder: for the files. name: the beginning of their names. minutes: of clock time in each.

    min_free: see ``MIN_FREE``.
    """

    folder: str
    name: str
    minutes: int = 10
    min_free: int = MIN_FREE


@dataclass(frozen=True)
class RecordedFile:
    """A file of a recording.

    began: clock time of its first frame, ISO 8601 with the offset from UTC. begin, end: of its frames, in the time of the source, seconds;
    end: None while it is written. A frame at ``begin + t`` has the time ``t`` in the file. size: bytes, 0 while it is written.
    """

    path: str
    began: str
    begin: float
    end: float | None = None
    size: int = 0


@dataclass(frozen=True)
class FileRecorded:
    """A file of the recording began, or is complete."""

    file: RecordedFile


@dataclass(frozen=True)
class RecordingChanged:
    """Recording began or stopped, or something is missing in it. on: whether the source is recorded now. reason: why."""

    on: bool
    reason: Notice


@dataclass(frozen=True)
class StateChanged:
    """The source has another state. reason: why. seconds: in the time of the source. format: of the stream, when packets arrive."""

    state: LiveState
    reason: Notice
    seconds: float
    format: Format | None = None


@dataclass(frozen=True)
class Received:
    """How many frames have arrived in this capture process. Sent about every half second, and before the end."""

    frames: int


@dataclass(frozen=True)
class Ended:
    """The last message of a capture process.

    again: whether another capture process goes on, because this one may hang in a library. Otherwise the source has ended; error: why, if
    that is a failure. frames: see ``Received``. attempts: failed attempts in a row. limit: see ``Job``. headless: frames before the first
    keyframe.
    """

    again: bool
    error: Notice | None
    frames: int
    attempts: int = 0
    limit: float = 0.0
    headless: int = 0


@dataclass(frozen=True)
class EpochBegan:
    """On the way to a decoder: the packets that follow continue none before.

    number: the number of the next packet. waits: whether the source loses nothing while it waits, so that no frame is left out.
    """

    format: Format
    reason: Notice
    number: int
    waits: bool = False


@dataclass(frozen=True)
class LivePacket:
    """On the way to a decoder: a frame as it was received.

    number: 0, 1, … in its capture process. seconds: in the time of the source. arrival: ``perf_counter``. damaged: whether a part of it is
    known to be missing.
    """

    number: int
    seconds: float
    arrival: float
    keyframe: bool
    damaged: bool
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class Snapshot:
    """The picture of a moment. seconds: that was asked for. data: a Matroska file of one group of pictures. at: its time in this file."""

    seconds: float
    data: bytes = field(repr=False)
    at: float


FromCapture: TypeAlias = StateChanged | Received | Ended | FileRecorded | RecordingChanged | Snapshot
ToDecoder: TypeAlias = EpochBegan | LivePacket


@dataclass(frozen=True)
class Attach:
    """To a capture process: send packets to this connection from now on; its descriptor follows. number: of the assignment."""

    number: int


@dataclass(frozen=True)
class StopCapture:
    """To a capture process: receive no more, send what was received, and end."""


@dataclass(frozen=True)
class Record:
    """To a capture process: record from the next keyframe on. settings: None: stop recording."""

    settings: RecordSettings | None


@dataclass(frozen=True)
class TakeSnapshot:
    """To a capture process whose job keeps pictures: send the picture of a moment. seconds: in the time of the source."""

    seconds: float


ToCapture: TypeAlias = Attach | StopCapture | Record | TakeSnapshot

Counts: TypeAlias = Mapping[Notice, int]
