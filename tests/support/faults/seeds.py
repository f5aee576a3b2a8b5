"""Random numbers for fault tests: fresh ones in long forms, always the same in short forms. FRAMEFLEET_TEST_SEED repeats a run."""

from __future__ import annotations

import os
import random
import zlib

import pytest

_running: list[pytest.Item] = []


def begin(test: pytest.Item) -> None:
    """Take the seed for this test from now on. ``tests/conftest.py`` calls it."""
    _running[:] = [test]


def is_long() -> bool:
    """Whether the running test is a long form."""
    return _running[0].get_closest_marker("slow") is not None


def seeded() -> random.Random:
    """A random generator for the running test. pytest shows its seed if the test fails."""
    given = os.environ.get("FRAMEFLEET_TEST_SEED")
    seed = int(given) if given else random.SystemRandom().randrange(2**32) if is_long() else zlib.crc32(_running[0].nodeid.encode())
    print(f"FRAMEFLEET_TEST_SEED={seed}")
    return random.Random(seed)
