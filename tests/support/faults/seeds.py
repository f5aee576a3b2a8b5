"""Random numbers for fault tests. Their seed is printed, and FRAMEFLEET_TEST_SEED repeats a run."""

from __future__ import annotations

import os
import random


def seeded() -> random.Random:
    """A random generator. pytest shows the seed if the test fails."""
    seed = int(os.environ.get("FRAMEFLEET_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"FRAMEFLEET_TEST_SEED={seed}")
    return random.Random(seed)
