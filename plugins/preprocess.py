"""Preprocessing as a custom layer: converts a batch of decoded frames to the network's input in one launch.

The kernel converts colours, rotates, resizes, letterboxes and writes FP16. An affine map gives the position in the stored picture for
each network pixel. Stretching, letterboxing, rotation, mirroring and non-square pixels only change the map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugins.kernels import Kernels
from plugins.launch import Launch

NV12, P016, RGB8 = 0, 1, 2

FRAME = np.dtype(
    [
        ("luma", np.uint64),
        ("chroma", np.uint64),
        ("pitch", np.int32),
        ("format", np.int32),
        ("size", np.int32, 2),
        ("inside", np.int32, 4),
        ("map", np.float32, 6),
        ("colour", np.float32, 6),
        ("rounded", np.int32),
        ("back", np.float32, 4),
        ("shown", np.float32, 2),
    ],
    align=True,
)
"""One frame of a batch: ``Frame`` in ``kernels/preprocess.cu``. An entry of zeros means that there is no frame."""

Frame = np.void
"""One entry of an array of FRAME."""

MATRICES = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593), "fcc": (0.3, 0.11), "smpte240m": (0.212, 0.087)}
"""The weights of red and blue in the luma: ITU-R BT.601-7, BT.709-6, BT.2020-2, FCC 73.682 (a) (20), SMPTE ST 240."""

_BLOCK = (32, 8)


class Preprocess(Launch):
    """Fills a network's input from a table of frames. An entry of zeros leaves its part of the input unchanged.

    table: address of FRAME × batch. pictures: address, aligned to 16, of FP16 (batch, 3, height, width), RGB, 0..1. The frames of
    one batch may differ in format and size.

    Raises:
        ValueError: the width is odd.
    """

    def __init__(self, kernels: Kernels, table: int, pictures: int, batch: int, width: int, height: int) -> None:
        if width % 2:
            raise ValueError(f"a network of {width} × {height} pixels: the kernel needs an even width")
        grid = (-(-width // (2 * _BLOCK[0])), -(-height // _BLOCK[1]), batch)
        arguments = np.uint64(table), np.uint64(pictures), np.int32(width), np.int32(height)
        super().__init__(kernels, "preprocess", grid, (*_BLOCK, 1), *arguments)


def describe_frame(
    kind: int,
    size: tuple[int, int],
    shown: tuple[int, int],
    inside: tuple[int, int, int, int],
    matrix: str = "bt601",
    full_range: bool = False,
    orientation: tuple[bool, int | None] = (False, None),
    still: bool = False,
) -> NDArray[Any]:
    """Describe a frame as FRAME (), without addresses and pitch. Set these to even values for NV12, to multiples of 4 for P016.

    kind: NV12, P016 or RGB8. size: of the stored picture, width and height in pixels. shown: size of the upright picture, whose
    pixels boxes refer to. inside: left, top, width, height of the picture within the network's input. orientation: whether to transpose
    the stored picture, and then how to flip it (``cv2.flip``'s code, None = not at all). still: map corner pixels to corner
    pixels, as Darknet resizes single images; otherwise resize like OpenCV.
    """
    left, top, width, height = inside
    entry = np.zeros((), FRAME)
    entry["format"], entry["size"], entry["rounded"] = kind, size, not still
    entry["inside"] = left, top, left + width, top + height
    if still:
        across, down = ((stored - 1) / max(1, inner - 1) for stored, inner in zip(size, (width, height), strict=True))
        entry["map"] = across, 0, -left * across, 0, down, -top * down
    else:
        entry["map"] = _map(size, inside, *orientation)
    if kind != RGB8:
        entry["colour"] = colour_coefficients(matrix, full_range)
    entry["back"] = shown[0] / width, left, shown[1] / height, top
    entry["shown"] = shown
    return entry


def colour_coefficients(matrix: str, full_range: bool) -> tuple[float, float, float, float, float, float]:
    """The value of black in Y (0..255), then factors: of Y - black, of V - 128 in R, of U - 128 and V - 128 in G, of U - 128 in B.

    matrix: a key of ``MATRICES``. Formulas: ITU-R BT.601-7, 2.5; full range: ITU-T T.871 (JFIF), 7.
    """
    red, blue = MATRICES[matrix]
    black, luma, chroma = (0.0, 1.0, 1.0) if full_range else (16.0, 255 / 219, 255 / 224)
    of_v, of_u = 2 * (1 - red) * chroma, 2 * (1 - blue) * chroma
    return black, luma, of_v, -of_u * blue / (1 - red - blue), -of_v * red / (1 - red - blue), of_u


def _map(size: tuple[int, int], inside: tuple[int, int, int, int], transposed: bool, flip: int | None) -> tuple[float, ...]:
    """The rows of the 2 × 3 map. Pixel centres lie half a pixel inside both the network's input and the stored picture."""
    left, top, width, height = inside
    to_share = np.array([[1 / width, 0, (0.5 - left) / width], [0, 1 / height, (0.5 - top) / height], [0, 0, 1]])
    turn = np.eye(3)
    if flip is not None:
        for axis in {1: (0,), 0: (1,), -1: (0, 1)}[flip]:
            turn[axis, axis], turn[axis, 2] = -1, 1
    if transposed:
        turn = turn[[1, 0, 2]]
    to_stored = np.array([[size[0], 0, -0.5], [0, size[1], -0.5], [0, 0, 1]])
    rows = (to_stored @ turn @ to_share)[:2]
    return tuple(rows.ravel().tolist())
