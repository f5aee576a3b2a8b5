"""Reads a Darknet cfg file into sections. Errors name the file, line and section.

The rules are the ones of AlexeyAB's Darknet: white space is ignored, ``#`` and ``;`` begin a comment, and the first of two equal keys in
a section counts.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from framefleet.engine.errors import ModelError
from framefleet.engine.model.files import read_start

MAX_BYTES = 1 << 20
"""Maximum size of a cfg. Cfgs are a few kilobytes of text, so a larger file was selected by mistake."""

_WHOLE = re.compile(r"[+-]?\d{1,18}")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Section:
    """A section of a cfg, which begins with ``[name]``, and its options.

    layer: the layer's index in Darknet, 0 for the section after ``[net]``; None for ``[net]``. options: key → (value, line).
    """

    path: Path
    name: str
    line: int
    layer: int | None
    options: dict[str, tuple[str, int]] = field(default_factory=dict)

    def error(self, message: str, key: str | None = None) -> ModelError:
        """Create a ModelError that names the file, this section, and the line of ``key`` or of the section."""
        line = self.options[key][1] if key in self.options else self.line
        place = f"[{_short(self.name)}]" if self.layer is None else f"[{_short(self.name)}] (layer {self.layer})"
        return ModelError(f"{self.path}, line {line}, {place}: {message}")

    def text(self, key: str, default: str | None = None) -> str:
        """Return the value of an option as text. Raises ModelError if the key is missing and has no default, or has no value."""
        if key not in self.options:
            if default is None:
                raise self.error(f"{key}= is missing")
            return default
        value = self.options[key][0]
        if not value:
            raise self.error(f"{key}= has no value", key)
        return value

    def integer(self, key: str, default: int | None = None, *, low: int, high: int) -> int:
        """Return the value of an option as an integer from ``low`` to ``high``.

        Raises ModelError if it is missing without a default, not an integer, or out of range.
        """
        return self._whole(key, self.text(key, None if default is None else str(default)), low, high)

    def integers(self, key: str, *, low: int, high: int) -> tuple[int, ...]:
        """Return the value of an option as integers, separated by commas. Raises ModelError like ``integer``."""
        return tuple(self._whole(key, part, low, high) for part in self.text(key).split(","))

    def number(self, key: str, default: float, *, above: float, high: float) -> float:
        """Return the value of an option as a number above ``above`` and up to ``high``. Raises ModelError like ``integer``."""
        return self._decimal(key, self.text(key, str(default)), above, high)

    def numbers(self, key: str, *, above: float, high: float) -> tuple[float, ...]:
        """Return the value of an option as numbers, separated by commas. Raises ModelError like ``integer``."""
        return tuple(self._decimal(key, part, above, high) for part in self.text(key).split(","))

    def flag(self, key: str) -> bool:
        """Return the value of an option as a switch: False if missing or 0, True for any other integer."""
        return self.integer(key, 0, low=-(10**9), high=10**9) != 0

    def _whole(self, key: str, text: str, low: int, high: int) -> int:
        if not _WHOLE.fullmatch(text):
            raise self.error(f"{key}={_short(self.text(key))}: '{_short(text)}' is not a whole number", key)
        if not low <= int(text) <= high:
            raise self.error(f"{key}={_short(text)} is outside {low}..{high}", key)
        return int(text)

    def _decimal(self, key: str, text: str, above: float, high: float) -> float:
        if not _DECIMAL.fullmatch(text) or not math.isfinite(float(text)):
            raise self.error(f"{key}={_short(self.text(key))}: '{_short(text)}' is not a number", key)
        if not above < float(text) <= high:
            raise self.error(f"{key}={_short(text)} must be above {above:g} and at most {high:g}", key)
        return float(text)


def read_cfg(path: Path) -> list[Section]:
    """Read the sections of a cfg file. Returns at least one section.

    Raises ModelError if the file is missing, unreadable, too large or not a Darknet cfg.
    """
    return list(parse_cfg(_read_text(path), path))


def parse_cfg(text: str, path: Path) -> Iterator[Section]:
    """Yield the sections in the text of a cfg. path: for error messages.

    Raises ModelError if a line is neither a section nor an option, or there is no section.
    """
    section: Section | None = None
    layer: int | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = "".join(re.split("[#;]", raw, maxsplit=1)[0].split())
        if not line:
            continue
        if line.startswith("["):
            if len(line) < 3 or not line.endswith("]"):
                raise ModelError(f"{path}, line {number}: '{_short(line)}' is not a section: write it as [convolutional]")
            if section is not None:
                yield section
                layer = 0 if layer is None else layer + 1
            section = Section(path, line[1:-1], number, layer)
        elif "=" not in line:
            raise ModelError(f"{path}, line {number}: '{_short(line)}' is neither a [section] nor option=value: is this a Darknet cfg?")
        elif section is None:
            raise ModelError(f"{path}, line {number}: '{_short(line)}' is before the first section: a Darknet cfg begins with [net]")
        else:
            key, _, value = line.partition("=")
            section.options.setdefault(key, (value, number))
    if section is None:
        raise ModelError(f"{path} has no sections: is this a Darknet cfg?")
    yield section


def _read_text(path: Path) -> str:
    content = read_start(path, MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ModelError(f"{path} is larger than {MAX_BYTES >> 20} MiB: a Darknet cfg is a small text file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # only comments can contain such characters
    if _CONTROL.search(text):
        raise ModelError(f"{path} is a binary file, not a Darknet cfg (if it is a cfg, save it as UTF-8)")
    return text


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
