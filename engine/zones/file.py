"""Reads and writes zones files: the lines and zones of a camera as JSON, described in ``docs/guide/zones.md``."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framefleet.engine.model.files import read_start
from framefleet.engine.notices import ModelError, Notice, UsageError
from framefleet.engine.zones.shapes import MARGIN, Line, Point, Reference, Shape, Zone, ZoneSet, check_zones, kind_of

VERSION = 1
MAX_BYTES = 1 << 22
MAX_NAME = 100

_KEYS = {"version": True, "width": True, "height": True, "lines": False, "zones": False, "reference": False, "margin": False}
_LINE_KEYS = {"name": True, "from": True, "to": True, "classes": False}
_ZONE_KEYS = {"name": True, "points": True, "classes": False}
"""The keys of the objects in the file, and whether they are required."""


def holds_zones(path: Path) -> bool:
    """Whether a file is JSON with lines or zones, also if ``read_zones`` would refuse it."""
    try:
        values = json.loads(path.read_bytes()) if path.stat().st_size <= MAX_BYTES else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(values, dict) and not values.keys().isdisjoint(("lines", "zones"))


def read_zones(path: Path) -> ZoneSet:
    """Read a zones file.

    Parameters
    ----------
    path : Path
        JSON in UTF-8, at most ``MAX_BYTES``.

    Returns
    -------
    ZoneSet
        Its lines, then its zones, in pixels of the pictures that the file names.

    Raises
    ------
    UsageError
        The file is missing, unreadable or no zones file, or its lines and zones cannot be used. The message says which.
    """
    try:
        content = read_start(path, MAX_BYTES + 1)
    except ModelError as error:
        raise UsageError(error.notice) from error
    if len(content) > MAX_BYTES:
        raise UsageError(Notice("zones.too_large", path=path, megabytes=MAX_BYTES >> 20))
    try:
        return parse_zones(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(Notice("general.not_utf8", path=path, byte=error.start)) from error
    except UsageError as error:
        raise UsageError(Notice("zones.in_file", path=path, problem=error.notice)) from error


def parse_zones(text: str) -> ZoneSet:
    """Read the text of a zones file.

    Raises
    ------
    UsageError
        See ``read_zones``; the message does not name the file.
    """
    try:
        data = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise UsageError(Notice("zones.not_json", problem=error.msg, line=error.lineno, column=error.colno)) from error
    except (RecursionError, ValueError) as error:
        raise UsageError(Notice("zones.unreadable_json", error=str(error))) from error
    data = _checked(data, _KEYS, Notice("zones.the_file"))
    version = data["version"]
    if isinstance(version, int) and version > VERSION:
        raise UsageError(Notice("zones.newer_version", version=version, known=VERSION))
    if version != VERSION:
        raise UsageError(Notice("zones.other_version", version=_shown(version), known=VERSION))
    size = _whole(data["width"], "width"), _whole(data["height"], "height")
    lines = [_line(item, f"line {number}") for number, item in enumerate(_list(data.get("lines", []), "lines"), 1)]
    zones = [_zone(item, f"zone {number}") for number, item in enumerate(_list(data.get("zones", []), "zones"), 1)]
    margin = _number(data.get("margin", MARGIN), "margin")
    found = ZoneSet(size, (*lines, *zones), _reference(data.get("reference", Reference.BOTTOM)), margin)
    for shape in found.shapes:  # before other checks, which such points would not pass either
        if all(0 <= value <= 1 for point in shape.points for value in point):
            raise UsageError(Notice("zones.shares", shape=kind_of(shape), name=shape.name))
    check_zones(found)
    return found


def zones_text(zones: ZoneSet) -> str:
    """The content of a zones file. ``parse_zones`` returns the same lines and zones, lines first."""
    shapes: dict[str, list[dict[str, Any]]] = {
        "lines": [
            {"name": line.name, "from": _written(line.start), "to": _written(line.end), "classes": [*line.classes]} for line in zones.lines
        ],
        "zones": [{"name": zone.name, "points": [*map(_written, zone.points)], "classes": [*zone.classes]} for zone in zones.zones],
    }
    head = {"version": VERSION, "width": zones.size[0], "height": zones.size[1], "reference": str(zones.reference), "margin": zones.margin}
    lists = (
        f' "{name}": [\n' + ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in items) + "\n ]"
        if items
        else f' "{name}": []'
        for name, items in shapes.items()
    )
    return "{\n " + json.dumps(head)[1:-1] + ",\n" + ",\n".join(lists) + "\n}\n"


def _written(point: Point) -> list[float]:
    return [int(value) if value == int(value) else value for value in point]


def _no_constant(name: str) -> None:
    raise UsageError(Notice("zones.constant", name=name))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UsageError(Notice("zones.key_twice", name=name))
        found[name] = value
    return found


def _checked(value: Any, keys: dict[str, bool], what: Notice | str) -> dict[str, Any]:
    """Check the keys of an object."""
    if not isinstance(value, dict):
        raise UsageError(Notice("zones.no_object", what=what, value=_shown(value), keys=tuple(keys)))
    for name in value:
        if name not in keys:
            raise UsageError(Notice("zones.unknown_key", what=what, name=name, keys=tuple(keys)))
    for name, required in keys.items():
        if required and name not in value:
            raise UsageError(
                Notice("zones.no_version", known=VERSION) if name == "version" else Notice("zones.no_key", what=what, name=name)
            )
    return value


def _line(value: Any, what: str) -> Shape:
    data = _checked(value, _LINE_KEYS, what)
    name = _name(data["name"], what)
    what = f"line '{name}'"
    return Line(name, _point(data["from"], f"{what}, from"), _point(data["to"], f"{what}, to"), _classes(data, what))


def _zone(value: Any, what: str) -> Shape:
    data = _checked(value, _ZONE_KEYS, what)
    name = _name(data["name"], what)
    what = f"zone '{name}'"
    points = [_point(point, f"{what}, point {number}") for number, point in enumerate(_list(data["points"], f"{what}, points"), 1)]
    if len(points) > 3 and points[0] == points[-1]:  # other formats repeat the first corner
        points.pop()
    return Zone(name, tuple(points), _classes(data, what))


def _name(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(Notice("zones.name_is_text", what=what, value=_shown(value)))
    if len(value) > MAX_NAME:
        raise UsageError(Notice("zones.long_name", what=what, number=len(value), highest=MAX_NAME))
    return value.strip()


def _classes(data: dict[str, Any], what: str) -> tuple[str, ...]:
    names = _list(data.get("classes", []), f"{what}, classes")
    for name in names:
        if not isinstance(name, str):
            raise UsageError(Notice("zones.class_is_text", what=what, value=_shown(name)))
    return tuple(names)


def _reference(value: Any) -> Reference:
    if value not in [*Reference]:
        raise UsageError(Notice("zones.reference", value=_shown(value), choices=tuple(map(str, Reference))))
    return Reference(value)


def _point(value: Any, what: str) -> Point:
    pair = _list(value, what)
    if len(pair) != 2:
        raise UsageError(Notice("zones.point", what=what, number=len(pair)))
    return _number(pair[0], what), _number(pair[1], what)


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(Notice("zones.no_number", what=what, value=_shown(value)))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UsageError(Notice("zones.infinite", what=what))
    return number


def _whole(value: Any, what: str) -> int:
    number = _number(value, what)
    if number != int(number) or not 1 <= number <= 1 << 20:
        raise UsageError(Notice("zones.no_whole_number", what=what, value=_shown(value)))
    return int(number)


def _list(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise UsageError(Notice("zones.no_list", what=what, value=_shown(value)))
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"
