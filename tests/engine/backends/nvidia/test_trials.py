"""What the trials on a device decide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.core")

from engine.backends.nvidia.trials import Builder, layer_pays
from engine.backends.precision import Trial
from engine.backends.tensorrt.engine import CustomLayers
from engine.cuda.memory import OutOfMemoryError
from engine.settings import Precision
from plugins.cache import FileCache
from tests.support.models import tiny_network

NETWORK = tiny_network()


def trial(speed: float, error: float = 0.0) -> Trial:
    random = np.random.default_rng(3)
    heads = [random.normal(0, 1, (2, *head.shape)).astype(np.float32) for head in NETWORK.heads]
    return Trial([values + error * random.normal(0, 1, values.shape).astype(np.float32) for values in heads], speed)


@pytest.mark.parametrize(
    ("speed", "error", "pays"),
    [(103.0, 0.001, True), (103.0, 0.5, False), (100.5, 0.0, False)],
    ids=["faster and equal", "faster but different", "equal but hardly faster"],
)
def test_a_custom_layer_has_to_be_faster_and_right(speed: float, error: float, pays: bool) -> None:
    assert layer_pays(trial(100.0), trial(100.0), trial(speed, error), NETWORK) is pays


@pytest.mark.parametrize(
    ("speeds", "chosen", "reason"),
    [
        ((100, 103, 104), CustomLayers(True), "3.0% faster with the first convolution in a layer of its own"),
        ((100, 90, 102), CustomLayers(mish=True), "2.0% faster with Mish in a layer of its own"),
        ((100, 110, 121), CustomLayers(True, True), "10.0% faster with Mish in a layer of its own"),
        ((100, 110, None), CustomLayers(True), "10.0% faster with the first convolution in a layer of its own"),
        ((100, 90, 99), CustomLayers(), ""),
    ],
)
def test_the_first_convolution_and_mish_are_tried_once(
    speeds: Sequence[float | None], chosen: CustomLayers, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """speeds: without custom layers, with the first one, and with Mish beside what paid; None: the memory does not suffice."""
    remaining = list(speeds)

    def run(*_: Any) -> Trial:
        speed = remaining.pop(0)
        if speed is None:
            raise OutOfMemoryError("too large")
        return trial(speed)

    monkeypatch.setattr(Builder, "_trial", run)
    monkeypatch.setattr("engine.backends.nvidia.trials.first_convolution", lambda network: network.layers[0])
    builder = Builder.__new__(Builder)  # without a device
    builder._network, builder._cache, builder.situation = NETWORK, FileCache(tmp_path), "here"
    for _ in range(2):
        layers, why = builder.choose_layers(Precision.FP16, 4)
        assert layers == chosen
        assert why.endswith(reason)
        assert bool(why) == bool(reason)
    assert not remaining
    assert builder.choose_layers(Precision.FP32, 4) == (CustomLayers(), "")
