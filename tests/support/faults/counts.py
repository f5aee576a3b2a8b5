"""How often fault tests try something: a few times in every run of the tests, many times with ``-m slow``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

from tests.support.faults import seeds

LONG_SECONDS = 3600


def long_count(count: int) -> int:
    """A count of the long form. FRAMEFLEET_TEST_SHARE (1) multiplies it, for a shorter or longer test; at least 1."""
    return max(1, round(count * float(os.environ.get("FRAMEFLEET_TEST_SHARE") or 1)))


def others_slow(values: Iterable[Any], *short: Any) -> list[Any]:
    """Parameters of a test: every run of the tests takes those in ``short``, and ``-m slow`` the others."""
    return [value if value in short else pytest.param(value, marks=pytest.mark.slow) for value in values]


def time_limit(seconds: float) -> float:
    """A limit of time that must hold in long forms. The short forms run beside other programs, and have ten times as long."""
    return seconds if seeds.is_long() else 10 * seconds


def short_and_long(short: int, long: int, name: str = "rounds") -> pytest.MarkDecorator:
    """Run a test with the argument ``name`` of this number, and with many more by ``-m slow``."""
    slow = pytest.param(long_count(long), marks=(pytest.mark.slow, pytest.mark.timeout(LONG_SECONDS)))
    return pytest.mark.parametrize(name, [short, slow])
