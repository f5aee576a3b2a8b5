"""A network in stages on several GPUs: the uncut network's results, whatever is under way, wherever it is cut, however values move."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import runtime
from cuda.core import Device

from framefleet.engine.backends import create_backend, create_depth_backend
from framefleet.engine.backends.base import Backend
from framefleet.engine.backends.tensorrt.depth import StagedSlot, TensorRtDepthBackend
from framefleet.engine.cuda.graph import record
from framefleet.engine.media.decoder import open_decoder
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodeFailure, DeviceFrame
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Balance, StageTime
from framefleet.engine.notices import DeviceError
from framefleet.engine.settings import Decode, EngineSettings, Hint, ModelFiles, Precision
from framefleet.engine.types import Detections, DeviceId
from tests.support.media import make_video
from tests.support.models import TINY_CFG, tiny_network
from tests.support.networks.inference import CONFIDENCE, assert_batches_stay_apart, assert_same, pictures

SETTINGS = EngineSettings(precision=Precision.FP16, stored_confidence=CONFIDENCE, batch=4)


def gpus(count: int = 2) -> DeviceId:
    return DeviceId.group(*(DeviceId("cuda", str(number)) for number in range(count)))


@pytest.fixture(autouse=True, scope="module")
def _two_devices(several: list[DeviceId]) -> None:
    """Stages need them."""


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


@pytest.fixture(scope="module")
def uncut(network: Network) -> Iterator[Backend]:
    with create_backend(DeviceId("cuda", "0")) as backend:
        backend.activate(network, SETTINGS)
        backend.infer(pictures(1))  # starts the thread that awaits results
        yield backend


@pytest.fixture(scope="module")
def staged(network: Network) -> Iterator[TensorRtDepthBackend]:
    with TensorRtDepthBackend(gpus()) as backend:
        backend.activate(network, SETTINGS)
        backend.infer(pictures(1))
        yield backend


def fix_cuts(monkeypatch: pytest.MonkeyPatch, *cuts: int) -> None:
    balance = Balance(cuts, tuple(StageTime(1.0) for _ in (0, *cuts)))
    monkeypatch.setattr("framefleet.engine.backends.tensorrt.depth.remembered_balance", lambda *_: balance)


@pytest.mark.parametrize(("precision", "limit"), [(Precision.FP32, 1e-3), (Precision.FP16, 1e-2)])
def test_heads_are_the_uncut_networks(network: Network, precision: Precision, limit: float) -> None:
    inputs = np.random.default_rng(1).random((5, 3, network.height, network.width), np.float32)
    for count in range(2, min(8, len(Device.get_all_devices())) + 1):
        outputs = []
        for backend in (create_backend(DeviceId("cuda", "0")), create_depth_backend(gpus(count))):
            with backend:
                info = backend.activate(network, replace(SETTINGS, precision=precision, batch=2))
                outputs.append(backend.raw_outputs(inputs))
        assert str(info.reason).startswith(f"{count} stages, cut before layer")
        for head, reference in zip(*outputs, strict=True):
            assert np.linalg.norm(head - reference) / np.linalg.norm(reference) < limit


@pytest.mark.parametrize("cuts", [(1,), (4,), (9,), (15,), (19,)])
def test_cudnn_computes_stages_like_the_whole_network(cuts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cudnn", reason="cuDNN's frontend is not installed")
    network = load_network(ModelFiles(TINY_CFG.with_name("csp.cfg"), "random:1"))
    inputs = np.random.default_rng(1).random((5, 3, network.height, network.width), np.float32)
    fix_cuts(monkeypatch, *cuts)
    outputs, found = [], []
    for backend in (create_backend(DeviceId("cuda", "0")), create_depth_backend(gpus())):
        with backend:
            info = backend.activate(network, replace(SETTINGS, batch=2))
            assert info.backend.startswith("cuDNN"), str(info.reason)
            outputs.append(backend.raw_outputs(inputs))
            found.append([each for start in range(0, 12, 2) for each in backend.infer(pictures(12, seed=3)[start : start + 2])])
    for head, reference in zip(*outputs, strict=True):
        assert np.linalg.norm(head - reference) / np.linalg.norm(reference) < 1e-3
    assert_same(*found)


def test_detections_are_the_uncut_networks(uncut: Backend, staged: Backend) -> None:
    images = pictures(16)
    both = [[each for start in range(0, 16, 4) for each in backend.infer(images[start : start + 4])] for backend in (uncut, staged)]
    assert_same(*both)


@pytest.mark.parametrize("cuts", [(1,), (12,), (20,), (23,)])
def test_wherever_it_is_cut(cuts: tuple[int, ...], network: Network, uncut: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a head leaves before the last stage."""
    fix_cuts(monkeypatch, *cuts)
    images = pictures(4, seed=3)
    with create_depth_backend(gpus()) as backend:
        backend.activate(network, SETTINGS)
        assert_same(uncut.infer(images), backend.infer(images), 0.97)


