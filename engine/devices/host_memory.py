"""The memory of this machine that the program may use. Every place that shows or checks it reads it here, so that figures agree."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class HostMemory:
    """Bytes. total: what the program may use; a container's limit counts. available: what it may still take. machine: the whole memory."""

    total: int
    available: int
    machine: int

    @property
    def used(self) -> int:
        """What is taken, by this program and by others."""
        return self.total - self.available


def read_host_memory(root: Path = Path("/")) -> HostMemory | None:
    """Read the memory from Linux and its control groups, version 2; None if it is unknown.

    Parameters
    ----------
    root
        Folder of the system's files.
    """
    try:
        facts = dict(line.split(":", 1) for line in (root / "proc/meminfo").read_text().splitlines())
        machine, available = (int(facts[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError, IndexError):
        return None
    group = root / "sys/fs/cgroup"
    try:
        limit, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
        cached = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())["inactive_file"]
    except (OSError, KeyError, ValueError):  # no group, or no limit ("max")
        return HostMemory(machine, available, machine)
    return HostMemory(min(machine, limit), max(0, min(available, limit - used + int(cached))), machine)


def free_host_memory(root: Path = Path("/")) -> int | None:
    """The memory that this process may still take, bytes; None if it is unknown."""
    memory = read_host_memory(root)
    return None if memory is None else memory.available
