"""Reads and writes zones files: the lines and zones of a camera as JSON, described in ``docs/guide/zones.md``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framefleet.engine.errors import ModelError, UsageError
from framefleet.engine.model.files import read_start
from framefleet.engine.zones.checks import check_zones
from framefleet.engine.zones.shapes import MARGIN, Line, Point, Reference, Shape, Zone, ZoneSet

VERSION = 1
MAX_BYTES = 1 << 22
LONGEST_NAME = 100

_KEYS = {"version": True, "width": True, "height": True, "lines": False, "zones": False, "reference": False, "margin": False}
_LINE_KEYS = {"name": True, "from": True, "to": True, "classes": False}
_ZONE_KEYS = {"name": True, "points": True, "classes": False}
"""The keys of the objects in the file, and whether they are required."""


def read_zones(path: Path) -> ZoneSet:
    """Read a zones file.

    Raises:
        UsageError: the file is missing, unreadable or no zones file, or its lines and zones cannot be used. The message says which.
    """
    try:
        content = read_start(path, MAX_BYTES + 1)
    except ModelError as error:
        raise UsageError(str(error)) from error
    if len(content) > MAX_BYTES:
        raise UsageError(f"{path} has more than {MAX_BYTES >> 20} MiB: it is not a zones file")
    try:
        zones = parse_zones(content.decode("utf-8-sig"))
        if zones.shapes and all(0 <= value <= 1 for shape in zones.shapes for point in shape.points for value in point):
            raise UsageError("all its points lie between 0 and 1: write pixels of a picture of the given width and height, not shares")
        return zones
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text at byte {error.start}: save it as UTF-8") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def parse_zones(text: str) -> ZoneSet:
    """Read the text of a zones file.

    Raises:
        UsageError: see ``read_zones``; the message does not name the file.
    """
    try:
        data = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise UsageError(f"it is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from error
    except (RecursionError, ValueError) as error:
        raise UsageError(f"it is not JSON that can be read: {error}") from error
    data = _checked(data, _KEYS, "the file")
    if data["version"] != VERSION:
        newer = isinstance(data["version"], int) and data["version"] > VERSION
        remedy = ": update Framefleet" if newer else ""
        raise UsageError(f"it has the version {_shown(data['version'])}, and this Framefleet reads {VERSION}{remedy}")
    size = _whole(data["width"], "width"), _whole(data["height"], "height")
    lines = [_line(item, f"line {number}") for number, item in enumerate(_list(data.get("lines", []), "lines"), 1)]
    zones = [_zone(item, f"zone {number}") for number, item in enumerate(_list(data.get("zones", []), "zones"), 1)]
    margin = _number(data.get("margin", MARGIN), "margin")
    found = ZoneSet(size, (*lines, *zones), _reference(data.get("reference", Reference.BOTTOM)), margin)
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
    raise UsageError(f"it has the value {name}, which is not a number of pixels")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise UsageError(f"an object has the key '{next(name for name in names if names.count(name) > 1)}' twice")
    return found


def _checked(value: Any, keys: dict[str, bool], what: str) -> dict[str, Any]:
    """Check the keys of an object."""
    if not isinstance(value, dict):
        raise UsageError(f"{what} is {_shown(value)}, but must be an object with the keys {', '.join(keys)}")
    for name in value:
        if name not in keys:
            raise UsageError(f"{what} has the unknown key '{name}': its keys are {', '.join(keys)}")
    for name, required in keys.items():
        if required and name not in value:
            raise UsageError(f"{what} has no key '{name}'")
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
        raise UsageError(f"{what} has the name {_shown(value)}: a name is a text")
    if len(value) > LONGEST_NAME:
        raise UsageError(f"{what} has a name of {len(value)} letters: at most {LONGEST_NAME} are possible")
    return value.strip()


def _classes(data: dict[str, Any], what: str) -> tuple[str, ...]:
    names = _list(data.get("classes", []), f"{what}, classes")
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f'{what} has {_shown(name)} among its classes: they are labels, such as "car"')
    return tuple(names)


def _reference(value: Any) -> Reference:
    if value not in [*Reference]:
        raise UsageError(f"the reference is {_shown(value)}: choose from {', '.join(Reference)}")
    return Reference(value)


def _point(value: Any, what: str) -> Point:
    pair = _list(value, what)
    if len(pair) != 2:
        raise UsageError(f"{what} has {len(pair)} numbers: a point is [x, y]")
    return _number(pair[0], what), _number(pair[1], what)


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{what} is {_shown(value)}: write a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UsageError(f"{what} is not a finite number")
    return number


def _whole(value: Any, what: str) -> int:
    number = _number(value, what)
    if number != int(number) or not 1 <= number <= 1 << 20:
        raise UsageError(f"the {what} of the pictures is {_shown(value)}: write a whole number of pixels")
    return int(number)


def _list(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise UsageError(f"{what} is {_shown(value)}, but must be a list")
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:40]}…"
