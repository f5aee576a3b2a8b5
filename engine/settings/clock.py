"""The setting that says where the clock time of a source comes from, and how times in names and metadata are read.

A time that is missing, incomplete or impossible is None: nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING

from framefleet.engine.notices import Notice, UsageError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


class ClockSource(StrEnum):
    """Where the time at which a source began comes from."""

    NAME = "name"
    METADATA = "metadata"


@dataclass(frozen=True)
class ClockTime:
    """The kind of setting: ``name``, ``metadata``, or a time."""

    def read(self, text: str) -> ClockSource | datetime:
        """Read ``name``, ``metadata`` or a time such as ``2026-11-01 08:00`` or ``2026-11-01T08:00:00+01:00``. Raises UsageError."""
        if text in [*ClockSource]:
            return ClockSource(text)
        moment = _iso_time(text)
        if moment is None:
            raise UsageError(Notice("settings.no_clock", text=text))
        return moment


@dataclass(frozen=True)
class TimeZone:
    """The kind of setting: a time zone by its name."""

    def read(self, text: str) -> ZoneInfo:
        """Read a name such as ``UTC`` or ``Europe/Berlin``. Raises UsageError."""
        from zoneinfo import ZoneInfo  # reads the configuration of Python's build, which not every process needs

        try:
            return ZoneInfo(text)
        except (KeyError, ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
            raise UsageError(Notice("settings.no_time_zone", text=text)) from None


@dataclass(frozen=True)
class ClockSettings:
    """Where clock times come from: a source, a time, or None: they are unknown. zone: of times without one; None: this computer's."""

    clock: ClockSource | datetime | None = None
    time_zone: tzinfo | None = None

    def started(self, path: PurePath, created: str | None) -> datetime | None:
        """Return when a video began or a picture was taken, with its offset from UTC, or None if that is unknown.

        The offset is fixed: Python adds seconds to the time of day of a zone, which is an hour wrong behind a change of the clocks.

        Parameters
        ----------
        created
            The time in its metadata, as text.
        """
        moment: datetime | None
        match self.clock:
            case ClockSource.NAME:
                moment = time_in_name(path.name)
            case ClockSource.METADATA:
                moment = time_in_metadata(created or "")
            case _:
                moment = self.clock
        if moment is None or moment.tzinfo is not None:
            return moment
        try:
            if self.time_zone is None:
                return moment.astimezone()
            return datetime.fromisoformat(moment.replace(tzinfo=self.time_zone).isoformat())
        except (OverflowError, OSError, ValueError):
            return None

    @property
    def for_pictures(self) -> ClockSettings | None:
        """These settings if they apply to pictures. None: there are none, or a time is given, which is the start of videos."""
        return self if isinstance(self.clock, ClockSource) else None


_NAME = re.compile(
    r"(?<!\d)(\d{4})([-_.]?)(\d{2})\2(\d{2})"  # the date
    r"(?:[T _.-]{0,3}| at )"
    r"(?:(\d{2})([-_.:h])(\d{2})(?:[-_.:m](\d{2})s?)?|(\d{2})(\d{2})(\d{2}))"  # 08-00, 08-00-00 or 080000
    r"(?:[._]?(\d{3}))?(Z|\+\d{2}:?\d{2})?(?![\d])"  # ms, offset from UTC
)
"""A time in a file name. Four digits behind a date may be a counter, so hours and minutes need a separator or seconds."""


def time_in_name(name: str) -> datetime | None:
    """Return the first time in a file name, such as ``cam_20261101_080000.mp4``, or None. It has a time zone if the name has one."""
    for found in _NAME.finditer(name):
        year, _, month, day, hour, _, minute, second, hour2, minute2, second2, thousandths, offset = found.groups()
        zone = "" if offset is None else offset.replace("Z", "+00:00")
        time = f"{hour or hour2}:{minute or minute2}:{second or second2 or '00'}.{thousandths or '000'}"
        if moment := _iso_time(f"{year}-{month}-{day}T{time}{zone}"):
            return moment
    return None


def time_in_metadata(text: str) -> datetime | None:
    """Return the time that the metadata of a file state, or None. Zero, which cameras without a clock write, is not a time."""
    for pattern in ("%Y:%m:%d %H:%M:%S", "%a %b %d %H:%M:%S %Y"):  # digital cameras, AVI
        try:
            return _plausible(datetime.strptime(text.strip(), pattern))
        except ValueError:
            continue
    return _iso_time(text.strip())


def _iso_time(text: str) -> datetime | None:
    """Read a date with a time of day in ISO 8601. A date alone is not a time."""
    if not re.search(r"\d[T ]\d{2}:?\d{2}", text):
        return None
    try:
        return _plausible(datetime.fromisoformat(text))
    except ValueError:
        return None


def _plausible(moment: datetime) -> datetime | None:
    """Return the time if a camera can have recorded at it: zero is 1904 in MP4, 1970 in others and 1980 on memory cards."""
    return moment if 1990 <= moment.year < 2200 else None
