"""Live sources by NVDEC, without its hardware: a session that returns a frame for each packet, as the library does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.live.decoding import CodecError, Decoded
from framefleet.engine.media.live.messages import Format, LivePacket
from framefleet.engine.media.nvdec.bitstream import DamagedError
from framefleet.engine.media.nvdec.live import NvdecCodec
from framefleet.engine.media.nvdec.surfaces import SurfaceRing
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.notices import Notice
from tests.engine.media.nvdec.test_surfaces import HostMemory
from tests.support.live.packets import packets_of
from tests.support.media import make_video
from tests.support.notices import words

LAYOUT = FrameFormat(PixelFormat.NV12, 8, 320, 240, 320, 240, (False, None), "bt601", False)


class Library:
    """A session of the library. silent: packets without a frame. spoiled: packets whose frame the hardware reports as damaged."""

    def __init__(self) -> None:
        self.stream, self.damaged = None, False
        self.silent: set[int] = set()
        self.spoiled: set[int] = set()
        self.refusing = False
        self.finished = 0

    def decode(self, data: Any, time: int) -> list[tuple[int, int]]:
        number = time - (1 << 40)
        if self.refusing:
            raise DamagedError(words("refused"))
        assert data[:4] == b"\0\0\0\1"
        self.damaged = number in self.spoiled
        return [] if number in self.silent else [(0, 64)]

    def finish(self) -> list[tuple[int, int]]:
        self.finished += 1
        return []

    def copy(self, address: int, surface: Any, nbytes: int) -> None:
        assert (address, nbytes) == (64, LAYOUT.nbytes)
        assert surface.nbytes >= nbytes


@pytest.fixture
def ring() -> Iterator[SurfaceRing]:
    ring = SurfaceRing(32, 1 << 30, HostMemory)
    yield ring
    ring.close()  # waits for every surface


def opened(form: Format, ring: SurfaceRing) -> tuple[NvdecCodec, Library]:
    session = Library()
    return NvdecCodec(form, LAYOUT, session, ring), session  # type: ignore[arg-type]


def shown(codec: NvdecCodec, packets: list[LivePacket]) -> list[list[int | str]]:
    """The numbers of the frames that come with each packet and at the end, or why one is not shown. Releases all."""

    def names(found: list[Decoded]) -> list[int | str]:
        for decoded in found:
            if isinstance(decoded.frame, DeviceFrame):
                decoded.frame.release()
        return [each.frame.code if isinstance(each.frame, Notice) else each.number for each in found]

    return [*(names(codec.decode(packet)) for packet in packets), names(codec.finish())]


def flat(found: list[list[int | str]]) -> list[int | str]:
    return [each for group in found for each in group]


def test_each_frame_comes_with_its_packet(ring: SurfaceRing, tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 36))
    codec, _ = opened(form, ring)
    assert shown(codec, packets) == [[number] for number in range(36)] + [[]]


@pytest.mark.parametrize("name", ["a.mkv", "a.ts"])
def test_reordered_frames_come_in_order_after_the_first_ones(name: str, ring: SurfaceRing, tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / name, 48, bframes=2))
    codec, _ = opened(form, ring)
    found = flat(shown(codec, packets))
    order = sorted(range(48), key=lambda number: packets[number].seconds)
    numbers = [each for each in found if isinstance(each, int)]
    assert numbers == [number for number in order if number in numbers]
    assert found.count("live.device_busy") + len(numbers) == 48
    assert len(numbers) >= 46, "only until the order is known"


def test_one_wrong_time_does_not_delay_frames_for_ever(ring: SurfaceRing, tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 96))
    packets[20] = LivePacket(20, packets[17].seconds + 0.001, math.inf, False, False, packets[20].data)
    codec, _ = opened(form, ring)
    found = shown(codec, packets)
    assert flat(found).count("live.device_busy") == 1
    assert found[30] != [30]
    assert found[80:96] == [[number] for number in range(80, 96)]
    assert sum(isinstance(each, int) for each in flat(found)) == 95


def test_a_packet_without_a_sound_frame_is_damaged(ring: SurfaceRing, tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mp4", 24))
    codec, session = opened(form, ring)
    session.silent, session.spoiled = {5}, {13}
    for number in (5, 13):
        with pytest.raises(CodecError):
            shown(codec, packets[number:])
        codec.restart(True)
    assert session.finished == 2
    session.refusing = True
    with pytest.raises(CodecError):
        codec.decode(packets[0])
    assert flat(shown(opened(form, ring)[0], packets[12:])) == [*range(12, 24)]


def test_waiting_frames_are_given_back_when_it_starts_again(ring: SurfaceRing, tmp_path: Path) -> None:
    form, packets = packets_of(make_video(tmp_path / "a.mkv", 24, bframes=2))
    codec, _ = opened(form, ring)
    for packet in packets[:10]:
        for decoded in codec.decode(packet):
            if isinstance(decoded.frame, DeviceFrame):
                decoded.frame.release()
    codec.restart(True)  # the fixture waits for all surfaces
    assert codec.finish() == []


def test_leading_pictures_of_a_keyframe_in_the_middle_are_left_out(ring: SurfaceRing, tmp_path: Path) -> None:
    options = {"x265-params": "log-level=none:bframes=3:open-gop=1:b-adapt=0:keyint=22:scenecut=0"}
    form, packets = packets_of(make_video(tmp_path / "a.ts", 66, codec="libx265", gop=22, options=options))
    first = [packet.number for packet in packets if packet.keyframe][1]
    leading = sum(packet.seconds < packets[first].seconds for packet in packets[first:])
    assert leading
    codec, _ = opened(form, ring)
    found = flat(shown(codec, packets[first:]))
    assert found.count("live.before_keyframe") == leading
