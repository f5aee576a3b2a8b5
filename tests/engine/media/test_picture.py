"""Pictures are upright, have square pixels and the right colours."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import av
import cv2
import numpy as np
import pytest
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import PixelFormat, Planes
from framefleet.engine.media import picture as conversion
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.cpu_decoding import decode, decode_planes
from framefleet.engine.media.nvdec.bitstream import UnsupportedError
from framefleet.engine.media.picture import Converter, PlaneReader, by_tables, picture_of, planes_to_rgb, reduced, to_rgb
from framefleet.engine.media.probe import probe
from framefleet.engine.types import Image
from framefleet.plugins.colour import MATRICES
from tests.engine.media.conftest import Clip
from tests.support.devices.surfaces import Pictured, picture, random_frame, rgb_by_definition

PQ, HLG = 16, 18
HDR: dict[str, Any] = {"pix_fmt": "yuv420p10le", "colorspace": 9, "size": (384, 64)}
NITS = (1.0, 5.0, 26.0, 100.0, 203.0, 1000.0, 4000.0)
TO_BT2020 = np.array([[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]])


def pq(nits: NDArray[Any]) -> NDArray[Any]:
    """SMPTE ST 2084: the signal 0..1 of a luminance in cd/m²."""
    power = (nits / 10000) ** (2610 / 16384)
    return ((3424 / 4096 + 2413 / 128 * power) / (1 + 2392 / 128 * power)) ** (2523 / 32)


def hlg(light: NDArray[Any]) -> NDArray[Any]:
    """ARIB STD-B67: the signal 0..1 of a scene's light 0..1."""
    return np.where(light <= 1 / 12, np.sqrt(3 * light), 0.17883277 * np.log(np.maximum(12 * light, 1) - 0.28466892) + 0.55991073)


