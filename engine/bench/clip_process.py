"""Makes videos for measurements: a generated 1080p clip, or any video repeated to the needed length.

Runs as a separate process, ``python -m framefleet.engine.bench.clip_process TARGET FRAMES [VIDEO]``: with VIDEO, it repeats that. Prints
``{"error": why}`` if it fails.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import av
import numpy as np
from av.packet import Packet
from av.video.stream import VideoStream
from numpy.typing import NDArray

from framefleet.engine.media.container.video_file import reason
from framefleet.engine.notices import FramefleetError, Notice, SourceError

WIDTH, HEIGHT, RATE = 1920, 1080, 30
KEYFRAMES = 60
"""Usual number of frames from one keyframe to the next."""

BITS = 6_000_000
"""Bits per second, a usual rate of video services for 1080p."""

_OCTAVES = (128, 32, 8)  # pixels
_OBJECTS = 8


def make(target: Path, frames: int, keyframes: int = KEYFRAMES) -> int:
    """Make a 1920 × 1080 H.264 clip: a camera pans over a textured ground with moving objects. Returns the number of frames.

    keyframes: frames from one keyframe to the next.
    """
    random = np.random.default_rng(1)
    ground = _texture(random, 2 * HEIGHT, 2 * WIDTH)
    hues = [_texture(random, HEIGHT, WIDTH) for _ in "uv"]
    things = [_texture(random, 256, 128)[:120, :80] for _ in range(_OBJECTS)]
    with av.open(str(target), "w") as output:
        stream = output.add_stream("libx264", rate=RATE, options={"preset": "veryfast", "g": str(keyframes), "bf": "2"})
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = WIDTH, HEIGHT, "yuv420p", BITS
        for number in range(frames):
            left, top = (
                round(half * (1 + wave(number / period))) // 2 * 2 for half, wave, period in ((900, np.sin, 97), (500, np.cos, 71))
            )
            luma = ground[top : top + HEIGHT, left : left + WIDTH].copy()
            for turn, thing in enumerate(things):
                x, y = (number * (3 + turn) + 200 * turn) % (WIDTH - 80), (number * (1 + turn) + 90 * turn) % (HEIGHT - 120)
                luma[y : y + 120, x : x + 80] = thing
            chroma = [hue[top // 2 : (top + HEIGHT) // 2, left // 2 : (left + WIDTH) // 2] for hue in hues]
            planes = np.concatenate([luma.ravel(), *(plane.ravel() for plane in chroma)]).reshape(-1, WIDTH)
            output.mux(stream.encode(av.VideoFrame.from_ndarray(planes, "yuv420p")))
        output.mux(stream.encode(None))
    return frames


def repeat(video: Path, frames: int, target: Path) -> int:
    """Repeat a video by copying its packets until it has at least ``frames`` frames. Returns the number of frames.

    Raises SourceError if the video cannot be read, or not be stored as MP4.
    """
    try:
        return _repeat(video, frames, target)
    except (av.FFmpegError, ValueError) as problem:
        why = reason(problem) if isinstance(problem, av.FFmpegError) else str(problem)
        raise SourceError(Notice("bench.not_repeated", path=video, problem=why)) from problem


def _repeat(video: Path, frames: int, target: Path) -> int:
    with av.open(str(target), "w", format="mp4") as output:
        copy: VideoStream | None = None
        done, offset = 0, 0
        while done < frames:
            before, end = done, 0
            with av.open(str(video)) as source:
                if not source.streams.video:
                    raise SourceError(Notice("bench.no_pictures", path=video))
                track = source.streams.video[0]
                copy = copy or output.add_stream_from_template(track, opaque=True)  # also without an encoder of this name
                for packet in source.demux(track):
                    if packet.dts is None or packet.pts is None:
                        continue
                    end = max(end, packet.pts + (packet.duration or 1))
                    _shift(packet, offset, copy)
                    output.mux(packet)
                    done += 1
            if done == before:
                raise SourceError(Notice("bench.no_times", path=video))
            offset += end
    return done


def _shift(packet: Packet[VideoStream], offset: int, stream: VideoStream) -> None:
    assert packet.pts is not None
    assert packet.dts is not None
    packet.pts += offset
    packet.dts += offset
    packet.stream = stream


def _texture(random: np.random.Generator, height: int, width: int) -> NDArray[np.uint8]:
    """Noise of several grain sizes, uint8 (height, width), 16..235."""
    values = np.zeros((height, width), np.float32)
    for size in _OCTAVES:
        coarse = random.random((-(-height // size), -(-width // size)), np.float32)
        values += coarse.repeat(size, 0).repeat(size, 1)[:height, :width]
    return (16 + 219 * values / len(_OCTAVES)).astype(np.uint8)


def main(target: str, frames: str, video: str = "") -> int:
    """Make the clip, or repeat a video. Returns the exit status."""
    try:
        if video:
            repeat(Path(video), int(frames), Path(target))
        else:
            make(Path(target), int(frames))
    except (FramefleetError, OSError) as problem:
        said = problem.notice if isinstance(problem, FramefleetError) else Notice("general.detail", detail=str(problem))
        print(json.dumps({"error": said.as_json()}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
