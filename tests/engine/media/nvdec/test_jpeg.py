"""Pictures by a GPU's JPEG engines, without the hardware: engines that decode with OpenCV, into host memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import ExifTags, Image

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.decoder import release_all
from framefleet.engine.media.images import SEGMENT_PICTURES
from framefleet.engine.media.nvdec.bitstream import UnsupportedError
from framefleet.engine.media.nvdec.jpeg import DevicePictures, JpegEngines
from framefleet.engine.media.nvdec.surfaces import SurfaceRing
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, SourceInfo
from framefleet.engine.types import FrameRef
from tests.engine.media.nvdec.test_surfaces import HostMemory
from tests.support.devices.surfaces import upright
from tests.support.media import dated_picture, numbered
from tests.support.notices import words


class Engines:
    """Instead of ``JpegEngines``. refused: a file that they cannot decode, which spoils its batch. batches: sizes of the batches."""

    def __init__(self) -> None:
        self.stream: Any = None
        self.refused = b""
        self.batches: list[int] = []
        self.closed = False

    def decode(self, contents: Sequence[NDArray[np.uint8]], layouts: Sequence[FrameFormat], addresses: Sequence[int]) -> bool:
        assert not self.closed
        self.batches.append(len(contents))
        for content, layout, address in zip(contents, layouts, addresses, strict=True):
            if content.tobytes() == self.refused:
                return False
            picture = cv2.imdecode(content, cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
            assert picture.shape == (layout.stored_height, layout.stored_width, 3)
            ctypes.memmove(address, picture.ctypes.data, picture.nbytes)
        return True

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def ring() -> Iterator[SurfaceRing]:
    ring = SurfaceRing(100, 1 << 26, HostMemory)
    yield ring
    ring.close()  # waits until all surfaces are back
    assert not HostMemory.taken


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """40 pictures.

    The sixth is a PNG, the seventh a damaged JPEG, the eighth has a time, the ninth is missing, the tenth to 17th are turned.
    """
    path = tmp_path / "pictures"
    path.mkdir()
    for number in range(40):
        suffix = "png" if number == 5 else "jpg"
        assert cv2.imwrite(str(path / f"{number:02}.{suffix}"), numbered(number, (64, 48))[..., ::-1])
    whole = (path / "06.jpg").read_bytes()
    (path / "06.jpg").write_bytes(whole[: len(whole) // 2])
    (path / "07.jpg").write_bytes(dated_picture({ExifTags.Base.DateTimeOriginal: "2026:11:01 08:00:00"}))
    for number in range(9, 17):
        exif = Image.Exif()
        exif[ExifTags.Base.Orientation] = number - 8
        Image.fromarray(numbered(number, (64, 48))).save(path / f"{number:02}.jpg", exif=exif)
    return path


def found(pictures: DevicePictures, info: SourceInfo, segment: int = 0, skip: int = 0) -> tuple[list[object], list[FrameRef]]:
    """The pixels, or the code of the failure, of each picture, and where they belong. Releases the frames."""
    shown: list[object] = []
    refs = []
    for group in pictures.groups(info, info.segments[segment], skip):
        for each in group:
            refs.append(each.ref)
            if isinstance(each, DecodeFailure):
                shown.append(each.reason.code)
            elif isinstance(each.image, DeviceFrame):
                layout = each.image.format
                assert layout.format is PixelFormat.RGB8
                stored = np.frombuffer(ctypes.string_at(each.image.address, layout.nbytes), np.uint8).reshape(layout.stored_height, -1, 3)
                assert each.size == (layout.width, layout.height)
                shown.append(upright(stored, layout.orientation))
            else:
                assert isinstance(each.image, np.ndarray)
                shown.append(each.image)
        release_all(group)
    return shown, refs


def by_cpu(info: SourceInfo, segment: int = 0, skip: int = 0) -> tuple[list[object], list[FrameRef]]:
    every = list(decode(info, info.segments[segment], skip))
    return [each.image if isinstance(each, DecodedFrame) else each.reason.code for each in every], [each.ref for each in every]


def assert_same(one: tuple[list[object], list[FrameRef]], other: tuple[list[object], list[FrameRef]]) -> None:
    assert one[1] == other[1]
    for a, b in zip(one[0], other[0], strict=True):
        np.testing.assert_array_equal(a, b)  # type: ignore[arg-type]


def test_pictures_come_in_order_and_equal_those_of_the_cpu(folder: Path, ring: SurfaceRing) -> None:
    info, engines = probe(folder), Engines()
    (folder / "08.jpg").unlink()
    pictures = DevicePictures(ring, lambda: engines)  # type: ignore[arg-type,return-value]
    for segment, skip in ((0, 0), (0, 6), (1, 3)):
        assert_same(found(pictures, info, segment, skip), by_cpu(info, segment, skip))
    assert engines.batches == [SEGMENT_PICTURES - 3, SEGMENT_PICTURES - 8, 40 - SEGMENT_PICTURES - 3]
    assert pictures.reason is None
    pictures.close()
    assert engines.closed


def test_the_cpu_decodes_a_batch_that_the_engines_refuse(folder: Path, ring: SurfaceRing) -> None:
    info, engines = probe(folder), Engines()
    engines.refused = (folder / "20.jpg").read_bytes()
    pictures = DevicePictures(ring, lambda: engines)  # type: ignore[arg-type,return-value]
    assert_same(found(pictures, info), by_cpu(info))
    assert pictures.reason is None, "other batches are not concerned"


def test_fewer_surfaces_make_smaller_batches(folder: Path) -> None:
    info, engines = probe(folder), Engines()
    ring = SurfaceRing(3, 1 << 26, HostMemory)
    assert_same(found(DevicePictures(ring, lambda: engines), info, 1), by_cpu(info, 1))  # type: ignore[arg-type,return-value]
    assert len(engines.batches) > 1
    ring.close()
    assert not HostMemory.taken


def test_large_pictures_are_left_to_the_cpu(folder: Path) -> None:
    info, engines = probe(folder), Engines()
    ring = SurfaceRing(3, 7 * 64 * 48 * 3, HostMemory)
    pictures = DevicePictures(ring, lambda: engines)  # type: ignore[arg-type,return-value]
    assert_same(found(pictures, info, 1), by_cpu(info, 1))
    assert not engines.batches


def test_without_engines_the_cpu_decodes_and_the_reason_is_known(folder: Path, ring: SurfaceRing) -> None:
    opened = []

    def refuse() -> JpegEngines:
        opened.append(1)
        raise UnsupportedError(words("none here"))

    info, pictures = probe(folder), DevicePictures(ring, refuse)
    assert_same(found(pictures, info), by_cpu(info))
    assert str(pictures.reason) == "none here"
    assert len(opened) == 1


@pytest.mark.skipif(Path("/proc/driver/nvidia/version").exists(), reason="there is an NVIDIA driver")
def test_without_a_gpu_the_library_says_so() -> None:
    pytest.importorskip("nvidia.cu13.lib", reason="nvJPEG is not installed")
    with pytest.raises(UnsupportedError) as caught:
        JpegEngines(None)  # type: ignore[arg-type]
    assert caught.value.notice.code == "media.no_jpeg_engines"
