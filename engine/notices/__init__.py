"""What the engine tells a person: a code with named fields. The English text of each code stands in the table of its part of the engine.

The command line prints ``str(notice)``. The window translates the same template and fills in the same fields. Code decides by ``code``
and ``fields``, never by words. All errors of Framefleet carry a notice:

FramefleetError        base of all errors; the message says what failed, where, and what to do
├── UsageError         a wrong argument, setting or combination of them
├── ModelError         a cfg, weight or label file that cannot be used
├── DownloadError      a model cannot be downloaded, or its download cannot be stored
│   └── DownloadCancelledError   the user cancelled a download
├── SourceError        a video, image or folder that cannot be opened or read to its end
├── DeviceError        a device or its library is missing, refuses the work, or failed
│   └── ClusterError   a cluster or one of its nodes cannot be used
└── ExportError        results cannot be stored or written

Errors of the libraries below (OpenVINO, FFmpeg, SQLite, …) are turned into these in the one file that imports the library.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

Text: TypeAlias = str | tuple[str, str]
"""A template with named placeholders; or two, for one and for several: the field ``count`` chooses."""


@dataclass(frozen=True)
class Option:
    """A command-line option as a field. The window shows its own name for the setting instead."""

    name: str
    value: str = ""

    def __str__(self) -> str:
        return f"--{self.name} {self.value}".rstrip()


class Notice:
    """A message to a person. Immutable, hashable, picklable; equal if code and fields are equal.

    Parameters
    ----------
    code : str
        Key of ``texts()``: the part of the engine, a dot and a name, such as ``media.changed_while_read``.
    **fields
        A value for each placeholder of the text: ``str``, ``int``, ``float``, ``Path``, ``Option``, another ``Notice``, ``None``, or a
        tuple of these. ``count`` chooses between the two forms of a text that has two.
    """

    __slots__ = ("_fields", "code")

    def __init__(self, code: str, /, **fields: object) -> None:
        self.code = code
        self._fields = tuple(sorted(fields.items()))

    @property
    def fields(self) -> Mapping[str, Any]:
        """The values of the placeholders."""
        return dict(self._fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notice) and (self.code, self._fields) == (other.code, other._fields)

    def __hash__(self) -> int:
        return hash((self.code, self._fields))

    def __repr__(self) -> str:
        return f"Notice({', '.join([repr(self.code), *(f'{name}={value!r}' for name, value in self._fields)])})"

    def __str__(self) -> str:
        return render(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.code, dict(self._fields))

    def map(self, change: Callable[[object], object]) -> Notice:
        """The notice with other values, also inside notices and tuples. change: takes each value that is neither, returns the new one."""

        def changed(value: object) -> object:
            match value:
                case Notice():
                    return value.map(change)
                case tuple():
                    return tuple(map(changed, value))
            return change(value)

        return _restored(self.code, {name: changed(value) for name, value in self._fields})

    def mentions(self, path: Path) -> bool:
        """Whether a path, or another file of this name, is among the values, also inside notices."""
        found: set[str] = set()
        self.map(lambda value: found.add(value.name) if isinstance(value, Path) else None)
        return path.name in found

    def as_json(self) -> list[Any]:
        """The notice as values that ``json`` can write; ``from_json`` reads them."""
        return [self.code, {name: _encoded(value) for name, value in self._fields}]

    @classmethod
    def from_json(cls, value: Any) -> Notice:
        """Read what ``as_json`` returned.

        Raises
        ------
        ValueError
            It is something else.
        """
        match value:
            case [str(code), dict(fields)] if all(isinstance(name, str) for name in fields):
                return _restored(code, {name: _decoded(each) for name, each in fields.items()})
        raise ValueError(f"not a notice: {value!r:.100}")


def render(
    notice: Notice, template: Callable[[str], str] = lambda text: text, field: Callable[[object], object] = lambda value: in_english(value)
) -> str:
    """The text of a notice.

    Parameters
    ----------
    notice : Notice
        A code that ``texts()`` lacks, from a newer version for instance, is shown with its fields.
    template : callable, optional
        Translates the template.
    field : callable, optional
        Turns a field into the value that the placeholder formats. It has to render notices inside notices, too.
    """
    text = texts().get(notice.code)
    if text is None:
        return f"{notice.code}: {', '.join(f'{name} {value}' for name, value in notice.fields.items())}"
    if not isinstance(text, str):
        text = text[notice.fields["count"] != 1]
    return template(text).format_map({name: field(value) for name, value in notice.fields.items()})


_MARKS = (0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that change the direction of the text behind them, or end a line."""
_ESCAPED = {code: f"\\x{code:02X}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) != "\t"}
_ESCAPED |= {code: f"\\u{code:04X}" for code in _MARKS}


def printable(text: str) -> str:
    r"""Write control characters, line breaks and marks of direction as ``\x0A`` and ``\u202E``: names of files may come from anybody.

    Parameters
    ----------
    text : str
        A name, or a line with names. A tab stays.
    """
    return text if text.isprintable() else text.translate(_ESCAPED)


def in_english(value: object) -> object:
    """A field as the English text shows it: several texts with commas between them, several notices with semicolons."""
    if isinstance(value, tuple):
        return ("; " if any(isinstance(each, Notice) for each in value) else ", ").join(str(in_english(each)) for each in value)
    if isinstance(value, int | float):
        return value
    return str(value) if isinstance(value, Notice) else printable(str(value))


def texts() -> Mapping[str, Text]:
    """The English text of every code."""
    from framefleet.engine.notices import tables  # the tables are long: a process that says nothing does not read them

    return tables.TEXTS


def install_extra(extra: str) -> Notice:
    """The command that adds an optional part of Framefleet to this installation. No package index has Framefleet.

    Parameters
    ----------
    extra : str
        A name of ``project.optional-dependencies`` in pyproject.toml: "rtx", "tensorrt", "cudnn", "parquet", "cluster".
    """
    from importlib.metadata import PackageNotFoundError, distribution  # slow to import, and every process imports this module
    from urllib.parse import unquote, urlsplit

    command = f"{sys.executable} -m pip install" if find_spec("pip") else f"uv pip install --python {sys.executable}"
    try:
        url = json.loads(distribution("framefleet").read_text("direct_url.json") or "{}").get("url", "")
    except (PackageNotFoundError, ValueError):
        url = ""
    place = unquote(urlsplit(url).path) if url.startswith("file:") else ""
    if not place:
        return Notice("general.install_wheel", command=command, extra=extra)
    return Notice("general.install", command=f"{command} -e" if Path(place).is_dir() else command, what=f"{place}[{extra}]")


class FramefleetError(Exception):
    """Base of all errors with a message for the user: a notice; ``str()`` gives its English text."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)

    @property
    def notice(self) -> Notice:
        """What happened, where, and what to do."""
        said: Notice = self.args[0]
        return said


class UsageError(FramefleetError):
    """A wrong argument, setting or combination of them."""


class ModelError(FramefleetError):
    """A cfg, weight or label file that cannot be used."""


class DownloadError(FramefleetError):
    """A model cannot be downloaded, or its download cannot be stored."""


class DownloadCancelledError(DownloadError):
    """The user cancelled a download."""


class SourceError(FramefleetError):
    """A video, image or folder that cannot be opened or read to its end."""


class DeviceError(FramefleetError):
    """A device or its library is missing, refuses the work, or failed."""


class ClusterError(DeviceError):
    """A cluster or one of its nodes cannot be used."""


class ExportError(FramefleetError):
    """Results cannot be stored or written."""


def literal(text: str) -> Notice:
    """A text that has no code: what a library says, or what a client says in its own language."""
    return Notice("general.detail", detail=text)


def notice_of(error: BaseException) -> Notice:
    """What an error says: the notice of a Framefleet error, or the words of a library or the system."""
    if isinstance(error, FramefleetError):
        return error.notice
    return literal(str(error) or type(error).__name__)


def unexpected(error: BaseException) -> Notice:
    """What an error says that nobody expected, with its kind."""
    return Notice("general.unexpected", kind=type(error).__name__, detail=notice_of(error))


def similar(name: str, known: Iterable[str], most: int = 1) -> tuple[str, ...]:
    """Return the known names that are similar to this one in any case, the most similar first."""
    import difflib  # not in every process: only errors need it

    names = {each.casefold(): each for each in known}
    return tuple(names[each] for each in difflib.get_close_matches(name.casefold(), names, most, 0.7))


def _restored(code: str, fields: dict[str, object]) -> Notice:
    return Notice(code, **fields)


def _encoded(value: object) -> Any:
    match value:
        case Notice():
            return {"notice": value.as_json()}
        case Path():
            return {"path": str(value)}
        case Option():
            return {"option": [value.name, value.value]}
        case tuple():
            return [_encoded(each) for each in value]
        case None | bool() | int() | float() | str():
            return value
    return str(value)


def _decoded(value: Any) -> object:
    match value:
        case {"notice": notice}:
            return Notice.from_json(notice)
        case {"path": str(path)}:
            return Path(path)
        case {"option": [str(name), str(setting)]}:
            return Option(name, setting)
        case list():
            return tuple(map(_decoded, value))
        case None | bool() | int() | float() | str():
            return value
    raise ValueError(f"not a field of a notice: {value!r:.100}")
