"""Converts decoded frames to pictures: crop, colours, range, tone mapping of HDR video, rotation, and square pixels; or to planes."""

import threading
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, TypeAlias

import av  # as a whole: `from av.video ...` does not wait while another thread imports av, and fails
import cv2
import numpy as np
from av.sidedata.sidedata import Type as SideDataType
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import FrameFormat, HostImage, PixelFormat, Planes
from framefleet.engine.detection.preprocess import DARKNET, Fit, fit
from framefleet.engine.media.container.video_file import MAX_SIDE
from framefleet.engine.model.network import Placement
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.types import Image
from framefleet.plugins.colour import SHIFT, colour_factors

# Converts HDR pictures to standard dynamic range, as the pictures have on which networks are trained.
#
# The signals of HDR frames follow the PQ or HLG curve and use the colours of BT.2020 (ITU-R BT.2100). Shown unchanged, they look pale.
# The conversion works on 8-bit pictures in three steps, each one call of OpenCV:
#
# 1. A table converts signals to luminance and compresses it: L (1 + L / P²) / (1 + L), the extended curve of Reinhard et al. (2002). L is
#    the luminance and P the highest luminance of the signal, both divided by that of white paper, 203 cd/m² (ITU-R BT.2408).
# 2. A matrix converts colours from BT.2020 to BT.709 (ITU-R BT.2087).
# 3. A table converts light to the signals of a display with gamma 2.2.
#
# libswscale has such a conversion, too, but needs seconds for its table, and that for each open file.

_NAMES = {16: "PQ", 18: "HLG"}  # by AVCOL_TRC
_PAPER = 203.0  # cd/m²
_PQ_PEAK, _HLG_PEAK = 10_000.0, 1000.0  # cd/m²
_HLG_GAMMA = 1.2  # of a display with 1000 cd/m², BT.2100 table 5
_DISPLAY_GAMMA = 2.2
_TO_BT709 = np.array([[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]], np.float32)
_WHITE = 65535  # light is uint16 between the steps


def transfer_name(frame: VideoFrame) -> str | None:
    """Return the transfer function of an HDR frame, "PQ" or "HLG"; None for any other frame."""
    return _NAMES.get(frame.color_trc)


def to_standard_range(image: Image, transfer: str) -> Image:
    """Convert an HDR picture. image: uint8 (height, width, 3), RGB signals. transfer: "PQ" or "HLG"."""
    light = cv2.transform(cv2.LUT(image, _light_of(transfer)), _TO_BT709)
    return np.asarray(cv2.LUT(light, _signals()), np.uint8)


@cache
def _light_of(transfer: str) -> NDArray[np.uint16]:
    """Return the compressed light for each signal, uint16 (256,)."""
    signal = np.linspace(0, 1, 256)
    if transfer == "PQ":  # BT.2100 table 4
        peak = _PQ_PEAK
        power = signal ** (32 / 2523)
        nits = peak * (np.maximum(power - 3424 / 4096, 0) / (2413 / 128 - 2392 / 128 * power)) ** (16384 / 2610)
    else:  # BT.2100 table 5
        peak = _HLG_PEAK
        scene = np.where(signal <= 0.5, signal**2 / 3, (np.exp((signal - 0.55991073) / 0.17883277) + 0.28466892) / 12)
        nits = peak * scene**_HLG_GAMMA
    light, most = nits / _PAPER, peak / _PAPER
    return np.round(_WHITE * np.minimum(light * (1 + light / most**2) / (1 + light), 1)).astype(np.uint16)


@cache
def _signals() -> NDArray[np.uint8]:
    """Return the signal for each light, uint8 (65536,)."""
    return np.round(255 * np.linspace(0, 1, _WHITE + 1) ** (1 / _DISPLAY_GAMMA)).astype(np.uint8)


# Converts 4:2:0 frames to RGB by the integers of ``plugins/colour.py``, so that a GPU can compute the same bytes.
#
# libswscale does this when a frame has 8 bits and an even height. Its converters for other processors than x86 may round differently: then
# tables compute the same, in about nine times the time.

Plane: TypeAlias = NDArray[np.uint8]
"""One component of a picture, uint8 (height, width)."""

DEPTHS = {"yuv420p": 8, "yuvj420p": 8, "yuv420p10le": 10, "yuv420p12le": 12}
"""FFmpeg's pixel formats for which this module and the kernel ``preprocess`` are written, and the bits of a sample."""

