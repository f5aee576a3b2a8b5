"""A detector as plugins of a full TensorRT, which no test machine has: what it is handed is run, emulated, against the CPU's own code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("cuda.core")

from engine.backends import create_backend
from engine.detection.postprocess import detections
from engine.detection.preprocess import Fit, fit, plan_fit
from engine.model.load import load_network
from engine.model.network import Network as Model
from engine.model.network import Yolo
from engine.settings import EngineSettings, ModelFiles, Precision
from engine.types import DeviceId
from plugins import tensorrt_plugins_detection
from plugins.nms import RECORD
from plugins.preprocess import NV12, P016, RGB8, describe_frame
from plugins.tensorrt_plugins_detection import Detector, add_detection, add_preprocess
from plugins.yolo_layer import CAPACITY
from tests.gpu.test_plugins import HALF_STEP, HEIGHT, WIDTH, gap, heads_of, inside
from tests.support import demo, emulation
from tests.support.surfaces import decoded, picture, shown
from tests.support.tensorrt_runner import Network, Runner, Tensor, detector_of
from tests.support.tensorrt_stand_in import DTYPES, TensorRt


@pytest.fixture
def tensorrt(monkeypatch: pytest.MonkeyPatch) -> TensorRt:
    stand_in = TensorRt()
    stand_in.install(monkeypatch)
    return stand_in


@pytest.fixture(scope="module")
def library_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bytes], emulation.Kernels]:
    """Of each program, made once."""

    @cache
    def library(code: bytes) -> emulation.Kernels:
        return emulation.Kernels(emulation.build(tmp_path_factory.mktemp("emulated"), text=code.decode()))

    return library


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, library_of: Callable[[bytes], emulation.Kernels]) -> Runner:
    if emulation.COMPILER is None:
        pytest.skip("there is no g++")
    monkeypatch.setattr(tensorrt_plugins_detection, "compile_ptx", lambda text, _arch: text.encode())

    def launch(code: bytes, kernel: str, sizes: Any, arguments: list[Any]) -> None:
        emulation.launch(None, emulation.LaunchConfig(*sizes), library_of(code)[kernel], *arguments)

    return Runner(emulation.EmulatedGpu(), launch, "sm_90")


def behind(runner: Runner, trt: TensorRt, heads: list[NDArray[np.float16]], detector: Detector, way: int = 0) -> tuple[Any, Any]:
    """Counts and records, RECORD (batch, LIMIT)."""
    network = Network(trt)
    counts, records = add_detection(network, [runner.fill(Tensor(head.shape, "FP16"), head) for head in heads], detector, runner.arch)
    for layer in network.layers:
        runner.run(layer, way)
    return runner.read(counts), runner.read(records).view(RECORD)[..., 0]


def assert_as_on_the_cpu(
    found: tuple[Any, Any],
    heads: list[NDArray[np.float16]],
    layers: list[Yolo],
    size: tuple[int, int],
    fits: list[Fit],
    settings: EngineSettings,
) -> int:
    """How many detections there were."""
    model = Model("detector", *size, 3, False, tuple(layers), (), "")
    expected = detections(model, [head.astype(np.float32) for head in heads], fits, settings)
    counts, records = found
    assert counts[:, 1].tolist() == [len(each) for each in expected]
    for each, some in zip(records, expected, strict=True):
        each = each[: len(some)]
        np.testing.assert_array_equal(each["class_id"], some.class_ids)
        np.testing.assert_allclose(each["score"], some.scores, rtol=2e-6)
        np.testing.assert_allclose(each["box"], some.boxes, rtol=3e-6, atol=5e-3)
    return sum(map(len, expected))


def surfaces_of(planes: list[NDArray[np.uint8]], rows: int) -> NDArray[np.int32]:
    """INT32 (1, rows, pitch / 4) of the planes' rows; what lies below them is 99."""
    stacked = np.concatenate(planes)
    padded = np.pad(stacked, ((0, rows - len(stacked)), (0, -stacked.shape[1] % 4)), constant_values=99)
    return np.ascontiguousarray(padded).view(np.int32)[None]


