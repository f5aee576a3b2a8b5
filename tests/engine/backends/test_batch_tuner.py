"""Which batch size is taken."""

from __future__ import annotations

import pytest

from framefleet.engine.backends.nvidia.trials import SIZES, tune_batch

H200 = {1: 0.93, 2: 1.06, 4: 1.45, 8: 2.16, 16: 3.66, 32: 6.89, 64: 13.67, 128: 26.7}
"""ms of YOLOv4-416 in FP16 on an H200, measured."""


def test_the_batch_grows_while_throughput_rises() -> None:
    tried: list[int] = []

    def measure(batch: int) -> float:
        tried.append(batch)
        return H200[batch]

    batch, reason = tune_batch(measure)
    assert batch == 32
    assert tried == [1, 2, 4, 8, 16, 32, 64]
    assert str(reason) == "64 brings +1% pictures/s only"


def test_a_budget_bounds_the_latency() -> None:
    assert tune_batch(H200.get, budget_ms=4.0)[0] == 16
    assert tune_batch(H200.get, budget_ms=0.1)[0] == 1  # the smallest size


def test_it_takes_what_fits_into_memory() -> None:
    batch, reason = tune_batch(lambda batch: H200[batch] if batch <= 8 else None)
    assert (batch, "memory" in str(reason)) == (8, True)
    with pytest.raises(MemoryError):
        tune_batch(lambda _: None)


def test_a_device_that_never_saturates_gets_the_largest() -> None:
    assert tune_batch(lambda _: 1.0)[0] == SIZES[-1]


def test_a_device_that_gains_nothing_keeps_the_smallest() -> None:
    assert tune_batch(lambda batch: 5.0 * batch)[0] == 1
