"""Mish as a layer of its own, for convolutions whose activation was left out; with their bias, if that was left out, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.kernels import Kernels

THREADS, PER_THREAD = 256, 8

_MOST = 2**31 - PER_THREAD


class Mish:
    """Mish of FP16 numbers. values: address, aligned to 16, of ``count`` of them in any layout. out: the same, None = in place.

    Raises:
        ValueError: so many numbers cannot be counted by the kernel.
    """

    def __init__(self, kernels: Kernels, values: int, count: int, out: int | None = None) -> None:
        self._kernel = kernels["mish"]
        self._config = _config(count)
        self._arguments = (np.uint64(values), np.int32(count), np.uint64(values if out is None else out))

    def launch(self, stream: Any) -> None:
        """Put it on the stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)


class BiasMish:
    """Mish of FP16 numbers plus their channel's bias. values, count, out: as for ``Mish``.

    bias: address of float32 (channels,), aligned to 16. inner: how many values of a channel lie side by side: rows · columns in
    NCHW, 1 in NHWC.

    Raises:
        ValueError: as ``Mish``, or the numbers make no whole channels.
    """

    def __init__(self, kernels: Kernels, values: int, count: int, bias: int, channels: int, inner: int, out: int | None = None) -> None:
        if count % (channels * inner):
            raise ValueError(f"{count} values make no whole number of {channels} channels with {inner} values each")
        self._kernel = kernels["bias_mish"]
        self._config = _config(count)
        target = np.uint64(values if out is None else out)
        self._arguments = (np.uint64(values), np.uint64(bias), np.int32(count), np.int32(channels), np.int32(inner), target)

    def launch(self, stream: Any) -> None:
        """Put it on the stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)


def _config(count: int) -> Any:
    from cuda.core import LaunchConfig

    if not 0 < count <= _MOST:
        raise ValueError(f"Mish of {count} numbers at once: at least one, at most {_MOST}")
    return LaunchConfig(grid=min(-(-count // (THREADS * PER_THREAD)), 1 << 16), block=THREADS)
