"""Max pooling and upsampling as custom layers, for FP16 values stored channels last."""

from dataclasses import dataclass

import numpy as np

from framefleet.plugins.kernels import Kernels, Launch

SOURCES = ("half.cuh", "channels_last.cu")

UNIT = 8
"""Values are read and written in this number of channels."""

_THREADS = 256


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
        where = np.uint64(target.address), np.int32(target.pitch // UNIT), np.int32(target.height), np.int32(target.width)
        how = np.int32(size), np.int32(stride), np.int32(before)
        count = _count(target, batch)
        arguments = *_source(source), *where, np.int32(source.channels // UNIT), *how, np.int64(count)
        super().__init__(kernels, "max_pool", -(-count // _THREADS), _THREADS, *arguments)


class Enlarge(Launch):
    """Repeats each pixel ``factor`` times along both axes."""

    def __init__(self, kernels: Kernels, source: Slice, target: Slice, batch: int, factor: int) -> None:
        count = _count(target, batch)
        where = np.uint64(target.address), np.int32(target.pitch // UNIT), np.int32(source.channels // UNIT)
        arguments = *_source(source), *where, np.int32(factor), np.int64(count)
        super().__init__(kernels, "enlarge", -(-count // _THREADS), _THREADS, *arguments)


def _source(source: Slice) -> tuple[np.uint64, np.int32, np.int32, np.int32]:
    return np.uint64(source.address), np.int32(source.pitch // UNIT), np.int32(source.height), np.int32(source.width)


def _count(target: Slice, batch: int) -> int:
    return batch * target.height * target.width * (target.channels // UNIT)
