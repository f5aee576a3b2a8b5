from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Convolution, Yolo
from framefleet.engine.notices import ModelError, UsageError
from framefleet.engine.settings import ModelFiles
from tests.support.models import TINY_CFG, tiny_files, tiny_network


def test_tiny() -> None:
    network = tiny_network()
    assert (network.name, network.width, network.height, network.channels, network.letter_box) == ("tiny", 96, 96, 3, False)
    assert network.labels == ("class 0", "class 1", "class 2")
    assert [type(layer) for layer in network.layers].count(Yolo) == 2
    for layer in network.layers:
        if isinstance(layer, Convolution):
            channels = 3 if layer.inputs == (-1,) else network.layers[layer.inputs[0]].shape[0]
            assert layer.weights.shape[:2] == (layer.shape[0], channels // layer.groups)
            assert layer.weights.dtype == layer.bias.dtype == np.float32


def test_the_real_model(data: Path) -> None:
    models = data / "models"
    network = load_network(ModelFiles(models / "yolo-fastest-1.1.cfg", models / "yolo-fastest-1.1.weights"))
    assert (network.width, network.classes, len(network.heads)) == (320, 80, 2)
    assert network.labels[:2] == ("person", "bicycle")
    assert network.labels[58] == "pottedplant"  # from the only .names file there, not our own
    given = models / "coco.names"
    assert (
        load_network(ModelFiles(models / "yolo-fastest-1.1.cfg", str(models / "yolo-fastest-1.1.weights"), given)).labels == network.labels
    )


def test_files_that_do_not_belong_together(data: Path) -> None:
    models = data / "models"
    with pytest.raises(ModelError, match=r"yolo-fastest-1\.1\.weights does not belong to .*yolov4-tiny\.cfg.*24,251,276 bytes.*1,384,268"):
        load_network(ModelFiles(models / "yolov4-tiny.cfg", models / "yolo-fastest-1.1.weights"))
    with pytest.raises(ModelError, match="is a weight file, not the description of a network: use --model"):
        load_network(ModelFiles(models / "yolo-fastest-1.1.weights", models / "yolo-fastest-1.1.cfg"))
    with pytest.raises(ModelError, match="has 80 labels, but the model has 3 classes"):
        load_network(ModelFiles(TINY_CFG, "random:1", models / "coco.names"))


def test_another_size() -> None:
    network = load_network(replace(tiny_files(), size=(64, 128)))
    assert (network.width, network.height) == (64, 128)
    assert [head.shape for head in network.heads] == [(24, 8, 4), (24, 16, 8)]
    with pytest.raises(UsageError):
        load_network(replace(tiny_files(), size=(100, 100)))


def test_the_digest_tells_models_apart(tmp_path: Path) -> None:
    original = tiny_network().digest
    assert len(original) == 64
    assert original == tiny_network().digest
    text = TINY_CFG.read_text()
    changes = {
        "same": text.replace("[net]", "# comment\n[net]\nlearning_rate=0.1").replace("activation = mish", "activation=mish"),
        "activation": text.replace("activation=mish", "activation=swish", 1),
        "scale": text.replace("scale_x_y=1.1", "scale_x_y=1.2"),
        "anchors": text.replace("anchors=6,8,", "anchors=6,9,"),
        "letter_box": text.replace("[net]", "[net]\nletter_box=1"),
    }
    digests = {}
    for name, changed in changes.items():
        path = tmp_path / f"{name}.cfg"
        path.write_text(changed)
        digests[name] = load_network(ModelFiles(path, "random:1")).digest
    assert digests.pop("same") == original
    others = [*digests.values(), tiny_network(2).digest, load_network(replace(tiny_files(), size=(64, 64))).digest]
    assert len({original, *others}) == 1 + len(others)
