"""Groups on the device: pictures are uploaded directly from shared memory, with the same results."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.pool.groups.shared_pictures import MappedChunk, SharedPictures
from framefleet.engine.settings import Decode, EngineSettings, Isolation, Parallel, Precision, RunSettings, Tiles
from framefleet.engine.types import Detections, DeviceId
from tests.support.groups import same_detections
from tests.support.media import make_video
from tests.support.models import tiny_network
from tests.support.networks.detections import compare
from tests.support.pool import run_pool, tiny_settings

GPU = DeviceId("cuda", "0")
CONFIDENCE = 0.1
SETTINGS = EngineSettings(precision=Precision.FP16, stored_confidence=0.05, batch=4)


def equal(a: list[Detections], b: list[Detections]) -> bool:
    return all(np.array_equal(one.boxes, other.boxes) and np.array_equal(one.scores, other.scores) for one, other in zip(a, b, strict=True))


def test_registered_pictures_and_parts_of_them_give_the_same_as_others() -> None:
    from framefleet.engine.cuda.memory import REGISTERED

    shared = SharedPictures(2**27)
    random = np.random.default_rng(3)
    large = shared.put(np.kron(random.integers(0, 256, (60, 80, 3)), np.ones((8, 8, 1))).astype(np.uint8))
    mapped = MappedChunk(shared.chunks[0])
    parts = [(0, 480, 0, 640), (7, 300, 11, 401), (100, 480, 333, 640), (5, 6, 9, 11)]
    places = [shared.locate(large[top:bottom, left:right]) for top, bottom, left, right in parts]
    views = [mapped.image(place) for place in places if place is not None]
    own = [np.ascontiguousarray(view) for view in views]
    with create_backend(GPU) as backend:
        backend.activate(tiny_network(), SETTINGS)
        expected = backend.infer(own)
        assert sum(map(len, expected)) > 0
        assert equal(backend.infer(views), expected)  # by way of the backend's own memory
        REGISTERED.add(mapped.address, mapped.nbytes)
        for _ in range(4):  # every slot
            assert equal(backend.infer(views), expected)
            assert equal(backend.infer([views[0], own[1], views[2], own[3]]), expected)
        REGISTERED.remove(mapped.address)
        assert equal(backend.infer(views), expected)
    del views
    shared.close()


def settings_for(parallel: Parallel, isolation: Isolation = Isolation.PROCESS, decode: Decode = Decode.AUTO) -> RunSettings:
    settings = replace(tiny_settings(parallel, confidence=CONFIDENCE), tiles=Tiles(3, 2), isolation=isolation)
    return replace(settings, engine=replace(settings.engine, precision=Precision.FP16, batch=8, decode=decode))


@pytest.mark.parametrize("isolation", [Isolation.PROCESS, Isolation.THREAD])
@pytest.mark.parametrize("parallel", [Parallel.STREAMS, Parallel.SEGMENTS, Parallel.FRAMES, Parallel.TILES, Parallel.DEPTH])
def test_several_devices_find_what_one_does(parallel: Parallel, isolation: Isolation, several: list[DeviceId], tmp_path: Path) -> None:
    video = make_video(tmp_path / "video.mp4", 480, (320, 240))
    # tiles and depth take pictures that the CPU has decoded; tiles have no counterpart but themselves
    decode = Decode.AUTO if parallel in (Parallel.STREAMS, Parallel.SEGMENTS, Parallel.FRAMES) else Decode.CPU
    alone = run_pool([video], (GPU,), settings_for(Parallel.TILES if parallel is Parallel.TILES else Parallel.SEGMENTS, decode=decode))
    seen = run_pool([video], tuple(several), settings_for(parallel, isolation, decode))
    assert seen.finished[0].ledger.inferred == alone.finished[0].ledger.inferred == 480
    assert not seen.failures
    assert sum(len(frame.detections or ()) for frame in seen.frames[0]) > 480
    if parallel is Parallel.DEPTH:
        found, expected = ([frame.detections or Detections() for frame in run.frames[0]] for run in (seen, alone))
        total = sum(map(partial(compare, threshold=CONFIDENCE), expected, found), compare(Detections(), Detections(), 0))
        assert min(total.recovered, total.confirmed) > 0.99  # the plans of stages round otherwise
        # of two overlapping boxes with almost the same confidence, suppression may keep the other one; the video repeats each picture
        assert total.unexplained <= 0.005 * total.reference
    else:
        same_detections(seen.frames[0], alone.frames[0], tolerance=1.0)


@pytest.mark.parametrize("isolation", [Isolation.PROCESS, Isolation.THREAD])
@pytest.mark.parametrize("name", ["8 bits.mp4", "10 bits.mkv"])
def test_nvdec_decodes_for_all_members(name: str, isolation: Isolation, tmp_path: Path) -> None:
    coded = {} if name.startswith("8") else {"codec": "libx265", "pix_fmt": "yuv420p10le", "options": {"preset": "ultrafast"}}
    video = make_video(tmp_path / name, 300, (320, 240), **coded)
    alone = run_pool([video], (GPU,), settings_for(Parallel.SEGMENTS))
    shared = run_pool([video], (GPU,), settings_for(Parallel.FRAMES, isolation))
    for run in (alone, shared):
        assert run.finished[0].ledger.inferred == run.finished[0].decoder.nvdec == 300
        assert not run.failures
    assert sum(len(frame.detections or ()) for frame in shared.frames[0]) > 300
    same_detections(shared.frames[0], alone.frames[0], tolerance=1.0)


@pytest.mark.parametrize(("decode", "expected"), [(Decode.AUTO, 120), (Decode.NVDEC, 120), (Decode.CPU, 0)])
def test_the_setting_chooses_what_decodes_a_video_that_cannot_be_cut(decode: Decode, expected: int, tmp_path: Path) -> None:
    video = make_video(tmp_path / "uncut.mp4", 120, (320, 240), gop=1000)
    seen = run_pool([video], (GPU,), settings_for(Parallel.FRAMES, decode=decode))
    assert (seen.finished[0].ledger.inferred, seen.finished[0].decoder.nvdec) == (120, expected)


def test_a_thread_that_has_not_used_the_device_yet_locks_memory() -> None:
    from framefleet.engine.cuda.memory import REGISTERED, PageLock

    shared = SharedPictures(2**27)
    large = shared.put(np.zeros((480, 640, 3), np.uint8))
    mapped = MappedChunk(shared.chunks[0])
    lock = PageLock(0)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lock.add, mapped.address, mapped.nbytes).result()
        assert REGISTERED.covers(mapped.address)
        thread.submit(lock.remove, mapped.address).result()
    assert not REGISTERED.covers(mapped.address)
    del large
    shared.close()
