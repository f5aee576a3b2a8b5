"""Shared memory: room that is bounded, given back with the last array, and seen by others."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat, Planes
from framefleet.engine.pool.groups import shared_pictures as shared
from framefleet.engine.pool.groups.shared_pictures import CHUNK_BYTES, Chunk, MappedChunk, PictureLocation, SharedPictures
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.types import Image
from tests.support.notices import words


def picture(value: int, width: int = 64, height: int = 48) -> Image:
    return np.full((height, width, 3), value, np.uint8)


def read_in_another_process(chunk: Chunk, place: PictureLocation) -> bytes:
    image = MappedChunk(chunk).image(place)
    assert isinstance(image, np.ndarray)
    return image.tobytes()


def read_planes_in_another_process(chunk: Chunk, place: PictureLocation) -> tuple[FrameFormat, bytes, bytes, bytes]:
    frame = MappedChunk(chunk).image(place)
    assert isinstance(frame, Planes)
    return frame.format, frame.luma.tobytes(), frame.u.tobytes(), frame.v.tobytes()


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_picture_and_a_part_of_it_are_seen_by_another_process() -> None:
    pictures = SharedPictures(2 * CHUNK_BYTES)
    given = np.random.default_rng(1).integers(0, 256, (48, 64, 3), np.uint8)
    copy = pictures.put(given)
    with multiprocessing.get_context("spawn").Pool(1) as process:
        for image in (copy, copy[10:30, 5:60]):
            place = pictures.locate(image)
            assert place is not None
            assert process.apply(read_in_another_process, (pictures.chunks[0], place)) == image.tobytes()
    pictures.close()


def test_what_does_not_lie_here_is_not_located() -> None:
    pictures = SharedPictures(2 * CHUNK_BYTES)
    copy = pictures.put(picture(1))
    assert pictures.locate(picture(1)) is None
    assert pictures.locate(copy[:, ::2]) is None
    assert pictures.locate(copy[..., ::-1]) is None
    pictures.close()


def test_room_comes_back_with_the_last_view() -> None:
    pictures = SharedPictures(CHUNK_BYTES)
    large = picture(0, 4096, CHUNK_BYTES // 4096 // 3 - 1)
    first = pictures.put(large)
    view = first[3:5]
    came: list[Image] = []
    thread = threading.Thread(target=lambda: came.append(pictures.put(large)))
    thread.start()
    del first
    thread.join(0.2)
    assert not came
    del view
    thread.join(5)
    assert len(came) == 1
    pictures.close()


def test_a_decoder_that_waits_for_room_is_not_taken_for_one_that_hangs() -> None:
    pictures = SharedPictures(CHUNK_BYTES)
    large = picture(0, 4096, CHUNK_BYTES // 4096 // 3 - 1)
    held = [pictures.put(large)]
    clock = Watchdog(60.0, lambda: False, sys.exit).add()

    def decode() -> None:
        clock.start(words("decoding"), 60.0)
        pictures.put(large)

    thread = threading.Thread(target=decode)
    thread.start()
    while not clock.paused:
        assert thread.is_alive()
    held.clear()
    thread.join()
    assert not clock.paused
    pictures.close()


def test_memory_stays_within_the_limit_when_sizes_change() -> None:
    pictures = SharedPictures(2 * CHUNK_BYTES)
    for width in range(100, 3000, 100):
        held = [pictures.put(picture(1, width, 1000)) for _ in range(3)]
        assert pictures.nbytes <= 2 * CHUNK_BYTES
        assert all(image[0, 0, 0] == 1 for image in held)
        del held
    pictures.close()


def test_what_is_urgent_does_not_wait() -> None:
    pictures = SharedPictures(CHUNK_BYTES)
    held = pictures.put(picture(1))
    came: list[Image] = []
    waiting = threading.Thread(target=lambda: came.append(pictures.put(picture(4, 3000, 2000))))
    waiting.start()
    other = pictures.put(picture(2, 4000, 3000), urgent=True)
    assert pictures.nbytes > CHUNK_BYTES
    assert not came
    del other, held
    waiting.join(5)
    assert len(came) == 1
    del came[0]
    held = pictures.put(picture(1))
    third = pictures.put(picture(3))
    assert held[0, 0, 0] == 1
    assert third[0, 0, 0] == 3
    pictures.close()


def test_a_picture_larger_than_the_limit_gets_its_room_alone() -> None:
    pictures = SharedPictures(CHUNK_BYTES // 64)
    for _ in range(3):
        image = pictures.put(picture(3, 7680, 4320))
        assert image.shape == (4320, 7680, 3)
        assert len(pictures.chunks) == 1
        del image
    pictures.close()


@pytest.mark.parametrize("anonymous", [True, False])
def test_nothing_stays_behind(anonymous: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not anonymous:
        monkeypatch.delattr(os, "memfd_create")
        monkeypatch.setattr(shared.tempfile, "tempdir", str(tmp_path))
    gc.collect()  # earlier tests may have left open files in reference cycles
    before = open_files()
    pictures = SharedPictures(4 * CHUNK_BYTES)
    image = pictures.put(picture(7))
    place = pictures.locate(image)
    assert place is not None
    assert MappedChunk(pictures.chunks[0]).image(place)[0, 0, 0] == 7
    assert len(list(tmp_path.iterdir())) == (0 if anonymous else 1)
    del image
    pictures.close()
    del pictures
    gc.collect()
    assert open_files() <= before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "depth"), [(PixelFormat.I420, 8), (PixelFormat.NV12, 8), (PixelFormat.P016, 10)])
def test_a_frame_is_seen_by_another_process_as_planes(kind: PixelFormat, depth: int) -> None:
    layout = FrameFormat(kind, depth, 63, 47, 63, 47, (False, None), "bt709", False)
    content = np.random.default_rng(1).integers(0, 256, layout.nbytes, np.uint8)
    given = Planes.of(layout, content)
    apart = Planes(layout, *(np.pad(plane, ((0, 0), (0, 9)))[:, : plane.shape[1]] for plane in (given.luma, given.u, given.v)))
    pictures = SharedPictures(2 * CHUNK_BYTES)
    assert pictures.locate(apart) is None
    block = pictures.take(layout.nbytes)
    block[:] = content
    with multiprocessing.get_context("spawn").Pool(1) as process:
        for copy in (pictures.put(apart), Planes.of(layout, block)):
            place = pictures.locate(copy)
            assert place is not None
            found = process.apply(read_planes_in_another_process, (pictures.chunks[0], place))
            assert found == (layout, given.luma.tobytes(), given.u.tobytes(), given.v.tobytes())
    del copy, block
    pictures.close()


class Locked:
    """Notes which memory is locked."""

    def __init__(self) -> None:
        self.ranges: dict[int, int] = {}

    def add(self, address: int, nbytes: int) -> None:
        assert address not in self.ranges
        self.ranges[address] = nbytes

    def remove(self, address: int) -> None:
        self.ranges.pop(address, None)  # of memory from before the lock was known


def test_pages_are_locked_from_the_first_to_the_last_use_of_a_chunk() -> None:
    pictures = SharedPictures(CHUNK_BYTES)
    early = pictures.put(picture(1))
    locked = pictures.page_lock = Locked()
    del early
    block = pictures.take(3000)  # of another size: the limit allows only one of the two chunks
    ((address, nbytes),) = locked.ranges.items()
    assert address <= block.ctypes.data < block.ctypes.data + block.nbytes <= address + nbytes
    del block
    wider = pictures.take(CHUNK_BYTES)
    assert list(locked.ranges.values()) == [wider.nbytes]
    pictures.close()
    assert not locked.ranges
