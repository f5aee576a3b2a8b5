"""The network's input on the device equals the CPU's, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import PixelFormat
from framefleet.engine.detection.preprocess import fit
from framefleet.engine.media.picture import fit_host_image
from framefleet.engine.model.onnx.network import Preprocessing, Reading
from framefleet.engine.types import Image
from framefleet.plugins.colour import MATRICES
from framefleet.plugins.kernels import Number
from framefleet.plugins.preprocess import DARKNET, FRAME, Preprocess, Scaling
from tests.support.devices.surfaces import Pictured, by_definition, picture, random_frame, upright

try:
    from framefleet.engine.backends.nvidia.slot import Geometry
    from tests.support.devices.cuda import POISON, Gpu
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)

WIDTH, HEIGHT = 64, 48
NUMBERS: tuple[Number, ...] = (np.float16, np.float32)
KINDS = {8: (PixelFormat.I420, PixelFormat.NV12), 10: (PixelFormat.I420, PixelFormat.P016), 12: (PixelFormat.I420, PixelFormat.P016)}
SIZES = [(192, 108), (111, 61), (64, 48), (128, 96), (65, 97), (32, 24), (31, 17), (2, 90), (300, 1), (1, 1)]
ORIENTATIONS = [(transposed, flip) for transposed in (False, True) for flip in (None, 0, 1, -1)]
COLOURS = [(matrix, full_range) for matrix in ("bt601", "bt709", "bt2020") for full_range in (False, True)]


def preprocessed(gpu: Gpu, entries: Sequence[Any], number: Number = np.float16, scaling: Scaling = DARKNET) -> NDArray[Any]:
    """What the kernel writes, as (batch, height, width, 3) of numbers of this type."""
    table = np.zeros(len(entries), FRAME)
    for index, entry in enumerate(entries):
        table[index] = entry
    out = gpu.poisoned(np.dtype(number).itemsize * len(entries) * 3 * HEIGHT * WIDTH)
    gpu.run(Preprocess(gpu.kernels, gpu.upload(table), out, len(entries), WIDTH, HEIGHT, number, scaling))
    found: NDArray[Any] = gpu.download(out, (len(entries), 3, HEIGHT, WIDTH), number)
    return found.transpose(0, 2, 3, 1)


def scaled(values: NDArray[np.float32], number: Number = np.float16) -> NDArray[Any]:
    """The network's input from values of 0..255."""
    return (values * np.float32(1 / 255)).astype(number)


def check(gpu: Gpu, frames: Sequence[Pictured], letterbox: bool) -> None:
    """Compare the inputs from every kind of memory with those of the CPU, and these with their definition."""
    entries, expected = [], []
    geometry = Geometry(WIDTH, HEIGHT, letterbox)
    for frame in frames:
        out = np.empty((HEIGHT, WIDTH, 3), np.float32)
        placed = fit_host_image(frame.planes(), out, letterbox)
        inner = out[placed.top : placed.top + placed.inner_height, placed.left : placed.left + placed.inner_width]
        np.testing.assert_array_equal(inner, by_definition(frame.planes(), placed.inner_width, placed.inner_height))
        for kind in KINDS[frame.depth]:
            layout = frame.layout(kind)
            entry = geometry.of_frame(layout)[0].copy()
            entry["luma"] = gpu.upload(frame.surface(kind))
            entry["chroma"] = int(entry["luma"]) + layout.chroma_offset
            entries.append(entry)
            expected.append(out)
    for number in NUMBERS:
        np.testing.assert_array_equal(preprocessed(gpu, entries, number), scaled(np.array(expected), number))


@pytest.mark.parametrize("letterbox", [False, True])
@pytest.mark.parametrize("depth", [8, 10])
def test_frames_give_the_same_input(gpu: Gpu, depth: int, letterbox: bool) -> None:
    frames = [
        random_frame(*size, number, depth, ORIENTATIONS[number % 8], *COLOURS[number % 6])
        for number, size in enumerate([*SIZES, (320, 180)])
    ]
    check(gpu, frames, letterbox)


@pytest.mark.slow
@pytest.mark.parametrize("letterbox", [False, True])
@pytest.mark.parametrize("depth", [8, 10, 12])
@pytest.mark.parametrize("size", SIZES)
def test_every_colour_orientation_and_size(gpu: Gpu, size: tuple[int, int], depth: int, letterbox: bool) -> None:
    colours = [(matrix, full_range) for matrix in MATRICES for full_range in (False, True)]
    cases = enumerate(product(ORIENTATIONS, colours))
    check(gpu, [random_frame(*size, seed, depth, orientation, *colour) for seed, (orientation, colour) in cases], letterbox)