def stored(kind: int, seed: int) -> tuple[NDArray[np.int32], NDArray[np.uint8], tuple[str, bool]]:
    """Surfaces of one picture, the picture the CPU makes of it, and its colours."""
    image = picture(642, 362, seed)
    if kind == RGB8:
        return surfaces_of([image.reshape(len(image), -1)], len(image)), image, ("bt601", False)
    frame, luma, chroma = decoded(image, kind == P016, "bt709", False)
    return surfaces_of([luma, chroma], len(luma) + len(chroma) + 7), shown(frame), ("bt709", False)


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("kind", [NV12, P016, RGB8])
def test_surfaces_become_pictures_as_on_the_cpu(tensorrt: TensorRt, runner: Runner, kind: int, way: int) -> None:
    stacks, images, (colours, *_) = zip(*(stored(kind, seed) for seed in range(3)), strict=True)
    expected = np.empty((3, HEIGHT, WIDTH, 3), np.float32)
    placed, *_ = [fit(image, out, letterbox=True) for image, out in zip(images, expected, strict=True)]
    frame = describe_frame(kind, (642, 362), (642, 362), inside(placed), *colours)
    surfaces = np.concatenate(stacks)
    network = Network(tensorrt)
    pictures = add_preprocess(
        network,
        runner.fill(Tensor(surfaces.shape, "INT32"), surfaces),
        detector_of(heads_of(1, 2, 0)[1], placed, (WIDTH, HEIGHT), 0.25, frame=frame),
        runner.arch,
    )
    assert (pictures.shape, pictures.dtype) == ((3, 3, HEIGHT, WIDTH), "FP16")
    (layer,) = network.layers
    runner.run(layer, way)
    assert pictures.layout == ("LINEAR", "HWC8")[way]
    difference = np.abs(255 * runner.read(pictures).astype(np.float32).transpose(0, 2, 3, 1) - expected)
    if kind == P016:  # there libswscale interpolates chroma
        assert difference.mean() < 3
    else:
        assert difference.max() <= 2
        assert (difference > 1 + HALF_STEP).mean() < 1e-3


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("new_coords", [False, True])
def test_heads_become_detections_as_on_the_cpu(tensorrt: TensorRt, runner: Runner, new_coords: bool, way: int) -> None:
    heads, layers = heads_of(3, 20, seed=20, new_coords=new_coords)
    if new_coords:
        layers = [replace(layer, diou_beta=0.6) for layer in layers]
    settings = EngineSettings(confidence=gap(heads, layers, 0.25), iou=0.5, classes=frozenset(range(0, 20, 3)) if new_coords else None)
    placed = plan_fit(333, 777, WIDTH, HEIGHT, letterbox=not new_coords)
    detector = detector_of(layers, placed, (WIDTH, HEIGHT), settings.confidence, iou=settings.iou, wanted=settings.classes)
    found = behind(runner, tensorrt, heads, detector, way)
    assert assert_as_on_the_cpu(found, heads, layers, (WIDTH, HEIGHT), [placed] * 3, settings) > 20


def test_more_than_there_is_room_for_is_counted(tensorrt: TensorRt, runner: Runner) -> None:
    heads, layers = heads_of(2, 20, seed=5, objectness=8)
    heads = [np.concatenate([head[:1], heads_of(1, 20, seed=20)[0][index]]) for index, head in enumerate(heads)]
    counts, _ = behind(runner, tensorrt, heads, detector_of(layers, plan_fit(64, 48, WIDTH, HEIGHT, False), (WIDTH, HEIGHT), 0.1))
    assert counts[0, 0] > CAPACITY
    assert counts[0, 1] == 0
    assert 0 < counts[1, 1] <= counts[1, 0] <= CAPACITY


