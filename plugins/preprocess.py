"""Preprocessing as a custom layer: converts a batch of decoded frames to the network's input in one launch.

The kernel converts colours, turns the picture upright, resizes, letterboxes, scales and writes FP16 or FP32. Before the scaling its values
are the bytes that the CPU computes from the same frame.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.plugins.colour import colour_factors
from framefleet.plugins.kernels import Kernels, Launch, Number, kernel_name

NV12, P016, RGB8, I420 = 0, 1, 2, 3

_TRANSPOSED, _LEFT_RIGHT, _UP_DOWN = 1, 2, 4
_FLIPS = {None: 0, 1: _LEFT_RIGHT, 0: _UP_DOWN, -1: _LEFT_RIGHT + _UP_DOWN}

FRAME = np.dtype(
    [
        ("luma", np.uint64),
        ("chroma", np.uint64),
        ("step", np.float64, 2),
        ("pitch", np.int32),
        ("format", np.int32),
        ("size", np.int32, 2),
        ("inside", np.int32, 4),
        ("turn", np.int32),
        ("still", np.int32),
        ("colour", np.int32, 6),
        ("back", np.float32, 4),
        ("shown", np.float32, 2),
    ],
    align=True,
)
"""One frame of a batch: ``Frame`` in ``kernels/preprocess.cu``. An entry of zeros means that there is no frame."""

Frame = np.void
"""One entry of an array of FRAME."""

_BLOCK = (32, 8)


@dataclass(frozen=True)
class Scaling:
    """How values of 0..255 become the network's input: (value - mean) / scale, one number for each channel of the input.

    bgr: whether these are blue, green, red. grey: the value around a letterboxed picture.
    """

    grey: float = 127.5
    bgr: bool = False
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: tuple[float, float, float] = (255.0, 255.0, 255.0)


DARKNET = Scaling()


class Preprocess(Launch):
    """Fills a network's input from a table of frames. An entry of zeros leaves its part of the input unchanged.

    table: address of FRAME × batch. pictures: address, aligned to 16, of (batch, 3, height, width). The frames of one
    batch may differ in format and size. number: type of the input's values, float16 or float32.

    Raises ValueError if the width is odd.
    """

    def __init__(
        self,
        kernels: Kernels,
        table: int,
        pictures: int,
        batch: int,
        width: int,
        height: int,
        number: Number = np.float16,
        scaling: Scaling = DARKNET,
    ) -> None:
        if width % 2:
            raise ValueError(f"a network of {width} × {height} pixels: the kernel needs an even width")
        grid = (-(-width // (2 * _BLOCK[0])), -(-height // _BLOCK[1]), batch)
        arguments = np.uint64(table), np.uint64(pictures), np.int32(width), np.int32(height)
        factors = (np.float32(1 / scale) for scale in scaling.scale)
        values = np.float32(scaling.grey), np.int32(scaling.bgr), *map(np.float32, scaling.mean), *factors
        super().__init__(kernels, kernel_name("preprocess", number), grid, (*_BLOCK, 1), *arguments, *values)


def describe_frame(
    kind: int,
    size: tuple[int, int],
    shown: tuple[int, int],
    inside: tuple[int, int, int, int],
    matrix: str = "bt601",
    full_range: bool = False,
    orientation: tuple[bool, int | None] = (False, None),
    still: bool = False,
    scale: float | None = None,
) -> NDArray[Any]:
    """Describe a frame as FRAME (), without addresses and pitch. Set these to even values for NV12, to multiples of 4 for P016.

    kind: NV12, P016, I420 or RGB8. size: of the stored picture, width and height in pixels. shown: size of the upright picture, whose
    pixels boxes refer to. inside: left, top, width, height of the picture within the network's input. matrix: see ``colour_factors``.
    orientation: whether to transpose the stored picture, and then how to flip it (``cv2.flip``'s code, None = not at all). still: map
    corner pixels to corner pixels, as Darknet resizes single images (RGB8 only); otherwise resize like OpenCV. scale: see ``Fit``.
    """
    left, top, width, height = inside
    transposed, flip = orientation
    upright = size[::-1] if transposed else size
    entry = np.zeros((), FRAME)
    entry["format"], entry["size"], entry["still"] = kind, size, still
    entry["inside"] = left, top, left + width, top + height
    entry["turn"] = transposed * _TRANSPOSED + _FLIPS[flip]
    if still:
        entry["step"] = [(stored - 1) / max(1, resized - 1) for stored, resized in zip(upright, (width, height), strict=True)]
    else:  # OpenCV divides twice, too
        entry["step"] = [1 / (resized / stored) for stored, resized in zip(upright, (width, height), strict=True)]
    if kind != RGB8:
        entry["colour"] = colour_factors(matrix, full_range)
    back = (shown[0] / width, shown[1] / height) if scale is None else (1 / scale, 1 / scale)
    entry["back"] = back[0], left, back[1], top
    entry["shown"] = shown
    return entry
