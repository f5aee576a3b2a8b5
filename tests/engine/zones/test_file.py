"""Zones files: what they may hold, and the errors of those that cannot be used."""

from __future__ import annotations

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.notices import UsageError
from framefleet.engine.zones.file import MAX_BYTES, parse_zones, read_zones, zones_text
from framefleet.engine.zones.shapes import Line, Reference, Zone, ZoneSet, check_zones

LINE = {"name": "gate", "from": [10, 20], "to": [90, 20]}
ZONE = {"name": "yard", "points": [[10, 10], [90, 10], [90, 90]]}
FILE = {"version": 1, "width": 100, "height": 100, "lines": [LINE], "zones": [ZONE]}


def test_a_file_is_read_and_written(tmp_path) -> None:
    path = tmp_path / "zones.json"
    path.write_text(json.dumps(FILE | {"reference": "centre", "margin": 0.2, "zones": [ZONE | {"classes": ["car"]}]}))
    zones = read_zones(path)
    yard = Zone("yard", ((10, 10), (90, 10), (90, 90)), ("car",))
    assert zones == ZoneSet((100, 100), (Line("gate", (10, 20), (90, 20)), yard), Reference.CENTRE, 0.2)
    assert parse_zones(zones_text(zones)) == zones


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "reads 1: update Framefleet"),
        ({"version": "1"}, 'it has the version "1"'),
        ({"width": 0}, "the width of the pictures is 0"),
        ({"height": 10.5}, "the height of the pictures is 10.5"),
        ({"reference": "left"}, "choose from bottom, centre, top"),
        ({"margin": 2}, "from 0 to 1"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"lines": {}}, "lines is {}, but must be a list"),
        ({"lines": [{"name": "gate", "from": [1, 2]}]}, "line 1 has no key 'to'"),
        ({"lines": [LINE | {"name": " "}]}, "a name is a text"),
        ({"lines": [LINE | {"name": "x" * 101}]}, "line 1 has a name of 101 letters"),
        ({"lines": [LINE | {"name": "one\ntwo"}]}, "a line has no name, or one that cannot be printed"),
        ({"lines": [LINE | {"classes": "car"}]}, "line 'gate', classes is \"car\", but must be a list"),
        ({"lines": [LINE | {"from": [1, 2, 3]}]}, "line 'gate', from has 3 numbers"),
        ({"lines": [LINE | {"from": ["1", 2]}]}, "line 'gate', from is \"1\": write a number"),
        ({"lines": [LINE | {"from": [True, 2]}]}, "write a number"),
        ({"lines": [LINE | {"to": [101, 20]}]}, "line 'gate' has the point 101, 20 outside the picture of 100×100"),
        ({"lines": [LINE | {"to": [10, 20]}]}, "line 'gate' begins where it ends"),
        ({"lines": [LINE, LINE | {"name": "GATE"}]}, "two lines or zones have the name 'GATE'"),
        ({"lines": [LINE | {"name": "yard"}]}, "two lines or zones have the name 'yard'"),
        ({"lines": [LINE | {"classes": [3]}]}, "line 'gate' has 3 among its classes"),
        ({"zones": [ZONE | {"points": [[1, 1], [9, 9]]}]}, "zone 'yard' has 2 points: a zone needs at least 3"),
        (
            {"zones": [ZONE | {"points": [[1 + each % 98, 1 + each // 98] for each in range(501)]}]},
            "zone 'yard' has 501 points: at most 500",
        ),
        ({"lines": [LINE | {"name": str(each)} for each in range(201)], "zones": []}, "201 lines and zones: at most 200"),
        ({"zones": [ZONE | {"points": [[1, 1], [9, 9], [9, 1], [1, 9]]}]}, "zone 'yard' crosses or touches itself"),
        ({"zones": [ZONE | {"points": [[1, 1], [9, 1], [5, 1]]}]}, "zone 'yard' crosses or touches itself"),
        ({"zones": [ZONE | {"points": [[1, 1], [1, 1], [9, 9], [1, 9]]}]}, "zone 'yard' crosses or touches itself"),
        ({"zones": [ZONE | {"points": [[1, 1], [2, 1], [2, 1.5]]}]}, "zone 'yard' has no area"),
    ],
)
def test_errors_name_the_place(change, message) -> None:
    with pytest.raises(UsageError) as error:
        parse_zones(json.dumps(FILE | change))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes in line 1, column 2"),
        ("[]", "the file is [], but must be an object"),
        (json.dumps(FILE).replace("90", "NaN"), "the value NaN"),
        (json.dumps(FILE).replace("90", "1e999"), "not a finite number"),
        (json.dumps(FILE).replace("90", "9" * 400), "not a finite number"),
        ('{"version": 1, "version": 1}', "the key 'version' twice"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_hostile_text(text, message) -> None:
    with pytest.raises(UsageError) as error:
        parse_zones(text)
    assert message in str(error.value)


def test_errors_name_the_file(tmp_path) -> None:
    path = tmp_path / "zones.json"
    with pytest.raises(UsageError, match=r"zones\.json does not exist"):
        read_zones(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"zones\.json is not UTF-8 text at byte 0"):
        read_zones(path)
    path.write_text("{}")
    with pytest.raises(UsageError, match=r"zones\.json: the file has no key 'version': a zones file begins with \"version\": 1, "):
        read_zones(path)
    path.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(UsageError, match=r"zones\.json has more than 4 MiB"):
        read_zones(path)


@pytest.mark.parametrize(
    ("zones", "message"),
    [
        (ZoneSet((0, 10), ()), "the pictures are 0×10 pixels: both numbers must be above 0"),
        (ZoneSet((100, 100), (Line("gate", (math.nan, 20), (90, 20)),)), "line 'gate' has a point that is not a number"),
    ],
)
def test_what_no_file_can_say_is_refused_too(zones, message) -> None:
    with pytest.raises(UsageError) as error:
        check_zones(zones)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"lines": [LINE | {"from": [0, 0.1], "to": [1, 0.9]}], "zones": []}, "line 'gate'"),
        ({"lines": [LINE | {"from": [0.2, 0.5], "to": [0.8, 0.5]}]}, "line 'gate'"),  # shorter than a pixel
        ({"zones": [ZONE | {"points": [[0, 0], [1, 0], [1, 0.5]]}]}, "zone 'yard'"),  # smaller than a pixel, beside a line in pixels
        ({"width": 1, "height": 1, "lines": [LINE | {"from": [0, 0.5], "to": [1, 0.5]}], "zones": []}, "line 'gate'"),
    ],
)
def test_shares_of_the_picture_are_refused_with_advice(change, place) -> None:
    with pytest.raises(UsageError) as error:
        parse_zones(json.dumps(FILE | change))
    assert error.value.notice.code == "zones.shares"
    assert str(error.value).startswith(f"{place} has all its points between 0 and 1: write pixels, not shares. Multiply x by the width")


