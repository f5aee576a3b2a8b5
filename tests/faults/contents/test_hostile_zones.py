"""Hostile zones files: refused with the file and the reason, or used, in less than 1 GB of memory."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.notices import UsageError
from framefleet.engine.zones.file import read_zones, zones_text
from tests.engine.zones.test_file import FILE, LINE, ZONE
from tests.support.faults.counts import short_and_long
from tests.support.faults.damage import VALUES, damaged, examples, memory_below, randomness

GIGABYTE = 10**9


def attempt(path: Path) -> bool:
    """Read a zones file and scale it to a video. Returns whether it is used; a refusal must name the file."""
    try:
        zones = read_zones(path)
        zones.class_ids(("person", "car"))
        zones.scaled_to((200, 200), where="a.mp4")
    except UsageError as error:
        complaint = str(error)
    else:
        assert zones_text(zones)
        return True
    assert len(complaint) < 1500
    return False


@short_and_long(50, 10_000)
def test_zones_with_damaged_bytes(rounds: int, tmp_path: Path) -> None:
    random, path, whole = randomness(), tmp_path / "zones.json", json.dumps(FILE).encode()
    with memory_below(GIGABYTE):
        used = 0
        for _ in range(rounds):
            path.write_bytes(damaged(whole, random))
            used += attempt(path)
    print(f"{used} of {rounds} used, the others refused")
    assert used < rounds


@short_and_long(60, 10_000)
def test_zones_with_other_values(rounds: int, tmp_path: Path) -> None:
    path = tmp_path / "zones.json"
    places = st.sampled_from([(part, key) for part, keys in (("", FILE), ("lines", LINE), ("zones", ZONE)) for key in keys])
    points = st.lists(st.tuples(st.floats(), st.floats() | st.integers()).map(list), max_size=6)

    @examples(rounds)
    @given(place=places, value=VALUES | points)
    def change(place: tuple[str, str], value: object) -> None:
        data = json.loads(json.dumps(FILE))
        part, key = place
        (data[part][0] if part else data)[key] = value
        path.write_text(json.dumps(data))
        attempt(path)

    with memory_below(GIGABYTE):
        change()


@short_and_long(1, 20)
def test_endless_zones(rounds: int, tmp_path: Path) -> None:
    """Deep nesting, long numbers, many shapes and many points."""
    path = tmp_path / "zones.json"
    with memory_below(GIGABYTE):
        for size in (10 ** (1 + number % 5) for number in range(3, 3 + rounds)):
            for text in (
                "[" * size,
                json.dumps(FILE | {"width": 1}).replace("1", "9" * size),
                json.dumps(FILE | {"lines": [LINE | {"name": str(number)} for number in range(size)], "zones": []}),
                json.dumps(FILE | {"zones": [ZONE | {"points": [[n % 100, n // 100 % 100] for n in range(size)]}], "lines": []}),
            ):
                path.write_text(text)
                attempt(path)
