"""Each reading of ONNX outputs on the device: the detections are those of the CPU's decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.detection.postprocess import MAX_CANDIDATES, NO_SUCH_CLASS, NOT_FINITE, detections
from framefleet.engine.detection.preprocess import Fit, plan_fit
from framefleet.engine.model.onnx.network import OnnxNetwork, Reading, Suppression
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import Detections, Found
from framefleet.plugins.preprocess import FRAME, RGB8, describe_frame
from framefleet.plugins.yolo_layer import CAPACITY

try:
    from framefleet.engine.backends.nvidia.engine import Outputs
    from framefleet.engine.backends.nvidia.slot import OutputSteps
    from tests.support.devices.cuda import Gpu
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)

WIDTH, HEIGHT, CLASSES, BATCH = 96, 64, 5, 3
PICTURE = (300, 100)
CELLS = sum((WIDTH // stride) * (HEIGHT // stride) for stride in (8, 16, 32))
READINGS = [reading for reading in Reading if reading is not Reading.FRAMEFLEET]
SETTINGS = EngineSettings(stored_confidence=0.3)

Arrays = list[NDArray[np.float32]]


def network_of(reading: Reading, centre_boxes: bool = False) -> OnnxNetwork:
    labels = tuple(f"class {number}" for number in range(CLASSES))
    known = ("a", WIDTH, HEIGHT, labels, "", b"", reading, reading.preprocessing, "images", None, False, 0)
    return OnnxNetwork(*known, centre_boxes=centre_boxes)


def outputs_of(network: OnnxNetwork, seed: int, batch: int = BATCH) -> Arrays:
    """Random boxes, of which several overlap, in the outputs of a reading."""
    random = np.random.default_rng(seed)
    count = CELLS if network.reading is Reading.YOLOX else 90
    centre = random.uniform(0, 1, (batch, count, 2))
    centre[:, 1::3] = centre[:, ::3][:, : centre[:, 1::3].shape[1]] + 0.01
    fractions = np.concatenate([centre, random.uniform(0.05, 0.5, (batch, count, 2))], axis=2)
    if network.reading not in (Reading.RF_DETR, Reading.DETR_LOGITS):  # their sizes come from a logistic function
        fractions[:, ::7, 2] *= -1
        fractions[:, 8::11, 3] *= -2
    by_centre = fractions * np.array([WIDTH, HEIGHT] * 2)
    corners = np.concatenate([by_centre[..., :2] - by_centre[..., 2:] / 2, by_centre[..., :2] + by_centre[..., 2:] / 2], axis=2)
    scores = random.uniform(0, 0.6, (batch, count, CLASSES))
    best, ids = scores.max(axis=2, keepdims=True), random.integers(0, CLASSES, (batch, count, 1)).astype(float)
    sure = random.uniform(0, 1.6, (batch, count, 1)).clip(0, 1)
    match network.reading:
        case Reading.YOLOV8:
            found = [np.concatenate([by_centre, scores], axis=2).transpose(0, 2, 1)]
        case Reading.YOLOV8_CORNERS:
            found = [np.concatenate([corners, scores], axis=2).transpose(0, 2, 1)]
        case Reading.YOLOV5 | Reading.YOLOX_DECODED:
            found = [np.concatenate([by_centre, sure, scores * 1.6], axis=2)]
        case Reading.YOLOX:
            found = [np.concatenate([random.normal(0, 1, (batch, count, 4)), sure, scores * 1.6], axis=2)]
        case Reading.END2END:
            found = [np.concatenate([corners, best, ids], axis=2)]
        case Reading.RTDETR:
            found = [np.concatenate([fractions, scores], axis=2)]
        case Reading.RTDETR_SORTED:
            found = [np.concatenate([fractions, best, ids], axis=2)]
        case Reading.DETR_SOFTMAX:
            found = [fractions, scores]
        case Reading.YOLOV4:
            found = [(corners / ([WIDTH, HEIGHT] * 2))[:, :, None], scores]
        case Reading.DETR:
            found = [ids[..., 0], corners, best[..., 0]]
        case Reading.RF_DETR | Reading.DETR_LOGITS:
            found = [fractions, random.normal(-1, 1.5, (batch, count, CLASSES))]
        case Reading.EFFICIENT_NMS:
            found = [random.integers(0, count, (batch, 1)).astype(float), corners, best[..., 0], ids[..., 0]]
        case Reading.BEFORE_NMS:
            found = [by_centre if network.centre_boxes else corners, scores]
        case Reading.NMS_ROWS:
            found = [np.concatenate([np.zeros((batch, count, 1)), corners, ids, best], axis=2)]
        case Reading.NMS_SCORED_ROWS:
            found = [np.concatenate([np.zeros((batch, count, 1)), corners, best, ids], axis=2)]
        case Reading.FRAMEFLEET:
            raise AssertionError
    return [np.ascontiguousarray(array, np.float32) for array in found]


class Room:
    """Memory for ``OutputSteps``."""

    def __init__(self, gpu: Gpu) -> None:
        self.device, self.constant = gpu.poisoned, gpu.upload
        self._pinned, self.results = gpu.pinned, np.zeros(0, np.uint8)

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        self.results = self._pinned(nbytes)
        return self.results


def on_device(gpu: Gpu, network: OnnxNetwork, outputs: Arrays, fits: Sequence[Fit], settings: EngineSettings) -> tuple[list[Found], Any]:
    """What the steps find, and the numbers of candidates and records that the kernels counted."""
    batch = len(outputs[0])
    table = np.zeros(batch, FRAME)
    for index, fit in enumerate(fits):
        inside = fit.left, fit.top, fit.inner_width, fit.inner_height
        table[index] = describe_frame(RGB8, PICTURE, PICTURE, inside, scale=fit.scale)
        table[index]["luma"] = 1
    raw = Outputs(batch, [output.shape[1:] for output in outputs], [0] * len(outputs), np.float32)
    room: Any = Room(gpu)
    addresses = [gpu.upload(output) for output in outputs]
    kernels, stream = (cast("Any", part) for part in (gpu.kernels, gpu.stream))
    steps = OutputSteps(network, raw, kernels, room, settings, addresses, gpu.upload(table), stream)
    gpu.run(*steps.steps)
    return steps.read(fits), room.results[: 8 * batch].view(np.int32).reshape(batch, 2)


def assert_equal(ours: Sequence[Found], reference: Sequence[Found]) -> None:
    for found, expected in zip(ours, reference, strict=True):
        assert isinstance(found, Detections)
        assert isinstance(expected, Detections)
        np.testing.assert_array_equal(found.class_ids, expected.class_ids)
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
        np.testing.assert_allclose(found.boxes, expected.boxes, rtol=1e-5, atol=1e-3)


def fits_of(network: OnnxNetwork, count: int = BATCH) -> list[Fit]:
    return [plan_fit(*PICTURE, WIDTH, HEIGHT, network.letter_box, network.placement)] * count


@pytest.mark.parametrize("reading", READINGS)
def test_detections_are_those_of_the_cpu(gpu: Gpu, reading: Reading) -> None:
    for centre_boxes in (False, True)[: 2 if reading is Reading.BEFORE_NMS else 1]:
        network = network_of(reading, centre_boxes)
        batch = 1 if reading.has_rows else BATCH
        outputs, fits = outputs_of(network, seed=READINGS.index(reading), batch=batch), fits_of(network, batch)
        expected = detections(network, outputs, fits, SETTINGS)
        found, counts = on_device(gpu, network, outputs, fits, SETTINGS)
        assert min(len(each) for each in expected if isinstance(each, Detections)) > 3
        assert (counts[:, 0] <= CAPACITY).all()  # the kernels found them
        assert_equal(found, expected)


def test_the_thresholds_of_a_suppression_that_was_cut_off(gpu: Gpu) -> None:
    network = replace(network_of(Reading.BEFORE_NMS), suppression=Suppression("a", "b", iou=0.9, confidence=0.55, limit=4))
    outputs, fits = outputs_of(network, seed=3), fits_of(network)
    expected = detections(network, outputs, fits, SETTINGS)
    assert [len(each) for each in expected if isinstance(each, Detections)] == [4] * len(fits)
    assert_equal(on_device(gpu, network, outputs, fits, SETTINGS)[0], expected)


@pytest.mark.parametrize("reading", [Reading.YOLOV8, Reading.END2END])
def test_unwanted_classes_are_left_out(gpu: Gpu, reading: Reading) -> None:
    network, settings = network_of(reading), EngineSettings(stored_confidence=0.3, classes=frozenset({1, 4}))
    outputs, fits = outputs_of(network, seed=5), fits_of(network)
    expected = detections(network, outputs, fits, settings)
    found, _ = on_device(gpu, network, outputs, fits, settings)
    assert_equal(found, expected)


def test_the_first_of_equal_classes_and_boxes(gpu: Gpu) -> None:
    network = network_of(Reading.RTDETR)
    row = np.array([0.5, 0.5, 0.25, 0.25, 0.1, 0.75, 0.75, 0.2, 0.75], np.float32)
    outputs = [np.tile(row, (1, 300, 1))]
    outputs[0][0, 7, 5:7] = 0.25, 0.75
    found, _ = on_device(gpu, network, outputs, fits_of(network, 1), SETTINGS)
    assert_equal(found, detections(network, outputs, fits_of(network, 1), SETTINGS))
    (picture,) = found
    assert isinstance(picture, Detections)
    assert len(picture) == 300
    assert np.flatnonzero(picture.class_ids != 1).tolist() == [7]


def test_the_strongest_pairs_of_queries_and_classes(gpu: Gpu) -> None:
    """300 of more pairs, as the authors of these networks keep."""
    network = network_of(Reading.RF_DETR)
    outputs = outputs_of(network, seed=1)
    outputs[1] += 5
    expected = detections(network, outputs, fits_of(network), SETTINGS)
    found, counts = on_device(gpu, network, outputs, fits_of(network), SETTINGS)
    assert (counts[:, 0] > 400).all()
    assert all(isinstance(each, Detections) and len(each) <= 300 for each in found)
    assert_equal(found, expected)


@pytest.mark.parametrize("reading", [Reading.YOLOV8, Reading.YOLOX, Reading.RF_DETR])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_outputs_that_are_not_finite(gpu: Gpu, reading: Reading, value: float) -> None:
    network = network_of(reading)
    outputs = outputs_of(network, seed=3)
    target = outputs[-1][1]
    place = (4, 7) if reading is Reading.YOLOV8 else (7, 4)
    target[place] = value
    found, _ = on_device(gpu, network, outputs, fits_of(network), SETTINGS)
    expected = detections(network, outputs, fits_of(network), SETTINGS)
    assert expected[1] == NOT_FINITE
    assert found[1] == NOT_FINITE
    assert_equal(found[::2], expected[::2])


def test_a_class_without_a_label(gpu: Gpu) -> None:
    network = network_of(Reading.END2END)
    outputs = outputs_of(network, seed=3)
    outputs[0][2, 5, 4:] = 0.9, CLASSES
    found, _ = on_device(gpu, network, outputs, fits_of(network), SETTINGS)
    assert found[2] == NO_SUCH_CLASS
    assert_equal(found[:2], detections(network, [outputs[0][:2]], fits_of(network, 2), SETTINGS))


def test_more_candidates_than_the_kernels_have_room_for(gpu: Gpu) -> None:
    network = network_of(Reading.YOLOV8)
    random = np.random.default_rng(4)
    outputs = [np.tile(outputs_of(network, seed=4, batch=1)[0], (1, 1, 60)).astype(np.float32)]
    outputs[0][:, 4:] = random.uniform(0.3, 0.9, outputs[0][:, 4:].shape)
    assert CAPACITY < outputs[0].shape[2] < MAX_CANDIDATES
    found, counts = on_device(gpu, network, outputs, fits_of(network, 1), SETTINGS)
    assert counts[0, 0] == (outputs[0][0, 2:4] > 0).all(axis=0).sum() > CAPACITY
    assert_equal(found, detections(network, outputs, fits_of(network, 1), SETTINGS))


def test_too_many_rows_and_unknown_grids_are_refused() -> None:
    parts: Any = SimpleParts()
    outputs = Outputs(1, [(2_000, 4), (2_000, 600)], [0, 0], np.float32)
    wide = network_of(Reading.RF_DETR)
    object.__setattr__(wide, "labels", tuple(map(str, range(600))))
    with pytest.raises(ValueError, match="1200000 possible boxes"):
        OutputSteps(wide, outputs, {}, parts, SETTINGS, [0, 0], 0, None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="100 cells, which no grids of 96 × 64 pixels have"):
        OutputSteps(network_of(Reading.YOLOX), Outputs(1, [(100, 10)], [0], np.float32), {}, parts, SETTINGS, [0], 0, None)  # type: ignore[arg-type]


class SimpleParts:
    """Memory that nothing uses."""

    def device(self, _nbytes: int) -> int:
        return 0

    def constant(self, _values: NDArray[Any]) -> int:
        return 0

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        return np.zeros(nbytes, np.uint8)