def test_the_demo_from_surfaces_to_detections(tensorrt: TensorRt, runner: Runner) -> None:
    model = load_network(ModelFiles(demo.CFG, demo.WEIGHTS))
    with av.open(str(demo.CLIP)) as clip:
        frames = [frame for index, frame in enumerate(clip.decode(video=0)) if index in (20, 90)]
    nv12 = [frame.reformat(format="nv12").to_ndarray() for frame in frames]
    surfaces = np.concatenate([surfaces_of([planes], len(planes)) for planes in nv12])
    size, fits, expected = (model.width, model.height), [], np.empty((2, model.height, model.width, 3), np.float32)
    fits = [fit(shown(frame), out, letterbox=True) for frame, out in zip(frames, expected, strict=True)]
    stored_size = (frames[0].width, frames[0].height)
    settings = EngineSettings(precision=Precision.FP32, batch=2)
    detector = detector_of(
        list(model.heads),
        fits[0],
        size,
        settings.confidence,
        frame=describe_frame(NV12, stored_size, stored_size, inside(fits[0]), "bt709"),
    )
    network = Network(tensorrt)
    pictures = add_preprocess(network, runner.fill(Tensor(surfaces.shape, "INT32"), surfaces), detector, runner.arch)
    runner.run(network.layers[0], 0)
    inputs = runner.read(pictures).astype(np.float32)
    assert np.abs(255 * inputs.transpose(0, 2, 3, 1) - expected).mean() < 0.2
    with create_backend(DeviceId("cpu", "0")) as backend:
        backend.activate(model, settings)
        heads = [head.astype(np.float16) for head in backend.heads(inputs)]
    found = behind(runner, tensorrt, heads, detector, way=1)
    assert assert_as_on_the_cpu(found, heads, list(model.heads), size, fits, settings) > 10


# TensorRT times layers on whatever is in memory. The runner looks whether they write beside their outputs.


@pytest.mark.parametrize("values", [range(-300, CAPACITY + 300), range(-1, 0)])
def test_numbers_that_nobody_counted_lead_nowhere(tensorrt: TensorRt, runner: Runner, values: range) -> None:
    random = np.random.default_rng(1)
    heads, layers = heads_of(2, 20, seed=1)
    network = Network(tensorrt)
    detector = detector_of(layers, plan_fit(64, 48, WIDTH, HEIGHT, False), (WIDTH, HEIGHT), 0.25)
    add_detection(network, [Tensor(head.shape, "FP16") for head in heads], detector, runner.arch)
    for layer in network.layers:
        for tensor in layer.inputs:
            anything = random.integers(0, 256, (*tensor.shape, np.dtype(DTYPES[tensor.dtype]).itemsize)).astype(np.uint8)
            anything = anything.view(DTYPES[tensor.dtype])[..., 0]
            if tensor.dtype == "INT32":
                anything = random.integers(values.start, values.stop, tensor.shape).astype(np.int32)
            runner.fill(tensor, anything)
        runner.run(layer, 0)


def test_classes_that_there_are_none_of_are_not_looked_up(tensorrt: TensorRt, runner: Runner) -> None:
    heads, layers = heads_of(1, 20, seed=1)
    network = Network(tensorrt)
    detector = detector_of(layers, plan_fit(64, 48, WIDTH, HEIGHT, False), (WIDTH, HEIGHT), 0.25)
    _, records = add_detection(network, [Tensor(head.shape, "FP16") for head in heads], detector, runner.arch)
    layer = network.layers[-1]
    class_ids = np.arange(-100, CAPACITY - 100, dtype=np.int32)[None]
    boxes = np.tile(np.float32([10, 10, 20, 20]), (1, CAPACITY, 1))
    scores = np.full((1, CAPACITY), 0.5, np.float32)
    for tensor, values in zip(layer.inputs, (boxes, scores, class_ids, np.array([1000], np.int32)), strict=True):
        runner.fill(tensor, values)
    runner.run(layer, 0)
    assert runner.read(layer.outputs[0]).tolist() == [[1000, 20]]
    assert runner.read(records).view(RECORD)[0, :20, 0]["class_id"].tolist() == list(range(20))
