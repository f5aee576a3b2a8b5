"""Plans which clips and pictures to take of a video."""

import re
from dataclasses import dataclass

from framefleet.engine.store.appearances import By, read_appearances
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.sources import StoredSource, label_of
from framefleet.engine.tracking.appearances import GAP

_LONGEST = 40  # letters of a label in a file name


@dataclass(frozen=True)
class ClipPlan:
    """A clip. start, end: seconds. name: of the file, without the source's stem and suffix. best: most confident moments, seconds."""

    start: float
    end: float
    name: str
    best: tuple[float, ...]


def plan_clips(reader: SessionReader, source: StoredSource, by: By, padding: float, gap: float = GAP) -> list[ClipPlan]:
    """Plan a clip for each appearance in a video, ordered by start. Clips by class that overlap are joined.

    Only detections that pass the reader's filter count. padding: seconds before and after each appearance. gap: see ``GAP``.

    Raises ExportError if the session cannot be read.
    """
    first, last = reader.first_pts(source.number) or 0.0, reader.last_pts(source.number) or 0.0
    rate = (source.info.rate if source.info is not None else None) or 25.0
    plans: list[ClipPlan] = []
    for row in read_appearances(reader, source.number, by, gap):
        class_id, track = int(row["class_id"]), int(row["track"])
        label = label_of(reader.labels, class_id)
        start, end = max(float(row["start"]) - padding, first), min(float(row["end"]) + padding, last + 1 / rate)
        name = f"{_safe(label)}{f'-{track}' if track >= 0 else ''}"
        if by is By.CLASS and plans and start <= plans[-1].end:
            before = plans[-1]
            names = before.name if name in before.name.split("+") or len(before.name) > _LONGEST else f"{before.name}+{name}"
            plans[-1] = ClipPlan(before.start, max(before.end, end), names, (*before.best, float(row["best"])))
        else:
            plans.append(ClipPlan(start, end, name, (float(row["best"]),)))
    return plans


def stamp(seconds: float) -> str:
    """Return a time as part of a file name: ``01-02-03.45``, hours, minutes, seconds."""
    hundredths = max(round(seconds * 100), 0)
    minutes, rest = divmod(hundredths, 6000)
    return f"{minutes // 60:02d}-{minutes % 60:02d}-{rest // 100:02d}.{rest % 100:02d}"


def _safe(label: str) -> str:
    return re.sub(r"[^\w-]+", "-", label).strip("-")[:_LONGEST] or "object"
