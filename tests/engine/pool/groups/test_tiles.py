"""Pictures cut into tiles for several devices: the same objects as on one device, whichever device does a tile."""

from __future__ import annotations

import signal
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import cv2
import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.detection.tiling import merge, plan_tiles
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from framefleet.engine.notices import Notice, unexpected
from framefleet.engine.pool.events import Event, StrategyChosen
from framefleet.engine.pool.groups.shared_pictures import CHUNK_BYTES
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import EngineSettings, Hint, Isolation, ModelFiles, Parallel, Precision, RunSettings, Tiles
from framefleet.engine.types import DeviceId
from tests.support.groups import group_fault_main, merging_fault_main, same_detections, signal_to_a_member, small_memory_main
from tests.support.media import make_video
from tests.support.models import tiny_network
from tests.support.pool import CPUS, Seen, memory, run_pool, tiny_settings, with_worker, worker_pids

FRAMES = 24
TILES = Tiles(3, 2, 0.2)
SETTINGS = replace(tiny_settings(Parallel.TILES, confidence=0.1), tiles=TILES)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("tiles") / "video.mp4", FRAMES, (320, 240))


@pytest.fixture(scope="module")
def alone(video: Path) -> Seen:
    """One device, doing all tiles."""
    return run_pool([video], CPUS[:1], SETTINGS)


def test_one_device_finds_what_its_tiles_hold(video: Path, alone: Seen) -> None:
    assert alone.finished[0].ledger.inferred == FRAMES
    info = probe(video)
    tiling = plan_tiles(320, 240, 96, 96, TILES)
    assert len(tiling) == 7
    with create_backend(CPUS[0]) as backend:
        backend.activate(tiny_network(), SETTINGS.engine)
        pictures = (frame.image for frame in decode(info, info.segments[0]) if isinstance(frame, DecodedFrame))
        for picture, result in zip(islice(pictures, 5), alone.frames[0], strict=False):
            found = [backend.infer([picture[top:bottom, left:right]])[0] for left, top, right, bottom in tiling.boxes.tolist()]
            expected = merge(tiling, found, SETTINGS.engine.iou)
            assert result.detections is not None
            assert len(result.detections) == len(expected) > 0
            np.testing.assert_allclose(result.detections.boxes, expected.boxes, atol=0.01)


@pytest.mark.parametrize(
    ("batch", "hint", "isolation"),
    [
        (None, Hint.LATENCY, Isolation.PROCESS),
        (4, Hint.THROUGHPUT, Isolation.THREAD),
        pytest.param(None, Hint.LATENCY, Isolation.THREAD, marks=pytest.mark.slow),
        pytest.param(4, Hint.THROUGHPUT, Isolation.PROCESS, marks=pytest.mark.slow),
    ],
)
def test_two_devices_find_what_one_finds(isolation: Isolation, batch: int | None, hint: Hint, video: Path, alone: Seen) -> None:
    settings = replace(SETTINGS, isolation=isolation, engine=replace(SETTINGS.engine, batch=batch, hint=hint))
    seen = run_pool([video], CPUS, settings)
    assert seen.finished[0].ledger.inferred == FRAMES
    same_detections(seen.frames[0], alone.frames[0])
    assert {frame.device for frame in seen.frames[0]} == {DeviceId.group(*CPUS)}
    done = [stats.frames for stats in seen.stats if stats.final]
    assert len(done) == 2
    assert abs(sum(done) - FRAMES) <= 1
    assert min(done) > 0


def test_what_was_chosen_is_told_in_words(alone: Seen) -> None:
    chosen = next(event for event in alone.events if isinstance(event, StrategyChosen))
    assert (chosen.strategy, str(chosen.reason)) == ("tiles", "as the settings say: 3 × 2 tiles that overlap by 20%, and the whole picture")
    assert {frame.device for frame in alone.frames[0]} == {CPUS[0]}


@pytest.mark.slow
def test_small_objects_of_a_large_picture_are_found_in_tiles_only(tmp_path: Path, data: Path) -> None:
    """Eight pictures in one: each is hardly to be seen where the network sees all of them at once."""
    dog = cv2.imread(str(data / "images" / "dog.jpg"))
    cv2.imwrite(str(tmp_path / "sheet.png"), np.tile(dog, (3, 3, 1)))
    files = ModelFiles(data / "models" / "yolo-fastest-1.1.cfg", data / "models" / "yolo-fastest-1.1.weights")
    settings = RunSettings(files, engine=EngineSettings(precision=Precision.FP32, stored_confidence=0.4), parallel=Parallel.STREAMS)
    whole = run_pool([tmp_path / "sheet.png"], CPUS[:1], settings).frames[0][0].detections
    tiled = run_pool([tmp_path / "sheet.png"], CPUS, replace(settings, parallel=Parallel.TILES, tiles=Tiles(4, 4, 0.3))).frames[0][0]
    assert whole is not None
    assert tiled.detections is not None
    dogs = 16
    assert (tiled.detections.class_ids == dogs).sum() > 2 * (whole.class_ids == dogs).sum()


@pytest.mark.slow  # test_frames.py kills a member, too
def test_a_killed_member_costs_no_frame(video: Path, alone: Seen) -> None:
    kill_one = signal_to_a_member(signal.SIGKILL)
    seen = run_pool([video], CPUS, SETTINGS, kill_one)
    assert kill_one.pid
    same_detections(seen.frames[0], alone.frames[0])


def test_a_frame_with_a_tile_that_fails_fails_alone(video: Path) -> None:
    # the whole picture's number can be read by the fault; tiles show parts of it, whose numbers are others
    fault = partial(group_fault_main, numbers=frozenset({3}), how="late")
    settings = replace(SETTINGS, tiles=Tiles(1, 1))
    seen = run_pool([video], CPUS, settings, pool_type=with_worker(fault))
    assert seen.finished[0].ledger.inferred == FRAMES - 1
    assert list(seen.failed(0)) == [3]


def test_an_error_in_merging_is_told_with_its_cause(video: Path, capfd: pytest.CaptureFixture[str]) -> None:
    seen = run_pool([video], CPUS[:1], SETTINGS, pool_type=with_worker(merging_fault_main))
    assert not seen.failures
    reason = Notice("pool.tiles_not_merged", problem=unexpected(ZeroDivisionError("a bug")))
    assert seen.failed(0) == dict.fromkeys(range(FRAMES), reason)
    assert "Traceback" in capfd.readouterr().err


def test_large_pictures_stay_within_the_memory(tmp_path: Path) -> None:
    video = make_video(tmp_path / "large.mp4", 12, (1920, 1080))  # 75 MB of pictures
    most = 0

    def look(_: EnginePool, __: Event, ___: Seen) -> None:
        nonlocal most
        pid = worker_pids().get("cpu:0+cpu:1")
        if pid is not None:
            most = max(most, memory(pid, "RssShmem"))

    seen = run_pool([video], CPUS, replace(SETTINGS, tiles=Tiles(4, 2, 0.1)), look, with_worker(small_memory_main))
    assert seen.finished[0].ledger.inferred == 12
    assert 10e6 < most <= CHUNK_BYTES