_NUMBERS = {"bt709": 1, "fcc": 4, "bt601": 6, "smpte240m": 7, "bt2020": 9}
"""AVCOL_SPC of each matrix."""

_STRIP = 32
"""Rows that ``by_tables`` converts at once. Intermediate values stay in the caches."""

_LOCAL = threading.local()


def samples_of(frame: VideoFrame) -> list[NDArray[np.uint8] | NDArray[np.uint16]]:
    """Return luma, U and V of a frame, (height, width) each, as views of its memory."""
    found: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
    for plane in frame.planes:
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, -1)
        found.append((rows if DEPTHS[frame.format.name] == 8 else rows.view(np.uint16))[:, : plane.width])
    return found


def bytes_of(frame: VideoFrame) -> list[Plane]:
    """Return luma, U and V of a frame, reduced to 8 bits."""
    return [reduced(samples, DEPTHS[frame.format.name]) for samples in samples_of(frame)]


def reduced(samples: NDArray[np.uint8] | NDArray[np.uint16], depth: int) -> Plane:
    """Reduce samples to 8 bits: min((sample + half) >> (depth - 8), 255).

    OpenCV rounds to the nearest integer. ``beta`` makes sure that no value lies in the middle between two integers.
    """
    if depth == 8:
        return samples.view(np.uint8)
    step = 2.0 ** (8 - depth)
    return np.asarray(cv2.convertScaleAbs(samples, alpha=step, beta=step / 2), np.uint8)


def to_rgb(frame: VideoFrame, matrix: str, full_range: bool) -> Image:
    """Convert a frame in one of ``DEPTHS`` to a picture of its stored size. matrix: see ``colour_factors``."""
    if DEPTHS[frame.format.name] > 8 or frame.height % 2 or not swscale_is_exact():
        luma, u, v = bytes_of(frame)
        return planes_to_rgb(luma, u, v, matrix, full_range)
    return _by_swscale(frame, matrix, full_range)


def planes_to_rgb(luma: Plane, u: Plane, v: Plane, matrix: str, full_range: bool) -> Image:
    """Convert planes to a picture. u, v: half as large as the luma, rounded up."""
    if not swscale_is_exact():
        return by_tables(luma, u, v, matrix, full_range)
    return _by_swscale(_frame_of(luma, u, v), matrix, full_range)[: len(luma)]


def _frame_of(luma: Plane, u: Plane, v: Plane) -> VideoFrame:
    """Create a frame with these planes. Its height is rounded up to an even number."""
    height, width = luma.shape
    frame = VideoFrame(width, height + height % 2, "yuv420p")
    for plane, samples in zip(frame.planes, (luma, u, v), strict=True):
        np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, -1)[: len(samples), : samples.shape[1]] = samples
    return frame


def by_tables(luma: Plane, u: Plane, v: Plane, matrix: str, full_range: bool) -> Image:
    """Compute ``planes_to_rgb`` without libswscale."""
    black, of_y, v_in_r, u_in_g, v_in_g, u_in_b = colour_factors(matrix, full_range)
    height, width = luma.shape
    image: Image = np.empty((height, width, 3), np.uint8)

    def product(samples: Plane, zero: int, factor: int) -> NDArray[np.int16]:
        return np.asarray(cv2.LUT(samples, ((np.arange(256) - zero) * factor >> SHIFT).astype(np.int16)), np.int16)

    for top in range(0, height, _STRIP):
        grey = product(luma[top : top + _STRIP], black, of_y)
        cb, cr = (plane[top // 2 : (top + _STRIP) // 2] for plane in (u, v))
        of_chroma = product(cr, 128, v_in_r), product(cb, 128, u_in_g) + product(cr, 128, v_in_g), product(cb, 128, u_in_b)
        for channel, part in enumerate(of_chroma):
            spread = cv2.resize(part, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)[: len(grey), :width]
            image[top : top + _STRIP, :, channel] = cv2.add(grey, spread, dtype=cv2.CV_8U)
    return image


def _by_swscale(frame: VideoFrame, matrix: str, full_range: bool) -> Image:
    if not hasattr(_LOCAL, "reformatter"):
        _LOCAL.reformatter = VideoReformatter()
    source_range = ColorRange.JPEG if full_range else ColorRange.MPEG
    converted = _LOCAL.reformatter.reformat(
        frame, frame.width, frame.height, "rgb24", src_colorspace=_NUMBERS[matrix], src_color_range=source_range, threads=1
    )
    return np.asarray(converted.to_ndarray(), np.uint8)


@cache
def swscale_is_exact() -> bool:
    """Whether libswscale computes what is defined, tested with all chroma values and random luma."""
    luma = np.random.default_rng(0).integers(0, 256, (512, 512), dtype=np.uint8)
    u, v = (np.ascontiguousarray(each) for each in np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8)))
    return np.array_equal(_by_swscale(_frame_of(luma, u, v), "bt709", False), by_tables(luma, u, v, "bt709", False))


