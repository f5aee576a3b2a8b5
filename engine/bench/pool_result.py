"""The result of one measured run of the pool."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.types import EngineInfo

FULL = 0.9
"""A processor with a higher load is the bottleneck."""


@dataclass(frozen=True)
class DeviceRun:
    """The work of one device. frames_per_s: in the steady state. All other values: over the whole run, see ``DeviceStats``."""

    engine: EngineInfo
    frames: int
    frames_per_s: float
    latency_p50: float | None
    latency_p99: float | None
    stages: Mapping[str, float]
    busy: Mapping[str, float]
    bottleneck: str | None


@dataclass(frozen=True)
class PoolRun:
    """One measured run.

    frames: in total. announced, segments: frames and segments of all sources. seconds: length of the steady state. frames_per_s: of
    all devices in the steady state. whole_per_s: of all frames since every engine was ready. pool_load: load of the pool's own
    process in the steady state, 1 = one processor. host_load: load of all processors of the machine, 0..1, None = unknown. drift:
    throughput in the second half of the steady state ÷ in the first half, None = too short; far from 1 the state was not steady.
    """

    strategy: str
    reason: str
    frames: int
    announced: int
    segments: int
    seconds: float
    frames_per_s: float
    whole_per_s: float
    pool_load: float
    host_load: float | None
    drift: float | None
    devices: tuple[DeviceRun, ...]

    @property
    def host_cost(self) -> float | None:
        """Processor time of the whole machine per frame, µs."""
        return None if self.host_load is None else 1e6 * self.host_load * usable_cores() / self.frames_per_s

    @property
    def bottleneck(self) -> str:
        """A description of the bottleneck."""
        if self.pool_load > FULL:
            return f"the pool's own process ({self.pool_load:.0%} of a processor)"
        named = Counter(device.bottleneck for device in self.devices if device.bottleneck is not None)
        if not named:
            return "unknown"
        stage, count = named.most_common(1)[0]
        words = stage if len(self.devices) == 1 else f"{stage} on {count} of {len(self.devices)} devices"
        if self.host_load is not None and self.host_load > FULL:
            words += f"; the host's processors are {self.host_load:.0%} busy"
        return words
