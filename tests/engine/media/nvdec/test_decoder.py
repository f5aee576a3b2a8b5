"""What of NVDEC's decoding can be tested without a GPU: the messages, the layout of frames, what is refused and how that is said."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.nvdec.bitstream import DamagedError, UnsupportedError
from framefleet.engine.media.nvdec.decoder import NvdecDecoder
from framefleet.engine.media.nvdec.format import first_frame, planes
from framefleet.engine.media.nvdec.surfaces import SurfaceRing
from framefleet.engine.media.picture import Converter
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import Segment
from framefleet.engine.notices import DeviceError
from tests.engine.media.conftest import Clip
from tests.support.media import make_field_video, rewrap

WHOLE = Segment(0, None, None, 0)

TALKING = """
import ctypes, os, threading
from framefleet.engine.media.nvdec.library import messages
library, found = ctypes.CDLL(None), []
ear = messages()
assert ear is messages()
library.printf(b"something else, %d\\n", 7)
assert not ear.damage_reported()
library.printf(b"Decode Error occurred for picture %d\\n", 7)
other = threading.Thread(target=lambda: found.append(ear.damage_reported()))
other.start(); other.join()
assert found == [False], "not its message"
assert ear.damage_reported() and not ear.damage_reported()
other = threading.Thread(target=lambda: (library.printf(b"Decode Error\\n"), found.append(ear.damage_reported())))
other.start(); other.join()
assert found[1] and not ear.damage_reported()
print("Python's own", flush=True)
"""


def test_damage_is_told_to_the_thread_that_decodes() -> None:
    run = subprocess.run([sys.executable, "-c", TALKING], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "something else, 7\nPython's own\n"


@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="there is an NVIDIA driver")
def test_without_a_driver_the_error_says_what_to_do() -> None:
    with pytest.raises(DeviceError, match=r"NVDEC needs .* use --decode cpu"):
        NvdecDecoder(0, SurfaceRing(1, 1, pytest.fail))


def examine(path: Path) -> FrameFormat:
    with VideoFile(path) as file:
        return first_frame(file, WHOLE).format


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("bt601", False, (96, 64), (False, None))),
        ({"size": (1280, 720), "colorspace": 1, "tagged": False}, ("bt709", False, (1280, 720), (False, None))),
        ({"colorspace": 9}, ("bt2020", False, (96, 64), (False, None))),
        ({"colorspace": 1, "color_range": 2}, ("bt709", True, (96, 64), (False, None))),
        ({"rotation": 90}, ("bt601", False, (64, 96), (True, 0))),
        ({"hflip": True}, ("bt601", False, (96, 64), (False, 1))),
        ({"aspect": Fraction(2)}, ("bt601", False, (192, 64), (False, None))),
    ],
)
def test_frames_are_described_as_the_cpu_converts_them(options: dict[str, Any], expected: object, clip: Clip) -> None:
    path = clip("a.mp4", frames=12, **options)
    found = examine(path)
    assert (found.matrix, found.full_range, (found.width, found.height), found.orientation) == expected
    info = probe(path)
    assert (info.width, info.height) == (found.width, found.height)
    assert (found.stored_width, found.stored_height) == options.get("size", (96, 64))


def surface_bytes(frame: Any, layout: FrameFormat) -> np.ndarray[Any, Any]:
    """A frame as the hardware stores it, by libswscale."""
    name = {8: "nv12", 10: "p010le", 12: "p012le"}[layout.depth]
    converted = frame.reformat(format=name)
    width = -(-layout.stored_width // 2) * 2 * (1 if layout.depth == 8 else 2)
    rows = [np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, -1)[:, :width] for plane in converted.planes]
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in rows]).ravel()


@pytest.mark.parametrize("size", [(96, 64), (854, 480), (66, 50)])
@pytest.mark.parametrize("depth", [8, 10, 12])
def test_a_surface_holds_the_planes(size: tuple[int, int], depth: int, clip: Clip) -> None:
    coder = {"codec": "libx265", "options": {"preset": "ultrafast", "x265-params": "log-level=none:info=0"}}
    path = clip(
        "a.mp4", frames=12, size=size, **(coder if depth > 8 else {}), pix_fmt={8: "yuv420p", 10: "yuv420p10le", 12: "yuv420p12le"}[depth]
    )
    with VideoFile(path) as file:
        first = first_frame(file, WHOLE)
    layout = first.format
    assert layout.format is (PixelFormat.NV12 if depth == 8 else PixelFormat.P016)
    content = surface_bytes(first.frame, layout)
    assert content.nbytes == layout.nbytes
    for found, expected in zip(layout.planes(content), planes(first.frame, depth), strict=True):
        assert np.array_equal(found, expected)
    changed = content.copy()
    changed[layout.pitch * layout.stored_height] ^= 64
    assert not np.array_equal(layout.planes(changed)[1], planes(first.frame, depth)[1])


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("a.avi", {"codec": "mpeg4"}, "its codec is mpeg4"),
        ("a.mp4", {"pix_fmt": "yuv444p"}, "pixel format is yuv444p"),
        ("b.mp4", {"options": {"x264-params": "interlaced=1"}}, "may be interlaced"),
        ("i.mp4", {"codec": "libx265", "options": {"x265-params": "interlace=tff:log-level=none:info=0"}}, "is interlaced"),
    ],
)
def test_what_the_hardware_would_change_is_refused(name: str, options: dict[str, Any], reason: str, clip: Clip) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        examine(clip(name, frames=12, **options))


def test_fields_and_missing_times_are_refused(clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="interlaced"):
        examine(make_field_video(tmp_path / "a.mkv", 4))
    with pytest.raises(UnsupportedError, match="when a frame is shown"):
        examine(rewrap(clip("c.mp4", frames=12), tmp_path / "a.h264"))


def test_a_damaged_beginning_is_no_verdict_on_the_rest(clip: Clip, tmp_path: Path) -> None:
    path = rewrap(clip("d.mkv", frames=12), tmp_path / "d.mkv", lambda _number, data, _key: b"\xff" * len(data))
    with pytest.raises(DamagedError):
        examine(path)


def test_the_first_frame_of_an_open_gop_is_the_first_that_is_shown(clip: Clip) -> None:
    path = clip("e.mkv", frames=60, bframes=3, gop=20, open_gop=True)
    with VideoFile(path) as file:
        start = [packet.pts for packet in file.packets() if packet.is_keyframe][1]
    with VideoFile(path) as file:
        first = first_frame(file, Segment(1, start, None, 0))
    assert first.frame.pts == start
    assert Converter(None).size(first.frame) == (96, 64)
    assert first.packets[0][1] == start
    assert len(first.packets) > 1
