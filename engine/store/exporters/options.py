"""The options of export formats, as the command line and the window offer them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Self

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store.facts import VIEWS
from framefleet.engine.zones.shapes import ZoneSet

NONE = "none"
"""What an option is given that is to have no value, although the run had one."""
_FLAGS = ("coco_ids", "bom", "one_table")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


class PictureFormat(StrEnum):
    """The file format of exported frames."""

    JPEG = "jpeg"
    PNG = "png"


class Part(StrEnum):
    """What an annotated video shows over the picture."""

    BOXES = "boxes"
    IDS = "ids"
    TRAILS = "trails"
    ZONES = "zones"
    HEAT = "heatmap"
    CHART = "chart"


DRAWN = frozenset(Part) - {Part.HEAT, Part.CHART}


def read_parts(text: str) -> frozenset[Part]:
    """Read a list such as ``boxes,ids``. Raises UsageError."""
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in [*Part]]
    if unknown or not names:
        raise UsageError(Notice("store.not_what_to_draw", text=text, parts=tuple(map(str, Part))))
    return frozenset(map(Part, names))


@dataclass(frozen=True)
class Every:
    """Selects frames at regular distances: every ``frames`` frames, or every ``seconds`` seconds of the source."""

    frames: int = 1
    seconds: float | None = None

    wrong: ClassVar = "store.not_a_distance"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a number of frames (``10``) or a time (``1s``), as ``str`` writes them. Raises UsageError."""
        if text.strip().isdecimal() and int(text):
            return cls(int(text))
        if text.strip()[-1:] in _UNITS:
            return cls(seconds=read_interval(text))
        raise UsageError(Notice(cls.wrong, text=text))

    def __str__(self) -> str:
        return str(self.frames) if self.seconds is None else f"{self.seconds:.12g}s"


class Least(Every):
    """How long a class must be seen in a file to count there: in ``frames`` frames, or in frames that together last ``seconds``."""

    wrong = "store.not_a_length"


@dataclass(frozen=True)
class ExportOptions:
    """The options of all formats. Each format uses those that ``Exporter.options`` names.

    interval: length of the intervals in tables of counts, seconds. bom: whether CSV files begin with a byte order mark. pictures: the
    format of the exported frames; None: no pictures. every: which frames a YOLO data set contains. between: only frames with a
    detection whose confidence lies between these two; None: all. category_map: MegaDetector's category for each label. coco_ids: whether
    category ids are COCO's own, see ``coco_ids``. least_seen: how long a class must be seen, else a file counts as empty of it. zones:
    where to count tracks; None: nowhere. draw: what an annotated video shows. one_table: whether a table of detections contains all
    sources, instead of one table for each. clock: for all formats: where clock times come from, in
    place of those that are stored; None: the stored ones.
    """

    interval: float = 900.0
    bom: bool = False
    pictures: PictureFormat | None = None
    every: Every = Every()
    between: tuple[float, float] | None = None
    category_map: Mapping[str, str] = field(default_factory=dict)
    coco_ids: bool = False
    least_seen: Least = Least()  # noqa: RUF009
    zones: ZoneSet | None = None
    draw: frozenset[Part] = DRAWN
    one_table: bool = False
    clock: ClockSettings | None = None


DEFAULTS = ExportOptions()


def read_interval(text: str) -> float:
    """Read a time such as ``30s``, ``15m`` or ``1h``. Returns seconds. Raises UsageError if the text is not a time above zero."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text.strip().lower())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if not 0 < seconds <= 366 * 86400:
        raise UsageError(Notice("store.not_an_interval", text=text))
    return seconds


def read_pictures(text: str) -> PictureFormat | None:
    """Read the name of a format, or ``none``. Raises UsageError."""
    if text in [*PictureFormat]:
        return PictureFormat(text)
    if text != NONE:
        raise UsageError(Notice("store.not_pictures", text=text, formats=tuple(map(str, PictureFormat))))
    return None


def read_between(text: str) -> tuple[float, float] | None:
    """Read two confidences, such as ``0.3,0.6``, or ``none``: all frames. Raises UsageError."""
    if text == NONE:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 <= low <= high <= 1:
        raise UsageError(Notice("store.not_a_range", text=text))
    return low, high


def read_category_map(text: str) -> dict[str, str]:
    """Read ``label=category,label=category``. Raises UsageError."""
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    if not parts or not all(label.strip() and category.strip() for label, _, category in parts):
        raise UsageError(Notice("store.maps_no_labels", text=text))
    return {label.strip(): category.strip() for label, _, category in parts}


def view_facts(options: ExportOptions) -> dict[str, str]:
    """Return the facts by which a session remembers these options: those of ``VIEWS`` that are not as in ``DEFAULTS``."""
    texts = {
        "least_seen": str(options.least_seen),
        "interval": f"{options.interval:.12g}s",
        "category_map": ",".join(f"{label}={category}" for label, category in options.category_map.items()),
        "draw": ",".join(sorted(options.draw)),
        "pictures": str(options.pictures or NONE),
        "between": ",".join(f"{share:.12g}" for share in options.between or ()) or NONE,
        **{name: str(int(getattr(options, name))) for name in _FLAGS},
    }
    return {name: texts[name] for name in VIEWS if getattr(options, name) != getattr(DEFAULTS, name)}


def view_options(facts: Mapping[str, str]) -> dict[str, Any]:
    """Return what ``view_facts`` stored, by name of the field of ``ExportOptions``. Raises UsageError if no run writes such a fact."""
    readers: dict[str, Callable[[str], Any]] = {
        "least_seen": Least.read,
        "interval": read_interval,
        "category_map": read_category_map,
        "draw": read_parts,
        "pictures": read_pictures,
        "between": read_between,
        **dict.fromkeys(_FLAGS, "1".__eq__),
    }
    return {name: readers[name](facts[name]) for name in VIEWS if name in facts}
