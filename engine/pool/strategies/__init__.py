"""One file per way of sharing the work between devices, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine import settings
from engine.media.types import SourceInfo
from engine.pool.strategies import frames
from engine.pool.strategies.base import Strategy
from engine.pool.strategies.depth import Depth
from engine.pool.strategies.frames import Frames
from engine.pool.strategies.segments import Segments
from engine.pool.strategies.streams import Streams
from engine.pool.strategies.tiles import Tiles
from engine.settings import Decode, Parallel, RunSettings
from engine.types import DeviceId


def choose(run: RunSettings, devices: Sequence[DeviceId], sources: Sequence[SourceInfo] | None = None) -> tuple[Strategy, str]:
    """The strategy for a run over files on these devices, and in words why it is the one.

    Its ``workers`` raises UsageError where the devices do not suit it. sources: None = not known yet, and there may be another
    choice when they are.
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
    # the devices of a group do not decode, so the user wants none who wants NVDEC
    dealing = run.engine.decode is not Decode.NVDEC
    if sources is not None and dealing and frames.pays(sources, devices):
        *others, last = (Path(source.path).name for source in sources)
        names = f"{', '.join(others)} and {last}" if others else last
        dealt = f"frames are decoded once and dealt to all {len(devices)} devices; none can join or leave this run"
        return Frames(Frames.workers(devices)), f"no device should be idle, and {names} cannot be cut at keyframes: {dealt}"
    together = f"files can be cut at keyframes: all {len(devices)} devices work on the oldest one, so that none is idle at the end"
    uncut = "one that cannot be cut stays on one device"
    if sources is None and dealing and frames.apart(devices):
        return Segments(devices), f"{together} ({uncut}; if that left others idle from the start, its frames are dealt to all)"
    return Segments(devices), f"{together} ({uncut}; --parallel frames deals its frames to all)"


def _in_words(tiles: settings.Tiles) -> str:
    columns, rows = (str(count) if count else "as many" for count in (tiles.columns, tiles.rows))
    grid = "tiles of about the network's size" if not (tiles.columns or tiles.rows) else f"{columns} × {rows} tiles"
    return f"{grid} that overlap by {tiles.overlap:.0%}{', and the whole picture' if tiles.full_frame else ''}"
