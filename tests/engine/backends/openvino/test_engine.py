from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.backends.openvino import engine as openvino_engine
from framefleet.engine.backends.openvino.engine import Engine, Request
from framefleet.engine.backends.openvino.library import offered_precisions, process_core
from framefleet.engine.backends.openvino.lowering import lower
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import PICTURES, split
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import DeviceId
from tests.support.models import OLDER_CFG, run_by_definition, tiny_network

CPU = DeviceId("cpu", "0")

ov = openvino_engine.ov  # imported there without what the package would otherwise load and run


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


def test_parts_compute_what_the_whole_computes_wherever_it_is_cut(network: Network) -> None:
    core = process_core()
    inputs = np.random.default_rng(0).random((2, 3, network.height, network.width), dtype=np.float32)
    expected = run_by_definition(network, inputs)
    middle = len(network.layers) // 2
    for cuts in [(), *((cut,) for cut in range(1, len(network.layers), 2)), (middle, middle + 3)]:
        parts = split(network, *cuts)
        assert [index for part in parts for index in part.layers] == list(range(len(network.layers)))
        exact = {"INFERENCE_PRECISION_HINT": "f32"}
        engine = Engine(network, [(part, core.compile_model(lower(network, part, 2, pictures=False), "CPU", exact)) for part in parts])
        request = Request(engine)
        for _ in range(2):  # what the first run leaves behind does not disturb the second
            request.inputs[:] = inputs
            request.run()
        for head, reference in zip(request.heads, expected, strict=True):
            assert np.abs(head - reference).max() < 1e-4 * np.abs(reference).max()


def test_older_layers_compute_what_their_definitions_say() -> None:
    network = load_network(ModelFiles(OLDER_CFG, "random:2"))
    inputs = np.random.default_rng(0).random((2, 3, network.height, network.width), dtype=np.float32)
    with create_backend(CPU) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32))
        (found,) = backend.raw_outputs(inputs)
    (expected,) = run_by_definition(network, inputs)
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()


def test_a_part_takes_and_gives_only_what_crosses_its_borders(network: Network) -> None:
    first, last = split(network, 12)
    assert first.inputs == (PICTURES,)
    assert PICTURES not in last.inputs
    assert set(last.inputs) <= set(first.outputs)
    used = {index for layer in network.layers[12:] for index in layer.inputs if index < 12}
    assert set(last.inputs) == used


def test_mixed_lies_between_fp32_and_bf16(network: Network) -> None:
    if Precision.MIXED not in offered_precisions(process_core(), "CPU"):
        pytest.skip("this CPU does not compute in bf16")
    inputs = np.random.default_rng(0).random((1, 3, network.height, network.width), dtype=np.float32)
    outputs = {}
    for precision in (Precision.FP32, Precision.MIXED, Precision.BF16):
        with create_backend(CPU) as backend:
            assert backend.activate(network, EngineSettings(precision=precision)).precision == precision
            outputs[precision] = backend.raw_outputs(inputs)

    def error(precision: Precision) -> float:
        return float(np.sqrt(np.mean([((a - b) ** 2).mean() for a, b in zip(outputs[precision], outputs[Precision.FP32], strict=True)])))

    assert 0 < error(Precision.MIXED) < error(Precision.BF16) < 0.2
