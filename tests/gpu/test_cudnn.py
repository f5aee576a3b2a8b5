"""cuDNN on the device: it computes what TensorRT computes, and its plans come from the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np
import pytest

pytest.importorskip("cudnn", reason="cuDNN is not installed", exc_type=Exception)

from framefleet.engine.backends.cudnn import engine as plans
from framefleet.engine.backends.nvidia.backend import NvidiaBackend
from framefleet.engine.backends.nvidia.engine import CustomLayers
from framefleet.engine.backends.nvidia.slot import WholeSlot
from framefleet.engine.backends.nvidia.trials import Builder
from framefleet.engine.cuda.graph import record
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import Detections, DeviceId
from framefleet.resources import DEMO
from tests.support.models import TINY_CFG, run_by_definition
from tests.support.networks.detections import compare
from tests.support.networks.inference import CONFIDENCE, assert_same, by_definition, pictures

GPU = DeviceId("cuda", "0")
SETTINGS = EngineSettings(precision=Precision.FP16, stored_confidence=CONFIDENCE, batch=4)


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(ModelFiles(TINY_CFG.with_name("csp.cfg"), "random:1"))


@pytest.fixture(scope="module", params=[False, True], ids=["cuDNN alone", "with pairs by our kernels"])
def backend(request: pytest.FixtureRequest, network: Network) -> Iterator[NvidiaBackend]:
    with NvidiaBackend(GPU, CustomLayers(cudnn=True, pointwise=request.param)) as backend:
        backend.activate(network, SETTINGS)
        backend.infer(pictures(1))  # starts the thread that awaits results
        yield backend


def test_heads(network: Network, backend: NvidiaBackend) -> None:
    assert backend.info.backend.startswith("cuDNN")
    inputs = np.random.default_rng(1).random((6, 3, network.height, network.width), np.float32)
    for head, reference in zip(backend.raw_outputs(inputs), run_by_definition(network, inputs), strict=True):
        assert head.dtype == np.float32
        assert np.linalg.norm(head - reference) / np.linalg.norm(reference) < 1e-2


def test_detections_equal_those_of_tensorrt(network: Network, backend: NvidiaBackend) -> None:
    images = pictures(12)
    found = [each for start in range(0, 12, 4) for each in backend.infer(images[start : start + 4])]
    assert_same(by_definition(network, images, SETTINGS), found, 0.98)  # FP16 moves some boxes across the threshold
    with NvidiaBackend(GPU, CustomLayers()) as other:
        other.activate(network, SETTINGS)
        assert_same([each for start in range(0, 12, 4) for each in other.infer(images[start : start + 4])], found, 0.98)


def test_large_pictures_of_a_batch_keep_their_places(backend: NvidiaBackend) -> None:
    """Several threads copy them to pinned memory; not one that is alone."""
    images = [cv2.resize(picture, (1920, 1080), interpolation=cv2.INTER_NEAREST) for picture in pictures(4)]
    assert_same([backend.infer([image])[0] for image in images], backend.infer(images), 1.0)


def test_a_picture_may_change_once_it_is_submitted(backend: NvidiaBackend) -> None:
    """Also one that is alone, which the driver copies from where it is, with and without gaps between its rows."""
    (image,) = pictures(1)
    image = cv2.resize(image, (416, 416), interpolation=cv2.INTER_NEAREST)
    gaps = np.zeros((416, 448, 3), np.uint8)[:, 16:432]
    for picture in (image.copy(), gaps):
        picture[...] = image
        found = backend.submit([picture])
        picture[...] = 0
        assert_same(backend.infer([image, image])[:1], found.result(), 1.0)


def test_the_demo_clip_has_the_detections_of_tensorrt() -> None:
    clip = cv2.VideoCapture(str(DEMO.clip))
    frames = [cv2.cvtColor(clip.read()[1], cv2.COLOR_BGR2RGB) for _ in range(64)]
    network, found = load_network(ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels)), []
    for layers in (CustomLayers(), CustomLayers(cudnn=True, pointwise=True)):
        with NvidiaBackend(GPU, layers) as backend:
            backend.activate(network, replace(SETTINGS, stored_confidence=0.25, batch=16))
            found.append([each for start in range(0, len(frames), 16) for each in backend.infer(frames[start : start + 16])])
    total = sum((compare(one, other, 0.25) for one, other in zip(*found, strict=True)), compare(Detections(), Detections(), 0))
    assert total.reference > 100
    assert min(total.recovered, total.confirmed) >= 0.99


def test_more_candidates_than_the_kernels_have_room_for(network: Network) -> None:
    settings = replace(SETTINGS, stored_confidence=1e-6, iou=1.0)
    images = pictures(2, seed=7)
    with NvidiaBackend(GPU, CustomLayers(cudnn=True)) as backend:
        backend.activate(network, settings)
        found = backend.infer(images)
    expected = by_definition(network, images, settings)
    assert [len(each) for each in found] == pytest.approx([len(each) for each in expected], rel=0.02)


def test_the_steps_wait_for_nothing_and_allocate_nothing(backend: NvidiaBackend) -> None:
    slot = backend.slots[0]
    assert isinstance(slot, WholeSlot)
    graph = record(slot.steps, slot.stream, "global")
    graph.launch(slot.stream)
    slot.stream.sync()


def test_a_trial_chooses_and_explains_and_keeps_the_plans(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later start builds no plan: it loads all of them from the cache."""
    with NvidiaBackend(GPU) as backend:
        backend.tuning = True
        reason = str(backend.activate(network, SETTINGS).reason)
    assert "cuDNN" in reason
    monkeypatch.setattr(plans, "build_plans", lambda *_: pytest.fail("a plan is built"))
    monkeypatch.setattr(Builder, "choose_layers", lambda *_: (CustomLayers(cudnn=True, pointwise=True, fastest=True), []))
    with NvidiaBackend(GPU) as backend:
        backend.activate(network, SETTINGS)
        assert backend.infer(pictures(1))
