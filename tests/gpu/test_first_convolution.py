"""The first convolution on the device, against what NumPy computes in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.plugins.first_convolution import SLOPES, FirstConvolution, packed, suits
from framefleet.plugins.first_convolution import SOURCES as SOURCES  # for the fixture gpu
from tests.gpu.test_plugins import assert_half_equal, mish_of

try:
    from tests.support.devices.cuda import POISON, Gpu
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)


def convolved(pictures: NDArray[np.float16], weights: NDArray[np.float32], bias: NDArray[np.float32], stride: int) -> NDArray[np.float64]:
    """Before the activation, channels last."""
    padded = np.pad(pictures.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::stride, ::stride]
    rounded = weights.astype(np.float16).astype(np.float64)
    return np.asarray(np.einsum("bcyxij,fcij->byxf", windows, rounded, optimize=True) + bias, np.float64)


def activated(values: NDArray[np.float64], activation: str) -> NDArray[np.float64]:
    return mish_of(values) if activation == "mish" else np.where(values > 0, values, SLOPES[activation] * values)


def layer(random: np.random.Generator, filters: int, scale: float = 1) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return random.normal(0, scale, (filters, 3, 3, 3)).astype(np.float32), random.normal(0, scale, filters).astype(np.float32)


def on_device(
    gpu: Gpu, pictures: NDArray[np.float16], weights: NDArray[np.float32], bias: NDArray[np.float32], stride: int, activation: str
) -> tuple[FirstConvolution, int, tuple[int, ...]]:
    """The step, where it writes and how much."""
    batch, _, height, width = pictures.shape
    assert suits(weights.shape, stride, 1, 1, activation, height, width)
    shape = batch, height // stride, width // stride, len(bias)
    out = gpu.poisoned(2 * int(np.prod(shape)) + 64)
    addresses = gpu.upload(pictures), gpu.upload(packed(weights, bias)), out
    return FirstConvolution(gpu.kernels, *addresses, batch, height, width, len(bias), stride, activation), out, shape


def check(gpu: Gpu, out: int, shape: tuple[int, ...], expected: NDArray[np.float64]) -> None:
    """Sums of 28 products in float: in double precision they differ by more than half precision shows only where they cancel out."""
    found = gpu.download(out, int(np.prod(shape)) + 32, np.float16)
    values = found[:-32].reshape(shape).astype(np.float64)
    spacing = np.spacing(np.abs(expected).astype(np.float16)).astype(np.float64)
    assert (np.abs(values - expected) <= 0.51 * spacing + 2e-6 * np.abs(expected).max()).all()
    np.testing.assert_array_equal(found[-32:].view(np.uint8), np.full(64, POISON, np.uint8))


@pytest.mark.parametrize(
    ("filters", "stride", "activation", "size"),
    [
        (32, 1, "mish", (3, 64, 96)),
        (32, 2, "leaky", (2, 96, 64)),
        (16, 1, "leaky", (1, 32, 64)),
        (16, 2, "mish", (1, 64, 32)),
        (64, 1, "relu", (1, 32, 32)),
        (48, 2, "linear", (2, 32, 32)),
    ],
)
def test_it_computes_what_numpy_does(gpu: Gpu, filters: int, stride: int, activation: str, size: tuple[int, int, int]) -> None:
    random = np.random.default_rng(filters + stride)
    pictures = random.random((size[0], 3, *size[1:])).astype(np.float16)
    weights, bias = layer(random, filters)
    step, out, shape = on_device(gpu, pictures, weights, bias, stride, activation)
    gpu.run(step)
    check(gpu, out, shape, activated(convolved(pictures, weights, bias, stride), activation))


def test_every_weight_is_at_its_place(gpu: Gpu) -> None:
    """One pixel, one colour at a time: what comes out is a single weight."""
    random = np.random.default_rng(7)
    weights, bias = layer(random, 32)
    pictures = np.zeros((3, 3, 32, 32), np.float16)
    for colour in range(3):
        pictures[colour, colour, 5, 17] = 1
    step, out, shape = on_device(gpu, pictures, weights, np.zeros_like(bias), 1, "linear")
    gpu.run(step)
    found = gpu.download(out, shape, np.float16)
    for colour in range(3):
        window = found[colour, 4:7, 16:19][::-1, ::-1]
        np.testing.assert_array_equal(window.transpose(2, 0, 1), weights[:, colour].astype(np.float16))
        found[colour, 4:7, 16:19] = 0
    assert not found.any()


def test_mish_of_far_numbers(gpu: Gpu) -> None:
    """A bias from one end of half precision to the other, nothing else: also where neighbours in a reciprocal are worlds apart.

    The factor of x, which is nearly 0 for negative numbers, is right to 4e-7.
    """
    bias = np.concatenate([np.linspace(-60, 60, 20), [-6e4, -1e4, -1e3, 1e3, 1e4, 6e4, 1e-4, -1e-4, 0, 10, -10, 20]]).astype(np.float32)
    weights, pictures = np.zeros((32, 3, 3, 3), np.float32), np.zeros((1, 3, 32, 32), np.float16)
    step, out, shape = on_device(gpu, pictures, weights, bias, 1, "mish")
    gpu.run(step)
    found, expected = gpu.download(out, shape, np.float16), np.broadcast_to(mish_of(bias), shape)
    near = bias >= -1
    assert_half_equal(found[..., near], expected[..., near])
    assert (np.abs(found - expected) <= 2.0**-11 * np.abs(expected) + 4e-7 * np.abs(bias)).all()


def test_it_neither_waits_nor_allocates(gpu: Gpu) -> None:
    random = np.random.default_rng(3)
    pictures, others = (random.random((2, 3, 32, 64)).astype(np.float16) for _ in range(2))
    weights, bias = layer(random, 32)
    address = gpu.upload(pictures)
    out = gpu.poisoned(2 * 2 * 32 * 64 * 32 + 64)
    step: Any = FirstConvolution(gpu.kernels, address, gpu.upload(packed(weights, bias)), out, 2, 32, 64, 32, 1, "mish")
    gpu.run(step)
    graph = gpu.record(step)
    for values in (others, pictures):
        gpu.overwrite(address, values)
        graph.launch(gpu.stream)
        check(gpu, out, (2, 32, 64, 32), activated(convolved(values, weights, bias, 1), "mish"))
