"""Converts decoded frames to upright RGB pictures with square pixels.

The frame's tags determine the colour matrix and range. Untagged frames of HD size are BT.709, as in video players; smaller ones are BT.601.
(OpenCV's VideoCapture always assumes BT.601, limited range.) Chroma is not interpolated: pictures of BT.601 streams equal OpenCV's.
HDR frames (PQ, HLG) become pictures of standard dynamic range.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from av.sidedata.sidedata import Type as SideDataType
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.opening import MAX_SIDE
from framefleet.engine.media.tone_mapping import to_standard_range, transfer_name
from framefleet.engine.media.yuv import DEPTHS, Plane, to_rgb
from framefleet.engine.types import Image

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

        Raises:
            SourceError: the frame is too large.
            av.FFmpegError, ValueError: the pixel format cannot be converted.
        """
        transposed, flip = self.orientation(frame)
        (width, height), _ = self._sizes(frame, transposed)
        if max(width, height) > MAX_SIDE:
            raise SourceError(f"a frame of {width}×{height}: at most {MAX_SIDE}×{MAX_SIDE} can be used")
        image = self._bgra(frame, width, height) if self._for_screen else self._rgb(frame, width, height)
        if transposed:
            image = np.asarray(cv2.transpose(image), np.uint8)
        if flip is not None:
            image = np.asarray(cv2.flip(image, flip), np.uint8)
        return image if self._for_screen else np.ascontiguousarray(image)

    def planes(self, frame: VideoFrame, size: tuple[int, int]) -> tuple[Plane, Plane, Plane]:
        """Convert a frame to an upright picture as luma and two half-size chroma planes (BT.709, limited range).

        size: width and height of the picture, both even.

        Raises:
            av.FFmpegError, ValueError: the pixel format cannot be converted.
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
            self._orientation = _orientation(self._reformatter.reformat(frame, 2, 2, "gray"))
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
