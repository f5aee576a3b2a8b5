"""Samples the memory, open files and threads of processes, and fits their growth. Linux only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

MEASURES = ("uss", "rss", "descriptors", "threads")


@dataclass(frozen=True)
class Use:
    """What a process uses. uss, rss: MB."""

    uss: float
    rss: float
    descriptors: int
    threads: int


def use_of(pid: int) -> Use | None:
    """What a process uses now, or None if it has ended."""
    folder = Path(f"/proc/{pid}")
    with suppress(OSError, ValueError):
        _, resident, shared, *_ = map(int, (folder / "statm").read_text().split())
        return Use(_own(folder, resident - shared), _megabytes(resident), _count(folder / "fd"), _count(folder / "task"))
    return None


def _own(folder: Path, otherwise: int) -> float:
    """Memory in pages that no other process has, MB. otherwise: pages, for systems that do not tell."""
    with suppress(FileNotFoundError):
        sizes = dict(line.split()[:2] for line in (folder / "smaps_rollup").read_text().splitlines()[1:])
        return (int(sizes["Private_Clean:"]) + int(sizes["Private_Dirty:"])) / 1000
    return _megabytes(otherwise)


def _megabytes(pages: int) -> float:
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 3)


def _count(folder: Path) -> int:
    return sum(1 for _ in folder.iterdir())


@dataclass(frozen=True)
class Growth:
    """What happened to one measure after the warm-up. first, last: medians of the first and the last tenth. fitted: the line's growth."""

    first: float
    last: float
    most: float
    fitted: float

    @classmethod
    def of(cls, seconds: Sequence[float], values: Sequence[float]) -> Growth:
        """Fit a line to samples."""
        tenth = max(1, len(values) // 10)
        slope = float(np.polyfit(seconds, values, 1)[0])
        return cls(median(values[:tenth]), median(values[-tenth:]), max(values), slope * (seconds[-1] - seconds[0]))


def growths(samples: Sequence[tuple[float, dict[int, Use]]]) -> tuple[dict[str, Growth], dict[int, Growth]]:
    """The growth of all processes together, by measure, and that of the USS of each process that lived all the time.

    samples: seconds, and the use of each process by its id.
    """
    seconds = [moment for moment, _ in samples]
    whole = {name: Growth.of(seconds, [sum(getattr(use, name) for use in uses.values()) for _, uses in samples]) for name in MEASURES}
    always = set[int].intersection(*(set(uses) for _, uses in samples))
    return whole, {pid: Growth.of(seconds, [uses[pid].uss for _, uses in samples]) for pid in sorted(always)}