def test_a_key_twice_among_many_is_found_without_comparing_all_pairs() -> None:
    """200,000 keys: comparing each with all others would be 20 billion comparisons and end at the test's time limit."""
    keys = ", ".join(f'"{number}": 0' for number in range(200_000))
    with pytest.raises(UsageError, match="the key '199999' twice"):
        parse_zones(f'{{{keys}, "199999": 0}}')


def test_a_first_corner_that_is_repeated_at_the_end_is_one_corner() -> None:
    corners = [[10, 10], [90, 10], [90, 90]]
    closed, plain = (parse_zones(json.dumps(FILE | {"zones": [ZONE | {"points": points}]})) for points in ([*corners, corners[0]], corners))
    assert closed == plain


def test_other_sizes_are_scaled_or_refused() -> None:
    zones = parse_zones(json.dumps(FILE))
    assert zones.scaled_to((100, 100)) is zones
    scaled = zones.scaled_to((200, 200))
    assert scaled.size == (200, 200)
    assert scaled.lines[0].points == ((20, 40), (180, 40))
    with pytest.raises(UsageError, match=r"drawn for pictures of 100×100 pixels, and a\.mp4 has 200×100, which is another shape"):
        zones.scaled_to((200, 100), where="a.mp4")


def test_classes_are_labels_of_the_model() -> None:
    zones = ZoneSet((100, 100), (Line("gate", (0, 0), (9, 9), ("Car", "2")), Line("all", (0, 0), (9, 9))))
    assert zones.class_ids(("person", "car", "dog")) == {"gate": frozenset({1, 2}), "all": None}
    with pytest.raises(UsageError, match="'gate' counts a class that the model does not have"):
        zones.class_ids(("person",))


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=8)
numbers = st.floats(0, 100)
points = st.tuples(numbers, numbers)


@given(st.lists(st.tuples(texts, points, points), max_size=4, unique_by=lambda each: each[0].casefold()))
def test_what_is_written_can_be_read(lines) -> None:
    shapes = tuple(Line(name, start, end) for name, start, end in lines if math.dist(start, end) >= 1 and max(*start, *end) > 1)
    zones = ZoneSet((100, 100), shapes)
    assert parse_zones(zones_text(zones)) == zones


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*FILE, *LINE, *ZONE]), inner, max_size=6),
    max_leaves=20,
)


@given(json_values, st.sampled_from(sorted(FILE)))
def test_no_content_causes_another_error(value, key) -> None:
    for data in (value, FILE | {key: value}, FILE | {"lines": [LINE | {"from": value}]}, FILE | {"zones": [ZONE | {"points": value}]}):
        with suppress(UsageError):
            parse_zones(json.dumps(data))


def test_classes_of_lines_and_zones_are_kept_in_a_file():
    yard = Zone("yard", ((10, 10), (90, 10), (90, 90)), ("dog",))
    zones = ZoneSet((100, 100), (Line("gate", (10, 20), (90, 20), ("car", "bus")), yard))
    assert parse_zones(zones_text(zones)) == zones
