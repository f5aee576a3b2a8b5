"""Raw heads equal those of OpenCV's Darknet importer (small networks; ``benchmarks/detection/accuracy.py`` compares the large ones)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.backends import create_backend
from framefleet.engine.detection.postprocess import decode_cells
from framefleet.engine.model.describe import describe
from framefleet.engine.model.load import EPSILON, load_network, read_weights
from framefleet.engine.model.network import Network
from framefleet.engine.model.random_weights import random_weights
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO
from tests.support.models import TINY_CFG
from tests.support.networks.architectures import ARCHITECTURES, make_cfg
from tests.support.networks.opencv import opencv_boxes, opencv_heads, relative_difference
from tools.darknet_weights import write_weights

LIMIT = 1e-4


def both(cfg: Path, folder: Path, batch: int) -> tuple[Network, list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """The network, our heads and OpenCV's, from one weight file."""
    weights = folder / "random.weights"
    write_weights(weights, random_weights(describe(cfg), "random:1"))
    network = load_network(ModelFiles(cfg, weights))
    inputs = np.random.default_rng(0).random((batch, 3, network.height, network.width), dtype=np.float32)
    with create_backend(DeviceId("cpu", "0")) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32))
        return network, backend.raw_outputs(inputs), opencv_heads(cfg, weights, network, inputs)


def check(cfg: Path, folder: Path, batch: int) -> Network:
    network, ours, theirs = both(cfg, folder, batch)
    assert len(ours) == len(theirs) == len(network.heads)
    for head, reference in zip(ours, theirs, strict=True):
        assert reference.std() > 0.01  # not a constant, which anybody gets right
        assert relative_difference(head, reference) < LIMIT
    return network


def test_a_bit_of_everything(tmp_path: Path) -> None:
    check(TINY_CFG, tmp_path, batch=2)


def test_heads_of_the_scaled_family(tmp_path: Path) -> None:
    lines = TINY_CFG.read_text().replace("activation=linear\n\n[yolo]", "activation=logistic\n\n[yolo]\nnew_coords=1")
    cfg = tmp_path / "scaled.cfg"
    cfg.write_text(lines)
    network = check(cfg, tmp_path, batch=2)
    assert [layer.new_coords for layer in network.heads] == [True, True]


@pytest.mark.slow
def test_yolov4_tiny(data: Path, tmp_path: Path) -> None:
    check(data / "models" / "yolov4-tiny.cfg", tmp_path, batch=1)


SHORT = ("yolov2", "enet-coco", "csresnext50-panet-spp", "yolov7-tiny")
"""Architectures that together have all kinds of layers. The long form has the others."""


@pytest.mark.parametrize("name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.slow) for name in ARCHITECTURES])
def test_structures_of_published_detectors(name: str, tmp_path: Path) -> None:
    """Each with an eighth of its channels. With random weights, Darknet's 1e-5 and OpenCV's 1e-6 in batch normalisation hardly differ."""
    cfg = tmp_path / f"{name}.cfg"
    cfg.write_text(make_cfg(name, 96, width=1 / 8))
    check(cfg, tmp_path, batch=1)


@pytest.mark.parametrize("name", ["yolov2", "yolov2-tiny"])
def test_boxes_of_a_region_head(name: str, tmp_path: Path) -> None:
    cfg, weights = tmp_path / f"{name}.cfg", tmp_path / "random.weights"
    cfg.write_text(make_cfg(name, 96, width=1 / 8).replace("thresh=.6", "thresh=1e-9"))  # OpenCV drops the scores below it
    write_weights(weights, random_weights(describe(cfg), "random:1"))
    network = load_network(ModelFiles(cfg, weights))
    inputs = np.random.default_rng(0).random((1, 3, 96, 96), dtype=np.float32)
    with create_backend(DeviceId("cpu", "0")) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32))
        boxes, scores = decode_cells(backend.raw_outputs(inputs), network.heads, 96, 96)
    theirs = opencv_boxes(cfg, weights, inputs).reshape(9, 5, 85).swapaxes(0, 1).reshape(45, 85)  # ours is anchors first
    assert scores.max() > 0.2
    kept = theirs[:, 5:] > 0  # OpenCV sets the scores of boxes that it suppresses to 0
    assert kept.mean() > 0.5
    assert np.abs(scores - theirs[:, 5:])[kept].max() < 1e-5
    centre, half = theirs[:, :2] * 96, theirs[:, 2:4] * 96 / 2
    assert relative_difference(boxes, np.concatenate([centre - half, centre + half], axis=1)) < 1e-5


def test_the_demos_model(tmp_path: Path) -> None:
    """A trained model, smaller than its own size. OpenCV adds 1e-6 to a variance where Darknet adds 1e-5: it gets the difference."""
    cfg = tmp_path / "small.cfg"
    cfg.write_text(re.sub(r"(?m)^height=\d+", "height=96", re.sub(r"(?m)^width=\d+", "width=160", DEMO.cfg.read_text())))
    description = describe(cfg)
    stream, offset = read_weights(description, DEMO.weights), 0
    for layer in description.convolutions:
        if layer.batch_normalize:
            stream[offset + 3 * layer.filters : offset + 4 * layer.filters] += EPSILON - 1e-6
        offset += layer.float_count
    write_weights(tmp_path / "opencv.weights", stream)
    network = load_network(ModelFiles(cfg, DEMO.weights))
    inputs = np.random.default_rng(0).random((1, 3, 96, 160), dtype=np.float32)
    with create_backend(DeviceId("cpu", "0")) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32))
        ours = backend.raw_outputs(inputs)
    for head, reference in zip(ours, opencv_heads(cfg, tmp_path / "opencv.weights", network, inputs), strict=True):
        assert reference.std() > 1
        assert relative_difference(head, reference) < 1e-5


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [*ARCHITECTURES, "yolov3-openimages"])
def test_structures_of_published_detectors_with_all_channels(name: str, tmp_path: Path) -> None:
    cfg = tmp_path / f"{name}.cfg"
    cfg.write_text(make_cfg("yolov3", 224, classes=601) if name == "yolov3-openimages" else make_cfg(name, 224))
    check(cfg, tmp_path, batch=1)


def test_another_set_of_weights_would_be_noticed(tmp_path: Path) -> None:
    _, ours, theirs = both(TINY_CFG, tmp_path, 1)
    random = np.random.default_rng(1)
    for head, reference in zip(ours, theirs, strict=True):
        off = head * (1 + random.normal(0, 1e-3, head.shape)).astype(np.float32)
        assert relative_difference(off, reference) > LIMIT
    with pytest.raises(ValueError, match="cannot be compared"):
        relative_difference(ours[0], theirs[1])
