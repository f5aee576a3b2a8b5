"""Max pooling and upsampling as custom layers, for FP16 values stored channels last."""

from dataclasses import dataclass

import numpy as np

from framefleet.plugins.kernels import Kernels, Launch

SOURCES = ("half.cuh", "channels_last.cu")

UNIT = 8
"""Values are read and written in this number of channels."""

_UNIT_BYTES = 2 * UNIT

_THREADS = 256

_POOL_BLOCKS, _POOL_THREADS, _POOL_BYTES = 256, 384, 32 << 10
"""Of a max pool: blocks that keep a device busy; the most threads of a block, for which the kernel is compiled; bytes of its shared memory,
of which a large window takes more."""


@dataclass(frozen=True)
class Slice:
    """Some channels of values (batch, height, width, pitch). address: of the first one, aligned to 16. channels, pitch: multiples of 8."""

    address: int
    channels: int
    height: int
    width: int
    pitch: int


class MaxPool(Launch):
    """Computes the largest value of each window that begins ``before`` pixels above and left of stride · (row, column)."""

    def __init__(self, kernels: Kernels, source: Slice, target: Slice, batch: int, size: int, stride: int, before: int) -> None:
        channels = source.channels // UNIT
        together = min(channels, 8)  # 128 bytes of a pixel: a line of the device's caches
        groups = _parts(channels, together)
        pixels = _POOL_BYTES // (_UNIT_BYTES * together)  # for which there is shared memory
        columns = _even(target.width, max(min(pixels // size, 16), 1))
        across = _parts(target.width, columns)
        # the more rows a block has, the fewer values are read twice; but there must be blocks for the whole device
        for_device = _parts(batch * groups * across * target.height, _POOL_BLOCKS)
        rows = _even(target.height, max(min(for_device, (pixels // columns - size) // stride + 1, 16), 1))
        read = (rows - 1) * stride + size
        grid = groups, across * _parts(target.height, rows), batch
        block = together, columns, min(_POOL_THREADS // (together * columns), read, 64)  # CUDA allows 64 along the last axis
        where = np.uint64(target.address), np.int32(target.pitch // UNIT), np.int32(target.height), np.int32(target.width)
        how = np.int32(size), np.int32(stride), np.int32(before), np.int32(rows)
        arguments = *_source(source), *where, np.int32(channels), *how
        super().__init__(kernels, "max_pool", grid, block, *arguments, shared=_UNIT_BYTES * together * columns * read)


class Enlarge(Launch):
    """Repeats each pixel ``factor`` times along both axes."""

    def __init__(self, kernels: Kernels, source: Slice, target: Slice, batch: int, factor: int) -> None:
        count = _count(target, batch)
        where = np.uint64(target.address), np.int32(target.pitch // UNIT), np.int32(source.channels // UNIT)
        arguments = *_source(source), *where, np.int32(factor), np.int64(count)
        super().__init__(kernels, "enlarge", _parts(count, _THREADS), _THREADS, *arguments)


def _source(source: Slice) -> tuple[np.uint64, np.int32, np.int32, np.int32]:
    return np.uint64(source.address), np.int32(source.pitch // UNIT), np.int32(source.height), np.int32(source.width)


def _count(target: Slice, batch: int) -> int:
    return batch * target.height * target.width * (target.channels // UNIT)


def _parts(length: int, part: int) -> int:
    return -(-length // part)


def _even(length: int, longest: int) -> int:
    """The length of equal parts, of which there are as few as possible. longest: of a part."""
    return _parts(length, _parts(length, longest))
