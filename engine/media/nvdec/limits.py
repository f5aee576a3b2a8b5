"""Queries what a GPU's NVDEC can decode, in the current CUDA context.

PyNvVideoCodec has a query, too, but creates a CUDA context for each call: 0.25 s on an H200, twice that for two calls at once.
"""

import ctypes
from functools import cache
from typing import Any

from framefleet.engine.detection.frame_format import FrameFormat
from framefleet.engine.media.nvdec.errors import UnsupportedError

_CHROMA_420 = 1


class Limits(ctypes.Structure):
    """``CUVIDDECODECAPS`` of cuviddec.h. The query: codec, chroma, depth_minus_8. Sizes in pixels, blocks of 16 × 16."""

    _fields_ = (
        ("codec", ctypes.c_int),
        ("chroma", ctypes.c_int),
        ("depth_minus_8", ctypes.c_uint),
        ("_reserved", ctypes.c_uint * 3),
        ("supported", ctypes.c_ubyte),
        ("engines", ctypes.c_ubyte),
        ("output_formats", ctypes.c_ushort),
        ("max_width", ctypes.c_uint),
        ("max_height", ctypes.c_uint),
        ("max_blocks", ctypes.c_uint),
        ("min_width", ctypes.c_ushort),
        ("min_height", ctypes.c_ushort),
        ("_more", ctypes.c_uint * 11),
    )


@cache
def question() -> Any:
    """The library's function ``cuvidGetDecoderCaps``. Raises OSError if the library is missing."""
    function = ctypes.CDLL("libnvcuvid.so.1").cuvidGetDecoderCaps
    function.argtypes, function.restype = (ctypes.POINTER(Limits),), ctypes.c_int
    return function


def limits(codec: int, depth: int) -> Limits:
    """The limits of the current device for 4:2:0 samples. codec: PyNvVideoCodec's ``cudaVideoCodec``. depth: bits of a sample.

    Raises UnsupportedError if the query fails.
    """
    found = Limits(codec=codec, chroma=_CHROMA_420, depth_minus_8=depth - 8)
    if status := question()(ctypes.byref(found)):
        raise UnsupportedError(f"the query of NVDEC's capabilities failed (CUDA error {status})")
    return found


def check(name: str, codec: int, layout: FrameFormat) -> None:
    """Check that the current device decodes such frames. name: the codec's name.

    Raises UnsupportedError if the device does not decode them.
    """
    found = limits(codec, layout.depth)
    width, height = layout.stored_width, layout.stored_height
    if not found.supported:
        raise UnsupportedError(f"this GPU's NVDEC cannot decode {name} of {layout.depth} bits")
    blocks = -(-width // 16) * -(-height // 16)
    fits = found.min_width <= width <= found.max_width and found.min_height <= height <= found.max_height
    if not fits or blocks > found.max_blocks:
        raise UnsupportedError(
            f"its frames are {width}×{height}; this GPU's NVDEC decodes {name} "
            f"from {found.min_width}×{found.min_height} to {found.max_width}×{found.max_height}"
        )
