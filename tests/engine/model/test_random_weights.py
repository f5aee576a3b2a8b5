from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import openvino
import pytest

from framefleet.engine.detection.postprocess import decode
from framefleet.engine.model.describe import describe
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.model.onnx_export import to_onnx
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.notices import UsageError
from framefleet.engine.settings import ModelFiles
from tests.support.models import TINY_CFG

TINY = describe(TINY_CFG)


def test_the_weights_are_equal_on_every_machine_and_in_every_version() -> None:
    digest = hashlib.sha256(random_weights(TINY, "random:1").tobytes()).hexdigest()
    assert digest == "0428092ea713bb5a769e60eb8124bcc79fad69fe6e4cb68e20a7102d642fb883"


def test_seeds_differ() -> None:
    one, other = random_weights(TINY, "random:1"), random_weights(TINY, "random:2")
    assert not np.isclose(one, other).mean() > 0.2
    assert np.isfinite(one).all()


def test_the_network_size_makes_no_difference() -> None:
    assert np.array_equal(random_weights(TINY, "random:5"), random_weights(describe(TINY_CFG, (160, 64)), "random:5"))


@pytest.mark.parametrize(
    "text", ["random:", "random:-1", "random:x", "random:1.5", "random:²", f"random:{1 << 63}", "random:" + "9" * 5000]
)
def test_seeds_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="write random:SEED"):
        load_network(ModelFiles(TINY_CFG, text))


def heads(network: Network, pictures: np.ndarray) -> list[np.ndarray]:
    core = openvino.Core()
    model = core.compile_model(core.read_model(to_onnx(network).SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    result = model([pictures])
    return [np.asarray(result[output]) for output in model.outputs]


@pytest.mark.parametrize(
    "name", ["yolo-fastest-1.1", *(pytest.param(name, marks=pytest.mark.slow) for name in ("yolov4-tiny", "yolov4-csp"))]
)
def test_some_objects_that_depend_on_the_picture(data: Path, name: str) -> None:
    network = load_network(ModelFiles(data / "models" / f"{name}.cfg", "random:1", size=(160, 160)))
    random = np.random.default_rng(0)
    smooth = np.repeat(np.repeat(random.random((2, 3, 10, 10)), 16, axis=2), 16, axis=3).astype(np.float32)
    outputs = heads(network, smooth)
    for output, head in zip(outputs, network.heads, strict=True):
        values = output.reshape(2, len(head.anchors), 5 + head.classes, -1)
        logits = np.log(values / (1 - values)) if head.new_coords else values
        assert 0.4 < logits.std() < 4
        assert np.abs(logits[0] - logits[1]).mean() > 0.2
    boxes = sum(head.shape[1] * head.shape[2] * len(head.anchors) for head in network.heads)
    for found in decode(outputs, network.heads, 160, 160, 0.25):
        assert 0 < len(found) < boxes
