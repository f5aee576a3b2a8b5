"""HDR videos give pictures of standard brightness and colour, in every place that shows or uses them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.nvdec.errors import UnsupportedError
from framefleet.engine.media.picture import Converter
from framefleet.engine.types import Image
from tests.engine.media.conftest import Clip
from tests.engine.media.test_picture import first

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