def patches(signals: list[NDArray[Any]], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Upright stripes of these RGB signals 0..1."""
    width, height = size
    columns = np.array([signals[x * len(signals) // width] for x in range(width)])
    return np.broadcast_to(np.round(255 * columns).astype(np.uint8), (height, width, 3))


def stripes(image: Image, count: int) -> NDArray[np.int64]:
    """The colour in the middle of each stripe."""
    width = image.shape[1]
    return np.array([image[32, (2 * number + 1) * width // (2 * count)] for number in range(count)], np.int64)


def shown(clip: Clip, signals: list[NDArray[Any]], **options: Any) -> NDArray[np.int64]:
    name = f"{len(signals)}-{float(signals[-1][0]):.3f}.mp4"
    image = first(clip, name, picture=lambda _number, size: patches(signals, size), **{**HDR, **options})
    return stripes(image, len(signals))


def test_pq_is_mapped_by_a_smooth_curve(clip: Clip) -> None:
    signals = [np.full(3, value) for value in pq(np.array(NITS))]
    plain, mapped = shown(clip, signals), shown(clip, signals, transfer=PQ)
    assert plain[0].max() > 30, "shown as it is, black is grey"
    assert mapped[0].max() < 28
    assert np.abs(mapped - mapped.mean(axis=1, keepdims=True)).max() <= 3, "grey stays grey"
    assert 110 <= mapped[3, 0] <= 180, "100 cd/m²"
    assert 140 <= mapped[4, 0] <= 220, "white paper has 203 cd/m² (ITU-R BT.2408)"
    assert np.all(np.diff(mapped[:, 0]) > 10), "nothing is cut off, up to 4,000 cd/m²"


def test_hlg_is_mapped_by_a_smooth_curve(clip: Clip) -> None:
    signals = [np.full(3, value) for value in hlg(np.array([0.01, 0.05, 0.265, 0.5, 0.75, 1]))]
    mapped = shown(clip, signals, transfer=HLG)
    assert mapped[0].max() < 50
    assert np.all(np.diff(mapped[:, 0]) > 8)
    assert mapped[-1].min() >= 250


@pytest.mark.parametrize("transfer", [PQ, HLG])
def test_colours_are_as_strong_as_in_bt709(transfer: int, clip: Clip) -> None:
    light = [TO_BT2020 @ np.array(colour, float) for colour in ((100, 0, 0), (0, 100, 0), (0, 0, 100))]
    signals = [pq(part) if transfer == PQ else hlg(part / 1000) for part in light]
    plain, mapped = shown(clip, signals), shown(clip, signals, transfer=transfer)
    for colour in range(3):
        others = [other for other in range(3) if other != colour]
        assert np.all(mapped[colour, colour] - mapped[colour, others] > 60)
    if transfer == PQ:
        assert np.all(np.ptp(mapped, axis=1) > np.ptp(plain, axis=1))


def test_annotated_videos_show_the_same_colours(clip: Clip) -> None:
    signals = [np.full(3, value) for value in pq(np.array(NITS))]
    path = clip("w.mp4", frames=3, picture=lambda _number, size: patches(signals, size), transfer=PQ, **HDR)
    with VideoFile(path) as file:
        frame = next(frame for packet in file.packets() for frame in file.decode(packet))
    convert = Converter(None)
    luma = convert.planes(frame, HDR["size"])[0]
    expected = 16 + stripes(convert(frame), len(NITS))[:, 0] * 219 / 255
    assert np.abs(stripes(cv2.merge([luma] * 3), len(NITS))[:, 0] - expected).max() < 2.5


def test_nvdec_leaves_hdr_to_the_cpu_and_says_so(clip: Clip) -> None:
    pytest.importorskip("cuda.core", reason="cuda-python is not installed")
    from framefleet.engine.media.nvdec.format import first_frame
    from framefleet.engine.media.types import Segment

    for transfer, name in ((PQ, "PQ"), (HLG, "HLG")):
        path = clip("n.mp4", frames=12, transfer=transfer, **HDR)
        with VideoFile(path) as file, pytest.raises(UnsupportedError, match=rf"HDR video \({name}\)"):
            first_frame(file, Segment(0, None, None, 0))


U, V = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
COLOURS = list(product(sorted(MATRICES), (False, True)))


def check_every_colour(matrix: str, full_range: bool, step: int) -> None:
    """Frames with four values of luma and all pairs of chroma. step: between the first values of luma of two frames."""
    for first in range(0, 256, step):
        luma = np.empty((512, 512), np.uint8)
        for number, place in enumerate(product((0, 1), (0, 1))):
            luma[place[0] :: 2, place[1] :: 2] = first + number
        frame = Pictured([luma, U, V], 8, (False, None), matrix, full_range)
        expected = rgb_by_definition(frame.planes())
        np.testing.assert_array_equal(planes_to_rgb(luma, U, V, matrix, full_range), expected)
        if first % 64 == 0:
            np.testing.assert_array_equal(by_tables(luma, U, V, matrix, full_range), expected)


@pytest.mark.parametrize(("matrix", "full_range"), COLOURS)
def test_colours(matrix: str, full_range: bool) -> None:
    check_every_colour(matrix, full_range, 84)


@pytest.mark.slow
@pytest.mark.parametrize(("matrix", "full_range"), COLOURS)
def test_every_colour(matrix: str, full_range: bool) -> None:
    check_every_colour(matrix, full_range, 4)


def test_libswscale_is_exact_here() -> None:
    """On processors other than x86 it may not be, and tables take its place."""
    assert conversion.swscale_is_exact()


def check_sizes() -> None:
    for number, (width, height) in enumerate(product((*range(1, 40), 98, 101, 854), (1, 2, 3, 47, 48))):
        planes = random_frame(width, height, number, 8, (False, None), "bt709", False).planes()
        found = planes_to_rgb(planes.luma, planes.u, planes.v, "bt709", False)
        np.testing.assert_array_equal(found, rgb_by_definition(planes), f"{width}×{height}")


def test_any_size() -> None:
    check_sizes()


def test_any_size_without_libswscale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "swscale_is_exact", lambda: False)
    monkeypatch.setattr(conversion, "_by_swscale", None)
    check_sizes()


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuvj420p", "yuv420p10le", "yuv420p12le"])
@pytest.mark.parametrize("size", [(96, 64), (97, 63)])
def test_frames_of_a_decoder(pix_fmt: str, size: tuple[int, int]) -> None:
    """The frame's own tags do not matter."""
    depth = conversion.DEPTHS[pix_fmt]
    given = random_frame(*size, 3, depth, (False, None), "bt2020", pix_fmt == "yuvj420p")
    frame = VideoFrame(*size, pix_fmt)
    for plane, samples in zip(conversion.samples_of(frame), given.samples, strict=True):
        plane[...] = samples
    np.testing.assert_array_equal(to_rgb(frame, "bt2020", given.full_range), rgb_by_definition(given.planes()))


@pytest.mark.parametrize("depth", [10, 12])
def test_every_sample_is_rounded(depth: int) -> None:
    samples = np.arange(1 << depth, dtype=np.uint16)[None]
    step = 1 << (depth - 8)
    expected = np.minimum((samples + step // 2) // step, 255)
    np.testing.assert_array_equal(reduced(samples, depth), expected)
    np.testing.assert_array_equal(reduced(np.repeat(samples, 3, axis=1)[:, 1::3], depth), expected)


def frame_of(pix_fmt: str, width: int = 96, height: int = 64) -> VideoFrame:
    frame = VideoFrame.from_ndarray(picture(width, height, seed=1), format="rgb24").reformat(
        format=pix_fmt, dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG
    )
    frame.colorspace, frame.color_range = Colorspace.ITU709, ColorRange.MPEG
    return frame


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv420p10le", "yuv420p12le"])
@pytest.mark.parametrize("size", [(96, 64), (98, 66)])
def test_planes_give_the_same_picture(pix_fmt: str, size: tuple[int, int]) -> None:
    frame = frame_of(pix_fmt, *size)
    planes = PlaneReader(Converter(None), oblong_only=False)(frame)
    assert isinstance(planes, Planes)
    assert (planes.format.format, planes.format.depth) == (PixelFormat.I420, 8)
    assert planes.u.shape == planes.v.shape == (size[1] // 2, size[0] // 2)
    np.testing.assert_array_equal(picture_of(planes), Converter(None)(frame))


@pytest.mark.parametrize("pix_fmt", ["yuv422p", "yuv444p", "rgb24", "gray", "yuv420p16le"])
def test_other_formats_become_pictures(pix_fmt: str) -> None:
    image = PlaneReader(Converter(None), oblong_only=False)(frame_of(pix_fmt))
    assert isinstance(image, np.ndarray)
    assert image.shape == (64, 96, 3)


def test_a_stream_may_change_its_size_and_its_colours() -> None:
    read = PlaneReader(Converter(Fraction(2)), oblong_only=False)
    formats = []
    for size, colours in (((96, 64), Colorspace.ITU709), ((64, 32), Colorspace.ITU709), ((64, 32), Colorspace.ITU601)):
        frame = frame_of("yuv420p", *size)
        frame.colorspace = colours
        planes = read(frame)
        assert isinstance(planes, Planes)
        layout = planes.format
        formats.append((layout.stored_width, layout.stored_height, layout.width, layout.height, layout.matrix))
    assert formats == [(96, 64, 192, 64, "bt709"), (64, 32, 128, 32, "bt709"), (64, 32, 128, 32, "bt601")]


@pytest.mark.parametrize(
    ("options", "planes", "oblong"),
    [
        ({}, True, False),
        ({"rotation": 90}, True, False),
        ({"aspect": Fraction(4, 3)}, True, True),
        ({"transfer": 16, "colorspace": 9}, False, False),
        ({"pix_fmt": "yuv444p"}, False, False),
    ],
)
def test_decoding_for_inference(options: dict[str, Any], planes: bool, oblong: bool, clip: Clip) -> None:
    """HDR video is mapped as pictures. Pictures with oblong pixels would be resized twice."""
    info = probe(clip("a.mkv", frames=14, **options))
    (segment, *_) = info.segments
    pictures = list(decode(info, segment))
    for oblong_only, expected in ((False, planes), (True, oblong)):
        found = list(decode_planes(info, segment, oblong_only=oblong_only))
        assert [item.ref.pts for item in found] == [item.ref.pts for item in pictures]
        assert {isinstance(item.image, Planes) for item in found} == {expected}
        if isinstance(found[0].image, Planes):
            assert (found[0].image.format.width, found[0].image.format.height) == (info.width, info.height)


def test_frames_outlive_their_file(clip: Clip) -> None:
    """The decoder reuses its memory only when nothing refers to a frame any more."""
    info = probe(clip("a.mkv", frames=60))
    kept = [item for segment in info.segments for item in decode_planes(info, segment)]
    assert all(isinstance(item.image, Planes) for item in kept)
    again = [item for segment in info.segments for item in decode_planes(info, segment)]
    for first, second in zip(kept, again, strict=True):
        np.testing.assert_array_equal(first.image.luma, second.image.luma)  # type: ignore[union-attr]
    assert len({item.image.luma[:8].tobytes() for item in kept}) > 1  # type: ignore[union-attr]


RED, GREEN, BLUE, YELLOW = (200, 40, 40), (40, 180, 60), (40, 60, 200), (210, 200, 50)


def quarters(_number: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Red, green / blue, yellow."""
    width, height = size
    image = np.empty((height, width, 3), np.uint8)
    image[: height // 2, : width // 2], image[: height // 2, width // 2 :] = RED, GREEN
    image[height // 2 :, : width // 2], image[height // 2 :, width // 2 :] = BLUE, YELLOW
    return image


def first(clip: Clip, name: str = "a.mp4", **options: Any) -> Image:
    info = probe(clip(name, **{"frames": 3, "picture": quarters, "options": {"crf": "1", "preset": "ultrafast"}, **options}))
    image = next(iter(decode(info, info.segments[0]))).image  # type: ignore[union-attr]
    assert image.shape == (info.height, info.width, 3)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous
    return image


def corners(image: Image) -> list[tuple[int, ...]]:
    height, width = image.shape[:2]
    return [tuple(int(value) for value in image[y * height // 4, x * width // 4]) for y in (1, 3) for x in (1, 3)]


def close(found: list[tuple[int, ...]], expected: list[tuple[int, ...]], tolerance: int = 6) -> None:
    assert np.abs(np.array(found) - np.array(expected)).max() <= tolerance, (found, expected)


def test_the_clip_is_upright_and_has_the_right_colours(clip: Clip) -> None:
    close(corners(first(clip)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_rotation_and_mirroring(degrees: int, mirrored: bool, clip: Clip) -> None:
    expected = np.rot90(quarters(0, (96, 64)), degrees // 90)
    if mirrored:
        expected = expected[:, ::-1]
    image = first(clip, rotation=degrees, hflip=mirrored)
    assert image.shape == expected.shape
    close(corners(image), corners(expected))


def test_a_picture_upside_down_and_mirrored_is_only_mirrored_vertically(clip: Clip) -> None:
    """A matrix without any rotation angle."""
    close(corners(first(clip, rotation=180, hflip=True)), [BLUE, YELLOW, RED, GREEN])


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_opencv_turns_the_same_way(degrees: int, clip: Clip) -> None:
    path = clip("a.mp4", frames=3, picture=quarters, rotation=degrees)
    info = probe(path)
    image = next(iter(decode(info, info.segments[0]))).image  # type: ignore[union-attr]
    assert np.array_equal(image, cv2.VideoCapture(str(path)).read()[1][..., ::-1])


@pytest.mark.parametrize(("aspect", "shape"), [(Fraction(4, 3), (64, 128)), (Fraction(3, 4), (85, 96)), (Fraction(1, 1000), (64, 96))])
def test_pixels_become_square(aspect: Fraction, shape: tuple[int, int], clip: Clip) -> None:
    image = first(clip, aspect=aspect)
    assert image.shape[:2] == shape
    close(corners(image), [RED, GREEN, BLUE, YELLOW])


BT709, UNSPECIFIED, BT601, BT2020, LIMITED, FULL = 1, 2, 6, 9, 1, 2


@pytest.mark.parametrize("colorspace", [BT709, BT601, BT2020])
@pytest.mark.parametrize("color_range", [LIMITED, FULL])
def test_matrix_and_range_are_those_of_the_stream(colorspace: int, color_range: int, clip: Clip) -> None:
    close(corners(first(clip, colorspace=colorspace, color_range=color_range)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize(("size", "matrix"), [((1280, 64), BT709), ((96, 720), BT709), ((96, 64), BT601)])
def test_untagged_video_of_hd_size_is_bt709(size: tuple[int, int], matrix: int, clip: Clip) -> None:
    options = {"size": size, "frames": 3, "picture": quarters, "colorspace": matrix, "tagged": False}
    with av.open(str(clip("a.mp4", options={"crf": "1", "preset": "ultrafast"}, **options))) as container:
        assert next(container.decode(video=0)).colorspace == UNSPECIFIED
    close(corners(first(clip, **options)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt"),
    [
        ("a.mp4", "libx264", "yuv422p"),
        ("a.mp4", "libx264", "yuv444p"),
        ("a.mkv", "libx264", "yuv420p10le"),
        ("a.mkv", "libx265", "yuv422p10le"),
        ("a.mov", "prores_ks", "yuv444p10le"),
        ("a.avi", "mjpeg", "yuvj420p"),
        ("a.mkv", "ffv1", "bgr0"),
        ("a.mkv", "ffv1", "yuv420p16le"),
        ("a.mov", "png", "rgba"),
        ("a.mov", "png", "rgb48be"),
        ("a.mkv", "ffv1", "gbrp10le"),
    ],
)
def test_pixel_formats(name: str, codec: str, pix_fmt: str, clip: Clip) -> None:
    options = {"x265-params": "log-level=none:crf=1"} if codec == "libx265" else {"crf": "1"} if codec == "libx264" else {}
    close(corners(first(clip, name, codec=codec, pix_fmt=pix_fmt, options=options)), [RED, GREEN, BLUE, YELLOW], 10)


@pytest.mark.parametrize("pix_fmt", ["gray", "gray16le"])
def test_gray(pix_fmt: str, clip: Clip) -> None:
    image = first(clip, "a.mkv", codec="ffv1", pix_fmt=pix_fmt, options={})
    assert np.array_equal(image[..., 0], image[..., 1])
    assert np.array_equal(image[..., 0], image[..., 2])
    assert corners(image)[3] > corners(image)[0]


def test_palettes(clip: Clip) -> None:
    close(corners(first(clip, "a.gif", codec="gif", pix_fmt="rgb8", rate=25, options={})), [RED, GREEN, BLUE, YELLOW], 60)


@pytest.mark.parametrize("size", [(98, 66), (50, 34), (126, 70)])
def test_odd_line_lengths(size: tuple[int, int], clip: Clip) -> None:
    close(corners(first(clip, size=size)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize("size", [(97, 65), (33, 31)])
def test_odd_sizes(size: tuple[int, int], clip: Clip) -> None:
    image = first(clip, size=size, pix_fmt="yuv444p")
    assert image.shape == (size[1], size[0], 3)
    close(corners(image), [RED, GREEN, BLUE, YELLOW], 10)


def test_a_crop_on_all_sides(clip: Clip) -> None:
    crop = {"crf": "1", "preset": "ultrafast", "x264-params": "crop-rect=32,16,16,8"}
    image, expected = first(clip, size=(160, 96), options=crop), quarters(0, (160, 96))[16:-8, 32:-16]
    assert image.shape == expected.shape
    assert np.abs(image[::7, ::5].astype(int) - expected[::7, ::5]).max() <= 6