# Converts decoded frames to upright RGB pictures with square pixels.
#
# The frame's tags determine the colour matrix and range. Untagged frames of HD size are BT.709, as in video players; smaller ones are
# BT.601. (OpenCV's VideoCapture always assumes BT.601, limited range.) Chroma is not interpolated: pictures of BT.601 streams equal
# OpenCV's. HDR frames (PQ, HLG) become pictures of standard dynamic range.

_UNSPECIFIED = 2  # AVCOL_SPC_UNSPECIFIED
_MATRICES = {1: "bt709", 4: "fcc", 7: "smpte240m", 9: "bt2020"}  # by AVCOL_SPC; libswscale treats the other convertible ones as BT.601
_CONVERTIBLE = frozenset((0, 1, 4, 5, 6, 7, 9))  # AVCOL_SPC values libswscale has a matrix for


class Converter:
    """Converts the frames of one video.

    aspect: width / height of a pixel, None: square pixels. max_size: maximum width and height of the pictures, None: no limit.
    for_screen: make pictures of four channels, blue, green, red, 255. libswscale makes them in a third of the time of RGB.
    """

    def __init__(self, aspect: Fraction | None, max_size: tuple[int, int] | None = None, *, for_screen: bool = False) -> None:
        self._aspect = aspect if aspect and Fraction(1, 16) <= aspect <= 16 else Fraction(1)
        self._max_size = max_size
        self._for_screen = for_screen
        self._reformatter = VideoReformatter()
        self._rotation: int | None = None
        self._orientation: tuple[bool, int | None] = (False, None)

    def size(self, frame: VideoFrame) -> tuple[int, int]:
        """Return width and height of the picture made from this frame."""
        return self._sizes(frame, self.orientation(frame)[0])[1]

    def __call__(self, frame: VideoFrame) -> Image:
        """Convert a frame to a picture.

        Raises
        ------
        SourceError
            The frame is too large.
        av.FFmpegError, ValueError
            The pixel format cannot be converted.
        """
        transposed, flip = self.orientation(frame)
        (width, height), _ = self._sizes(frame, transposed)
        if max(width, height) > MAX_SIDE:
            raise SourceError(Notice("media.frame_too_large", width=width, height=height, limit=MAX_SIDE))
        image = self._bgra(frame, width, height) if self._for_screen else self._rgb(frame, width, height)
        if transposed:
            image = np.asarray(cv2.transpose(image), np.uint8)
        if flip is not None:
            image = np.asarray(cv2.flip(image, flip), np.uint8)
        return image if self._for_screen else np.ascontiguousarray(image)

    def planes(self, frame: VideoFrame, size: tuple[int, int]) -> tuple[Plane, Plane, Plane]:
        """Convert a frame to an upright picture as luma and two half-size chroma planes (BT.709, limited range).

        size: width and height of the picture, both even.

        Raises
        ------
        av.FFmpegError, ValueError
            The pixel format cannot be converted.
        """
        transposed, flip = self.orientation(frame)
        width, height = size[::-1] if transposed else size
        if transfer_name(frame):
            frame = VideoFrame.from_ndarray(self._rgb(frame, frame.width, frame.height), "rgb24")
        converted = self._reformatter.reformat(
            frame,
            width,
            height,
            "yuv420p",
            src_colorspace=_colorspace(frame),
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            threads=1,
        )
        whole = np.asarray(converted.to_ndarray(), np.uint8).reshape(-1)
        cuts = (width * height, width * height * 5 // 4)
        planes = [plane.reshape(height // part, width // part) for plane, part in zip(np.split(whole, cuts), (1, 2, 2), strict=True)]
        if transposed:
            planes = [np.asarray(cv2.transpose(plane), np.uint8) for plane in planes]
        if flip is not None:
            planes = [np.asarray(cv2.flip(plane, flip), np.uint8) for plane in planes]
        return planes[0], planes[1], planes[2]

    def _rgb(self, frame: VideoFrame, width: int, height: int) -> Image:
        """Scale a frame and convert it to RGB of standard dynamic range."""
        transfer = transfer_name(frame)
        if (width, height) == (frame.width, frame.height) and frame.format.name in DEPTHS and not transfer:
            return to_rgb(frame, matrix_name(frame), is_full_range(frame))
        converted = self._reformatter.reformat(frame, width, height, "rgb24", src_colorspace=_colorspace(frame), threads=1)
        image = np.asarray(converted.to_ndarray(), np.uint8)
        return to_standard_range(image, transfer) if transfer else image

    def _bgra(self, frame: VideoFrame, width: int, height: int) -> Image:
        """Scale a frame and convert it for the screen."""
        if transfer_name(frame):
            return np.asarray(cv2.cvtColor(self._rgb(frame, width, height), cv2.COLOR_RGB2BGRA), np.uint8)
        # libswscale's fastest way of scaling moves pictures by up to half a pixel; the mean over areas takes little longer
        converted = self._reformatter.reformat(
            frame, width, height, "bgra", src_colorspace=_colorspace(frame), interpolation=Interpolation.AREA, threads=1
        )
        plane: Any = converted.planes[0]  # ``to_ndarray`` copies pictures whose rows are padded
        return np.frombuffer(plane, np.uint8).reshape(height, -1)[:, : 4 * width].reshape(height, width, 4)

    def orientation(self, frame: VideoFrame) -> tuple[bool, int | None]:
        """Return how to turn the frame upright: whether to transpose it first, then the code for ``cv2.flip``.

        1 flips left-right, 0 up-down, -1 both; None: no flip.
        """
        if frame.rotation != self._rotation:
            self._rotation = frame.rotation
            # PyAV puts a frame and its side data into a reference cycle; a tiny copy wastes less memory until it is collected
            tiny = self._reformatter.reformat(frame, 2, 2, "gray", interpolation=Interpolation.POINT, threads=1)
            self._orientation = _orientation(tiny)
        return self._orientation

    def _sizes(self, frame: VideoFrame, transposed: bool) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return width and height with square pixels, before and after transposing. Only enlarges sides, so that no detail is lost."""
        width, height = frame.width, frame.height
        if self._aspect > 1:
            width = round(width * self._aspect)
        else:
            height = round(height / self._aspect)
        shown = fitted((height, width) if transposed else (width, height), self._max_size)
        return (shown[::-1] if transposed else shown), shown


@lru_cache(maxsize=64)  # fractions are slow, and all frames of a video have one size
def fitted(size: tuple[int, int], max_size: tuple[int, int] | None) -> tuple[int, int]:
    """Scale a width and height down to fit into ``max_size``, with the same aspect ratio. None: no limit."""
    if max_size is None:
        return size
    scale = min(Fraction(max_size[0], size[0]), Fraction(max_size[1], size[1]), Fraction(1))
    return max(1, int(size[0] * scale)), max(1, int(size[1] * scale))


def shrink(image: Image, max_size: tuple[int, int] | None) -> Image:
    """Scale a picture down to fit into ``max_size`` (width and height), with the same aspect ratio. None: no limit."""
    size = (image.shape[1], image.shape[0])
    target = fitted(size, max_size)
    return image if target == size else np.asarray(cv2.resize(image, target, interpolation=cv2.INTER_AREA), np.uint8)


def _colorspace(frame: VideoFrame) -> int | None:
    """Return the colour matrix to pass to libswscale, None for the frame's own."""
    if frame.colorspace in _CONVERTIBLE:
        return None
    if transfer_name(frame):
        return Colorspace.BT2020
    hd = frame.width >= 1280 or frame.height > 576
    return Colorspace.ITU709 if hd and frame.colorspace == _UNSPECIFIED else Colorspace.DEFAULT


def matrix_name(frame: VideoFrame) -> str:
    """Return the colour matrix that a ``Converter`` uses for this frame: "bt601", "bt709", "bt2020", "fcc" or "smpte240m"."""
    chosen = _colorspace(frame)
    if chosen is None:
        return _MATRICES.get(frame.colorspace, "bt601")
    return "bt709" if chosen == Colorspace.ITU709 else "bt601"


def is_full_range(frame: VideoFrame) -> bool:
    """Whether luma and chroma of this frame have full range (0 to 255), not limited range (16 to 235 and 16 to 240)."""
    return frame.color_range == ColorRange.JPEG or frame.format.name.startswith("yuvj")


def _orientation(frame: VideoFrame) -> tuple[bool, int | None]:
    """Compute ``Converter.orientation`` from the display matrix (ISO 14496-12, 8.2.2).

    A point (x, y) of the frame is shown at (a·x + c·y, b·x + d·y).
    """
    try:
        side_data: Any = frame.side_data
        matrix = np.frombuffer(side_data[SideDataType.DISPLAYMATRIX], np.int32)
        a, b, c, d = (int(matrix[index]) for index in (0, 1, 3, 4))
    except KeyError:
        return False, None
    except ValueError:  # PyAV fails on an unknown kind of side data, but still reports the angle
        a, b, c, d = {90: (0, -1, 1, 0), 180: (-1, 0, 0, -1), -180: (-1, 0, 0, -1), -90: (0, 1, -1, 0)}.get(frame.rotation, (1, 0, 0, 1))
    transposed = abs(b) > abs(a)
    mirrored, upside_down = (c < 0, b < 0) if transposed else (a < 0, d < 0)
    return transposed, {(False, False): None, (True, False): 1, (False, True): 0, (True, True): -1}[mirrored, upside_down]


class PlaneReader:
    """Returns a video's frames as planes; frames that need another conversion, such as HDR, as pictures.

    convert: the video's converter. oblong_only: return frames with square pixels as pictures, too.
    """

    def __init__(self, convert: Converter, oblong_only: bool) -> None:
        self._convert, self._oblong_only = convert, oblong_only
        self._known: object = None
        self._format: FrameFormat | None = None

    def __call__(self, frame: av.VideoFrame) -> HostImage:
        """Return a frame's planes, or a picture. The planes are views of memory that they keep alive.

        Raises: see ``Converter``.
        """
        kind = frame.format.name, frame.width, frame.height, frame.rotation, frame.colorspace, frame.color_range, frame.color_trc
        if kind != self._known:
            self._known, self._format = kind, self._describe(frame)
        return self._convert(frame) if self._format is None else Planes(self._format, *bytes_of(frame))

    def _describe(self, frame: av.VideoFrame) -> FrameFormat | None:
        if frame.format.name not in DEPTHS or transfer_name(frame):
            return None
        layout = frame_format(frame, self._convert, PixelFormat.I420, 8)
        if max(layout.width, layout.height) > MAX_SIDE:
            return None
        return None if self._oblong_only and layout.width * layout.height == frame.width * frame.height else layout


def frame_format(frame: av.VideoFrame, convert: Converter, kind: PixelFormat, depth: int) -> FrameFormat:
    """Describe a video's frames in memory. kind, depth: the layout there, and the bits of a sample."""
    shown, orientation = convert.size(frame), convert.orientation(frame)
    return FrameFormat(kind, depth, frame.width, frame.height, *shown, orientation, matrix_name(frame), is_full_range(frame))


def fit_host_image(image: HostImage, out: NDArray[np.float32], letterbox: bool, still: bool = False, placement: Placement = DARKNET) -> Fit:
    """Like ``fit``, also for planes."""
    if isinstance(image, Planes):
        return fit(picture_of(image), out, letterbox, shown=(image.format.width, image.format.height), placement=placement)
    return fit(image, out, letterbox, still, placement=placement)


def picture_of(planes: Planes) -> Image:
    """Convert planes to an upright picture of the stored size, whose pixels may be oblong."""
    layout = planes.format
    transposed, flip = layout.orientation
    image = planes_to_rgb(planes.luma, planes.u, planes.v, layout.matrix, layout.full_range)
    if transposed:
        image = np.asarray(cv2.transpose(image), np.uint8)
    return np.ascontiguousarray(image if flip is None else np.asarray(cv2.flip(image, flip), np.uint8))
