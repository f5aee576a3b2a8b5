"""The custom layers on the device, against what the CPU computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.detection.postprocess import Candidates as CpuCandidates
from framefleet.engine.detection.postprocess import decode, decode_cells, nms
from framefleet.engine.detection.preprocess import Fit, fit, plan_fit
from framefleet.engine.model.network import Yolo
from framefleet.engine.settings import EngineSettings
from framefleet.plugins.mish import Mish
from framefleet.plugins.nms import LIMIT, RECORD, Nms, class_mask, read_results, result_bytes
from framefleet.plugins.preprocess import FRAME, RGB8, Preprocess, describe_frame
from framefleet.plugins.yolo_layer import CANDIDATE_BYTES, CAPACITY, Candidates, Head, YoloLayer, head_table
from tests.support.darknet import kept_by_darknet
from tests.support.devices.candidates import read_candidates
from tests.support.devices.surfaces import picture
from tests.support.models import tiny_network

try:
    from framefleet.engine.backends.nvidia.engine import Outputs
    from framefleet.engine.backends.nvidia.slot import OutputSteps
    from tests.support.devices.cuda import POISON, Gpu
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)

ANCHORS = np.array([[12, 16], [19, 36], [40, 28], [36, 75], [76, 55], [72, 146], [142, 110], [192, 243], [459, 401]], np.float32)
WIDTH, HEIGHT = 128, 96


def poisoned(shape: Sequence[int] | int, dtype: Any) -> NDArray[Any]:
    values = np.empty(shape, dtype)
    values.view(np.uint8).fill(POISON)
    return values


# Mish


def mish_of(values: NDArray[Any]) -> NDArray[np.float64]:
    x = values.astype(np.float64)
    with np.errstate(all="ignore"):
        return np.where(np.isneginf(x), 0, x * np.tanh(np.logaddexp(0, x)))


def assert_half_equal(found: NDArray[np.float16], expected: NDArray[np.float64]) -> None:
    """Equal to a unit in the last place of half precision."""
    with np.errstate(over="ignore"):
        rounded = expected.astype(np.float16)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(rounded))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(rounded))
    numbers = np.isfinite(rounded)
    spacing = np.spacing(np.minimum(np.abs(rounded[numbers]), np.float16(60000))).astype(np.float64)
    assert (np.abs(found[numbers].astype(np.float64) - expected[numbers]) <= 1.01 * spacing).all()


def test_mish_of_every_number(gpu: Gpu) -> None:
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    address = gpu.upload(values)
    gpu.run(Mish(gpu.kernels, address, len(values)))
    assert_half_equal(gpu.download(address, len(values), np.float16), mish_of(values))


@pytest.mark.parametrize("count", [1, 7, 8, 9, 2047, 2048, 2057, 100_003])
def test_mish_of_any_count(gpu: Gpu, count: int) -> None:
    values = np.random.default_rng(count).normal(0, 4, count + 16).astype(np.float16)
    address = gpu.upload(values)
    gpu.run(Mish(gpu.kernels, address, count))
    found = gpu.download(address, count + 16, np.float16)
    assert_half_equal(found[:count], mish_of(values[:count]))
    np.testing.assert_array_equal(found[count:], values[count:])


def inside(placed: Fit) -> tuple[int, int, int, int]:
    return placed.left, placed.top, placed.inner_width, placed.inner_height


# The YOLO layer


def heads_of(batch: int, classes: int, seed: int, new_coords: bool = False, objectness: float = -4.0) -> tuple[list[Any], list[Yolo]]:
    """FP16 heads of a network of 128 × 96 pixels, and their layers."""
    random = np.random.default_rng(seed)
    heads, layers = [], []
    for number, stride in enumerate((8, 16, 32)):
        shape = (3 * (5 + classes), HEIGHT // stride, WIDTH // stride)
        values = random.normal(0, 2, (batch, 3, 5 + classes, *shape[1:]))
        values[:, :, 4] += objectness
        values[:, :, 5:] -= 1
        if new_coords:
            values = 1 / (1 + np.exp(-values))
        heads.append(values.reshape(batch, *shape).astype(np.float16))
        scale = (1.2, 1.1, 1.05)[number] if not new_coords else 2.0
        layers.append(Yolo((0,), shape, ANCHORS[3 * number : 3 * number + 3], classes, scale, new_coords))
    return heads, layers


def gap(heads: Sequence[NDArray[np.float16]], layers: Sequence[Yolo], near: float) -> float:
    """A confidence near this one that no score comes close to, so that rounding decides nothing."""
    scores = np.unique(decode_cells([head.astype(np.float32) for head in heads], layers, WIDTH, HEIGHT)[1])
    scores = scores[np.abs(scores - near) < 0.02]
    scores = np.concatenate([[near - 0.02], scores, [near + 0.02]])
    widest = int(np.argmax(np.diff(scores)))
    return float(np.float32((scores[widest] + scores[widest + 1]) / 2))


def decoded_heads(gpu: Gpu, heads: Sequence[NDArray[np.float16]], layers: Sequence[Yolo], confidence: float) -> Any:
    """Counts, boxes, scores and class ids, and the bytes they were in."""
    batch = len(heads[0])
    descriptions = []
    for head, layer in zip(heads, layers, strict=True):
        descriptions.append(Head(gpu.upload(head), *head.shape[2:], layer.anchors, layer.scale_x_y, layer.new_coords))
    candidates = Candidates(gpu.poisoned(batch * CAPACITY * CANDIDATE_BYTES), gpu.poisoned(4 * batch))
    table = gpu.upload(head_table(descriptions))
    size, number = (WIDTH, HEIGHT), heads[0].dtype.type
    gpu.run(YoloLayer(gpu.kernels, descriptions, table, batch, layers[0].classes, size, confidence, candidates, number))
    values = gpu.download(candidates.values, batch * CAPACITY * CANDIDATE_BYTES, np.uint8)
    found = read_candidates(values, batch)
    return gpu.download(candidates.counts, batch, np.int32), *found, b"".join(part.tobytes() for part in found)


def by_decoder(heads: Sequence[NDArray[np.float16]], layers: Sequence[Yolo], confidence: float) -> list[CpuCandidates]:
    return decode([head.astype(np.float32) for head in heads], layers, WIDTH, HEIGHT, confidence)


def assert_decoded(found: Any, expected: Sequence[CpuCandidates]) -> None:
    counts, boxes, scores, class_ids, _ = found
    assert counts.tolist() == [len(picture) for picture in expected]
    for index, wanted in enumerate(expected):
        count = len(wanted)
        np.testing.assert_array_equal(class_ids[index, :count], wanted.class_ids)
        np.testing.assert_allclose(scores[index, :count], wanted.scores, rtol=2e-6)
        np.testing.assert_allclose(boxes[index, :count], wanted.boxes, rtol=3e-6, atol=1e-3)
        np.testing.assert_array_equal(scores[index, count:], poisoned(CAPACITY - count, np.float32))
        np.testing.assert_array_equal(class_ids[index, count:], poisoned(CAPACITY - count, np.int32))


@pytest.mark.parametrize("new_coords", [False, True])
@pytest.mark.parametrize("classes", [1, 20, 80, 200])
def test_candidates_and_their_order(gpu: Gpu, classes: int, new_coords: bool) -> None:
    heads, layers = heads_of(5, classes, seed=classes, new_coords=new_coords, objectness=-4 if classes < 200 else -5)
    confidence = gap(heads, layers, 0.25)
    expected = by_decoder(heads, layers, confidence)
    assert min(len(picture) for picture in expected) > 3
    assert_decoded(decoded_heads(gpu, heads, layers, confidence), expected)
    exact = [head.astype(np.float32) for head in heads]
    assert_decoded(decoded_heads(gpu, exact, layers, confidence), expected)


def test_nothing_is_found_where_nothing_is(gpu: Gpu) -> None:
    heads, layers = heads_of(2, 80, seed=0, objectness=-30)
    assert_decoded(decoded_heads(gpu, heads, layers, 0.25), by_decoder(heads, layers, 0.25))


@pytest.mark.parametrize("new_coords", [False, True])
def test_extreme_numbers_are_decoded(gpu: Gpu, new_coords: bool) -> None:
    heads, layers = heads_of(3, 80, seed=3, new_coords=new_coords, objectness=-5)
    random = np.random.default_rng(1)
    for head in heads:
        for value in (60000, -60000, 0):
            head[random.random(head.shape) < 0.04] = value
    confidence = gap(heads, layers, 0.3)
    expected = by_decoder(heads, layers, confidence)
    assert min(len(picture) for picture in expected) > 3
    assert_decoded(decoded_heads(gpu, heads, layers, confidence), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("new_coords", [False, True])
@pytest.mark.parametrize("classes", [2, 80])
def test_outputs_that_are_not_finite_are_reported(gpu: Gpu, classes: int, new_coords: bool, value: float) -> None:
    """One value of one picture, anywhere in a cell with a high objectness: only this picture counts as one with too many candidates."""
    heads, layers = heads_of(3, classes, seed=3, new_coords=new_coords, objectness=-5)
    cells = heads[1].reshape(3, 3, 5 + classes, -1)
    cells[1, 2, 4, 7] = 0.9 if new_coords else 5
    confidence = gap(heads, layers, 0.3)
    for channel in (0, 3, 4, 5, 4 + classes):
        before = cells[1, 2, channel, 7]
        cells[1, 2, channel, 7] = value
        expected = by_decoder(heads, layers, confidence)
        assert [picture.finite for picture in expected] == [True, False, True]
        counts, *_ = decoded_heads(gpu, heads, layers, confidence)
        assert counts[1] > CAPACITY
        assert counts[::2].tolist() == [len(picture) for picture in expected[::2]]
        cells[1, 2, channel, 7] = before


def test_outputs_none_of_which_are_finite_are_reported(gpu: Gpu) -> None:
    heads, layers = heads_of(2, 80, seed=3)
    counts, *_ = decoded_heads(gpu, [np.full_like(head, np.nan) for head in heads], layers, 0.25)
    assert (counts > CAPACITY).all()


@pytest.mark.parametrize("confidence", [1.0, 0.9999])
def test_the_highest_confidence(gpu: Gpu, confidence: float) -> None:
    heads, layers = heads_of(2, 20, seed=4)
    for head in heads:
        head[:, ::7] = 30  # some cells are certain
    assert_decoded(decoded_heads(gpu, heads, layers, confidence), by_decoder(heads, layers, confidence))


def test_too_many_candidates_are_counted(gpu: Gpu) -> None:
    heads, layers = heads_of(3, 80, seed=5, objectness=8)
    confidence = gap(heads, layers, 0.1)
    expected = [len(picture) for picture in by_decoder(heads, layers, confidence)]
    assert min(expected) > CAPACITY
    counts, boxes, scores, class_ids, _ = decoded_heads(gpu, heads, layers, confidence)
    assert counts.tolist() == expected
    for index, wanted in enumerate(by_decoder(heads, layers, confidence)):  # the first of them are there
        np.testing.assert_array_equal(class_ids[index], wanted.class_ids[:CAPACITY])
        np.testing.assert_allclose(scores[index], wanted.scores[:CAPACITY], rtol=2e-6)
        np.testing.assert_allclose(boxes[index], wanted.boxes[:CAPACITY], rtol=3e-6, atol=1e-3)


def test_the_same_heads_leave_the_same_bytes(gpu: Gpu) -> None:
    heads, layers = heads_of(4, 80, seed=6, objectness=0)
    first = decoded_heads(gpu, heads, layers, 0.2)
    for _ in range(5):
        again = decoded_heads(gpu, heads, layers, 0.2)
        assert again[-1] == first[-1]
        np.testing.assert_array_equal(again[0], first[0])


# Suppression


def crowd(count: int, seed: int, classes: int = 3, size: float = 30) -> CpuCandidates:
    random = np.random.default_rng(seed)
    centre, half = random.uniform(0, (WIDTH, HEIGHT), (count, 2)), random.uniform(2, size, (count, 2))
    boxes = np.concatenate([centre - half, centre + half], axis=1).astype(np.float32)
    scores = (random.integers(20, 100, count) / 100).astype(np.float32)  # many ties
    return CpuCandidates(boxes, scores, random.integers(0, classes, count).astype(np.int32))


def suppressed(
    gpu: Gpu,
    pictures: Sequence[CpuCandidates],
    fits: Sequence[Fit | None],
    iou: float = 0.45,
    beta: float | None = None,
    wanted: frozenset[int] | None = None,
    classes: int = 80,
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    batch = len(pictures)
    values = poisoned(batch * CAPACITY * CANDIDATE_BYTES, np.uint8)
    boxes, scores, class_ids = read_candidates(values, batch)
    table = np.zeros(batch, FRAME)
    for index, (found, placed) in enumerate(zip(pictures, fits, strict=True)):
        count = min(len(found), CAPACITY)
        boxes[index, :count], scores[index, :count] = found.boxes[:count], found.scores[:count]
        class_ids[index, :count] = found.class_ids[:count]
        if placed is not None:
            table[index] = describe_frame(RGB8, (placed.width, placed.height), (placed.width, placed.height), inside(placed))
            table[index]["luma"] = 1  # there is a frame; nobody looks at it
    candidates = Candidates(gpu.upload(values), gpu.upload(np.array([len(found) for found in pictures], np.int32)))
    out = gpu.poisoned(result_bytes(batch))
    mask = gpu.upload(class_mask(classes, wanted))
    gpu.run(Nms(gpu.kernels, candidates, gpu.upload(table), mask, batch, iou, beta, out))
    return read_results(gpu.download(out, result_bytes(batch), np.uint8), batch)


def by_definition(
    found: CpuCandidates, placed: Fit, iou: float = 0.45, beta: float | None = None, wanted: frozenset[int] | None = None
) -> NDArray[Any]:
    keep = nms(found.boxes, found.scores, found.class_ids, iou, beta, placed.aspect)
    boxes, class_ids = placed.to_source(found.boxes[keep]), found.class_ids[keep]
    visible = (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])
    if wanted is not None:
        visible &= np.isin(class_ids, list(wanted))
    records = np.zeros(int(visible.sum()), RECORD)
    records["box"], records["score"], records["class_id"] = boxes[visible], found.scores[keep][visible], class_ids[visible]
    return records


STRETCHED, BOXED = plan_fit(640, 360, WIDTH, HEIGHT, False), plan_fit(333, 777, WIDTH, HEIGHT, True)


@pytest.mark.parametrize("beta", [None, 0.6, 1.0])
@pytest.mark.parametrize("iou", [0.2, 0.45, 0.9])
def test_what_is_kept_and_in_which_order(gpu: Gpu, iou: float, beta: float | None) -> None:
    pictures = [crowd(count, seed) for seed, count in enumerate([0, 1, 2, 3, 63, 64, 65, 200, 513, 1500])]
    fits = [STRETCHED if index % 2 else BOXED for index in range(len(pictures))]
    counts, records = suppressed(gpu, pictures, fits, iou, beta)
    for index, (found, placed) in enumerate(zip(pictures, fits, strict=True)):
        expected = by_definition(found, placed, iou, beta)
        assert counts[index].tolist() == [len(found), len(expected)]
        np.testing.assert_array_equal(records[index, : min(LIMIT, len(expected))], expected[:LIMIT])


@pytest.mark.parametrize("letterbox", [False, True])
@pytest.mark.parametrize(("width", "height"), [(1280, 180), (180, 1280), (400, 400)])
def test_distances_are_those_of_darknet(gpu: Gpu, width: int, height: int, letterbox: bool) -> None:
    """Darknet computes DIoU on fractions of the picture."""
    placed = plan_fit(width, height, WIDTH, HEIGHT, letterbox)
    found = crowd(300, width + letterbox, classes=2, size=40)
    expected = kept_by_darknet(found.boxes, found.scores, found.class_ids, placed, 0.3, 0.6)
    counts, records = suppressed(gpu, [found], [replace(placed, width=10**6, height=10**6)], 0.3, 0.6)
    back = np.array([10**6 / placed.inner_width, 10**6 / placed.inner_height] * 2)
    inside = (found.boxes[expected] - np.array([placed.left, placed.top] * 2)) * back
    visible = np.clip(inside, 0, 10**6)
    visible = visible[(visible[:, 0] < visible[:, 2]) & (visible[:, 1] < visible[:, 3])]
    assert counts[0, 1] == len(visible)
    np.testing.assert_allclose(records[0, : counts[0, 1]]["box"], visible, rtol=1e-4, atol=10)


def test_thousands_of_candidates(gpu: Gpu) -> None:
    pictures = [crowd(CAPACITY, 1, classes=1, size=3), crowd(CAPACITY, 2, classes=80), crowd(CAPACITY - 1, 3, classes=1, size=60)]
    counts, records = suppressed(gpu, pictures, [STRETCHED] * 3)
    for index, found in enumerate(pictures):
        expected = by_definition(found, STRETCHED)
        assert counts[index].tolist() == [len(found), len(expected)]
        np.testing.assert_array_equal(records[index, : min(LIMIT, len(expected))], expected[:LIMIT])
    assert counts[0, 1] > LIMIT  # the true number, and the strongest records


def test_too_many_candidates_give_no_records(gpu: Gpu) -> None:
    pictures = [crowd(CAPACITY + 1, 1), crowd(20, 2)]
    counts, records = suppressed(gpu, pictures, [STRETCHED] * 2)
    assert counts[0].tolist() == [CAPACITY + 1, 0]
    np.testing.assert_array_equal(records[0], poisoned(LIMIT, RECORD))
    np.testing.assert_array_equal(records[1, : counts[1, 1]], by_definition(pictures[1], STRETCHED))


def test_absent_frames_have_no_records(gpu: Gpu) -> None:
    counts, records = suppressed(gpu, [crowd(50, 1)] * 2, [None, BOXED])
    assert counts[0].tolist() == [50, 0]
    np.testing.assert_array_equal(records[0], poisoned(LIMIT, RECORD))
    np.testing.assert_array_equal(records[1, : counts[1, 1]], by_definition(crowd(50, 1), BOXED))


@pytest.mark.parametrize("wanted", [frozenset[int](), frozenset({0}), frozenset({33, 64, 79})])
def test_only_wanted_classes(gpu: Gpu, wanted: frozenset[int]) -> None:
    found = crowd(300, 7, classes=80, size=8)
    counts, records = suppressed(gpu, [found], [STRETCHED], wanted=wanted)
    expected = by_definition(found, STRETCHED, wanted=wanted)
    assert bool(len(expected)) == bool(wanted)
    assert counts[0].tolist() == [300, len(expected)]
    np.testing.assert_array_equal(records[0, : len(expected)], expected)


def test_equal_boxes_and_extreme_ones(gpu: Gpu) -> None:
    boxes = np.array(
        [[10, 10, 20, 20]] * 5 + [[-4e11, -4e11, 4e11, 4e11], [-90, -90, -50, -50], [5, 5, 5, 5], [300, 0, 400, 10]], np.float32
    )
    scores = np.array([0.5] * 5 + [0.9, 0.8, 0.7, 0.6], np.float32)
    for beta in (None, 0.6):
        found = CpuCandidates(boxes, scores, np.array([0, 0, 1, 1, 0, 2, 0, 0, 0], np.int32))
        counts, records = suppressed(gpu, [found], [BOXED], beta=beta)
        expected = by_definition(found, BOXED, beta=beta)
        assert counts[0].tolist() == [9, len(expected)]
        np.testing.assert_array_equal(records[0, : len(expected)], expected)


class Room:
    """Memory for ``OutputSteps``. results: the pinned memory into which the kernels write what they find in one picture."""

    def __init__(self, gpu: Gpu) -> None:
        self.device, self.constant, self._pinned = gpu.poisoned, gpu.upload, gpu.pinned
        self.results = np.zeros(0, np.uint8)

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        self.results = self._pinned(nbytes)
        return self.results


@pytest.mark.parametrize(("beta", "kept"), [(None, 1), (0.6, 2)])
def test_the_suppression_of_the_cfg_is_used(gpu: Gpu, beta: float | None, kept: int) -> None:
    """Two boxes beside each other, IoU above the threshold: by DIoU, ``nms_kind=diounms``, their distance keeps them apart."""
    network = tiny_network()
    layers = tuple(replace(layer, diou_beta=beta) if isinstance(layer, Yolo) else layer for layer in network.layers)
    heads = [np.full((1, *layer.shape), -20, np.float16) for layer in network.heads]
    cells = heads[0].reshape(len(network.heads[0].anchors), 5 + network.classes, *heads[0].shape[2:])[0, :, 2, 2:4]
    cells[:4], cells[4], cells[6] = 0, 20, (2, 1)
    table = np.zeros(1, FRAME)
    table[0] = describe_frame(RGB8, (96, 96), (96, 96), inside(plan_fit(96, 96, network.width, network.height, False)))
    table["luma"] = 1
    room: Any = Room(gpu)
    kernels, stream = (cast("Any", part) for part in (gpu.kernels, gpu.stream))
    addresses = [gpu.upload(head) for head in heads]
    settings = EngineSettings(iou=0.01)
    raw = Outputs(1, [layer.shape for layer in network.heads], (0, 0), np.float16)
    outputs = OutputSteps(replace(network, layers=layers), raw, kernels, room, settings, addresses, gpu.upload(table), stream)
    gpu.run(*outputs.steps)
    counts, _ = read_results(room.results, 1)
    assert counts[0].tolist() == [2, kept]


# Everything after another


def test_a_recorded_batch_gives_what_the_cpu_finds(gpu: Gpu) -> None:
    batch, classes = 4, 20
    images = [picture(320, 200, seed) for seed in range(batch)]
    placed = plan_fit(320, 200, WIDTH, HEIGHT, True)
    heads, layers = heads_of(batch, classes, seed=11)
    others, _ = heads_of(batch, classes, seed=12)
    confidence = gap([np.concatenate(pair) for pair in zip(heads, others, strict=True)], layers, 0.25)
    table = np.zeros(batch, FRAME)
    for index, image in enumerate(images):
        table[index] = describe_frame(RGB8, (320, 200), (320, 200), inside(placed))
        table[index]["luma"], table[index]["pitch"] = gpu.upload(image), 3 * 320
    frames = gpu.upload(table)
    pictures = gpu.poisoned(2 * batch * 3 * WIDTH * HEIGHT)
    addresses = [gpu.upload(head) for head in heads]
    descriptions = [
        Head(address, *layer.shape[1:], layer.anchors, layer.scale_x_y, False) for address, layer in zip(addresses, layers, strict=True)
    ]
    candidates = Candidates(gpu.poisoned(batch * CAPACITY * CANDIDATE_BYTES), gpu.poisoned(4 * batch))
    out = gpu.poisoned(result_bytes(batch))
    graph = gpu.record(
        Preprocess(gpu.kernels, frames, pictures, batch, WIDTH, HEIGHT),
        Mish(gpu.kernels, pictures, batch * 3 * WIDTH * HEIGHT),
        YoloLayer(gpu.kernels, descriptions, gpu.upload(head_table(descriptions)), batch, classes, (WIDTH, HEIGHT), confidence, candidates),
        Nms(gpu.kernels, candidates, frames, gpu.upload(class_mask(classes, None)), batch, 0.45, 0.6, out),
    )
    for values in (heads, others, heads):
        for address, head in zip(addresses, values, strict=True):
            gpu.overwrite(address, head)
        gpu.overwrite(out, poisoned(result_bytes(batch), np.uint8))
        gpu.overwrite(candidates.counts, poisoned(batch, np.int32))
        graph.launch(gpu.stream)
        counts, records = read_results(gpu.download(out, result_bytes(batch), np.uint8), batch)
        for index, found in enumerate(by_decoder(values, layers, confidence)):
            expected = by_definition(found, placed, beta=0.6)
            assert counts[index].tolist() == [len(found), len(expected)]
            assert len(expected) > 3
            got = records[index, : len(expected)]
            np.testing.assert_array_equal(got["class_id"], expected["class_id"])
            np.testing.assert_allclose(got["score"], expected["score"], rtol=2e-6)
            np.testing.assert_allclose(got["box"], expected["box"], rtol=1e-5, atol=1e-2)
    found = gpu.download(pictures, (batch, 3, HEIGHT, WIDTH), np.float16).astype(np.float32)
    for index, image in enumerate(images):
        expected = np.empty((HEIGHT, WIDTH, 3), np.float32)
        fit(image, expected, letterbox=True)
        np.testing.assert_allclose(found[index].transpose(1, 2, 0), mish_of(expected / 255), atol=5e-3)
