import gc
import os
from pathlib import Path

import pytest

from benchmarks.growth import Use, growths, use_of


def test_the_growth_is_that_of_the_fitted_line_over_all_processes() -> None:
    samples = [(float(second), {1: Use(100 + second, 200, 10, 4), 2: Use(50, 60, 5, 2 + second % 2)}) for second in range(61)]
    samples[30][1][3] = Use(0, 0, 0, 1)
    whole, each = growths(samples)
    assert whole["uss"].fitted == pytest.approx(60)
    assert (whole["uss"].first, whole["uss"].last) == (152.5, 207.5)
    assert whole["threads"].fitted == pytest.approx(0, abs=0.1)
    assert {pid: growth.fitted for pid, growth in each.items()} == pytest.approx({1: 60, 2: 0})


def test_an_opened_file_and_allocated_memory_show() -> None:
    gc.collect()  # memory that earlier tests left would be freed in between
    before = use_of(os.getpid())
    with Path(os.devnull).open("rb"):
        kept = bytearray(200_000_000)
        kept[::4096] = b"1" * len(kept[::4096])
        after = use_of(os.getpid())
    assert before is not None
    assert after is not None
    assert after.descriptors == before.descriptors + 1
    assert after.uss - before.uss == pytest.approx(len(kept) / 1e6, rel=0.25)
    assert use_of(2**22 + 1) is None  # no process has this number
