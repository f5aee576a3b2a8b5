"""The TensorRT backend on the device: what it computes, and how it behaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.backends.base import Backend
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Network
from framefleet.engine.settings import EngineSettings, Hint, ModelFiles, Precision
from framefleet.engine.types import DeviceId
from tests.support.models import OLDER_CFG, TINY_CFG, run_by_definition, tiny_network
from tests.support.networks.inference import CONFIDENCE, assert_batches_stay_apart, assert_same, by_definition, pictures

GPU = DeviceId("cuda", "0")
SETTINGS = EngineSettings(precision=Precision.FP16, stored_confidence=CONFIDENCE, batch=4)


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


@pytest.fixture(scope="module")
def backend(network: Network) -> Iterator[Backend]:
    with create_backend(GPU) as backend:
        backend.activate(network, SETTINGS)
        backend.infer(pictures(1))  # starts the thread that awaits results
        yield backend


@pytest.mark.parametrize(("precision", "limit"), [(Precision.FP32, 1e-3), (Precision.FP16, 2e-2)])
def test_heads(network: Network, precision: Precision, limit: float) -> None:
    inputs = np.random.default_rng(1).random((5, 3, network.height, network.width), np.float32)
    with create_backend(GPU) as backend:
        backend.activate(network, replace(SETTINGS, precision=precision, batch=2))
        ours = backend.raw_outputs(inputs)
    for head, reference in zip(ours, run_by_definition(network, inputs), strict=True):
        assert head.dtype == np.float32
        assert np.linalg.norm(head - reference) / np.linalg.norm(reference) < limit


@pytest.mark.parametrize(("precision", "limit"), [(Precision.FP32, 1e-3), (Precision.FP16, 2e-2)])
def test_older_layers(precision: Precision, limit: float) -> None:
    older = load_network(ModelFiles(OLDER_CFG, "random:2"))
    inputs = np.random.default_rng(1).random((3, 3, older.height, older.width), np.float32)
    with create_backend(GPU) as backend:
        backend.activate(older, replace(SETTINGS, precision=precision, batch=2))
        (found,) = backend.raw_outputs(inputs)
    (reference,) = run_by_definition(older, inputs)
    assert np.linalg.norm(found - reference) / np.linalg.norm(reference) < limit


def test_detections_of_pictures_of_any_size(network: Network, backend: Backend) -> None:
    images = pictures(11)
    found = [each for start in range(0, 11, 4) for each in backend.infer(images[start : start + 4])]
    assert_same(by_definition(network, images, SETTINGS), found)


def test_many_batches_under_way_stay_apart(backend: Backend) -> None:
    assert_batches_stay_apart(backend, pictures(24, seed=5))


def test_the_same_input_gives_the_same_bytes(backend: Backend) -> None:
    images = pictures(4, seed=6)
    first = backend.infer(images)
    for _ in range(20):
        for before, now in zip(first, backend.infer(images), strict=True):
            assert (before.boxes.tobytes(), before.scores.tobytes()) == (now.boxes.tobytes(), now.scores.tobytes())


def test_more_candidates_than_the_kernels_have_room_for(network: Network) -> None:
    settings = replace(SETTINGS, stored_confidence=1e-6, iou=1.0)
    images = pictures(2, seed=7)
    with create_backend(GPU) as backend:
        backend.activate(network, settings)
        found = backend.infer(images)
    expected = by_definition(network, images, settings)
    assert [len(each) for each in found] == pytest.approx([len(each) for each in expected], rel=0.01)
    assert len(found[0]) > 400


def test_custom_layers_and_the_plan_agree(tmp_path: Path) -> None:
    from framefleet.engine.backends.nvidia.backend import NvidiaBackend
    from framefleet.engine.backends.nvidia.engine import CustomLayers

    cfg = tmp_path / "wider.cfg"
    cfg.write_text(TINY_CFG.read_text().replace("filters=8", "filters=16", 1))
    network = load_network(ModelFiles(cfg, "random:1"))
    inputs = np.random.default_rng(2).random((2, 3, network.height, network.width), np.float32)
    heads = []
    for first, mish in product((False, True), (False, True)):
        with NvidiaBackend(GPU, CustomLayers(first, mish)) as backend:
            backend.activate(network, SETTINGS)
            heads.append(backend.raw_outputs(inputs))
    for outside in heads[1:]:
        for expected, found in zip(heads[0], outside, strict=True):
            assert np.linalg.norm(expected - found) / np.linalg.norm(expected) < 2e-2


def test_a_latency_engine_takes_one_picture(network: Network) -> None:
    with create_backend(GPU) as backend:
        info = backend.activate(network, EngineSettings(precision=Precision.FP16, hint=Hint.LATENCY))
        assert (info.batch, info.slots) == (1, 1)
        assert len(backend.infer(pictures(1))) == 1


def test_automatic_choices_are_made_once_and_explained(network: Network) -> None:
    first: list[str] = []
    again: list[str] = []
    for said in (first, again):
        with create_backend(GPU) as backend:
            info = backend.activate(network, EngineSettings(), lambda doing, _, said=said: said.append(doing))
            assert info.batch >= 4
            assert "batch" in str(info.reason)
            assert info.precision in ("fp16", "fp32")
    assert len(first) > len(again)


def test_the_steps_wait_for_nothing_and_allocate_nothing(backend: Backend) -> None:
    """Recording them in global mode refuses, in any thread, whatever would."""
    from framefleet.engine.backends.nvidia.backend import NvidiaBackend
    from framefleet.engine.backends.nvidia.slot import WholeSlot
    from framefleet.engine.cuda.graph import record

    assert isinstance(backend, NvidiaBackend)
    backend.infer(pictures(1))
    slot = backend.slots[0]
    assert isinstance(slot, WholeSlot)
    graph = record(slot.steps, slot.stream, "global")
    graph.launch(slot.stream)
    slot.stream.sync()


def test_time_is_accounted_for_by_stage(backend: Backend) -> None:
    backend.timings()
    backend.infer(pictures(4))
    spent = backend.timings()
    assert set(spent) == {"upload", "preprocess", "network", "postprocess"}
    assert all(0 < ms < 1000 for ms in spent.values())
    assert not any(backend.timings().values())


def test_a_damaged_plan_is_built_anew(network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    images = pictures(2)
    results = []
    for _ in range(2):
        with create_backend(GPU) as backend:
            backend.activate(network, SETTINGS)
            results.append(backend.infer(images))
        for entry in tmp_path.rglob("*.built"):
            content = bytearray(entry.read_bytes())
            content[len(content) // 2] ^= 0xFF
            entry.write_bytes(content)
    for before, after in zip(*results, strict=True):
        np.testing.assert_allclose(before.boxes, after.boxes, atol=0.5)


@pytest.mark.alone
def test_memory_is_given_back(network: Network) -> None:
    from cuda.bindings import runtime

    def free() -> int:
        runtime.cudaDeviceSynchronize()
        return int(runtime.cudaMemGetInfo()[1])

    def once() -> int:
        with create_backend(GPU) as backend:
            backend.activate(network, SETTINGS)
            backend.infer(pictures(4))
        return free()

    once()
    before = once()
    for _ in range(3):
        after = once()
    assert before - after < 16 * 2**20


@pytest.mark.alone
def test_out_of_memory_shrinks_the_batch_and_loses_nothing(network: Network) -> None:
    from cuda.bindings import runtime

    images = [np.random.default_rng(seed).integers(0, 256, (4320, 7680, 3)).astype(np.uint8) for seed in range(4)]
    with create_backend(GPU) as backend:
        assert backend.activate(network, SETTINGS).batch == 4
        small = [backend.infer([image])[0] for image in pictures(4)]
        _, free, _ = runtime.cudaMemGetInfo()
        _, hog = runtime.cudaMalloc(free - 260 * 2**20)  # room for two of these pictures, not for four
        try:
            found = backend.infer(images)
            assert len(found) == 4
            assert backend.info.batch < 4
            assert "memory" in str(backend.info.reason)
        finally:
            runtime.cudaFree(hog)
        for before, after in zip(small, [backend.infer([image])[0] for image in pictures(4)], strict=True):
            np.testing.assert_allclose(before.boxes, after.boxes, atol=0.5)


def test_a_device_that_is_not_there(network: Network) -> None:
    from framefleet.engine.notices import DeviceError

    with pytest.raises(DeviceError, match=r"cuda:99.*framefleet devices"):
        create_backend(DeviceId("cuda", "99")).activate(network, SETTINGS)
