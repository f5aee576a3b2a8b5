"""Who waits for whom when a batch goes through several GPUs, on devices whose streams run in any order that events allow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Balance, StageTime
from framefleet.engine.settings import Decode, EngineSettings, Precision
from framefleet.engine.types import DeviceId
from tests.support.models import run_by_definition

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from framefleet.engine.backends.tensorrt import depth as tensorrt_depth
from framefleet.engine.backends.tensorrt.depth import TensorRtDepthBackend
from tests.support.devices.emulated_gpus import Gpus

SETTINGS = EngineSettings(precision=Precision.FP32, batch=2, decode=Decode.CPU)


@pytest.fixture(scope="module")
def network() -> Network:
    """Small enough for definitions: 32 × 32."""
    from framefleet.engine.model.load import load_network
    from tests.support.models import tiny_files

    return load_network(replace(tiny_files(), size=(32, 32)))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def group(count: int) -> DeviceId:
    return DeviceId.group(*(DeviceId("cuda", str(number)) for number in range(count)))


def inputs_of(network: Network, seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).random((2, 3, network.height, network.width), np.float32)


@pytest.mark.parametrize("peers", [True, False])
@pytest.mark.parametrize("cuts", [(12,), (5, 22), (3, 10, 18), (2, 4, 7, 11, 14, 17, 20)])
def test_batches_under_way_neither_overtake_nor_disturb_each_other(
    cuts: tuple[int, ...], peers: bool, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpus = Gpus(len(cuts) + 1, peers, seed=len(cuts))
    gpus.install(monkeypatch, network)
    balance = Balance(cuts, tuple(StageTime(1.0) for _ in (0, *cuts)))
    monkeypatch.setattr(tensorrt_depth, "remembered_balance", lambda *_: balance)
    with TensorRtDepthBackend(group(len(cuts) + 1)) as backend:
        info = backend.activate(network, SETTINGS)
        assert info.slots == 2 * (len(cuts) + 1) + 1
        assert ("directly" if peers else "through host memory") in str(info.reason)
        slots: list[Any] = backend.slots[:4]
        for turn in range(2):
            gpus.direct = gpus.staged = 0
            for number, slot in enumerate(slots):
                slot.fill(inputs_of(network, 10 * turn + number))
            for slot in slots:
                slot.launch()
            for number, slot in enumerate(slots):
                slot.read([])
                expected = run_by_definition(network, inputs_of(network, 10 * turn + number))
                for ours, reference in zip(slot.heads(), expected, strict=True):
                    assert np.linalg.norm(ours - reference) < 1e-3 * np.linalg.norm(reference)
        assert bool(gpus.direct) == peers
        assert set(slots[0].stage_times()) >= {"preprocess", "network cuda:0", "transfer cuda:1", "postprocess"}
    assert not gpus.buffers, "memory is left"
    assert gpus.closed_plans == len(cuts) + 1, "each plan is closed on its own device"


def test_from_the_first_measurement_to_results(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = Gpus(2)
    gpus.install(monkeypatch, network)
    monkeypatch.setattr(tensorrt_depth, "_ROUNDS", 3)
    monkeypatch.setattr(tensorrt_depth, "_WARM_UP_SECONDS", 0)
    inputs = inputs_of(network, 3)
    with TensorRtDepthBackend(group(2)) as backend:
        info = backend.activate(network, SETTINGS)
        assert info.device_name == "2 × Emulated GPU"
        assert str(info.reason).startswith("2 stages, cut before layer ")
        assert len(backend.cuts) == 1
        heads = backend.raw_outputs(np.concatenate([inputs, inputs[:1]]))
        for turn in range(3):
            images = [np.full((20 + turn, 30, 3), 7, np.uint8)] * (1 + turn % 2)
            assert len(backend.infer(images)) == len(images)
        assert {"upload", "network cuda:1", "transfer cuda:1"} <= set(backend.timings())
    for ours, reference in zip(heads, run_by_definition(network, inputs), strict=True):
        assert ours.shape == (3, *reference.shape[1:])
        assert np.linalg.norm(ours[:2] - reference) < 1e-3 * np.linalg.norm(reference)
    assert not gpus.buffers


def test_the_emulation_notices_a_missing_wait(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would prove nothing."""
    from tests.support.devices.emulated_gpus import Stream

    gpus = Gpus(2)
    gpus.install(monkeypatch, network)
    monkeypatch.setattr(tensorrt_depth, "remembered_balance", lambda *_: Balance((12,), (StageTime(1.0), StageTime(1.0))))
    with TensorRtDepthBackend(group(2)) as backend:
        backend.activate(network, SETTINGS)
        slot: Any = backend.slots[0]
        monkeypatch.setattr(Stream, "wait", lambda *_: None)
        slot.fill(inputs_of(network, 1))
        slot.launch()
        slot.read([])
        expected = run_by_definition(network, inputs_of(network, 1).astype(np.float32))
        wrong = [not np.allclose(a, b, rtol=1e-2, atol=1e-2) for a, b in zip(slot.heads(), expected, strict=True)]
        gpus.run_until(lambda: not any(stream.work for stream in gpus.streams))
    assert any(wrong)
