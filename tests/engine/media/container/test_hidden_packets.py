"""Hidden packets count neither as frames nor as lost frames."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from tests.engine.media.conftest import Clip
from tests.support.media import number_of, numbered, rewrap

VPX = {"deadline": "realtime", "cpu-used": "8"}


def check(path: Path, shown: list[int]) -> None:
    with av.open(str(path)) as container:
        assert [number_of(frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)] == shown, "the test's own clip"
    info = probe(path)
    assert info.frames == len(shown)
    for segment in info.segments:
        outcomes = list(decode(info, segment))
        assert len(outcomes) == segment.frames
        assert all(isinstance(outcome, DecodedFrame) for outcome in outcomes)
        assert [number_of(outcome.image) for outcome in outcomes] == shown[: segment.frames]  # type: ignore[union-attr]
        shown = shown[segment.frames :]


def hide_vp9_key(data: bytes) -> bytes:
    return bytes([data[0] & ~0b10]) + data[1:]


def test_vp8_frames_that_are_not_shown(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.webm", frames=170, codec="libvpx", gop=40, options=VPX)
    path = rewrap(source, tmp_path / "a.webm", lambda number, data, _key: bytes([data[0] & ~0x10]) + data[1:] if number % 7 == 3 else data)
    check(path, [number for number in range(170) if number % 7 != 3])


def test_vp9_frames_that_are_not_shown(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.webm", frames=60, codec="libvpx-vp9", gop=20, options=VPX)
    path = rewrap(source, tmp_path / "a.webm", lambda _number, data, key: hide_vp9_key(data) if key else data)
    check(path, [number for number in range(60) if number % 20])


@pytest.mark.parametrize("name", ["a.webm", "a.mp4"])
def test_a_vp9_superframe_shows_one_frame(name: str, clip: Clip, tmp_path: Path) -> None:
    """A hidden frame and the order to show it, in one packet, as libvpx writes its alternate references."""

    def superframe(_number: int, data: bytes, key: bool) -> bytes:
        if not key:
            return data
        parts = (hide_vp9_key(data), b"\x88\x00")
        marker = bytes([0b11000000 | 3 << 3 | len(parts) - 1])
        return b"".join(parts) + marker + b"".join(len(part).to_bytes(4, "little") for part in parts) + marker

    check(rewrap(clip("a.webm", frames=170, codec="libvpx-vp9", gop=40, options=VPX), tmp_path / name, superframe), list(range(170)))


@pytest.mark.parametrize("name", ["a.avi", "a.mkv", "a.mp4"])
def test_mpeg4_frames_that_are_not_coded(name: str, clip: Clip, tmp_path: Path) -> None:
    not_coded = b"\0\0\1\xb6\x50\x4f"  # a P-VOP at time increment 0, 5 bits of it, not coded
    source = clip(name, frames=130, codec="mpeg4", gop=10)
    path = rewrap(source, tmp_path / name, lambda number, data, _key: not_coded if number % 10 == 5 else data)
    check(path, [number for number in range(130) if number % 10 != 5])


def test_small_mpeg4_frames_of_a_still_scene_are_shown(clip: Clip) -> None:
    """A frame in which nothing moves has as few bytes as a placeholder."""
    path = clip("a.avi", frames=40, size=(64, 48), codec="mpeg4", gop=100, picture=lambda _, size: numbered(7, size))
    with av.open(str(path)) as container:
        assert min(packet.size for packet in container.demux(video=0) if packet.size) < 19
    check(path, [7] * 40)
