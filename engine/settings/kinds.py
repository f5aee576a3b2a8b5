"""The kinds of settings. Each reads values from text, and some check limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.errors import UsageError
from engine.types import DeviceId


@dataclass(frozen=True)
class Choice:
    """One member of an enumeration. titles: of the members in the dialog, in the order that it shows."""

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

    above: ``least`` itself is excluded. none: the dialog's text for "no number", "" = a number is required.
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
        try:
            value = int(text) if self.whole else float(text)
        except ValueError:
            value = None
        if value is None or not self.allows(value):
            raise UsageError(f"'{text}' cannot be used: give {self}")
        return value

    def allows(self, value: float) -> bool:
        """Whether the value is within the limits."""
        return (self.least < value if self.above else self.least <= value) and value <= self.most

    @property
    def automatic(self) -> bool:
        """Whether the engine chooses the number if there is none."""
        return self.none == "Automatic"

    def __str__(self) -> str:
        limits = f"above {self.least:g} and at most {self.most:g}" if self.above else f"from {self.least:g} to {self.most:g}"
        return f"{'auto or ' * self.automatic}a {'whole ' * self.whole}number {f'of {self.unit} ' if self.unit else ''}{limits}"


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
            raise UsageError(f"'{text}': write the devices with commas, {text.replace('+', ',')}; --parallel says how they work together")
        if text == "auto":
            return ()
        if not items(text):
            raise UsageError(f"'{text}' names no device: write auto, or cpu:0, cuda:0 … ('framefleet devices' lists yours)")
        return tuple(dict.fromkeys(DeviceId.parse(part) for part in items(text)))


@dataclass(frozen=True)
class Names:
    """A list of labels or class ids, which are checked when the model is known."""

    def read(self, text: str) -> list[str]:
        """Names with commas between them, at least one. Raises UsageError."""
        if not items(text):
            raise UsageError(f"'{text}' names nothing: give at least one, or leave the option out")
        return items(text)


Kind = Choice | Number | Switch | Devices | Names


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

    Raises:
        UsageError: it is not available; the message names what is.
    """
    if text in available:
        return text
    raise UsageError(f"'{text}' is unknown; choose from: {', '.join(available)}")
