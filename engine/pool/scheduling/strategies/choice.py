"""Chooses a run's strategy and gives the reason in one sentence. ``auto`` is always ``segments``."""

from collections.abc import Sequence

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


def explain(run: RunSettings, devices: Sequence[DeviceId], uncut: int = 0) -> str:
    """The reason for a run's strategy. uncut: number of sources if all are long videos that cannot be cut at keyframes, else 0."""
    if run.parallel is Parallel.TILES:
        return f"as the settings say: {run.tiles.in_words}"
    if run.parallel is not Parallel.AUTO:
        return "as the settings say"
    if len(devices) == 1:
        return f"{devices[0]} is the only device and does every file from start to end"
    together = f"files are cut at keyframes, and all {len(devices)} devices work on the oldest one"
    if not _leaves_idle(devices, uncut):
        return f"{together}; a video that cannot be cut stays on one device"
    stay = (
        f"these {uncut} videos cannot be cut and stay on one device each"
        if uncut > 1
        else "this video cannot be cut and stays on one device"
    )
    return f"{together}; but {stay}: --parallel frames may be faster, it shares single frames among all devices"


def _leaves_idle(devices: Sequence[DeviceId], uncut: int) -> bool:
    """Whether uncut videos leave a device idle that ``frames`` could use."""
    able = [device for device in devices if device.kind != "cpu"] or devices  # beside GPUs, a CPU is busy with decoding
    return 0 < uncut < len(able)