def test_values_that_skip_a_stage(network: Network, uncut: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    if len(Device.get_all_devices()) < 3:
        pytest.skip("needs three CUDA devices")
    fix_cuts(monkeypatch, 5, 22)
    images = pictures(4, seed=3)
    with create_depth_backend(gpus(3)) as backend:
        backend.activate(network, SETTINGS)
        assert_same(uncut.infer(images), backend.infer(images), 0.97)


def test_through_host_memory_come_the_same_bytes(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    fix_cuts(monkeypatch, 12)
    images = pictures(12, seed=4)
    found: list[list[Detections]] = []
    for peer in (True, False):
        with TensorRtDepthBackend(gpus(), peer=peer) as backend:
            info = backend.activate(network, SETTINGS)
            if not peer:
                assert "through host memory" in str(info.reason)
            futures = [backend.submit(images[start : start + 4]) for start in range(0, 12, 4)]
            found.append([each for future in futures for each in future.result()])
    assert sum(map(len, found[0])) > 20
    for one, other in zip(*found, strict=True):
        assert (one.boxes.tobytes(), one.scores.tobytes()) == (other.boxes.tobytes(), other.scores.tobytes())


def test_many_batches_under_way_stay_apart(staged: Backend) -> None:
    assert_batches_stay_apart(staged, pictures(60, seed=5))


def test_the_steps_wait_for_nothing_and_allocate_nothing(staged: TensorRtDepthBackend) -> None:
    """Recording them in global mode refuses, in any thread, whatever would; what is not recorded, copies and events, is so as well."""
    staged.infer(pictures(1))
    slot = staged.slots[0]
    assert isinstance(slot, StagedSlot)
    for leg in slot.legs:
        leg.streams.device.set_current()
        graph = record(leg.steps, leg.streams.compute, "global")
        graph.launch(leg.streams.compute)
        leg.streams.compute.sync()


def test_time_is_accounted_for_by_stage(staged: Backend) -> None:
    staged.timings()
    staged.infer(pictures(4))
    spent = staged.timings()
    names = {"upload", "preprocess", "network cuda:0", "transfer cuda:1", "network cuda:1", "postprocess"}
    assert set(spent) == names
    assert all(0 < ms < 1000 for ms in spent.values())


def test_a_latency_engine_takes_one_picture(network: Network) -> None:
    with create_depth_backend(gpus()) as backend:
        info = backend.activate(network, EngineSettings(precision=Precision.FP16, hint=Hint.LATENCY))
        assert (info.batch, info.slots) == (1, 1)
        assert len(backend.infer(pictures(1))) == 1


def test_frames_decoded_on_the_first_device(network: Network, uncut: Backend, staged: Backend, tmp_path: Path) -> None:
    info = probe(make_video(tmp_path / "a.mp4", 24, size=(192, 160)))
    found: list[list[Detections]] = []
    for backend in (uncut, staged):
        decoder = open_decoder(SETTINGS, backend.decodes_on)
        decoder.make_room(3 * backend.info.batch)
        frames = decoder.decode(info, info.segments[0])
        images = [frame.image for frame in islice(frames, 8) if not isinstance(frame, DecodeFailure)]
        given = [image for image in images if isinstance(image, DeviceFrame)]
        frames.close()  # type: ignore[attr-defined]
        assert len(given) == 8
        found.append(backend.infer(given[:4]) + backend.infer(given[4:]))
        decoder.close()
    for one, other in zip(*found, strict=True):
        assert abs(len(one) - len(other)) <= 2


@pytest.mark.alone
def test_memory_is_given_back_on_every_device(network: Network) -> None:
    def once() -> list[int]:
        with create_depth_backend(gpus()) as backend:
            backend.activate(network, SETTINGS)
            backend.infer(pictures(4))
        return [free_memory(number) for number in range(2)]

    once()
    rounds = [once() for _ in range(6)]
    for free in zip(*rounds, strict=True):
        # what is lost is lost in every round; another program takes memory in some
        assert sum(before - after > 4 * 2**20 for before, after in pairwise(free)) <= 2


def free_memory(number: int) -> int:
    runtime.cudaSetDevice(number)
    runtime.cudaDeviceSynchronize()
    return int(runtime.cudaMemGetInfo()[1])


def test_an_engine_after_a_closed_one_works_in_whatever_thread_that_was(network: Network, uncut: Backend) -> None:
    """A library must not use what went with an earlier engine: the next one may have other devices, or more of them."""
    images = pictures(4, seed=9)
    expected = uncut.infer(images)

    def build(*members: str) -> list[Detections]:
        devices = [DeviceId("cuda", name) for name in members]
        backend = create_depth_backend(DeviceId.group(*devices)) if devices[1:] else create_backend(devices[0])
        with backend:
            backend.activate(network, SETTINGS)
            return backend.infer(images)

    for members in (("1",), ("0", "1"), ("1", "0"), ("0",), ("1", "0")):
        with ThreadPoolExecutor(1) as threads:  # ends after each engine
            assert_same(expected, threads.submit(build, *members).result(), 0.97)
        assert_same(expected, build(*members), 0.97)


@pytest.mark.alone
def test_out_of_memory_shrinks_the_batch_and_loses_nothing(network: Network) -> None:
    images = [np.random.default_rng(seed).integers(0, 256, (4320, 7680, 3)).astype(np.uint8) for seed in range(4)]
    with create_depth_backend(gpus()) as backend:
        assert backend.activate(network, replace(SETTINGS, decode=Decode.CPU)).batch == 4
        runtime.cudaSetDevice(0)
        _, pool = runtime.cudaDeviceGetDefaultMemPool(0)
        runtime.cudaMemPoolTrimTo(pool, 0)  # what earlier tests gave back, and others cannot take
        _, free, _ = runtime.cudaMemGetInfo()
        _, hog = runtime.cudaMalloc(free - 260 * 2**20)  # room for two of these pictures, not for four
        try:
            assert len(backend.infer(images)) == 4
            assert backend.info.batch < 4
            assert "stages" in str(backend.info.reason)
            assert "memory" in str(backend.info.reason)
        finally:
            runtime.cudaSetDevice(0)
            runtime.cudaFree(hog)


def test_a_device_that_is_not_there(network: Network) -> None:
    with pytest.raises(DeviceError, match=r"cuda:99.*framefleet devices"):
        create_depth_backend(DeviceId.parse("cuda:0+cuda:99")).activate(network, SETTINGS)
