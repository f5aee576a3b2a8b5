"""Resizes pictures to the network's input, and converts boxes back to pixels of the picture."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.network import Placement
from framefleet.engine.types import Image

DARKNET = Placement()
"""Its grey is 0.5 in Darknet's range of 0 to 1."""


@dataclass(frozen=True)
class Fit:
    """The position of a resized picture in the network's input, pixels.

    Attributes
    ----------
    width, height
        Size of the picture, pixels.
    left, top, inner_width, inner_height
        The resized picture in the network's input.
    scale
        Pixels of the network's input per pixel of the picture; None = the quotients of the sizes.
    """

    width: int
    height: int
    left: int
    top: int
    inner_width: int
    inner_height: int
    scale: float | None = None

    @property
    def aspect(self) -> np.float32:
        """Width ÷ height of the resized picture: a vertical distance times this has the same share of the picture as a horizontal one."""
        return np.float32(self.inner_width) / np.float32(self.inner_height)

    def to_source(self, boxes: NDArray[np.float32]) -> NDArray[np.float32]:
        """Convert boxes from pixels of the network's input to pixels of the picture, and clip them to it.

        Parameters
        ----------
        boxes : ndarray
            float32 (n, 4), x1 y1 x2 y2.
        """
        factors = self.width / self.inner_width, self.height / self.inner_height
        scale = np.array(factors * 2 if self.scale is None else [1 / self.scale] * 4, np.float32)
        offset = np.array([self.left, self.top] * 2, np.float32)
        limit = np.array([self.width, self.height] * 2, np.float32)
        placed: NDArray[np.float32] = np.clip((boxes - offset) * scale, 0, limit)
        return placed


def plan_fit(width: int, height: int, network_width: int, network_height: int, letterbox: bool, placement: Placement = DARKNET) -> Fit:
    """Compute the position of a picture in the network's input. By default, it rounds like Darknet's ``letterbox_image`` (``src/image.c``).

    Parameters
    ----------
    width, height, network_width, network_height
        Sizes of the picture and of the network's input, pixels.
    letterbox
        Whether the picture keeps its aspect ratio, instead of being stretched to the whole input.
    placement
        Where a letterboxed picture is, and how its sides are rounded.
    """
    if not letterbox:
        return Fit(width, height, 0, 0, network_width, network_height)
    scale, inner_width, inner_height = None, network_width, network_height
    if not placement.like_darknet:
        # as YOLOX and ultralytics do: the product may lie a little below a whole number
        scale = min(network_height / height, network_width / width)
        inner_width, inner_height = (max(1, round(side * scale) if placement.nearest else int(side * scale)) for side in (width, height))
    elif network_width * height < network_height * width:
        inner_height = max(1, height * network_width // width)
    else:
        inner_width = max(1, width * network_height // height)
    left, top = (0, 0) if placement.corner else ((network_width - inner_width) // 2, (network_height - inner_height) // 2)
    return Fit(width, height, left, top, inner_width, inner_height, scale)


def fit(
    image: Image,
    out: NDArray[np.float32],
    letterbox: bool,
    still: bool = False,
    shown: tuple[int, int] | None = None,
    placement: Placement = DARKNET,
) -> Fit:
    """Resize a picture (bilinear) into ``out``.

    ``docs/adr/0022-same-input.md`` defines the arithmetic, which ``plugins/kernels/preprocess.cu`` repeats.

    Parameters
    ----------
    image : ndarray
        uint8 (height, width, 3), RGB.
    out : ndarray
        float32 (network height, network width, 3), 0..255.
    still
        Whether the image is a picture, not a frame of a video. Darknet resizes pictures so that corner pixels stay corner pixels
        (``resize_image``), and frames with OpenCV's ``resize``. The results differ by up to half a pixel, which affects small objects.
    shown
        Width and height with square pixels, to which boxes refer; None: those of the image.
    placement
        Where a letterboxed picture is, and what surrounds it.

    Returns
    -------
    Fit
        Its position there.

    Raises
    ------
    ValueError
        ``image`` has another shape or dtype, or is empty.
    """
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(f"a picture is uint8 (height, width, 3), not {image.dtype} {image.shape}")
    width, height = shown or (image.shape[1], image.shape[0])
    placed = plan_fit(width, height, out.shape[1], out.shape[0], letterbox, placement)
    inner = out[placed.top : placed.top + placed.inner_height, placed.left : placed.left + placed.inner_width]
    if inner.shape != out.shape:
        out.fill(placement.grey)
    if inner.shape == image.shape:
        np.copyto(inner, image)
    elif still and placement.like_darknet:
        np.copyto(inner, _resize_corner_to_corner(image, placed.inner_width, placed.inner_height))
    else:
        np.copyto(inner, cv2.resize(image, (placed.inner_width, placed.inner_height), interpolation=cv2.INTER_LINEAR))
    return placed


def _resize_corner_to_corner(image: Image, width: int, height: int) -> NDArray[np.float32]:
    """Resize like Darknet's ``resize_image``. Returns float32 (height, width, 3), 0..255, not rounded."""
    top, bottom, down = _neighbours(image.shape[0], height)
    left, right, across = _neighbours(image.shape[1], width)
    upper, lower = np.take(image, top, 0), np.take(image, bottom, 0)
    if 4 * width < image.shape[1]:  # most columns are not needed
        columns = np.concatenate([left, right])
        upper, lower = np.take(upper, columns, 1), np.take(lower, columns, 1)
        left, right = np.arange(width), np.arange(width, 2 * width)
    down, across = down[:, np.newaxis, np.newaxis], across[:, np.newaxis]
    rows = upper * (1 - down) + lower * down
    return np.asarray(np.take(rows, left, 1) * (1 - across) + np.take(rows, right, 1) * across, np.float32)


def _neighbours(size: int, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """Spread places from the first to the last of ``size`` pixels. Returns the pixels before and after each, and the latter's share."""
    place = np.linspace(0, size - 1, count, dtype=np.float32)
    before = place.astype(np.intp)
    return before, np.minimum(before + 1, size - 1), place - before.astype(np.float32)
