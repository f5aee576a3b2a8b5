"""Converts HDR pictures to standard dynamic range, as the pictures have on which networks are trained.

The signals of HDR frames follow the PQ or HLG curve and use the colours of BT.2020 (ITU-R BT.2100). Shown unchanged, they look pale. The
conversion works on 8-bit pictures in three steps, each one call of OpenCV:

1. A table converts signals to luminance and compresses it: L (1 + L / P²) / (1 + L), the extended curve of Reinhard et al. (2002). L is the
   luminance and P the highest luminance of the signal, both divided by that of white paper, 203 cd/m² (ITU-R BT.2408).
2. A matrix converts colours from BT.2020 to BT.709 (ITU-R BT.2087).
3. A table converts light to the signals of a display with gamma 2.2.

libswscale has such a conversion, too, but needs seconds for its table, and that for each open file.
"""

from functools import cache

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from framefleet.engine.types import Image

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
