"""What is measured on the device before ``auto`` chooses, and the choice itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.backends import create_backend
from engine.backends.base import Backend
from engine.media.probe import probe
from engine.pool.events import StrategyChosen
from engine.pool.protocol import Survey
from engine.pool.scheduling.strategies import estimate, frames
from engine.pool.worker.survey import survey
from engine.settings import Decode, EngineSettings, Isolation, Parallel, Precision
from engine.types import DeviceId
from tests.support.groups import same_detections
from tests.support.media import make_video
from tests.support.models import tiny_network
from tests.support.pool import run_pool, tiny_settings

GPU = DeviceId("cuda", "0")
BATCH = 8
FRAMES = 480


@pytest.fixture
def backend() -> Iterator[Backend]:
    with create_backend(GPU) as backend:
        backend.activate(tiny_network(), EngineSettings(precision=Precision.FP16, batch=BATCH))
        yield backend


def test_an_engine_tells_how_fast_it_is(backend: Backend) -> None:
    from engine.backends.tensorrt.backend import TensorRtBackend

    assert isinstance(backend, TensorRtBackend)
    speed, upload = backend.info.images_per_s, backend.info.upload_bytes_per_s
    assert speed is not None
    assert upload is not None
    slot = backend._places[0].slot
    busy = []
    for _ in range(10):
        slot.launch()
        slot.read(())
        busy.append(sum(slot.stage_times().values()))
    bound = 1000 * BATCH / float(np.median(busy))
    assert 0.1 * bound < speed < 1.2 * bound
    assert 1e8 < upload < 1e12, "between a link of one old PCIe decode thread and NVLink"


def test_a_survey_measures_nvdec_and_leaves_the_engine_as_it_was(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "whole.mkv"
    make_video(path, 300, (1280, 720), gop=100_000)
    picture = np.random.default_rng(1).integers(0, 256, (240, 320, 3)).astype(np.uint8)
    (before,) = backend.infer([picture])
    found = survey(Survey(0, probe(path)), backend, lambda: False)
    assert found.on_device
    assert found.own is not None
    assert found.shared is not None
    assert min(found.own, found.shared) > 20
    (after,) = backend.infer([picture])
    assert np.array_equal(before.boxes, after.boxes)
    # that every surface is back is seen when the backend closes: it waits for them


@pytest.mark.parametrize("isolation", [*Isolation])
@pytest.mark.parametrize(("restart", "chosen"), [(-1e9, "frames"), (1e9, "segments")])
def test_an_uncut_video_is_done_as_the_estimate_says(
    restart: float, chosen: str, isolation: Isolation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuda.core import Device

    devices = tuple(DeviceId("cuda", str(number)) for number in range(len(Device.get_all_devices())))
    if len(devices) < 2:
        pytest.skip("there is one CUDA device only")
    monkeypatch.setattr(frames, "LEAST_FRAMES", 200)
    monkeypatch.setattr(estimate, "CHANGE_TIMES", restart)
    path = tmp_path / "whole.mp4"
    make_video(path, FRAMES, (320, 240), gop=100_000)
    auto = replace(tiny_settings(Parallel.AUTO, confidence=0.1), isolation=isolation)
    auto = replace(auto, engine=replace(auto.engine, precision=Precision.FP16, batch=BATCH))
    on_cpu = replace(auto, engine=replace(auto.engine, decode=Decode.CPU))
    alone = run_pool([path], devices[:1], on_cpu if chosen == "frames" else auto)
    seen = run_pool([path], devices, auto)
    told = [event for event in seen.events if isinstance(event, StrategyChosen)]
    assert [event.strategy for event in told] == ["segments", chosen]
    assert "frames/s" in told[1].reason
    assert not seen.failures
    assert seen.finished[0].ledger.inferred == FRAMES
    same_detections(seen.frames[0], alone.frames[0], tolerance=1.0)
