from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.bench.devices_run import COLUMNS, counts, shares, vectors


@given(st.integers(1, 400), st.lists(st.floats(0.1, 10), min_size=1, max_size=8))
def test_shares_cover_everything_once(steps: int, speeds: list[float]) -> None:
    parts = shares(steps * COLUMNS, speeds)
    assert len(parts) == len(speeds)
    position = 0
    for first, length in parts:
        assert first == position
        assert length >= 0
        assert length % COLUMNS == 0
        position += length
    assert position == steps * COLUMNS


def test_a_slow_device_gets_less_and_nearly_equal_ones_the_same() -> None:
    assert [length // COLUMNS for _, length in shares(300 * COLUMNS, [1000, 500])] == [200, 100]
    assert [length // COLUMNS for _, length in shares(300 * COLUMNS, [1000, 970, 1010])] == [100, 100, 100]


def test_counts_end_with_all() -> None:
    assert [counts(devices) for devices in (1, 2, 3, 4, 6, 8)] == [[1], [1, 2], [1, 2, 3], [1, 2, 4], [1, 2, 4, 6], [1, 2, 4, 8]]


@pytest.mark.parametrize(("room", "expected"), [(1 << 24, [1 << 20, 1 << 24]), (600_000, [599_808])])
def test_vectors_fit(room: int, expected: list[int]) -> None:
    assert vectors(room) == expected
