"""Chooses a run's strategy and gives the reason. ``auto`` is always ``segments``."""

from collections.abc import Sequence

from framefleet.engine.notices import Notice, Option
from framefleet.engine.pool.scheduling.strategies.base import Strategy
from framefleet.engine.pool.scheduling.strategies.frames import Depth, Frames, Tiles
from framefleet.engine.pool.scheduling.strategies.segments import Segments
from framefleet.engine.pool.scheduling.strategies.streams import Streams
from framefleet.engine.settings import Parallel, RunSettings
from framefleet.engine.types import DeviceId

STRATEGIES: dict[Parallel, type[Strategy]] = {
    Parallel.AUTO: Segments,
    Parallel.SEGMENTS: Segments,
    Parallel.STREAMS: Streams,
    Parallel.FRAMES: Frames,
    Parallel.TILES: Tiles,
    Parallel.DEPTH: Depth,
}


def explain(run: RunSettings, devices: Sequence[DeviceId], uncut: int = 0) -> Notice:
    """The reason for a run's strategy. uncut: number of sources if all are long videos that cannot be cut at keyframes, else 0."""
    if run.parallel is Parallel.TILES:
        return Notice("pool.tiles_as_settings_say", tiles=run.tiles.notice)
    if run.parallel is not Parallel.AUTO:
        return Notice("pool.as_settings_say")
    if len(devices) == 1:
        return Notice("pool.only_device", device=str(devices[0]))
    together = Notice("pool.at_keyframes", devices=len(devices))
    if not _leaves_idle(devices, uncut):
        return Notice("pool.uncut_stay", together=together)
    return Notice("pool.devices_idle", together=together, count=uncut, option=Option("parallel", "frames"))


def _leaves_idle(devices: Sequence[DeviceId], uncut: int) -> bool:
    """Whether uncut videos leave a device idle that ``frames`` could use."""
    able = [device for device in devices if device.kind != "cpu"] or devices  # beside GPUs, a CPU is busy with decoding
    return 0 < uncut < len(able)
