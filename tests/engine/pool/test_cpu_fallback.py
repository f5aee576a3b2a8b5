from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.backends.base import Backend, Progress
from framefleet.engine.model.network import Network
from framefleet.engine.notices import DeviceError, literal
from framefleet.engine.pool import pool as pools
from framefleet.engine.pool.events import DeviceLeft, DeviceReady, Event
from framefleet.engine.pool.pool import CPU, CpuFallback
from framefleet.engine.pool.protocol import Setup
from framefleet.engine.pool.worker import worker
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import DeviceId, EngineInfo
from tests.support.media import make_video
from tests.support.pool import Seen, small_settings, watch, with_worker

GPU = DeviceId("cuda", "0")


def late_gpu_main(connection: Connection[Any, Any], setup: Setup, *, go: Path | None) -> None:
    """A real worker; the GPU is the CPU by another name, whose engine is built when this file is there (None: cannot be built).

    The CPU is slow, so that a short video takes longer than building the GPU's engine.
    """

    from framefleet.engine import backends
    from framefleet.engine.backends.openvino.backend import OpenVinoBackend

    create = backends.create_backend

    class Late(OpenVinoBackend):
        def _activate_impl(self, network: Network, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
            assert progress is not None
            for _ in range(20 if go is None else 10**9):
                if go is not None and go.exists():
                    info = super()._activate_impl(network, settings, progress)
                    self.device = setup.device
                    return replace(info, device=setup.device)
                progress(literal("trying tactics"), 0.5)
                time.sleep(0.05)
            raise DeviceError(literal(f"{setup.device}: no such card"))

    def create_late(device: DeviceId) -> Backend:
        if device == CPU:
            slow = create(device)
            submit = slow.submit
            slow.submit = lambda *batch: time.sleep(0.02) or submit(*batch)  # type: ignore[method-assign,func-returns-value]
            return slow
        return Late(DeviceId("cpu", "1"))

    backends.create_backend = create_late
    worker.main(connection, setup)


def run(video: Path, go: Path | None) -> Seen:
    pool_type = with_worker(partial(late_gpu_main, go=go))

    with pool_type(small_settings(), [GPU]) as pool:
        helper = CpuFallback(pool, [GPU])
        pool.add(video)
        pool.finish()

        def react(event: Event, seen: Seen) -> None:
            helper.see(event)
            if go is not None and len(seen.frames[0]) > 20:
                go.touch()

        return watch(pool.events(), react)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "PATIENCE_SECONDS", 0.2)


def test_the_cpu_works_until_the_first_engine_is_built(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", frames=400, size=(64, 48))
    seen = run(video, tmp_path / "go")
    by = [frame.device for frame in seen.frames[0]]
    assert len(by) == 400
    assert by[0] == CPU
    assert by[-1] == GPU
    assert seen.finished[0].ledger.inferred == 400
    order = [event for event in seen.events if isinstance(event, DeviceReady | DeviceLeft)]
    assert [type(event) for event in order] == [DeviceReady, DeviceReady, DeviceLeft]
    assert isinstance(order[-1], DeviceLeft)
    assert order[-1].device == CPU


def test_the_cpu_stays_if_no_engine_can_be_built(tmp_path: Path) -> None:
    video = make_video(tmp_path / "a.mp4", frames=400, size=(64, 48))
    seen = run(video, None)
    assert {frame.device for frame in seen.frames[0]} == {CPU}
    assert seen.finished[0].error is None
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(GPU, False)]
