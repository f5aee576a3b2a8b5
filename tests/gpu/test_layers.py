"""The custom layers against the code the CPU uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.model.network import Yolo
from engine.postprocess import detections
from engine.preprocess import Fit, fit, plan_fit
from engine.settings import EngineSettings
from engine.types import Detections
from plugins.cache import FileCache
from plugins.nms import LIMIT, Nms, class_mask, read_results, result_bytes
from plugins.preprocess import FRAME, NV12, P016, RGB8, Preprocess, describe_frame
from plugins.yolo_layer import CANDIDATE_BYTES, CAPACITY, Candidates, Head, YoloLayer, head_table
from tests.support.models import tiny_network

SIZES = [(1920, 1080), (768, 432), (416, 416), (640, 360), (31, 17), (200, 1000)]


class Gpu:
    def __init__(self, folder: Path) -> None:
        from cuda.core import Device

        from engine.backends.cuda_memory import Memory
        from plugins.kernels import Kernels

        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.memory = Memory(self.device, self.stream)
        self.kernels = Kernels(f"sm_{self.device.arch}", FileCache(folder))

    def upload(self, values: NDArray[Any]) -> int:
        return self.memory.constant(values)

    def download(self, address: int, values: NDArray[Any]) -> NDArray[Any]:
        from engine.backends.cuda_graph import copy

        copy(values.ctypes.data, address, values.nbytes, self.stream)
        self.stream.sync()
        return values

    def run(self, *steps: Any) -> None:
        """Recorded where nothing may wait or allocate in any thread, and launched twice: the second launch must change nothing."""
        from engine.backends.cuda_graph import record

        for step in steps:
            step.launch(self.stream)
        self.stream.sync()
        graph = record(steps, self.stream, "global")
        for _ in range(2):
            graph.launch(self.stream)
        self.stream.sync()


@pytest.fixture(scope="module")
def gpu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gpu]:
    gpu = Gpu(tmp_path_factory.mktemp("kernels"))
    yield gpu
    gpu.memory.close()


def inside(placed: Fit) -> tuple[int, int, int, int]:
    return placed.left, placed.top, placed.inner_width, placed.inner_height


def preprocess(gpu: Gpu, frames: NDArray[Any], width: int, height: int) -> NDArray[np.float64]:
    """0..255, (batch, height, width, 3)."""
    shape = (len(frames), 3, height, width)
    pictures = gpu.upload(np.full(shape, np.nan, np.float16))  # whatever is not written shows
    gpu.run(Preprocess(gpu.kernels, gpu.upload(frames), pictures, len(frames), width, height))
    return gpu.download(pictures, np.empty(shape, np.float16)).transpose(0, 2, 3, 1).astype(np.float64) * 255


@pytest.mark.parametrize("count", [1, 8, 1000, 4096 * 8 + 3])
def test_mish(gpu: Gpu, count: int) -> None:
    from plugins.mish import Mish

    values = np.random.default_rng(count).normal(0, 6, count).astype(np.float16)
    values[:3] = [0, -65504, 65504][: min(3, count)]
    x = values.astype(np.float64)
    address = gpu.upload(values)
    Mish(gpu.kernels, address, count).launch(gpu.stream)
    found = gpu.download(address, np.empty(count, np.float16)).astype(np.float64)
    expected = x * np.tanh(np.logaddexp(0, x))
    assert np.abs(found - expected).max(initial=0) <= 1e-3 + np.abs(expected).max() * 5e-4
    assert np.all(np.abs(found - expected) <= 2e-3 + 1e-3 * np.abs(expected))


@pytest.mark.parametrize("letterbox", [False, True])
@pytest.mark.parametrize("still", [False, True])
def test_pictures_are_resized_as_on_the_cpu(gpu: Gpu, letterbox: bool, still: bool) -> None:
    width, height = 416, 352
    random = np.random.default_rng(1)
    images = [random.integers(0, 256, (h, w, 3)).astype(np.uint8) for w, h in SIZES]
    frames, expected = np.zeros(len(images), FRAME), []
    for entry, image in zip(frames, images, strict=True):
        out = np.empty((height, width, 3), np.float32)
        placed = fit(image, out, letterbox, still)
        expected.append(out)
        size = (image.shape[1], image.shape[0])
        entry[...] = describe_frame(RGB8, size, size, inside(placed), still=still)
        entry["luma"], entry["pitch"] = gpu.upload(image), 3 * size[0]
    found = preprocess(gpu, frames, width, height)
    for ours, theirs in zip(found, expected, strict=True):
        assert np.abs(ours - theirs).max() <= 1.2  # OpenCV weighs in steps of 1/2048, FP16 has 11 bits


@pytest.mark.parametrize("matrix", ["bt601", "bt709"])
@pytest.mark.parametrize("full_range", [False, True])
@pytest.mark.parametrize("deep", [False, True])
def test_video_frames_have_the_colours_of_the_cpu(gpu: Gpu, matrix: str, full_range: bool, deep: bool) -> None:
    av = pytest.importorskip("av")
    import cv2
    from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

    width, height = 640, 360
    random = np.random.default_rng(3)
    soft = cv2.resize(random.integers(0, 256, (12, 20, 3)).astype(np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    space = {"bt601": Colorspace.ITU601, "bt709": Colorspace.ITU709}[matrix]
    span = ColorRange.JPEG if full_range else ColorRange.MPEG
    reformat = VideoReformatter().reformat
    rgb = av.VideoFrame.from_ndarray(soft, "rgb24")
    frame = reformat(rgb, format="p010le" if deep else "nv12", dst_colorspace=space, src_color_range=ColorRange.JPEG, dst_color_range=span)
    back = reformat(frame, format="rgb24", src_colorspace=space, src_color_range=span, dst_color_range=ColorRange.JPEG).to_ndarray()
    planes = [np.frombuffer(frame.planes[i], np.uint8) for i in range(2)]
    entry = np.zeros(1, FRAME)
    entry[0] = describe_frame(P016 if deep else NV12, (width, height), (width, height), (0, 0, width, height), matrix, full_range)
    entry["luma"], entry["chroma"], entry["pitch"] = gpu.upload(planes[0]), gpu.upload(planes[1]), frame.planes[0].line_size
    found = preprocess(gpu, entry, width, height)[0]
    assert np.abs(found - back).mean() < 1.0
    assert np.quantile(np.abs(found - back), 0.99) <= 3


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("flip", [None, 0, 1, -1])
def test_orientations(gpu: Gpu, transposed: bool, flip: int | None) -> None:
    import cv2

    stored = np.random.default_rng(2).integers(0, 256, (90, 160, 3)).astype(np.uint8)
    shown = cv2.transpose(stored) if transposed else stored
    shown = shown if flip is None else cv2.flip(shown, flip)
    out = np.empty((64, 96, 3), np.float32)
    placed = fit(np.ascontiguousarray(shown), out, True)
    entry = np.zeros(1, FRAME)
    entry[0] = describe_frame(RGB8, (160, 90), shown.shape[1::-1], inside(placed), orientation=(transposed, flip))
    entry["luma"], entry["pitch"] = gpu.upload(stored), 480
    assert np.abs(preprocess(gpu, entry, 96, 64)[0] - out).max() <= 1.2


def heads_like(random: np.random.Generator, layers: tuple[Yolo, ...], batch: int, crowd: float) -> list[NDArray[np.float16]]:
    """Raw heads in which about a share of ``crowd`` of the cells see something."""
    heads = []
    for layer in layers:
        channels, rows, columns = layer.shape
        values = random.normal(0, 1.5, (batch, len(layer.anchors), channels // len(layer.anchors), rows, columns))
        values[:, :, 4] = np.where(random.random(values[:, :, 4].shape) < crowd, random.normal(2, 1, values[:, :, 4].shape), -8)
        heads.append(values.reshape(batch, *layer.shape).astype(np.float16))
    return heads


@pytest.mark.parametrize("crowd", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("beta", [None, 0.6])
@pytest.mark.parametrize("new_coords", [False, True])
@pytest.mark.parametrize("classes", [None, frozenset({0, 2})])
def test_detections_are_those_of_the_cpu(
    gpu: Gpu, crowd: float, beta: float | None, new_coords: bool, classes: frozenset[int] | None
) -> None:
    from dataclasses import replace

    network = tiny_network()
    layers = tuple(replace(layer, diou_beta=beta, new_coords=new_coords) if isinstance(layer, Yolo) else layer for layer in network.layers)
    network = replace(network, layers=layers)
    settings = EngineSettings(confidence=0.3, classes=classes)
    batch = 5
    raw = heads_like(np.random.default_rng(int(100 * crowd)), network.heads, batch, crowd)
    raw[0][1].ravel()[::7] = np.nan
    raw[0][2].ravel()[::5] = np.inf
    raw[-1][3] = raw[-1][4]  # equal scores in different pictures, and below equal ones in the same
    raw[-1][3][:, 0] = raw[-1][3][:, 1]
    if new_coords:
        raw = [np.float16(1) / (1 + np.exp(-values)) for values in raw]
    fits = [plan_fit(640, 480, network.width, network.height, bool(index % 2)) for index in range(batch)]
    expected = detections(network, [values.astype(np.float32) for values in raw], fits, settings)
    found = on_gpu(gpu, network, raw, fits, settings)
    assert sum(len(each) for each in expected) > 0 or crowd == 0.0
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.class_ids.tolist() == theirs.class_ids.tolist()
        np.testing.assert_allclose(ours.boxes, theirs.boxes, rtol=1e-4, atol=2e-3)
        np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-5)


def test_more_candidates_than_there_is_room_for_are_counted(gpu: Gpu) -> None:
    network = tiny_network()
    raw = [np.full((1, *layer.shape), 5, np.float16) for layer in network.heads]
    counts, _ = results_of(gpu, network, raw, [plan_fit(96, 96, 96, 96, False)], EngineSettings())
    cells = sum(len(layer.anchors) * layer.shape[1] * layer.shape[2] for layer in network.heads)
    assert counts[0, 0] == cells * network.classes


def results_of(
    gpu: Gpu, network: Any, raw: list[NDArray[np.float16]], fits: list[Fit], settings: EngineSettings
) -> tuple[NDArray[np.int32], NDArray[Any]]:
    from engine.backends.cuda_graph import Copy

    batch = len(fits)
    heads = [
        Head(gpu.upload(values), *layer.shape[1:], layer.anchors, layer.scale_x_y, layer.new_coords)
        for values, layer in zip(raw, network.heads, strict=True)
    ]
    frames = np.zeros(batch, FRAME)
    for entry, placed in zip(frames, fits, strict=True):
        size = (placed.width, placed.height)
        entry[...] = describe_frame(RGB8, size, size, inside(placed))
        entry["luma"] = 1
    size = (network.width, network.height)
    table, results = gpu.upload(frames), gpu.upload(np.full(result_bytes(batch), 0xAB, np.uint8))
    candidates = Candidates(gpu.memory.device(batch * CAPACITY * CANDIDATE_BYTES), gpu.upload(np.zeros(batch, np.int32)))
    zeros = gpu.memory.pinned(4 * batch)
    mask = gpu.upload(class_mask(network.classes, settings.classes))
    gpu.run(
        Copy(candidates.counts, zeros.ctypes.data, zeros.nbytes),
        YoloLayer(gpu.kernels, heads, gpu.upload(head_table(heads)), batch, network.classes, size, settings.confidence, candidates),
        Nms(gpu.kernels, candidates, table, mask, batch, settings.iou, network.heads[-1].diou_beta, results),
    )
    return read_results(gpu.download(results, np.empty(result_bytes(batch), np.uint8)), batch)


def on_gpu(gpu: Gpu, network: Any, raw: list[NDArray[np.float16]], fits: list[Fit], settings: EngineSettings) -> list[Detections]:
    counts, records = results_of(gpu, network, raw, fits, settings)
    assert (counts <= (CAPACITY, LIMIT)).all()
    return [
        Detections(rows["box"][:count], rows["score"][:count], rows["class_id"][:count])
        for rows, count in zip(records, counts[:, 1].tolist(), strict=True)
    ]
