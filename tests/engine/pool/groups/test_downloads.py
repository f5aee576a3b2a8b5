"""Frames in the memory of an emulated GPU arrive whole and in order in shared memory, also if they do not fit at once."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.detection.frame_format import FrameFormat, HostImage, PixelFormat, Planes
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.pool.groups.downloads import Downloads
from framefleet.engine.pool.groups.group import Group
from framefleet.engine.pool.groups.shared_pictures import CHUNK_BYTES, SharedPictures
from framefleet.engine.pool.protocol import Failed, Setup
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import EngineSettings, Isolation, ModelFiles, Precision
from framefleet.engine.types import DeviceId
from tests.support.devices.emulated_gpus import Gpus, Stream
from tests.support.models import tiny_network

LAYOUT = FrameFormat(PixelFormat.NV12, 8, 64, 48, 64, 48, (False, None), "bt709", False)
SETTINGS = EngineSettings(precision=Precision.FP32, stored_confidence=0.1, threads=1, batch=4)


def die(why: Failed) -> Any:
    raise AssertionError(why)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Gpus:
    gpus = Gpus(1)
    monkeypatch.setattr("framefleet.engine.pool.groups.downloads.copy_all", gpus.copy_all)
    monkeypatch.setattr("framefleet.engine.pool.groups.downloads.Device", lambda index: gpus.devices[index])
    return gpus


class Decoded:
    """Frames that an emulated GPU writes by two streams, as two decode threads do. Frame n consists of bytes 25 n."""

    def __init__(self, gpus: Gpus, count: int) -> None:
        device = gpus.devices[0]
        streams = [device.create_stream() for _ in range(2)]
        self._memory = [device.allocate(LAYOUT.nbytes, streams[0]) for _ in range(count)]
        self.held = {buffer.handle for buffer in self._memory}
        self.frames = [self._frame(number, streams[number % 2]) for number in range(count)]

    def _frame(self, number: int, stream: Stream) -> DeviceFrame:
        address = self._memory[number].handle
        content = np.full(LAYOUT.nbytes, 25 * number, np.uint8)

        def write() -> None:
            ctypes.memmove(address, content.ctypes.data, content.nbytes)

        stream.put(write)
        return DeviceFrame(LAYOUT, address, stream, lambda: self.held.discard(address))


def content(image: HostImage) -> int:
    """The value of which all bytes of an image consist."""
    values = {int(value) for plane in ((image.luma, image.u, image.v) if isinstance(image, Planes) else (image,)) for value in plane.flat}
    assert len(values) == 1
    return values.pop()


def test_frames_of_several_streams_are_whole_and_in_order(gpus: Gpus) -> None:
    decoded = Decoded(gpus, 8)
    picture = np.full((48, 64, 3), 99, np.uint8)
    images: Sequence[HostImage | DeviceFrame] = [*decoded.frames[:3], picture, *decoded.frames[3:]]
    pictures = SharedPictures(1 << 20)
    (part,) = Downloads(0, pictures, lambda: False).parts(images)
    assert part[3] is picture
    assert [content(image) for image in part] == [0, 25, 50, 99, 75, 100, 125, 150, 175]
    assert all(pictures.locate(image) is not None for image in part if image is not picture)
    assert len(decoded.held) == 8  # the caller releases them


def test_frames_that_do_not_fit_at_once_come_in_parts(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.pool.groups.shared_pictures.CHUNK_BYTES", 1)  # a chunk for each frame
    decoded = Decoded(gpus, 8)
    seen = []
    for part in Downloads(0, SharedPictures(6 * 8192), lambda: False).parts(decoded.frames):
        assert len(part) < 8
        seen += [content(image) for image in part]
        del part  # the members have inferred it
    assert seen == list(range(0, 200, 25))


@pytest.fixture
def group(gpus: Gpus) -> Iterator[Group]:
    """Two CPUs that work for frames of the emulated GPU."""
    device = DeviceId.parse("cpu:0+cpu:1")
    setup = Setup(device, ModelFiles(Path("unused.cfg"), "random:1"), SETTINGS, isolation=Isolation.THREAD)
    with Group(setup, lambda _: None, die, Watchdog(60.0, lambda: False, die)) as group:
        group.activate(tiny_network(), SETTINGS)
        group._downloads = Downloads(0, group._pictures, lambda: group._member_pool.idle)
        yield group


def test_a_group_infers_the_frames_and_releases_them(gpus: Gpus, group: Group) -> None:
    decoded = Decoded(gpus, 4)
    found = group.infer(decoded.frames)
    assert not decoded.held
    blocks = [np.full(LAYOUT.nbytes, 25 * number, np.uint8) for number in range(4)]
    for each, block in zip(found, blocks, strict=True):
        (expected,) = group.infer([Planes.of(LAYOUT, block)])
        np.testing.assert_allclose(each.scores, expected.scores, atol=1e-4)
        np.testing.assert_allclose(each.boxes, expected.boxes, atol=0.01)
    assert len({tuple(each.scores) for each in found}) > 1  # another frame gives other results


def test_frames_do_not_wait_for_pictures_that_wait_for_them(gpus: Gpus, group: Group) -> None:
    """Decode threads of another source hold all memory, and wait until this batch is submitted."""
    group._pictures.limit = CHUNK_BYTES
    held = group._pictures.take(CHUNK_BYTES)
    assert len(group.infer(Decoded(gpus, 4).frames)) == 4
    del held


def test_frames_of_a_batch_that_cannot_be_copied_are_kept_for_another_attempt(
    gpus: Gpus, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("4 blocks cannot be copied")

    decoded = Decoded(gpus, 4)
    with monkeypatch.context() as patch:
        patch.setattr("framefleet.engine.pool.groups.downloads.copy_all", fail)
        with pytest.raises(RuntimeError, match="cannot be copied"):
            group.submit(decoded.frames)
    assert len(decoded.held) == 4
    assert len(group.infer(decoded.frames)) == 4
