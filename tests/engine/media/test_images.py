"""Pictures and folders of them."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import ExifTags, Image

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.images import SEGMENT_PICTURES, read_picture, time_taken
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, SourceKind
from framefleet.engine.notices import SourceError
from tests.support.media import dated_picture, number_of, numbered

TAG = ExifTags.Base
TIME = "2026:11:01 08:00:00"


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "MPO"])
def test_kinds_of_pictures_that_have_exif_data(form: str) -> None:
    assert time_taken(dated_picture({TAG.DateTimeOriginal: TIME}, form)) == "2026-11-01T08:00:00"


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({}, None),
        ({TAG.DateTimeOriginal: TIME, TAG.SubsecTimeOriginal: "25 ", TAG.OffsetTimeOriginal: "+01:00"}, "2026-11-01T08:00:00.25+01:00"),
        ({TAG.DateTimeOriginal: TIME, TAG.DateTimeDigitized: "2027:01:01 00:00:00"}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeDigitized: TIME, TAG.OffsetTimeOriginal: "+01:00"}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "    :  :     :  :  ", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "0000:00:00 00:00:00", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: TIME, TAG.SubsecTimeOriginal: "x"}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "2026:11:01"}, None),
        ({TAG.DateTimeOriginal: "2026:13:01 08:00:00", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "1970:01:01 00:00:00", TAG.DateTimeDigitized: TIME}, "2026-11-01T08:00:00"),
        ({TAG.DateTimeOriginal: "2026/11/01  08:00:00"}, "2026-11-01T08:00:00"),
        *(
            ({TAG.DateTimeOriginal: TIME, TAG.OffsetTimeOriginal: offset}, f"2026-11-01T08:00:00{expected}")
            for offset, expected in (("   :  ", ""), ("UTC", ""), ("+25:00", ""), ("+5:30", "+05:30"), ("-0330", "-03:30"), ("z", "+00:00"))
        ),
    ],
)
def test_the_text_is_made_from_the_tags_of_one_time(tags: dict[int, str], expected: str | None) -> None:
    assert time_taken(dated_picture(tags)) == expected


def camera_picture(order: str, times: dict[int, bytes]) -> bytes:
    """A JPEG with the tags that cameras write. order: of bytes, as for ``struct``. times: ASCII tags in the part with times."""
    kinds = {bytes: 7, str: 2, int: 3}
    first: dict[int, bytes | str | int] = {0x010F: "Maker", 0x0110: "Model", 0x0112: 6, 0x0128: 2, 0x0132: "2026:11:02 09:00:00"}
    second = {0x8827: 100, 0x9000: b"0231", **{tag: time.decode("latin-1") for tag, time in times.items()}, 0x927C: bytes(3000), 0xA001: 1}
    data = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(order + "I", 8)
    for tags, last in ((first, False), (second, True)):
        entries, values = b"", b""
        end = len(data) + 2 + 12 * (len(tags) + (not last)) + 4
        for tag, value in tags.items():
            raw = (
                struct.pack(order + "H", value)
                if isinstance(value, int)
                else value
                if isinstance(value, bytes)
                else value.encode("latin-1")
            )
            place = raw.ljust(4, b"\0") if len(raw) <= 4 else struct.pack(order + "I", end + len(values))
            entries += struct.pack(order + "HHI", tag, kinds[type(value)], 1 if isinstance(value, int) else len(raw)) + place
            values += raw if len(raw) > 4 else b""
        if not last:
            entries += struct.pack(order + "HHII", 0x8769, 4, 1, end + len(values))
        data += struct.pack(order + "H", len(tags) + (not last)) + entries + bytes(4) + values
    file = BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG", exif=b"Exif\0\0" + data)
    return file.getvalue()


@pytest.mark.parametrize("order", "<>")
def test_a_cameras_time_is_that_which_pillow_reads(order: str) -> None:
    times = {0x9003: b"2026:11:01 08:00:00\0", 0x9011: b"+01:00\0", 0x9291: b"25\0", 0x9004: b"2026:11:01 08:00:01\0"}
    content = camera_picture(order, times)
    assert time_taken(content) == "2026-11-01T08:00:00.25+01:00"
    with Image.open(BytesIO(content)) as picture:
        tags = picture.getexif().get_ifd(ExifTags.IFD.Exif)
    assert {tag: tags[tag].encode() + b"\0" for tag in times} == times
    assert time_taken(camera_picture(order, {0x9004: times[0x9004]})) == "2026-11-01T08:00:01"
    assert time_taken(camera_picture(order, {0x9003: b"\xff" * 20})) is None


def test_the_time_when_the_file_was_changed_is_not_used() -> None:
    exif = Image.Exif()
    exif[TAG.DateTime] = TIME
    file = BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG", exif=exif)
    assert time_taken(file.getvalue()) is None


def test_a_tiff_of_several_pages_is_not_taken_for_its_first(tmp_path: Path) -> None:
    pages = [Image.fromarray(numbered(number, (96, 64))) for number in range(3)]
    for name, options in {"a.tif": {}, "b.tiff": {"compression": "tiff_lzw"}, "c.tif": {"big_tiff": True}}.items():
        pages[0].save(tmp_path / name, save_all=True, append_images=pages[1:], **options)  # type: ignore[arg-type]
        with pytest.raises(SourceError, match="has 3 pages, of which only the first could be read: save them as pictures in a folder"):
            read_picture(tmp_path / name)


def test_a_tiff_with_previews_is_one_picture(tmp_path: Path) -> None:
    picture = Image.fromarray(numbered(5, (96, 64)))
    marked = Image.fromarray(numbered(6, (96, 64)))
    marked.encoderinfo = {"tiffinfo": {254: 1}}  # a reduced version, of the same size
    picture.save(tmp_path / "a.tif", save_all=True, append_images=[picture.resize((48, 32)), marked])
    with Image.open(tmp_path / "a.tif") as stored:
        assert stored.n_frames == 3  # type: ignore[attr-defined]
    assert number_of(read_picture(tmp_path / "a.tif")) == 5


def test_a_damaged_tiff_is_left_to_opencv(tmp_path: Path) -> None:
    path = tmp_path / "a.tif"
    Image.fromarray(numbered(5, (96, 64))).save(path)
    content = path.read_bytes()
    path.write_bytes(content[:-200])
    with pytest.raises(SourceError, match="is not a picture that can be read"):
        read_picture(path)


DAMAGED = """
import sys
import numpy as np
from framefleet.engine.media.images import time_taken
whole, dice = sys.stdin.buffer.read(), np.random.default_rng(1)
for _ in range(300):
    content = bytearray(whole)
    for place in dice.integers(0, 200, 3).tolist():
        content[place] = int(dice.integers(0, 256))
    found = time_taken(bytes(content[: int(dice.integers(1, len(content) + 1))]))
    assert found is None or isinstance(found, str)
