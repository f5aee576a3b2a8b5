"""Frames that an emulated GPU decodes arrive whole in shared memory, and every frame is released."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from engine.detection.frame_format import FrameFormat, PixelFormat
from engine.media.decoder import Decoded, Decoder
from engine.media.types import DecodedOnDevice, DecodedPlanes, DecodeFailure, DeviceFrame, Segment, SourceInfo, SourceKind
from engine.pool.groups.shared_decoder import SharedDecoder
from engine.pool.groups.shared_pictures import SharedPictures
from tests.support.devices.emulated_gpus import Gpus

LAYOUT = FrameFormat(PixelFormat.NV12, 8, 64, 48, 64, 48, (False, None), "bt709", False)
SEGMENT = Segment(0, None, None, 0)
INFO = SourceInfo("a.mp4", SourceKind.VIDEO, "h264", 64, 48, 8, None, None, (SEGMENT,))
FAILED = 3


class EmulatedDecoder(Decoder):
    """Writes frames into two surfaces in turn, each only after its release. Frame ``FAILED`` fails; frame n consists of bytes n."""

    def __init__(self, gpus: Gpus, frames: int) -> None:
        super().__init__(1)
        self._gpus, self._frames = gpus, frames
        device = gpus.devices[0]
        self._stream = device.create_stream()
        self._memory = [device.allocate(LAYOUT.nbytes, self._stream) for _ in range(2)]
        self.held: set[int] = set()

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:  # noqa: ARG002
        for number in range(self._frames):
            if number == FAILED:
                yield DecodeFailure(number, 1, "damaged")
                continue
            address = self._memory[number % 2].handle
            assert address not in self.held
            self.held.add(address)
            content = np.full(LAYOUT.nbytes, number, np.uint8)
            self._stream.put(lambda to=address, content=content: ctypes.memmove(to, content.ctypes.data, content.nbytes) and None)  # type: ignore[misc]
            frame = DeviceFrame(LAYOUT, address, self._stream, lambda address=address: self.held.discard(address))  # type: ignore[misc]
            yield DecodedOnDevice(number, frame)

    @property
    def is_copying(self) -> bool:
        """Whether the GPU still has work."""
        return bool(self._stream.work)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Gpus:
    gpus = Gpus(1)
    monkeypatch.setattr("engine.cuda.graph.copy", gpus.copy)
    return gpus


def open_decoder(gpus: Gpus, frames: int, limit: int = 1 << 30) -> tuple[SharedDecoder, EmulatedDecoder]:
    nvdec = EmulatedDecoder(gpus, frames)
    return SharedDecoder(1, SharedPictures(limit), lambda *_: iter(()), nvdec), nvdec  # type: ignore[arg-type]


def test_frames_are_whole_and_in_order(gpus: Gpus) -> None:
    decoder, nvdec = open_decoder(gpus, 8)
    seen = list(decoder.decode(INFO, SEGMENT))
    assert [frame.pts for frame in seen] == list(range(8))
    for number, frame in enumerate(seen):
        if number == FAILED:
            assert isinstance(frame, DecodeFailure)
            continue
        assert isinstance(frame, DecodedPlanes)
        assert frame.by_gpu
        assert all((plane == number).all() for plane in (frame.image.luma, frame.image.u, frame.image.v))
    assert not nvdec.held


@pytest.mark.parametrize("taken", [1, 2, 3, 4])
def test_a_decoder_that_is_closed_early_releases_its_frames_and_copies_nothing_more(gpus: Gpus, taken: int) -> None:
    decoder, nvdec = open_decoder(gpus, 8)
    frames = decoder.decode(INFO, SEGMENT)
    for _ in range(taken):
        next(frames)
    frames.close()  # type: ignore[attr-defined]
    assert not nvdec.held
    assert not nvdec.is_copying


def test_memory_for_one_frame_suffices(gpus: Gpus) -> None:
    decoder, _ = open_decoder(gpus, 8, limit=1)
    assert sum(isinstance(frame, DecodedPlanes) for frame in decoder.decode(INFO, SEGMENT)) == 7
