"""The first engine on a GPU, which no trial has chosen, and the one that tuning finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.backends.create import create_backend
from framefleet.engine.model.network import Convolution, Network
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import DeviceId, EngineInfo
from framefleet.plugins.cache import FOLDER_VARIABLE
from tests.support.models import tiny_network

pytestmark = pytest.mark.gpu
GPU = DeviceId("cuda", "0")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))


def build(network: Network, settings: EngineSettings | None = None, tuning: bool = False) -> EngineInfo:
    with create_backend(GPU) as backend:
        backend.tuning = tuning
        return backend.activate(network, settings or EngineSettings())


def codes(engine: EngineInfo) -> set[str]:
    return {part.code for part in engine.reason.fields["parts"]}


def test_the_first_engine_computes_in_fp16_and_is_compared_with_fp32() -> None:
    network = tiny_network()
    for _ in range(2):  # the second one reads the outcome of the comparison
        engine = build(network)
        assert (engine.precision, engine.batch) == ("fp16", 32)
        assert {"backends.not_tuned", "backends.first_precision", "backends.batch"} <= codes(engine)


def test_a_network_that_fp16_does_not_suit_gets_fp32() -> None:
    """Its first layer's values differ by less than FP16 can tell; the next one subtracts their common part."""
    network = tiny_network()
    first = network.layers[0]
    assert isinstance(first, Convolution)
    index = next(index for index, layer in enumerate(network.layers) if isinstance(layer, Convolution) and 0 in layer.inputs)
    second = network.layers[index]
    assert isinstance(second, Convolution)
    shift = np.float32(30000)
    moved = replace(first, bias=first.bias + shift)
    common = second.weights.reshape(len(second.weights), -1).sum(axis=1) * shift
    layers = [*network.layers]
    layers[0], layers[index] = moved, replace(second, bias=(second.bias - common).astype(np.float32))
    engine = build(replace(network, layers=tuple(layers), digest="shifted"))
    assert engine.precision == "fp32"
    assert "backends.first_precision_differs" in codes(engine)


def test_engines_after_tuning_are_the_tuned_one() -> None:
    network = tiny_network()
    first, tuned = build(network), build(network, tuning=True)
    later = build(network)
    assert later.choice == tuned.choice
    assert "backends.not_tuned" not in codes(later)
    continued = build(network, EngineSettings(earlier=(first.choice,)))
    assert continued.choice == first.choice
