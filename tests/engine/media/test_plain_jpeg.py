"""JPEGs whose pixels all decoders agree on are recognised by their header, and all other files are not."""

from __future__ import annotations

import struct
from io import BytesIO
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import ExifTags, Image

from framefleet.engine.media.images import PlainJpeg, plain_jpeg
from tests.support.devices import surfaces
from tests.support.media import dated_picture, numbered

SIZE = (44, 32)
UPRIGHT = (False, None)


def picture(mode: str = "RGB", kind: str = "JPEG", **options: Any) -> bytes:
    file = BytesIO()
    Image.fromarray(numbered(7, SIZE)).convert(mode).save(file, kind, **options)
    return file.getvalue()


def header(content: bytes) -> PlainJpeg | None:
    return plain_jpeg(np.frombuffer(content, np.uint8))


def turned(orientation: object) -> bytes:
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return picture(exif=exif)


def upright(content: bytes) -> NDArray[np.uint8]:
    return np.asarray(cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB), np.uint8)


@pytest.mark.parametrize("sampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_usual_pictures(sampling: str) -> None:
    assert header(picture(subsampling=sampling)) == (*SIZE, UPRIGHT, None)


def test_grey_pictures_restart_markers_and_appended_data() -> None:
    assert header(picture("L")) == (*SIZE, UPRIGHT, None)
    assert header(picture(restart_marker_blocks=1)) == (*SIZE, UPRIGHT, None)
    assert header(picture() + b"camera" * 100) == (*SIZE, UPRIGHT, None)
    assert header(picture(icc_profile=b"\0" * 100_000)) == (*SIZE, UPRIGHT, None)
    whole = picture()
    assert header(whole[:2] + b"\xff\xff" + whole[2:]) == (*SIZE, UPRIGHT, None)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_orientation_is_that_of_opencv(orientation: int) -> None:
    content = turned(orientation)
    found = header(content)
    assert found is not None
    assert (found.width, found.height) == SIZE
    stored = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
    np.testing.assert_array_equal(surfaces.upright(np.asarray(stored, np.uint8), found.orientation), upright(content))


def test_the_time_is_that_of_the_exif_data() -> None:
    assert header(dated_picture({ExifTags.Base.DateTimeOriginal: "2026:11:01 08:00:00"})) == (64, 48, UPRIGHT, "2026-11-01T08:00:00")


@pytest.mark.parametrize("orientation", [0, 9])
def test_an_impossible_orientation_is_upright_as_for_opencv(orientation: int) -> None:
    content = turned(orientation)
    assert header(content) == (*SIZE, UPRIGHT, None)
    assert upright(content).shape == (*SIZE[::-1], 3)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("kind", "values"), [("H", (6,)), ("I", (6,)), ("H", (8, 3)), ("H", (99, 6)), ("B", (6,))])
def test_unusual_orientations_are_those_of_opencv(order: str, kind: str, values: tuple[int, ...]) -> None:
    """A tag of another type, and repeated tags."""
    entries = b"".join(
        struct.pack(order + "HHI", 0x112, {"B": 1, "H": 3, "I": 4}[kind], 1) + struct.pack(order + kind, value).ljust(4, b"\0")
        for value in values
    )
    data = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(order + "IH", 8, len(values)) + entries + bytes(4)
    content = picture(exif=b"Exif\0\0" + data)
    found = header(content)
    assert found is not None
    stored = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
    np.testing.assert_array_equal(surfaces.upright(np.asarray(stored, np.uint8), found.orientation), upright(content))


def rewritten(content: bytes, marker: int, body: bytes) -> bytes:
    """A JPEG with another content of the segment with this marker."""
    at = content.index(bytes((0xFF, marker)))
    end = at + 2 + int.from_bytes(content[at + 2 : at + 4])
    return content[: at + 4] + body + content[end:]


def frame_of(content: bytes) -> bytes:
    at = content.index(b"\xff\xc0")
    return content[at + 4 : at + 2 + int.from_bytes(content[at + 2 : at + 4])]


def no_jpegs() -> dict[str, bytes]:
    whole = picture()
    frame = frame_of(whole)
    wide = struct.pack(">BHH", 8, 32, 20_000) + frame[5:]
    other_ids = bytes(each + 5 if at in (6, 9, 12) else each for at, each in enumerate(frame))
    return {
        "progressive": picture(progressive=True),
        "cmyk": picture("CMYK"),
        "rgb": picture(keep_rgb=True),
        "adobe's rgb": whole[:2] + b"\xff\xee\x00\x0eAdobe\0\x64\0\0\0\0\0" + whole[2:],
        "4:1:1": cv2.imencode(".jpg", numbered(7, SIZE), [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411])[
            1
        ].tobytes(),
        "other components": rewritten(whole, 0xC0, other_ids),
        "12 bits": rewritten(whole, 0xC0, b"\x0c" + frame[1:]),
        "no height": rewritten(whole, 0xC0, frame[:1] + b"\0\0" + frame[3:]),
        "too wide": rewritten(whole, 0xC0, wide),
        "no frame": whole.replace(b"\xff\xc0", b"\xff\xe5", 1),
        "arithmetic": whole.replace(b"\xff\xc0", b"\xff\xc9", 1),
        "a scan of one component": rewritten(whole, 0xDA, b"\x01" + whole[whole.index(b"\xff\xda") + 5 :][:9]),
        "cut": whole[: len(whole) // 2],
        "without its end": whole[:-2],
        "png": picture(kind="PNG"),
        "webp": picture(kind="WEBP"),
        "text": b"no picture at all",
        "empty": b"",
    }


@pytest.mark.parametrize("name", no_jpegs())
def test_others_are_left_to_opencv(name: str) -> None:
    assert header(no_jpegs()[name]) is None


def test_damaged_headers_raise_no_errors() -> None:
    dice, whole = np.random.default_rng(3), turned(6)
    assert header(whole) is not None
    for length in range(0, len(whole), 7):
        assert header(whole[:length]) is None
    for _ in range(2000):
        content = bytearray(whole)
        for place in dice.integers(2, whole.index(b"\xff\xda") + 12, 3).tolist():
            content[place] = int(dice.integers(0, 256))
        found = header(bytes(content))
        assert found is None or min(found.width, found.height) > 0