def on_device(gpu: Gpu, image: Image, letterbox: bool, still: bool, orientation: tuple[bool, int | None] = (False, None)) -> NDArray[Any]:
    """image: as stored."""
    height, width = image.shape[:2]
    pitch = -(-3 * width // 256) * 256
    rows = np.pad(image.reshape(height, -1), ((0, 0), (0, pitch - 3 * width)), constant_values=99)
    entry = Geometry(WIDTH, HEIGHT, letterbox).of_image(width, height, still, orientation)[0].copy()
    entry["luma"], entry["pitch"] = gpu.upload(rows), pitch
    return entry


@pytest.mark.parametrize("still", [False, True])
@pytest.mark.parametrize("letterbox", [False, True])
def test_pictures_give_the_same_input(gpu: Gpu, letterbox: bool, still: bool) -> None:
    images = [picture(width, height, seed) for seed, (width, height) in enumerate([*SIZES, (333, 501), (3, 700), (2, 2)])]
    cases = [*zip(images, cycle(ORIENTATIONS), strict=False), *product(images[:2], ORIENTATIONS)]
    expected = np.empty((len(cases), HEIGHT, WIDTH, 3), np.float32)
    for (image, orientation), out in zip(cases, expected, strict=True):
        fit(np.ascontiguousarray(upright(image, orientation)), out, letterbox, still)
    entries = [on_device(gpu, image, letterbox, still, orientation) for image, orientation in cases]
    for number in NUMBERS:
        np.testing.assert_array_equal(preprocessed(gpu, entries, number), scaled(expected, number))


@pytest.mark.parametrize("preprocessing", {reading.preprocessing for reading in Reading}, ids=repr)
def test_each_reading_prepares_pictures_as_its_authors_do(gpu: Gpu, preprocessing: Preprocessing) -> None:
    """Before mean and scale, all bytes are those of the CPU, also around the picture; a single image is resized as a frame."""
    placement, letterbox = preprocessing.placement, preprocessing.letterbox
    images = [picture(width, height, seed) for seed, (width, height) in enumerate([*SIZES, (333, 501)])]
    expected = np.empty((len(images), HEIGHT, WIDTH, 3), np.float32)
    geometry, entries = Geometry(WIDTH, HEIGHT, letterbox, placement), []
    for image, out in zip(images, expected, strict=True):
        placed = fit(image, out, letterbox, True, placement=placement)
        entry, planned = geometry.of_image(image.shape[1], image.shape[0], True)
        assert planned == placed
        entry = entry.copy()
        entry["luma"] = gpu.upload(image)
        entries.append(entry)
        corner = np.array([[placed.left, placed.top, placed.left + placed.inner_width, placed.top + placed.inner_height]], np.float32)
        back = entry["back"]
        found = ((corner.reshape(2, 2) - back[[1, 3]]) * back[[0, 2]]).clip(0, entry["shown"])
        np.testing.assert_allclose(found.reshape(1, 4), placed.to_source(corner), rtol=1e-6)
    prepared = expected[..., ::-1] if preprocessing.bgr else expected
    bytes_only = Scaling(placement.grey, preprocessing.bgr, scale=(1, 1, 1))
    np.testing.assert_array_equal(preprocessed(gpu, entries, np.float32, bytes_only), prepared)
    scaling = Scaling(placement.grey, preprocessing.bgr, preprocessing.mean, preprocessing.scale)
    exact = (prepared - np.array(preprocessing.mean, np.float32)) / np.array(preprocessing.scale, np.float32)
    np.testing.assert_allclose(preprocessed(gpu, entries, np.float32, scaling), exact, rtol=2e-7, atol=1e-9)
    np.testing.assert_allclose(preprocessed(gpu, entries, np.float16, scaling), exact, rtol=1e-3, atol=1e-3)


def test_absent_frames_stay_as_they_are(gpu: Gpu) -> None:
    entry = on_device(gpu, picture(300, 200, seed=6), letterbox=True, still=False)
    found = preprocessed(gpu, [entry, np.zeros((), FRAME), entry])
    np.testing.assert_array_equal(found[0], found[2])
    assert np.isfinite(found[0]).all()
    assert found[0].min() >= 0
    np.testing.assert_array_equal(np.ascontiguousarray(found[1]).view(np.uint8), POISON)


def test_an_odd_width_is_refused() -> None:
    with pytest.raises(ValueError, match="even width"):
        Preprocess({}, 0, 0, 1, 33, 32)  # type: ignore[arg-type]
