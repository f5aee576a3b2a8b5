"""One file per way of sharing the work between devices, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence

from engine import settings
from engine.pool.strategies.base import Strategy
from engine.pool.strategies.depth import Depth
from engine.pool.strategies.frames import Frames
from engine.pool.strategies.segments import Segments
from engine.pool.strategies.streams import Streams
from engine.pool.strategies.tiles import Tiles
from engine.settings import Parallel
from engine.types import DeviceId


def choose(parallel: Parallel, devices: Sequence[DeviceId], tiles: settings.Tiles = settings.Tiles()) -> tuple[Strategy, str]:  # noqa: B008
    """The strategy for a run over files, and in words why it is the one.

    Its ``workers`` raises UsageError where the devices do not suit it.
    """
    match parallel:
        case Parallel.STREAMS:
            return Streams(), "as the settings say"
        case Parallel.SEGMENTS:
            return Segments(devices), "as the settings say"
        case Parallel.FRAMES:
            return Frames(Frames.workers(devices)), "as the settings say"
        case Parallel.TILES:
            return Tiles(Tiles.workers(devices)), f"as the settings say: {_in_words(tiles)}"
        case Parallel.DEPTH:
            return Depth(Depth.workers(devices)), "as the settings say"
    if len(devices) == 1:
        return Segments(devices), f"there is one device: {devices[0]} does every file from start to end"
    together = f"files can be cut at keyframes: all {len(devices)} devices work on the oldest one, so that none is idle at the end"
    return Segments(devices), f"{together} (one that cannot be cut stays on one device; --parallel frames deals its frames to all)"


def _in_words(tiles: settings.Tiles) -> str:
    columns, rows = (str(count) if count else "as many" for count in (tiles.columns, tiles.rows))
    grid = "tiles of about the network's size" if not (tiles.columns or tiles.rows) else f"{columns} × {rows} tiles"
    return f"{grid} that overlap by {tiles.overlap:.0%}{', and the whole picture' if tiles.full_frame else ''}"
