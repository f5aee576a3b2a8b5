from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.bench.devices_run import Measurement, Spread, Test
from framefleet.engine.types import DeviceId

A, B = DeviceId("cuda", "0"), DeviceId("cuda", "1")


def test_spread() -> None:
    samples = [*range(1, 101), 1000]
    spread = Spread.of(samples)
    assert (spread.repetitions, spread.median, spread.p5, spread.p95) == (101, 51, 6, 96)
    assert spread.variance == pytest.approx(np.mean((np.array(samples) - np.mean(samples)) ** 2))


def test_rate_is_by_the_median() -> None:
    assert Measurement(Test.PEER, (A, B), 2_000_000_000, Spread.of([1, 10, 100])).rate == pytest.approx(200)
    assert Measurement(Test.PEER, (A, B), 5, problem="no way").rate is None


@pytest.mark.parametrize(
    "measurement",
    [
        Measurement(Test.SUM, (A, B), 4096, Spread.of([1.0, 2.0]), Spread.of([0.5, 0.6]), "one graph"),
        Measurement(Test.UPLOAD, (A,), 0, problem="out of memory"),
    ],
)
def test_as_json_and_back(measurement: Measurement) -> None:
    assert Measurement.from_json(measurement.as_json()) == measurement
