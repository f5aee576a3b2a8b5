"""The table of a batch's frames, as the kernels read it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from framefleet.engine.backends.nvidia.slot import Geometry
from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.types import DeviceFrame
from framefleet.plugins.preprocess import FRAME, P016, RGB8, describe_frame


def test_a_frame_on_the_device_is_described_by_its_format() -> None:
    layout = FrameFormat(PixelFormat.P016, 10, 63, 48, 48, 126, (True, 0), "bt709", True)
    entry, fit = Geometry(96, 96, letterbox=True).of_frame(layout)
    inside = fit.left, fit.top, fit.inner_width, fit.inner_height
    expected = describe_frame(P016, (63, 48), (48, 126), inside, "bt709", True, (True, 0))
    expected["pitch"] = 2 * 64
    assert entry == expected
    assert (layout.chroma_offset, layout.nbytes) == (128 * 48, 128 * 72)
    assert (fit.width, fit.height) == (48, 126)


def test_a_picture_in_host_memory_has_no_gaps_between_its_rows() -> None:
    entry, fit = Geometry(96, 96, letterbox=False).of_image(33, 20, still=True)
    expected = describe_frame(RGB8, (33, 20), (33, 20), (0, 0, 96, 96), still=True)
    expected["pitch"] = 3 * 33
    assert entry == expected
    assert (fit.inner_width, fit.inner_height) == (96, 96)


def test_a_batch_may_mix_frames_of_several_sources_and_pictures_of_the_host() -> None:
    geometry = Geometry(96, 96, letterbox=True)
    formats = [FrameFormat(PixelFormat.NV12, 8, width, 48, width, 48, (False, None), "bt709", False) for width in (64, 80)]
    frames = [DeviceFrame(formats[at], 4096 * number, None, lambda: None) for number, at in enumerate((0, 1, 1, 0), 1)]
    picture = np.zeros((20, 33, 3), np.uint8)
    images = [frames[0], frames[1], picture, frames[2], frames[3], picture]
    table = np.zeros(8, FRAME)
    table["luma"] = 1  # of an earlier batch
    fits = geometry.fill(table, images, [100, 200], still=False)
    uploaded = iter((100, 200))
    for entry, fit, image in zip(table, fits, images, strict=False):
        if isinstance(image, DeviceFrame):
            expected, expected_fit = geometry.of_frame(image.format)
            addresses = image.address, image.address + image.format.chroma_offset
        else:
            expected, expected_fit = geometry.of_image(image.shape[1], image.shape[0], False)
            addresses = next(uploaded), 0
        assert fit == expected_fit
        assert (entry["luma"], entry["chroma"]) == addresses
        for field in FRAME.names:
            assert field in ("luma", "chroma") or np.array_equal(entry[field], expected[field])
    assert table["luma"].tolist()[6:] == [0, 0]
