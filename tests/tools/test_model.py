"""The shipped model is a YOLOv4 in Darknet's own format, small, and detects what is in the clip."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.backends.create import create_backend
from framefleet.engine.detection.preprocess import fit
from framefleet.engine.evaluation.accuracy import FLOOR, read_truth, score
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from framefleet.engine.model.describe import describe
from framefleet.engine.model.description import ConvolutionSpec
from framefleet.engine.model.load import load_network, read_weights
from framefleet.engine.model.network import Activation, MaxPool, Route, Shortcut, Upsample
from framefleet.engine.notices import ModelError
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import DeviceId
from tests.support.demo import CFG, CLIP, CLIP_TRUTH, WEIGHTS
from tests.support.networks.opencv import opencv_heads, relative_difference
from tools.darknet_weights import write_weights
from tools.street_renderer.traffic.actor import NAMES
from tools.street_renderer.training import model_cfg

CPU = DeviceId("cpu", "0")


def test_weights_are_small_and_fit_exactly(tmp_path: Path) -> None:
    assert WEIGHTS.stat().st_size < 8_000_000
    assert describe(CFG).weights_bytes == WEIGHTS.stat().st_size
    network = load_network(ModelFiles(CFG, WEIGHTS))
    assert network.labels == NAMES
    for change in (slice(0, -4), slice(0, None)):
        wrong = tmp_path / "wrong.weights"
        wrong.write_bytes(WEIGHTS.read_bytes()[change] + (b"" if change.stop else b"\0\0\0\0"))
        with pytest.raises(ModelError, match="exactly"):
            load_network(ModelFiles(CFG, wrong))


def test_the_parts_are_yolov4s() -> None:
    layers = describe(CFG).layers
    convolutions = [layer for layer in layers if isinstance(layer, ConvolutionSpec)]
    activations = {layer.activation for layer in convolutions}
    assert activations == {Activation.MISH, Activation.LEAKY, Activation.LINEAR}
    # the backbone: five stages that halve the picture, all Mish, each parted into two ways (CSP) with residual blocks on one
    backbone = [layer for layer in convolutions if layer.activation is Activation.MISH]
    assert sum(layer.stride == 2 for layer in backbone) == 5
    assert layers.index(backbone[-1]) < min(layers.index(layer) for layer in convolutions if layer.activation is Activation.LEAKY)
    last = layers.index(backbone[-1])
    assert sum(isinstance(layer, Route) and len(layer.inputs) == 2 for layer in layers[:last]) == 5
    assert sum(isinstance(layer, Shortcut) for layer in layers) == 9
    # spatial pyramid pooling: three pools of one input, joined with it
    pools = [layer for layer in layers if isinstance(layer, MaxPool)]
    assert [(pool.size, pool.stride) for pool in pools] == [(5, 1), (9, 1), (13, 1)]
    joined = next(layer for layer in layers if isinstance(layer, Route) and len(layer.inputs) == 4)
    (source,) = set(joined.inputs) - {layers.index(pool) for pool in pools}
    assert {_origin(layers, pool.inputs[0]) for pool in pools} == {source}
    # path aggregation: two steps up, two steps down
    assert sum(isinstance(layer, Upsample) for layer in layers) == 2
    assert sum(layer.stride == 2 for layer in convolutions if layer.activation is Activation.LEAKY) == 2


def _origin(layers: tuple, index: int) -> int:  # type: ignore[type-arg]
    """Through routes that only repeat one layer."""
    layer = layers[index]
    return _origin(layers, layer.inputs[0]) if isinstance(layer, Route) and len(layer.inputs) == 1 else index


def test_three_heads_of_yolov4() -> None:
    description = describe(CFG)
    heads = description.heads
    assert [head.scale_x_y for head in heads] == [1.2, 1.1, 1.05]
    assert [description.width // head.shape[2] for head in heads] == [8, 16, 32]
    assert {head.classes for head in heads} == {len(NAMES)}
    anchors = np.concatenate([head.anchors for head in heads])
    assert anchors.shape == (9, 2)
    assert (np.diff(anchors.prod(1)) > 0).all()


def test_the_cfg_is_what_the_tool_writes() -> None:
    description = describe(CFG)
    anchors = np.concatenate([head.anchors for head in description.heads])
    assert model_cfg.cfg(anchors, len(NAMES), description.width, description.height) == CFG.read_text("ascii")
    assert CFG.with_suffix(".names").read_text("ascii").split() == list(NAMES)


def test_weights_survive_reading_and_writing(tmp_path: Path) -> None:
    stream = read_weights(describe(CFG), WEIGHTS)
    assert np.isfinite(stream).all()
    assert stream.std() > 0
    write_weights(tmp_path / "again.weights", stream)
    assert (tmp_path / "again.weights").read_bytes() == WEIGHTS.read_bytes()


def test_anchors_fit_the_boxes_they_were_made_from() -> None:
    rng = np.random.default_rng(3)
    sizes = np.array([(4, 9), (9, 5), (12, 30), (30, 12), (20, 60), (60, 25), (50, 110), (130, 60), (180, 190)], float)
    boxes = np.repeat(sizes, 60, 0) * rng.uniform(0.9, 1.1, (540, 2))

    def fit_of(anchors: NDArray[np.floating]) -> float:
        both = np.minimum(boxes[:, None], anchors[None]).prod(-1)
        return float((both / (boxes.prod(-1)[:, None] + anchors.prod(-1)[None] - both)).max(1).mean())

    found = model_cfg.kmeans(boxes)
    assert found.shape == (9, 2)
    assert (np.diff(found.prod(1)) >= 0).all()
    # the nine true sizes would fit best; k-means may end beside them, but far from any nine of the boxes
    chance = [fit_of(boxes[rng.choice(len(boxes), 9, replace=False)]) for _ in range(20)]
    assert fit_of(found) > np.mean(chance) + 0.05
    assert fit_of(found) > 0.8 * fit_of(sizes)


def test_opencv_reads_the_same_network(tmp_path: Path) -> None:
    info = probe(CLIP)
    picture = next(frame.image for frame in decode(info, info.segments[0]) if isinstance(frame, DecodedFrame))
    network = load_network(ModelFiles(CFG, WEIGHTS))
    fitted = np.empty((network.height, network.width, 3), np.float32)
    fit(picture, fitted, letterbox=False)
    inputs = np.ascontiguousarray(fitted.transpose(2, 0, 1)[None] / 255)
    with create_backend(CPU) as backend:
        backend.activate(network, EngineSettings(precision=Precision.FP32))
        ours = backend.raw_outputs(inputs)
    same = tmp_path / "opencv.weights"
    write_weights(same, with_opencvs_epsilon())
    for mine, theirs in zip(ours, opencv_heads(CFG, same, network, inputs), strict=True):
        assert relative_difference(mine, theirs) < 1e-4


def with_opencvs_epsilon() -> NDArray[np.float32]:
    """The weights with variances larger by what OpenCV's importer adds less than Darknet before it takes their root: 1e-6, not 1e-5."""
    description = describe(CFG)
    stream = read_weights(description, WEIGHTS)
    offset = 0
    for layer in description.convolutions:
        if layer.batch_normalize:
            stream[offset + 3 * layer.filters : offset + 4 * layer.filters] += 9e-6
        offset += layer.float_count
    return stream


def test_it_detects_what_is_in_the_clip() -> None:
    """Two frames of each segment; benchmarks/detection/demo_model.py measures all frames."""
    info = probe(CLIP)
    truth = read_truth(CLIP_TRUTH)
    numbers, found = [], []
    with create_backend(CPU) as backend:
        backend.activate(load_network(ModelFiles(CFG, WEIGHTS)), EngineSettings(precision=Precision.FP32, stored_confidence=FLOOR))
        for segment in info.segments:
            for frame in islice(decode(info, segment), 0, 51, 50):
                assert isinstance(frame, DecodedFrame)
                numbers.append(round(frame.ref.pts * info.rate))
                found += backend.infer([frame.image])
    assert len(found) == 10
    notes = [{**note, "image_id": numbers.index(note["image_id"])} for note in truth["annotations"] if note["image_id"] in numbers]
    assert score({**truth, "images": truth["images"][: len(found)], "annotations": notes}, found).map50 > 0.9
