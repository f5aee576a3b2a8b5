"""How fast videos that cannot be cut would be done on a device each, and how fast if their frames were dealt to all devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.backends.base import EngineInfo
from engine.media.types import SourceInfo

CHANGE_TIMES = 1.7
"""To start the workers again as a group takes so many times as long as the first one took. Measured: 9.1 s against 5.3 s, YOLOv4-608 on two
H200s whose plans were kept."""

MOST_CHANGE_SECONDS = 15.0
"""But no longer than this: engines that had to be built first are there now."""

_BYTES_OF_A_PIXEL = 3


@dataclass(frozen=True)
class Decoding:
    """Frames/s of one video, as measured. own: as the device that does it decodes. shared: by one decoder for all devices.

    on_device: whether a device's own frames lie in its memory, so that they need not be uploaded.
    """

    own: float
    shared: float
    on_device: bool


@dataclass(frozen=True)
class Pace:
    """frames_per_second: of all sources together. limit: what does not allow more, in words that go for one device or several."""

    frames_per_second: float
    limit: str


@dataclass(frozen=True)
class Estimate:
    """segments, frames: the pace with these strategies. seconds_saved: by ``frames``, without those that the change costs."""

    segments: Pace
    frames: Pace
    seconds_saved: float
    change_seconds: float

    @property
    def pays(self) -> bool:
        """Whether to change to ``frames``."""
        return self.seconds_saved > self.change_seconds


def estimate(
    sources: Sequence[SourceInfo], engine: EngineInfo, others: Sequence[EngineInfo | None], decoding: Decoding, starting: float
) -> Estimate:
    """What the two strategies would give for videos that are all like the first one.

    engine: of the device that ``decoding`` was measured on. others: of the other devices that count; None = not built yet, and taken
    to be like it. starting: seconds until the first device was ready.
    """
    nbytes = sources[0].width * sources[0].height * _BYTES_OF_A_PIXEL
    alone = [Pace(decoding.own, "what a device decodes by itself")]
    if decoding.on_device:
        alone += [Pace(engine.images_per_s, "what the network allows")] if engine.images_per_s is not None else []
    else:
        alone += _fed(engine, nbytes)
    slowest = _slowest(alone)
    segments = Pace(len(sources) * slowest.frames_per_second, slowest.limit)
    dealt = [Pace(decoding.shared, "what the processors of this machine decode")]
    paces = [_fed(each or engine, nbytes) for each in (engine, *others)]
    if all(paces):
        taken = [_slowest(pace) for pace in paces]
        dealt.append(Pace(sum(pace.frames_per_second for pace in taken), taken[0].limit))
    frames = _slowest(dealt)
    total = sum(source.frames for source in sources)
    saved = total / segments.frames_per_second - total / frames.frames_per_second
    return Estimate(segments, frames, saved, min(CHANGE_TIMES * starting, MOST_CHANGE_SECONDS))


def explain(estimate: Estimate | None, sources: Sequence[SourceInfo], devices: int) -> str:
    """What is done with videos that cannot be cut, and why, in words. estimate: None = nothing is known. devices: how many there are."""
    *others, last = (Path(source.path).name for source in sources)
    names = f"{', '.join(others)} and {last}" if others else last
    stays = f"each of {names} stays on a device" if others else f"{last} stays on one device"
    uncut = "they cannot be cut at keyframes" if others else "it cannot be cut at keyframes"
    if estimate is None:
        return f"as {uncut}, {stays}; how fast it would be otherwise could not be measured"
    before, after = (f"{_about(pace.frames_per_second)} frames/s ({pace.limit})" for pace in (estimate.segments, estimate.frames))
    if estimate.pays:
        alone = f"on {len(sources)} devices" if others else "on one device"
        dealt = f"frames of {names} are decoded once and dealt to all {devices} devices, as {uncut}"
        return f"{dealt}: about {after} instead of {before} {alone}; none can join or leave this run"
    small = f", too little to pay for the {estimate.change_seconds:.0f} s of the change" if estimate.seconds_saved > 0 else ""
    return f"as {uncut}, {stays}: about {before}; dealt to all {devices} devices it would be {after}{small}"


def _fed(engine: EngineInfo, nbytes: int) -> list[Pace]:
    """What is known of a device that takes pictures of so many bytes from host memory."""
    paces = []
    if engine.images_per_s is not None:
        paces.append(Pace(engine.images_per_s, "what the network allows"))
    if engine.upload_bytes_per_s is not None:
        paces.append(Pace(engine.upload_bytes_per_s / max(1, nbytes), "what the link to the device lets through"))
    return paces


def _slowest(paces: Sequence[Pace]) -> Pace:
    return min(paces, key=lambda pace: pace.frames_per_second)


def _about(rate: float) -> str:
    """Two digits of it."""
    return f"{float(f'{rate:.2g}'):,.0f}" if rate >= 1 else f"{rate:.2g}"
