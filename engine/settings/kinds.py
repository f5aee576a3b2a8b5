"""The kinds of settings. Each reads values from text, and some check limits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from framefleet.engine.notices import Notice, Option, UsageError
from framefleet.engine.settings.clock import ClockTime, TimeZone
from framefleet.engine.types import DeviceId

_UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class Choice:
    """One member of an enumeration.

    Attributes
    ----------
    titles
        Titles of the members in the dialog, in its order.
    """

    titles: Mapping[Any, str]

    def read(self, text: str) -> StrEnum:
        """The member with this value. Raises UsageError."""
        return next(member for member in self.members if member == one_of(text, self.members))

    @property
    def members(self) -> list[StrEnum]:
        """All members, in the order of the enumeration."""
        kind: type[StrEnum] = type(next(iter(self.titles)))
        return [*kind]


@dataclass(frozen=True)
class Number:
    """A number from ``least`` to ``most``.

    Attributes
    ----------
    above
        ``least`` itself is excluded.
    none
        The dialog's text for "no number", "" = a number is required.
    """

    least: float
    most: float
    whole: bool = False
    above: bool = False
    unit: str = ""
    none: str = ""

    def read(self, text: str) -> float | None:
        """The number; None for "auto" if the engine can choose the number. Raises UsageError."""
        if self.automatic and text == "auto":
            return None
        share = re.fullmatch(r"([\d.]+) ?%", text) if (self.least, self.most) == (0, 1) else None
        try:
            value = int(text) if self.whole else float(share[1]) / 100 if share else float(text)
        except ValueError:
            value = None
        if value is None or not self.allows(value):
            raise UsageError(Notice("settings.no_such_number", text=text, wanted=self.wanted))
        return value

    def allows(self, value: float) -> bool:
        """Whether the value is within the limits."""
        return (self.least < value if self.above else self.least <= value) and value <= self.most

    @property
    def automatic(self) -> bool:
        """Whether the engine chooses the number if there is none."""
        return self.none == "Automatic"

    @property
    def wanted(self) -> Notice:
        """What may be given."""
        limits = {"least": self.least, "most": self.most}
        within = Notice("settings.above_and_at_most", **limits) if self.above else Notice("settings.from_to", **limits)
        number: Notice = Notice("settings.whole_number" if self.whole else "settings.number", limits=within)
        if self.unit:
            number = Notice("settings.number_of_unit", unit=self.unit, limits=within)
        return Notice("settings.auto_or", number=number) if self.automatic else number


@dataclass(frozen=True)
class Switch:
    """On or off."""

    def read(self, text: str) -> bool:
        """ "yes" or "no". Raises UsageError."""
        return one_of(text, ["yes", "no"]) == "yes"


@dataclass(frozen=True)
class Devices:
    """A list of devices; empty = the best available ones."""

    def read(self, text: str) -> tuple[DeviceId, ...]:
        """ "auto", or ids with commas between them. Raises UsageError."""
        if "+" in text:
            raise UsageError(Notice("settings.devices_with_plus", text=text, better=text.replace("+", ","), option=Option("parallel")))
        if text == "auto":
            return ()
        if not items(text):
            raise UsageError(Notice("settings.no_device_named", text=text))
        return tuple(dict.fromkeys(DeviceId.parse(part) for part in items(text)))


@dataclass(frozen=True)
class Names:
    """A list of labels or class ids, which are checked when the model is known."""

    def read(self, text: str) -> list[str]:
        """Names with commas between them, at least one. Raises UsageError."""
        if not items(text):
            raise UsageError(Notice("settings.nothing_named", text=text))
        return items(text)


@dataclass(frozen=True)
class Moment:
    """A place in a video, or a distance between frames: a number of frames, or a time in seconds. One of them is None."""

    frames: int | None = None
    seconds: Fraction | None = None

    def __str__(self) -> str:
        return f"{self.frames}" if self.seconds is None else f"{float(self.seconds):.3f}".rstrip("0").rstrip(".") + "s"


@dataclass(frozen=True)
class Moments:
    """A ``Moment``: "90s", "1.5m", "1:30" and "1:02:03.5" are times, "2700" is a number of frames.

    Attributes
    ----------
    above
        0 is excluded.
    """

    above: bool = False

    def read(self, text: str) -> Moment:
        """The moment. Raises UsageError."""
        text = text.strip()
        clock = re.fullmatch(r"(?:(\d{1,4}):)?(\d{1,4}):(\d{1,2}(?:\.\d{1,3})?)", text)
        time = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([smh])", text)
        if clock is not None:
            hours, minutes, seconds = (Fraction(part or 0) for part in clock.groups())
            moment = Moment(seconds=3600 * hours + 60 * minutes + seconds)
        elif time is not None:
            moment = Moment(seconds=Fraction(time[1]) * _UNITS[time[2]])
        elif re.fullmatch(r"\d{1,12}", text):
            moment = Moment(frames=int(text))
        else:
            raise UsageError(Notice("settings.no_moment", text=text))
        if self.above and not (moment.frames or moment.seconds):
            raise UsageError(Notice("settings.moment_zero", text=text))
        return moment


def whole(text: str) -> int:
    """Read a whole number from 0. Raises UsageError."""
    if not re.fullmatch(r"\d{1,12}", text.strip()):
        raise UsageError(Notice("settings.no_whole_number", text=text))
    return int(text)


Kind = Choice | Number | Switch | Devices | Names | Moments | ClockTime | TimeZone


def write(value: Any) -> str:
    """The value as the text that ``read`` of its kind accepts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def items(text: str) -> list[str]:
    """The parts of a comma-separated text."""
    return [part.strip() for part in text.split(",") if part.strip()]


def one_of(text: str, available: Sequence[str]) -> str:
    """The text, if it is available.

    Raises
    ------
    UsageError
        It is not available; the message names what is.
    """
    if text in available:
        return text
    raise UsageError(Notice("settings.unknown_choice", text=text, available=tuple(available)))
