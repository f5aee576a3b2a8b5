"""Reads the utilization of this machine's processors and memory from Linux's /proc."""

import os
from pathlib import Path

from framefleet.engine.devices.host_memory import read_host_memory
from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.types import DeviceId


class ProcessorSampler:
    """Samples the processors that this process may use, and the memory. root: folder of the system's files."""

    def __init__(self, device: DeviceId, root: Path = Path("/")) -> None:
        self._device, self._root = device, root
        self._before = self._ticks()

    def sample(self) -> Telemetry:
        """The utilization since the last call, and the memory. On systems other than Linux all values are None."""
        before, self._before = self._before, self._ticks()
        utilization = None
        if before is not None and self._before is not None and self._before[1] > before[1]:
            utilization = 100 * (self._before[0] - before[0]) / (self._before[1] - before[1])
        memory = read_host_memory(self._root)
        used, total = (None, None) if memory is None else (memory.used, memory.total)
        return Telemetry(self._device, utilization=utilization, memory_used=used, memory_total=total)

    def _ticks(self) -> tuple[int, int] | None:
        """Busy ticks and all ticks of the processors that this process may use."""
        try:
            usable = {f"cpu{number}" for number in os.sched_getaffinity(0)}
            lines = [line.split() for line in (self._root / "proc/stat").read_text().splitlines()]
            times = [list(map(int, line[1:9])) for line in lines if line and line[0] in usable]
        except (OSError, AttributeError, ValueError):
            return None  # not Linux
        total = sum(map(sum, times))
        return total - sum(idle + waiting for _, _, _, idle, waiting, *_ in times), total
