"""Counts of detections in pictures by the time of day when they were taken."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import TypeAlias

import numpy as np

from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.common.tallies import Group, Tally, read_groups
from framefleet.engine.store.reader import Block

Times: TypeAlias = tuple[float | None, float | None, str | None]
"""Begin and end of an interval, seconds of the source, and the clock time of its begin in ISO 8601; None or "" if unknown."""

_FIRST = datetime(1970, 1, 5)
"""A Monday, so that weeks begin on Mondays; local time, as cameras have it."""


def intervals_of_pictures(blocks: Iterable[Block], clock: Clock, length: float) -> Iterator[tuple[Times, Group]]:
    """Yield the intervals in which pictures were taken, in order, each with its counts; first the pictures whose time is unknown.

    blocks: of a folder, without boxes. The pictures need not be in the order of their times. length: of an interval, seconds. Intervals
    begin at full multiples of it since ``_FIRST``, so at midnight if they divide a day. An interval without pictures is left out: nothing
    says that the camera was on.
    """
    groups: dict[int, Group] = {}
    earliest: dict[int, datetime] = {}
    step = max(timedelta(seconds=length), timedelta.resolution)
    unknown: Group | None = None
    for picture in read_groups(blocks, lambda pts: pts.astype(np.int64)):  # the pts of a picture is its position
        moment = None if picture.last is None else clock.at(picture.last.pts)
        if moment is None:
            unknown = unknown or Group(0)
            _add(unknown, picture)
            continue
        number = (moment.replace(tzinfo=None) - _FIRST) // step
        earliest[number] = min(earliest.get(number, moment), moment)
        _add(groups.setdefault(number, Group(number)), picture)
    if unknown is not None:
        yield (None, None, None), unknown
    for number in sorted(groups):
        start = (_FIRST + number * step).replace(tzinfo=earliest[number].tzinfo)
        yield (None, None, start.isoformat(timespec="milliseconds")), groups[number]


def _add(group: Group, picture: Group) -> None:
    """Add the counts of one picture to a group."""
    group.inferred += picture.inferred
    group.failed += picture.failed
    for class_id, counts in picture.classes.items():
        tally = group.classes.setdefault(class_id, Tally(counts.first, counts.last))
        tally.add(counts.last, counts.seconds, counts.frames, counts.most, counts.detections)
