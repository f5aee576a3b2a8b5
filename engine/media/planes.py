"""Takes decoded frames as planes where a GPU can compute the network's input from them, and converts planes to pictures."""

import av  # as a whole: `from av.video ...` does not wait while another thread imports av, and fails
import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import FrameFormat, HostImage, PixelFormat, Planes
from framefleet.engine.detection.preprocess import Fit, fit
from framefleet.engine.media.container.opening import MAX_SIDE
from framefleet.engine.media.picture import Converter, is_full_range, matrix_name
from framefleet.engine.media.tone_mapping import transfer_name
from framefleet.engine.media.yuv import DEPTHS, bytes_of, planes_to_rgb
from framefleet.engine.types import Image


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


def fit_host_image(image: HostImage, out: NDArray[np.float32], letterbox: bool, still: bool = False) -> Fit:
    """Like ``fit``, also for planes."""
    if isinstance(image, Planes):
        return fit(picture_of(image), out, letterbox, shown=(image.format.width, image.format.height))
    return fit(image, out, letterbox, still)


def picture_of(planes: Planes) -> Image:
    """Convert planes to an upright picture of the stored size, whose pixels may be oblong."""
    layout = planes.format
    transposed, flip = layout.orientation
    image = planes_to_rgb(planes.luma, planes.u, planes.v, layout.matrix, layout.full_range)
    if transposed:
        image = np.asarray(cv2.transpose(image), np.uint8)
    return np.ascontiguousarray(image if flip is None else np.asarray(cv2.flip(image, flip), np.uint8))