"""


def test_damaged_data_cause_neither_errors_nor_warnings() -> None:
    """In a process of its own, because pytest collects warnings."""
    whole = dated_picture({TAG.DateTimeOriginal: TIME, TAG.OffsetTimeOriginal: "+01:00"})
    run = subprocess.run([sys.executable, "-c", DAMAGED], input=whole, capture_output=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


def test_decoding_a_folder_reads_the_times(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(dated_picture({TAG.DateTimeOriginal: TIME}))
    (tmp_path / "b.jpg").write_bytes(dated_picture({}))
    info = probe(tmp_path)
    frames = [frame for frame in decode(info, info.segments[0]) if isinstance(frame, DecodedFrame)]
    assert [frame.ref.created for frame in frames] == ["2026-11-01T08:00:00", None]


RED, GREEN = (0, 0, 254), (0, 254, 0)  # as OpenCV writes them: blue, green, red


def corner_picture() -> NDArray[np.uint8]:
    """60×40, BGR: red top left, green top right, black below."""
    image = np.zeros((40, 60, 3), np.uint8)
    image[:20, :30], image[:20, 30:] = RED, GREEN
    return image


def save(path: Path, image: NDArray[np.generic]) -> Path:
    assert cv2.imwrite(str(path), image)
    return path


def folder_of(path: Path, count: int) -> Path:
    path.mkdir()
    for number in range(count):
        save(path / f"shot{number}.png", numbered(number, (64, 48))[..., ::-1])
    return path


@pytest.mark.parametrize("suffix", ["jpg", "jpeg", "png", "bmp", "webp", "tiff", "tif", "ppm"])
def test_a_picture_is_a_source_of_one_frame(suffix: str, tmp_path: Path) -> None:
    path = save(tmp_path / f"a.{suffix}", numbered(1234, (320, 240))[..., ::-1])
    info = probe(path)
    assert (info.kind, info.width, info.height, info.frames, info.duration, info.rate) == (SourceKind.IMAGES, 320, 240, 1, None, None)
    (frame,) = decode(info, info.segments[0])
    assert isinstance(frame, DecodedFrame)
    assert (frame.ref.pts, frame.ref.name, number_of(frame.image)) == (0.0, None, 1234)
    assert frame.image.dtype == np.uint8
    assert abs(int(frame.image[-1].astype(int)[:, 2].mean()) - int(numbered(1234)[-1, :, 2].astype(int).mean())) < 3, "red and blue"


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp"])
def test_pictures_are_turned_upright(suffix: str, tmp_path: Path) -> None:
    """The eight EXIF orientations, undone."""
    upright = corner_picture()
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.transpose(1, 0, 2),
        6: np.rot90(upright, 1),
        7: np.rot90(upright, 2).transpose(1, 0, 2),
        8: np.rot90(upright, -1),
    }
    for orientation, pixels in stored.items():
        exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0" + bytes([orientation, 0, 0, 0]) + b"\0\0\0\0"
        metadata = [np.frombuffer(exif, np.uint8)]
        encoded = cv2.imencodeWithMetadata(f".{suffix}", np.ascontiguousarray(pixels), [cv2.IMAGE_METADATA_EXIF], metadata)[1]
        path = tmp_path / f"{orientation}.{suffix}"
        path.write_bytes(encoded.tobytes())
        image = read_picture(path)
        assert image.shape == (40, 60, 3), orientation
        assert np.abs(image.astype(int) - upright[..., ::-1]).mean() < 6, orientation


@pytest.mark.parametrize("suffix", ["png", "tiff"])
@pytest.mark.parametrize("channels", [1, 3])
def test_sixteen_bits_become_eight(suffix: str, channels: int, tmp_path: Path) -> None:
    pixels = np.full((8, 8, channels), 40000, np.uint16)
    assert np.unique(read_picture(save(tmp_path / f"a.{suffix}", pixels))).tolist() == [156]


def test_gray_and_alpha(tmp_path: Path) -> None:
    assert read_picture(save(tmp_path / "gray.png", np.full((8, 9), 77, np.uint8))).tolist() == [[[77] * 3] * 9] * 8
    transparent = np.dstack([corner_picture(), np.full((40, 60), 100, np.uint8)])
    assert np.array_equal(read_picture(save(tmp_path / "alpha.png", transparent)), corner_picture()[..., ::-1])


def test_cmyk_jpeg(tmp_path: Path) -> None:
    """8×8 pixels of full cyan as Adobe writes them: four components, inverted, each a single DC coefficient."""

    def marker(kind: int, data: bytes) -> bytes:
        return bytes([0xFF, kind]) + struct.pack(">H", len(data) + 2) + data

    no_ink, full_ink = "00" + format(1016, "010b"), "01" + format(2047 - 1024, "011b")  # levels 255 and 0, minus 128, times 8
    bits = "".join(f"{dc}0" for dc in (full_ink, no_ink, no_ink, no_ink))  # cyan, magenta, yellow, black, and the end of each block
    bits += "1" * (-len(bits) % 8)
    scan = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    components = b"".join(bytes([number, 0x11, 0]) for number in range(1, 5))
    path = tmp_path / "a.jpg"
    path.write_bytes(
        b"\xff\xd8"
        + marker(0xEE, b"Adobe\0\x64\0\0\0\0\0")
        + marker(0xDB, bytes([0]) + bytes([1]) * 64)
        + marker(0xC0, b"\x08\0\x08\0\x08\x04" + components)
        + marker(0xC4, bytes([0x00, 0, 2, *[0] * 14, 10, 11]))
        + marker(0xC4, bytes([0x10, 1, *[0] * 15, 0]))
        + marker(0xDA, b"\x04\x01\0\x02\0\x03\0\x04\0\0\x3f\0")
        + scan
        + b"\xff\xd9"
    )
    assert np.abs(read_picture(path).astype(int) - (0, 255, 255)).max() <= 1


def test_cmyk_tiff(tmp_path: Path) -> None:
    """An uncompressed TIFF of 4×4 separated pixels (photometric 5): full cyan, nothing else."""
    tags = [(256, 3, 4), (257, 3, 4), (258, 3, 122), (259, 3, 1), (262, 3, 5), (273, 4, 130), (277, 3, 4), (278, 3, 4), (279, 4, 64)]
    directory = struct.pack("<H", len(tags)) + b"".join(
        struct.pack("<HHII", tag, kind, 4 if tag == 258 else 1, value) for tag, kind, value in tags
    )
    content = b"II*\0\x08\0\0\0" + directory + bytes(4)
    content += struct.pack("<4H", 8, 8, 8, 8) + bytes([255, 0, 0, 0]) * 16
    assert content.index(struct.pack("<4H", 8, 8, 8, 8)) == 122
    path = tmp_path / "a.tif"
    path.write_bytes(content)
    red, green, blue = read_picture(path)[0, 0].astype(int)
    assert red < 60
    assert green > 120
    assert blue > 150


@pytest.mark.parametrize("suffix", ["jpg", "png", "bmp", "webp", "tiff"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_truncated_pictures_are_rejected(suffix: str, share: float, tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (120, 160, 3), dtype=np.uint8)
    path = save(tmp_path / f"a.{suffix}", noise)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(SourceError, match="not a picture that can be read"):
        probe(path)


def test_a_huge_picture_is_rejected_before_its_memory_is_allocated(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    for side in (20000, 60000, 2**31 - 1):
        header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        path = tmp_path / f"{side}.png"
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))
        with pytest.raises(SourceError, match=rf"{side}\.png"):
            probe(path)
    wide = save(tmp_path / "wide.png", np.zeros((1, 16385, 3), np.uint8))
    with pytest.raises(SourceError, match="at most 16384×16384"):
        probe(wide)


def test_a_folder_is_one_source_in_natural_order(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "shots", SEGMENT_PICTURES + 5)
    info = probe(folder)
    assert (info.frames, info.width, info.height) == (SEGMENT_PICTURES + 5, 64, 48)
    assert [segment.frames for segment in info.segments] == [SEGMENT_PICTURES, 5]
    frames = [frame for segment in info.segments for frame in decode(info, segment)]
    assert [number_of(frame.image) for frame in frames] == list(range(info.frames))  # type: ignore[union-attr]
    assert [frame.ref.pts for frame in frames] == [float(number) for number in range(info.frames)]
    assert frames[10].ref.name == "shot10.png"
    assert [frame.ref.name for frame in decode(info, info.segments[1], skip=3)] == ["shot35.png", "shot36.png"]


def test_a_damaged_picture_does_not_prevent_reading_the_others(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "shots", 5)
    (folder / "shot0.png").write_bytes(b"junk")
    (folder / "shot2.png").write_bytes(b"")
    info = probe(folder)
    outcomes = list(decode(info, info.segments[0]))
    failures = [outcome for outcome in outcomes if isinstance(outcome, DecodeFailure)]
    assert [type(outcome) for outcome in outcomes] == [DecodeFailure, DecodedFrame, DecodeFailure, DecodedFrame, DecodedFrame]
    assert [(failure.ref.pts, failure.count, failure.ref.name) for failure in failures] == [(0.0, 1, "shot0.png"), (2.0, 1, "shot2.png")]
    assert "shot0.png" in str(failures[0].reason)
    assert "empty" in str(failures[1].reason)


def test_a_folder_with_only_damaged_pictures_is_an_error(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "shots", 2)
    for path in folder.iterdir():
        path.write_bytes(b"junk")
    with pytest.raises(SourceError, match=r"shot1\.png"):
        probe(folder)


def test_a_folder_that_changes_after_probing_keeps_its_pictures_and_their_order(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "shots", SEGMENT_PICTURES + 5)
    info = probe(folder)
    first = list(decode(info, info.segments[0]))
    (folder / "shot3.png").unlink()
    (folder / "shot34.png").unlink()
    save(folder / "a-new-one.png", numbered(99, (64, 48)))
    second = list(decode(info, info.segments[1]))
    assert [outcome.ref.name for outcome in (*first, *second)] == [f"shot{number}.png" for number in range(info.frames)]
    failures = [outcome for outcome in (*first, *second) if isinstance(outcome, DecodeFailure)]
    assert [(failure.ref.pts, failure.ref.name) for failure in failures] == [(34.0, "shot34.png")]
    assert "No such file" in str(failures[0].reason)


@pytest.mark.parametrize("suffix", ["webp", "png"])
def test_an_animation_is_refused_since_only_its_first_picture_could_be_read(suffix: str, tmp_path: Path) -> None:
    animation = cv2.Animation()
    animation.frames, animation.durations = [corner_picture(), 255 - corner_picture()], np.array([100, 100])
    path, still = tmp_path / f"moving.{suffix}", tmp_path / f"still.{suffix}"
    assert cv2.imwriteanimation(str(path), animation)
    with pytest.raises(SourceError, match="is an animation"):
        probe(path)
    cv2.imwrite(str(still), corner_picture())
    assert probe(still).frames == 1


def test_a_picture_that_cannot_be_examined_is_an_error_of_the_source(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.symlink_to("n" * 300)
    with pytest.raises(SourceError, match="File name too long"):
        probe(picture)
