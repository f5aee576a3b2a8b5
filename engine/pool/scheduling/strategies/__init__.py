"""One file per way of sharing the work between devices, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence

from engine import settings
from engine.media.types import SourceInfo
from engine.pool.scheduling.strategies import frames
from engine.pool.scheduling.strategies.base import Strategy
from engine.pool.scheduling.strategies.depth import Depth
from engine.pool.scheduling.strategies.frames import Frames
from engine.pool.scheduling.strategies.segments import Segments
from engine.pool.scheduling.strategies.streams import Streams
from engine.pool.scheduling.strategies.tiles import Tiles
from engine.settings import Decode, Parallel, RunSettings
from engine.types import DeviceId


def choose(run: RunSettings, devices: Sequence[DeviceId], settled: bool = False) -> tuple[Strategy, str]:
    """The strategy for a run over files on these devices, and in words why it is the one.

    Its ``workers`` raises UsageError where the devices do not suit it. settled: whether it stays whatever the sources are.
    """
    match run.parallel:
        case Parallel.STREAMS:
            return Streams(), "as the settings say"
        case Parallel.SEGMENTS:
            return Segments(devices), "as the settings say"
        case Parallel.FRAMES:
            return Frames(Frames.workers(devices)), "as the settings say"
        case Parallel.TILES:
            return Tiles(Tiles.workers(devices)), f"as the settings say: {_in_words(run.tiles)}"
        case Parallel.DEPTH:
            return Depth(Depth.workers(devices)), "as the settings say"
    if len(devices) == 1:
        return Segments(devices), f"there is one device: {devices[0]} does every file from start to end"
    together = f"files can be cut at keyframes: all {len(devices)} devices work on the oldest one, so that none is idle at the end"
    uncut = "one that cannot be cut stays on one device"
    if not settled and _deals(run) and frames.apart(devices):
        return Segments(devices), f"{together} ({uncut}; if that left others idle from the start, it is measured what is faster)"
    return Segments(devices), f"{together} ({uncut}; the strategy 'frames' deals its frames to all)"


def may_deal(run: RunSettings, devices: Sequence[DeviceId], sources: Sequence[SourceInfo]) -> bool:
    """Whether it has to be found out if ``frames`` is better for these sources."""
    return run.parallel is Parallel.AUTO and _deals(run) and frames.may_pay(sources, devices)


def _deals(run: RunSettings) -> bool:
    # the devices of a group do not decode, so the user wants none who wants NVDEC
    return run.engine.decode is not Decode.NVDEC


def _in_words(tiles: settings.Tiles) -> str:
    columns, rows = (str(count) if count else "as many" for count in (tiles.columns, tiles.rows))
    grid = "tiles of about the network's size" if not (tiles.columns or tiles.rows) else f"{columns} × {rows} tiles"
    return f"{grid} that overlap by {tiles.overlap:.0%}{', and the whole picture' if tiles.full_frame else ''}"
