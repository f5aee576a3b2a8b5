"""Damages files at random, and limits the memory of what reads them."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

from tests.support.faults.seeds import seeded


def randomness() -> np.random.Generator:
    """Random numbers whose seed is printed: see ``seeded``."""
    return np.random.default_rng(seeded().getrandbits(32))


def examples(rounds: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a Hypothesis test: it tries this many examples, of the seed that ``seeded`` prints. Add ``given`` below it."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        limited = hypothesis.settings(max_examples=rounds, database=None, suppress_health_check=list(hypothesis.HealthCheck))(test)
        return hypothesis.seed(seeded().getrandbits(32))(limited)

    return decorate


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
"""Values that JSON, or Python's dialect of it, can hold."""


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """The content with one random damage: a flipped bit, a missing end, a missing or doubled part, zeros, swapped parts, or more bytes."""
    start, stop = sorted(int(place) for place in random.integers(0, len(content) + 1, 2))
    bit, place = 1 << int(random.integers(8)), int(random.integers(len(content)))
    damages: list[Callable[[], bytes]] = [
        lambda: content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :],
        lambda: content[:place],
        lambda: content[:start] + content[stop:],
        lambda: content[:stop] + content[start:],
        lambda: content[:start] + bytes(stop - start) + content[stop:],
        lambda: content[stop:] + content[start:stop] + content[:start],
        lambda: content + random.bytes(1 + place % 100),
    ]
    result = content
    while result == content:
        result = damages[int(random.integers(len(damages)))]()
        start, stop = 0, len(content)
    return result


@contextmanager
def memory_below(limit: int) -> Iterator[None]:
    """Fail if the peak of this process's memory grows by ``limit`` bytes or more."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < limit, f"{grown / 1e6:.0f} MB"
