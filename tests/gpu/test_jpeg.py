"""The JPEG engines decode the pixels of OpenCV, OpenCV decodes what they cannot, and networks find the same objects in them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import ExifTags, Image

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.core import Device

from framefleet.engine.backends import create_backend
from framefleet.engine.cuda.graph import copy
from framefleet.engine.media.images import read_picture
from framefleet.engine.media.nvdec.decoder import NvdecDecoder, open_nvdec
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, SourceInfo
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, FrameRef
from tests.support.devices.surfaces import upright
from tests.support.media import numbered
from tests.support.models import tiny_network
from tests.support.networks.inference import CONFIDENCE, assert_same, pictures


@pytest.fixture(scope="module")
def decoder() -> Iterator[NvdecDecoder]:
    decoder = open_nvdec(0, 4, required=False)
    decoder.make_room(64)
    yield decoder
    decoder.close()


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


def turned(orientation: int) -> dict[str, Any]:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return {"exif": exif}


def photo(width: int = 331, height: int = 217) -> Image.Image:
    return Image.fromarray(numbered(7, (width, height)))


ON_GPU = {
    **{f"turned{number}": (photo(), turned(number)) for number in range(1, 9)},
    **{f"noise {sampling}": (noise(333, 129), {"subsampling": sampling, "quality": 90}) for sampling in ("4:2:0", "4:2:2", "4:4:4")},
    "grey": (photo().convert("L"), {}),
    "restarts": (photo(), {"restart_marker_blocks": 4}),
    "one pixel": (photo(40, 40).crop((0, 0, 1, 1)), {}),
    "2 MP": (noise(1920, 1080, 1), {"quality": 90}),
    "12 MP": (photo(4001, 3003), {"quality": 92}),
}
BY_CPU = {
    "progressive": (photo(), {"progressive": True}),
    "cmyk": (photo().convert("CMYK"), {}),
    "rgb": (photo(), {"keep_rgb": True}),
}


def download(frame: DeviceFrame) -> NDArray[np.uint8]:
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    stream.wait(frame.written_on)
    content = np.zeros((frame.format.stored_height, frame.format.stored_width, 3), np.uint8)
    copy(content.ctypes.data, frame.address, content.nbytes, stream)
    stream.sync()
    return upright(content, frame.format.orientation)


def assert_same_pixels(found: NDArray[np.uint8], path: Path) -> None:
    """Compare with OpenCV, whose arithmetic rounds otherwise in rare cases."""
    expected = read_picture(path)
    assert found.shape == expected.shape, path
    different = np.abs(found.astype(np.int16) - expected)
    assert (different.max() <= 1, (different > 0).mean() < 1e-3) == (True, True), (path.name, different.max(), (different > 0).mean())


def decoded(decoder: NvdecDecoder, info: SourceInfo, number: int = 0) -> Iterator[tuple[FrameRef, NDArray[np.uint8] | None, bool]]:
    """Each picture of a segment, its pixels (None: it cannot be decoded), and whether the GPU decoded it."""
    for group in decoder.groups(info, info.segments[number]):
        for each in group:
            if isinstance(each, DecodeFailure):
                yield each.ref, None, False
            elif isinstance(each.image, DeviceFrame):
                try:
                    content = download(each.image)
                finally:
                    each.image.release()
                yield each.ref, content, True
            else:
                yield each.ref, np.asarray(each.image), False


def test_pixels_are_those_of_opencv_and_others_are_left_to_it(decoder: NvdecDecoder, tmp_path: Path) -> None:
    for name, (image, options) in {**ON_GPU, **BY_CPU}.items():
        image.save(tmp_path / f"{name}.jpg", **options)
    (tmp_path / "cut.jpg").write_bytes((tmp_path / "turned1.jpg").read_bytes()[:-500])
    photo().save(tmp_path / "other.png")
    info = probe(tmp_path)
    assert len(info.segments) == 1
    every = list(decoded(decoder, info))
    assert decoder.cpu_reason(info) is None
    assert {Path(str(ref.name)).stem for ref, _, by_gpu in every if by_gpu} == set(ON_GPU)
    assert [ref.name for ref, pixels, _ in every if pixels is None] == ["cut.jpg"]
    for ref, pixels, _ in every:
        if pixels is not None:
            assert_same_pixels(pixels, tmp_path / str(ref.name))


def test_a_damaged_picture_does_not_spoil_those_beside_it(decoder: NvdecDecoder, tmp_path: Path) -> None:
    """A picture that ends too early, which its header does not show."""
    for number in range(12):
        photo(120 + number, 90).save(tmp_path / f"{number:02}.jpg", quality=90)
    whole = (tmp_path / "05.jpg").read_bytes()
    (tmp_path / "05.jpg").write_bytes(whole[: len(whole) // 2] + b"\xff\xd9")
    every = list(decoded(decoder, probe(tmp_path)))
    assert [ref.name for ref, _, _ in every] == [f"{number:02}.jpg" for number in range(12)]
    for ref, pixels, _ in every:
        assert pixels is not None
        if ref.name != "05.jpg":
            assert_same_pixels(pixels, tmp_path / str(ref.name))


def test_many_threads_decode_at_once(decoder: NvdecDecoder, tmp_path: Path) -> None:
    for number in range(200):
        photo(200 + number, 150).save(tmp_path / f"{number:03}.jpg", quality=90)
    info = probe(tmp_path)
    with ThreadPoolExecutor(4) as threads:
        parts = list(threads.map(lambda number: list(decoded(decoder, info, number)), range(len(info.segments))))
    every = [each for part in parts for each in part]
    assert [ref.name for ref, _, _ in every] == [f"{number:03}.jpg" for number in range(200)]
    for ref, pixels, by_gpu in every:
        assert by_gpu
        assert pixels is not None
        assert_same_pixels(pixels, tmp_path / str(ref.name))


@pytest.mark.parametrize("still", [False, True])
def test_detections_are_those_of_the_same_pictures_in_host_memory(decoder: NvdecDecoder, still: bool, tmp_path: Path) -> None:
    for number, picture in enumerate(pictures(9)):
        Image.fromarray(picture).save(tmp_path / f"{number}.jpg", quality=95, **(turned(number) if number else {}))
    info = probe(tmp_path)
    frames = [each for group in decoder.groups(info, info.segments[0]) for each in group]
    images = [each.image for each in frames if isinstance(each, DecodedFrame) and isinstance(each.image, DeviceFrame)]
    assert len(images) == 9
    with ExitStack() as stack:
        for image in images:
            stack.callback(image.release)
        host = [np.ascontiguousarray(download(image)) for image in images]
        backend = stack.enter_context(create_backend(DeviceId("cuda", "0")))
        backend.activate(tiny_network(), EngineSettings(precision=Precision.FP16, stored_confidence=CONFIDENCE, batch=16))
        expected = backend.infer(host, still)
        assert any(len(each) for each in expected)
        assert_same(expected, backend.infer(images, still), 1.0)
