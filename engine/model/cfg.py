"""Reads a Darknet cfg file into sections. Errors name the file, line and section.

The rules are the ones of AlexeyAB's Darknet: white space is ignored, ``#`` and ``;`` begin a comment, and the first of two equal keys in
a section counts.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from framefleet.engine.model.files import check_download, read_start, require_cfg
from framefleet.engine.notices import ModelError, Notice

MAX_BYTES = 1 << 20
"""Maximum size of a cfg. Cfgs are a few kilobytes of text, so a larger file was selected by mistake."""

_WHOLE = re.compile(r"([+-]?\d{1,18})(\.0*)?")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Section:
    """A section of a cfg, which begins with ``[name]``, and its options.

    layer: the layer's index in Darknet, 0 for the section after ``[net]``; None for ``[net]``. options: key → (value, line). known: the
    keys that were asked for.
    """

    path: Path
    name: str
    line: int
    layer: int | None
    options: dict[str, tuple[str, int]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)

    def place(self, problem: Notice, key: str | None = None) -> Notice:
        """A notice that names the file, this section, and the line of ``key`` or of the section."""
        line, name = self.options[key][1] if key in self.options else self.line, _short(self.name)
        if self.layer is None:
            return Notice("model.in_section", path=self.path, line=line, section=name, problem=problem)
        return Notice("model.in_layer", path=self.path, line=line, section=name, layer=self.layer, problem=problem)

    def error(self, problem: Notice, key: str | None = None) -> ModelError:
        """Create a ModelError that names the file, this section, and the line of ``key`` or of the section."""
        return ModelError(self.place(problem, key))

    def text(self, key: str, default: str | None = None) -> str:
        """Return the value of an option as text. Raises ModelError if the key is missing and has no default, or has no value."""
        self.known.add(key)
        if key not in self.options:
            if default is None:
                raise self.error(Notice("model.option_missing", key=key))
            return default
        value = self.options[key][0]
        if not value:
            raise self.error(Notice("model.option_empty", key=key), key)
        return value

    def misspelt(self) -> list[Notice]:
        """A notice for each option that is ignored, and that differs from a known one only in upper and lower case."""
        known = {key.casefold(): key for key in self.known}
        ignored = [key for key in self.options if key not in self.known and key.casefold() in known]
        return [self.place(Notice("model.option_misspelt", key=_short(key), known=known[key.casefold()]), key) for key in ignored]

    def integer(self, key: str, default: int | None = None, *, low: int, high: int) -> int:
        """Return the value of an option as an integer from ``low`` to ``high``.

        Raises ModelError if it is missing without a default, not an integer, or out of range.
        """
        return self._whole(key, self.text(key, None if default is None else str(default)), low, high)

    def integers(self, key: str, *, low: int, high: int) -> tuple[int, ...]:
        """Return the value of an option as integers, separated by commas. Raises ModelError like ``integer``."""
        return tuple(self._whole(key, part, low, high) for part in self._parts(key))

    def number(self, key: str, default: float, *, above: float, high: float) -> float:
        """Return the value of an option as a number above ``above`` and up to ``high``. Raises ModelError like ``integer``."""
        return self._decimal(key, self.text(key, str(default)), above, high)

    def numbers(self, key: str, *, above: float, high: float) -> tuple[float, ...]:
        """Return the value of an option as numbers, separated by commas. Raises ModelError like ``integer``."""
        return tuple(self._decimal(key, part, above, high) for part in self._parts(key))

    def flag(self, key: str) -> bool:
        """Return the value of an option as a switch: False if missing or 0, True for any other integer."""
        return self.integer(key, 0, low=-(10**9), high=10**9) != 0

    def _parts(self, key: str) -> list[str]:
        """The parts of a list. Darknet takes a comma behind the last one."""
        return self.text(key).removesuffix(",").split(",")

    def _whole(self, key: str, text: str, low: int, high: int) -> int:
        found = _WHOLE.fullmatch(text)
        if found is None:
            raise self.error(Notice("model.not_whole", key=key, value=_short(self.text(key)), text=_short(text)), key)
        value = int(found[1])
        if not low <= value <= high:
            raise self.error(Notice("model.outside", key=key, value=_short(text), low=low, high=high), key)
        return value

    def _decimal(self, key: str, text: str, above: float, high: float) -> float:
        if not _DECIMAL.fullmatch(text) or not math.isfinite(float(text)):
            raise self.error(Notice("model.not_number", key=key, value=_short(self.text(key)), text=_short(text)), key)
        if not above < float(text) <= high:
            raise self.error(Notice("model.not_between", key=key, value=_short(text), above=above, high=high), key)
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
                raise ModelError(Notice("model.not_section", path=path, line=number, text=_short(line)))
            if section is not None:
                yield section
                layer = 0 if layer is None else layer + 1
            section = Section(path, line[1:-1], number, layer)
        elif "=" not in line:
            raise ModelError(Notice("model.not_option", path=path, line=number, text=_short(line)))
        elif section is None:
            raise ModelError(Notice("model.before_section", path=path, line=number, text=_short(line)))
        else:
            key, _, value = line.partition("=")
            section.options.setdefault(key, (value, number))
    if section is None:
        raise ModelError(Notice("model.no_sections", path=path))
    yield section


def _read_text(path: Path) -> str:
    require_cfg(path)
    content = read_start(path, MAX_BYTES + 1)
    check_download(path, content)
    if len(content) > MAX_BYTES:
        raise ModelError(Notice("model.cfg_too_large", path=path, mib=MAX_BYTES >> 20))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # only comments can contain such characters
    text = text.rstrip("\x1a\r\n\t ")  # old editors end a file with Ctrl-Z
    if _CONTROL.search(text):
        raise ModelError(Notice("model.cfg_is_binary", path=path))
    return text


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
