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


FromCapture: TypeAlias = StateChanged | Received | Ended
ToDecoder: TypeAlias = EpochBegan | LivePacket


@dataclass(frozen=True)
class Attach:
    """To a capture process: send packets to this connection from now on; its descriptor follows. number: of the assignment."""

    number: int


@dataclass(frozen=True)
class StopCapture:
    """To a capture process: receive no more, send what was received, and end."""


ToCapture: TypeAlias = Attach | StopCapture

Counts: TypeAlias = Mapping[Notice, int]
