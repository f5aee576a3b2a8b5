"""Tries whether a live source can be opened, and shows what it sends. It opens and decodes in a process of its own, which can be killed."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.processes import child_main
from framefleet.engine.processes.child import ChildProcess

MAX_SECONDS = 25.0
"""The longest time of a trial: a source with a keyframe every ten seconds and a slow connection."""

_MEASURE_SECONDS = 1.5
"""How long frames are counted after the first one."""

_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Trial:
    """What a live source sends.

    codec: FFmpeg's name. width, height: of the video, pixels. rate: received frames/s, None: fewer than two frames. declared: frames/s that
    the source states, None: it does not. picture_width, picture_height, pixels: a small picture, see ``StreamPicture``.
    """

    codec: str
    width: int
    height: int
    rate: float | None
    declared: float | None
    picture_width: int
    picture_height: int
    pixels: bytes = field(repr=False)


def try_source(address: LiveAddress, size: tuple[int, int], stop: threading.Event) -> Trial:
    """Open a live source, and close it again.

    Parameters
    ----------
    address : LiveAddress
        What to open.
    size : tuple of int
        The largest width and height of the picture, pixels.
    stop : Event
        Set to end the trial early.

    Raises
    ------
    SourceError
        It cannot be opened, sends no video that can be decoded, or the trial was stopped.
    """
    child = ChildProcess("trial", main, address, size, words=Notice("live.process"))
    deadline = time.monotonic() + MAX_SECONDS
    try:
        while not child.connection.poll(_POLL_SECONDS):
            if stop.is_set():
                raise SourceError(Notice("live.stopped"))
            if time.monotonic() > deadline:
                raise SourceError(Notice("live.no_answer", seconds=MAX_SECONDS))
        answer = child.receive()
        if isinstance(answer, Trial):
            return answer
        if isinstance(answer, Notice):
            raise SourceError(answer)
    finally:
        child.kill()
        outcome = child.end(0.0)
    raise SourceError(Notice("live.capture_ended", why=outcome.reason))


def main(connection: Connection[Trial | Notice, None], address: LiveAddress, size: tuple[int, int]) -> None:
    """Send a ``Trial`` or why there is none: the main function of the process."""
    try:
        answer: Trial | Notice = _try(address, size)
    except SourceError as error:
        answer = error.notice
    connection.send(answer)
    child_main.leave(0)


def _try(address: LiveAddress, size: tuple[int, int]) -> Trial:
    import av

    from framefleet.engine.media.container.video_file import reason
    from framefleet.engine.media.live.address import hide
    from framefleet.engine.media.live.decoding import LiveDecoder, Shown, screen_converter
    from framefleet.engine.media.live.messages import EpochBegan, LivePacket
    from framefleet.engine.media.live.sources import open_live

    source = open_live(address, threading.Event())
    form, decoder = source.format, LiveDecoder()
    decoder.begin(EpochBegan(form, Notice("live.first"), 0))
    shown: Shown | None = None
    times: list[float] = []
    try:
        packets = (packet for packet in source.container.demux(source.stream) if packet.size)
        for number, packet in enumerate(packets):
            now = time.perf_counter()
            times.append(now)
            if shown is None:
                data = LivePacket(number, 0.0, now, bool(packet.is_keyframe), bool(packet.is_corrupt), bytes(packet))
                shown = next((outcome for outcome in decoder.decode(data) if isinstance(outcome, Shown)), None)
            if shown is not None and now - times[0] >= _MEASURE_SECONDS:
                break
        if shown is None:
            shown = next((outcome for outcome in decoder.flush() if isinstance(outcome, Shown)), None)
    except (av.FFmpegError, OSError) as error:
        raise SourceError(Notice("live.lost", detail=hide(reason(error)))) from error
    picture = None if shown is None else screen_converter(form, size)(shown)
    if shown is None or picture is None:
        raise SourceError(Notice("live.no_video"))
    recent = [at for at in times if at - times[0] > _MEASURE_SECONDS / 3]  # at first, some sources deliver what they have kept
    measured = len(recent) > 1 and not source.finite
    rate = (len(recent) - 1) / (recent[-1] - recent[0]) if measured else None
    height, width = picture.shape[:2]
    return Trial(form.codec, *shown.size, rate, form.rate, width, height, picture.tobytes())
