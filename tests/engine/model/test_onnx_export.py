from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnx.reference
import openvino
import pytest
from numpy.typing import NDArray

from framefleet.engine.model import load as weights
from framefleet.engine.model import onnx_export
from framefleet.engine.model.describe import describe
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.model.onnx_export import export_onnx, to_onnx
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.notices import ExportError
from framefleet.engine.settings import ModelFiles
from tests.support.models import OLDER_CFG, TINY_CFG, run_by_definition, tiny_network
from tools.darknet_weights import write_weights

RARE = """
[net]
width=64
height=32
[conv]
batch_normalize=1
filters=8
size=3
stride=2
pad=1
activation=relu
[conv]
batch_normalize=1
filters=8
activation=logistic
[sam]
from=-2
[avgpool]
[conv]
filters=4
activation=swish
[conv]
filters=8
activation=logistic
[scale_channels]
from=2
[conv]
batch_normalize=1
filters=8
size=5
stride=2
padding=1
groups=2
activation=relu6
[shortcut]
from=-1
activation=leaky
[maxpool]
size=4
stride=3
padding=3
[upsample]
stride=3
[maxpool]
size=2
stride=1
[conv]
filters=12
activation=logistic
[yolo]
anchors=10,10, 5,5
num=2
classes=1
new_coords=1
"""
"""Every layer and activation that the tiny model has not."""


def pictures(network: Network, count: int = 2) -> NDArray[np.float32]:
    return np.random.default_rng(7).random((count, network.channels, network.height, network.width), np.float32)


def relative_error(found: NDArray[np.float32], expected: NDArray[np.floating]) -> float:
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def run_openvino(model: bytes | Path, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    result = compiled([inputs])
    return [np.asarray(result[output]) for output in compiled.outputs]


@pytest.fixture
def rare(tmp_path: Path) -> Network:
    path = tmp_path / "rare.cfg"
    path.write_text(RARE)
    return load_network(ModelFiles(path, "random:3"))


def test_tiny_by_definition_and_by_onnx() -> None:
    network = tiny_network()
    inputs = pictures(network)
    expected = run_by_definition(network, inputs)
    found = onnx.reference.ReferenceEvaluator(to_onnx(network)).run(None, {"images": inputs})
    assert [relative_error(a, b) < 1e-5 for a, b in zip(found, expected, strict=True)] == [True, True]


def test_rare_layers_by_definition_and_by_openvino(rare: Network) -> None:
    inputs = pictures(rare)
    (expected,) = run_by_definition(rare, inputs)
    model = to_onnx(rare)
    onnx.checker.check_model(model, full_check=True)
    (found,) = run_openvino(model.SerializeToString(), inputs)
    assert relative_error(found, expected) < 1e-5


def test_older_layers_by_definition_by_openvino_and_by_onnx() -> None:
    network = load_network(ModelFiles(OLDER_CFG, "random:2"))
    inputs = pictures(network)
    (expected,) = run_by_definition(network, inputs)
    assert expected.std() > 0.5
    model = to_onnx(network)
    onnx.checker.check_model(model, full_check=True)
    (found,) = run_openvino(model.SerializeToString(), inputs)
    assert relative_error(found, expected) < 1e-5
    (found,) = onnx.reference.ReferenceEvaluator(model).run(None, {"images": inputs})
    assert relative_error(found, expected) < 1e-5


def test_the_file(tmp_path: Path) -> None:
    network, path = tiny_network(), tmp_path / "tiny.onnx"
    path.write_text("an older file")
    export_onnx(network, path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["tiny.onnx"]
    onnx.checker.check_model(path, full_check=True)
    model = onnx.load(path)
    assert [value.name for value in model.graph.input] == ["images"]
    assert [value.name for value in model.graph.output] == ["head_0", "head_1"]
    assert [d.dim_param or d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim] == ["batch", 3, 96, 96]
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert (metadata["digest"], metadata["labels"], metadata["letter_box"]) == (network.digest, "class 0\nclass 1\nclass 2", "0")
    assert [head["classes"] for head in json.loads(metadata["heads"])] == [3, 3]
    found = run_openvino(path, pictures(network, 3))
    assert [output.shape for output in found] == [(3, 24, 6, 6), (3, 24, 12, 12)]


def test_weights_too_large_for_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_export, "MAX_EMBEDDED_BYTES", 10_000)
    network, path = tiny_network(), tmp_path / "tiny.onnx"
    export_onnx(network, path)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["tiny.onnx", "tiny.onnx.data"]
    onnx.checker.check_model(path, full_check=True)
    inputs = pictures(network)
    for a, b in zip(run_openvino(path, inputs), run_by_definition(network, inputs), strict=True):
        assert relative_error(a, b) < 1e-5


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"tiny\.onnx cannot be written"):
        export_onnx(tiny_network(), tmp_path / "no" / "tiny.onnx")
    with pytest.raises(ExportError, match=r"tiny\.onnx cannot be written: embedded null"):
        export_onnx(tiny_network(), tmp_path / "\0" / "tiny.onnx")
    (tmp_path / "tiny.onnx").mkdir()
    with pytest.raises(ExportError, match=r"tiny\.onnx cannot be written"):
        export_onnx(tiny_network(), tmp_path / "tiny.onnx")
    assert [entry.name for entry in tmp_path.iterdir()] == ["tiny.onnx"]


