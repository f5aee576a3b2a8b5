from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.engine.bench.model import bench_model
from framefleet.engine.notices import ModelError, UsageError
from framefleet.engine.settings import Precision
from framefleet.engine.types import DeviceId
from tests.support.models import tiny_files

CPU = DeviceId("cpu", "0")


def test_every_combination_is_measured() -> None:
    results = list(bench_model(tiny_files(), [CPU], [Precision.FP32], [96, 64], [1, 2], 0.02))
    assert [(result.size, result.engine.batch) for result in results] == [(96, 1), (96, 2), (64, 1), (64, 2)]
    for result in results:
        assert result.images_per_s > 0
        assert 0 < result.latency_p50 <= result.latency_p99
        values = result.as_json()
        assert set(values) == {"device", "backend", "precision", "size", "batch", "images_per_s", "latency_ms"}
        assert (values["device"], values["precision"], set(values["latency_ms"])) == ("cpu:0", "fp32", {"p50", "p99"})


def test_the_models_own_size_is_the_default() -> None:
    (result,) = bench_model(tiny_files(), [CPU], [Precision.FP32], None, [1], 0.02)
    assert result.size == 96


def test_what_cannot_be_measured_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="multiples of 32"):
        next(bench_model(tiny_files(), [CPU], [Precision.FP32], [100], [1], 1))
    missing = type(tiny_files())(tmp_path / "none.cfg", "random:1")
    with pytest.raises(ModelError, match=r"none\.cfg"):
        next(bench_model(missing, [CPU], [Precision.FP32], None, [1], 1))
