"""Measured scaling: results that ``framefleet bench scaling`` keeps, and runs of the window. No Qt."""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from framefleet.engine.errors import ExportError
from framefleet.engine.store.facts import CREATED
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.skipped import is_sampled

KEPT = 50
"""The number of results that are kept, and of the newest sessions that are read."""
LEAST_FRAMES, LEAST_SECONDS, LEAST_SHARE = 300, 2.0, 0.05
"""A stored run counts if it has this many frames and takes this long; a device takes part if it did this share of the frames."""


@dataclass(frozen=True)
class Series:
    """Throughput by number of devices, measured with the same model, kind of device and source.

    model, hardware, source: in words. how: "weak" or "strong" as in ``engine.bench.scaling``, "runs" = stored sessions. rates: frames/s by
    number of devices. ideal: the speedup of independent devices by their number. when: of the newest measurement.
    """

    model: str
    hardware: str
    source: str
    how: str
    rates: Mapping[int, float]
    ideal: Mapping[int, float]
    when: datetime

    @property
    def counts(self) -> tuple[int, ...]:
        """The measured numbers of devices in order."""
        return tuple(sorted(self.rates))

    def speedup(self, count: int) -> float:
        """Throughput with this many devices ÷ throughput with one."""
        return self.rates[count] / self.rates[1]


def results_folder() -> Path:
    """The folder with the results of ``framefleet bench scaling``."""
    return user_data_path("framefleet", appauthor=False) / "scaling"


def keep(report: Mapping[str, Any], folder: Path) -> Path:
    """Store a report so that the window shows it; delete the oldest beyond ``KEPT``. Raises OSError if it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{datetime.now().astimezone():%Y%m%d-%H%M%S-%f}.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(report), "utf-8")
    part.replace(path)
    for old in sorted(folder.glob("*.json"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return path


def read_series(results: Path, sessions: Path) -> list[Series]:
    """All measurements with one and with more devices, the newest first. Unreadable files are left out."""
    found = [series for path in sorted(results.glob("*.json"))[-KEPT:] for series in _kept(path)]
    newest = sorted(sessions.glob("*.sqlite"), key=_modified, reverse=True)[:KEPT]
    found += _of_sessions(run for path in newest if (run := _run(path)) is not None)
    return sorted((series for series in found if 1 in series.rates and len(series.rates) > 1), key=lambda series: series.when, reverse=True)


@dataclass(frozen=True)
class Speed:
    """Throughput of a model in a stored run, frames/s. hardware: what it ran on."""

    rate: float
    hardware: str


def read_speeds(sessions: Path) -> dict[str, Speed]:
    """The throughput of each model in its newest stored run, by the model's name."""
    found: dict[str, Speed] = {}
    for path in sorted(sessions.glob("*.sqlite"), key=_modified, reverse=True)[:KEPT]:
        if (run := _run(path)) is not None:
            hardware = f"{run.devices} × {run.what[1]}" if run.devices > 1 else run.what[1]
            found.setdefault(run.model, Speed(run.rate, hardware))
    return found


def _modified(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _kept(path: Path) -> list[Series]:
    """The series of one report, one for each mode."""
    try:
        report = json.loads(path.read_text("utf-8"))
        points = report["points"]
        names = sorted({str(device["name"]) for point in points for device in point["devices"]})
        when = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
        return [
            Series(
                str(report["model"]),
                ", ".join(names),
                str(report["source"]),
                mode,
                {int(point["count"]): float(point["frames_per_s"]) for point in points if point["mode"] == mode},
                {int(point["count"]): float(point["ideal"]) for point in points if point["mode"] == mode},
                when,
            )
            for mode in dict.fromkeys(str(point["mode"]) for point in points)
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


@dataclass(frozen=True)
class _Run:
    """One stored run with a single complete source."""

    model: str
    what: tuple[str, str, str]
    kind: str
    devices: int
    rate: float
    when: datetime


def _run(path: Path) -> _Run | None:
    try:
        with SessionReader(path) as reader:
            sources = reader.sources()
            if len(sources) != 1 or not sources[0].finished or sources[0].cancelled or sources[0].error:
                return None
            (source,) = sources
            frames, seconds = source.ledger.inferred, source.seconds or 0.0
            if source.info is None or frames < LEAST_FRAMES or seconds < LEAST_SECONDS or is_sampled(reader):
                return None
            shares = reader.frames_by_device(source.number)
            taking_part = [use for use in shares if use.frames >= LEAST_SHARE * frames]
            if not taking_part:
                return None
            network, facts = reader.facts.get("network", ""), reader.facts
            model = f"{facts.get('model', '')} {network.replace('x', '×')}, {taking_part[0].precision}"
            video = f"{source.info.width}×{source.info.height} {source.info.codec}"
            hardware = ", ".join(sorted({use.name for use in taking_part}))
            kind = taking_part[0].device.partition(":")[0]
            created = datetime.fromisoformat(facts[CREATED])
            return _Run(facts.get("model", ""), (model, hardware, video), kind, len(taking_part), frames / seconds, created)
    except (ExportError, KeyError, ValueError):
        return None


def _of_sessions(runs: Iterable[_Run]) -> list[Series]:
    """The newest run of each number of devices, for each model, kind of device and size of video. runs: the newest first."""
    groups: dict[tuple[str, str, str], dict[int, _Run]] = {}
    for run in runs:
        groups.setdefault(run.what, {}).setdefault(run.devices, run)
    return [
        Series(
            *what,
            "runs",
            {count: run.rate for count, run in by_count.items()},
            {count: 1.0 if run.kind == "cpu" else float(count) for count, run in by_count.items()},
            max(run.when for run in by_count.values()).astimezone(),
        )
        for what, by_count in groups.items()
    ]