def run_opencv(cfg: Path, file: Path, network: Network, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The heads as OpenCV's own Darknet importer computes them; it activates in a layer of its own."""
    net = cv2.dnn.readNetFromDarknet(str(cfg), str(file))
    net.setInput(inputs)
    outputs = net.forward([f"conv_{head.inputs[0]}" for head in network.heads])
    return [1 / (1 + np.exp(-output)) if head.new_coords else output for head, output in zip(network.heads, outputs, strict=True)]


def test_tiny_equals_opencv(tmp_path: Path) -> None:
    file = tmp_path / "tiny.weights"
    write_weights(file, random_weights(describe(TINY_CFG), "random:1"))
    network = load_network(ModelFiles(TINY_CFG, file))
    inputs = pictures(network, 1)
    for found, expected in zip(run_by_definition(network, inputs), run_opencv(TINY_CFG, file, network, inputs), strict=True):
        assert relative_error(found.astype(np.float32), expected) < 1e-4


def test_real_weights_equal_opencv(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cfg, file = data / "models" / "yolo-fastest-1.1.cfg", data / "models" / "yolo-fastest-1.1.weights"
    picture = cv2.imread(str(data / "images" / "dog.jpg"))
    inputs = cv2.dnn.blobFromImage(picture, 1 / 255, (320, 320), swapRB=True)
    # OpenCV adds 1e-6 to the variances where Darknet adds 1e-5: with the same epsilon nothing else differs
    for epsilon, limit in ((weights.EPSILON, 1e-3), (1e-6, 1e-5)):
        monkeypatch.setattr(weights, "EPSILON", epsilon)
        network = load_network(ModelFiles(cfg, file))
        expected = run_opencv(cfg, file, network, inputs)
        for a, b in zip(run_openvino(to_onnx(network).SerializeToString(), inputs), expected, strict=True):
            assert relative_error(a, b) < limit


def test_a_published_architecture_equals_opencv(data: Path, tmp_path: Path) -> None:
    name = "yolov4-tiny"
    text = (data / "models" / f"{name}.cfg").read_text()
    cfg, file = tmp_path / f"{name}.cfg", tmp_path / f"{name}.weights"
    side = describe(data / "models" / f"{name}.cfg").width
    cfg.write_text(text.replace(f"width={side}", "width=128").replace(f"height={side}", "height=128"))
    write_weights(file, random_weights(describe(cfg), "random:1"))
    network = load_network(ModelFiles(cfg, file))
    inputs = pictures(network, 1)
    expected = run_opencv(cfg, file, network, inputs)
    for a, b in zip(run_openvino(to_onnx(network).SerializeToString(), inputs), expected, strict=True):
        assert relative_error(a, b) < 1e-4
