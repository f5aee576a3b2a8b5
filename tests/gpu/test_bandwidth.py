"""The kernels of the device benchmarks on the device, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.plugins.bandwidth import PRODUCT_ROWS, AddParts, Fill, Product, Sum
from framefleet.plugins.bandwidth import SOURCES as SOURCES  # for the fixture gpu

try:
    from tests.support.devices.cuda import Gpu
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)


def value_at(places: NDArray[np.uint64]) -> NDArray[np.float32]:
    """The values that ``Fill`` writes at these places: 0 ≤ value < 1, multiples of 2⁻²⁴."""
    low, high = places.astype(np.uint32), (places >> np.uint64(32)).astype(np.uint32)
    bits = low + np.uint32(2654435769) * high
    bits = (bits ^ bits >> np.uint32(16)) * np.uint32(2246822519)
    bits = (bits ^ bits >> np.uint32(13)) * np.uint32(3266489917)
    values: NDArray[np.float32] = ((bits ^ bits >> np.uint32(16)) >> np.uint32(8)).astype(np.float32) / np.float32(1 << 24)
    return values


def array(rows: int, columns: int, first: int, total: int) -> NDArray[np.float32]:
    places = np.arange(rows, dtype=np.uint64)[:, None] * np.uint64(total) + np.arange(first, first + columns, dtype=np.uint64)
    return value_at(places)


@pytest.mark.parametrize(("rows", "columns", "first", "total"), [(1, 1000, 0, 1000), (3, 20, 12, 50), (2, 8, 3, 6_000_000_000)])
def test_fill_is_the_same_for_any_share(gpu: Gpu, rows: int, columns: int, first: int, total: int) -> None:
    values = gpu.poisoned(rows * columns * 4)
    gpu.run(Fill(gpu.kernels, values, rows, columns, first, total))
    filled = gpu.download(values, (rows, columns), np.float32)
    np.testing.assert_array_equal(filled, array(rows, columns, first, total))
    assert len(np.unique(filled)) > filled.size * 0.9


@pytest.mark.parametrize("count", [4, 4096, 4 * 256 * 4 * 3 + 8])
def test_sum(gpu: Gpu, count: int) -> None:
    values = np.random.default_rng(count).normal(1, 3, count).astype(np.float32)
    address, parts, total = gpu.upload(values), gpu.poisoned(Sum.PARTS), gpu.poisoned(8)
    gpu.run(Sum(gpu.kernels, address, count, parts, total))
    assert gpu.download(total, 1, np.float64)[0] == pytest.approx(values.sum(dtype=np.float64), rel=1e-6)


@pytest.mark.parametrize(("rows", "columns"), [(PRODUCT_ROWS, 4), (4 * PRODUCT_ROWS, 1028), (PRODUCT_ROWS, 4096)])
def test_product(gpu: Gpu, rows: int, columns: int) -> None:
    random = np.random.default_rng(columns)
    matrix, x = random.normal(0, 1, (rows, columns)).astype(np.float32), random.normal(0, 1, columns).astype(np.float32)
    y = gpu.poisoned(rows * 4)
    gpu.run(Product(gpu.kernels, gpu.upload(matrix), gpu.upload(x), rows, columns, y))
    np.testing.assert_allclose(gpu.download(y, rows, np.float32), matrix.astype(np.float64) @ x, atol=1e-3)


def test_parts_are_added_only_where_asked(gpu: Gpu) -> None:
    parts = np.random.default_rng(0).normal(0, 1, (3, 700)).astype(np.float32)
    addresses = gpu.upload(np.array([gpu.upload(part) for part in parts], np.uint64))
    y = gpu.upload(np.full(700, 9, np.float32))
    gpu.run(AddParts(gpu.kernels, addresses, 3, 100, 500, y))
    expected = np.full(700, 9, np.float32)
    expected[100:600] = parts.sum(axis=0)[100:600]
    np.testing.assert_allclose(gpu.download(y, 700, np.float32), expected, atol=1e-5)


def test_sizes_that_the_kernels_cannot_read(gpu: Gpu) -> None:
    with pytest.raises(ValueError, match="in fours"):
        Sum(gpu.kernels, 0, 6, 0, 0)
    with pytest.raises(ValueError, match="rows must be a multiple of 8"):
        Product(gpu.kernels, 0, 0, 12, 4, 0)
