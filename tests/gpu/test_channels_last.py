"""The kernels for values stored channels last, on the device, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.backends.cudnn.engine import KERNELS as SOURCES  # noqa: F401 # for the fixture gpu
from framefleet.engine.model import network as model
from framefleet.plugins.channels_last import Enlarge, MaxPool, Slice
from framefleet.plugins.pointwise import CHAINS, SINGLE, Form, Pointwise, packed
from tests.support.models import ACTIVATIONS, compute_layer

try:
    from tests.support.devices.cuda import Gpu
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)

BATCH = 2


class Values:
    """Values on the device, some channels of a wider buffer whose other channels must stay as they are."""

    def __init__(self, gpu: Gpu, channels: int, height: int, width: int, seed: int = 0, before: int = 8, behind: int = 16) -> None:
        self._gpu, self._before, self._channels = gpu, before, channels
        random = np.random.default_rng(seed)
        self.start = random.normal(0, 1, (BATCH, height, width, before + channels + behind)).astype(np.float16)
        self.address = gpu.upload(self.start)
        self.slice = Slice(self.address + 2 * before, channels, height, width, self.start.shape[-1])

    @property
    def given(self) -> NDArray[np.float64]:
        """As planes."""
        inside = self.start[..., self._before : self._before + self._channels]
        return np.asarray(inside.transpose(0, 3, 1, 2), np.float64)

    def check(self, expected: NDArray[np.float64], tolerance: float = 0.0) -> None:
        """The kernel has written these planes, and nothing else."""
        found = self._gpu.download(self.address, self.start.shape, np.float16)
        stop = self._before + self._channels
        others = np.r_[: self._before, stop : found.shape[-1]]
        np.testing.assert_array_equal(found[..., others], self.start[..., others])
        planes = found[..., self._before : stop].transpose(0, 3, 1, 2).astype(np.float64)
        np.testing.assert_allclose(planes, expected, rtol=tolerance, atol=tolerance)


WHOLE = 24, 9, 11
"""Channels, height and width: a block computes whole rows."""

TILES = 520, 40, 33
"""A block computes some rows and columns, and the last ones have less work: fewer rows, columns and channels."""


@pytest.mark.parametrize(
    ("shape", "size", "stride", "padding"),
    [
        *[(shape, *window) for shape in (WHOLE, TILES) for window in [(5, 1, 4), (2, 2, 1), (2, 2, 0), (3, 2, 2), (2, 1, 1), (1, 2, 0)]],
        ((8, 60, 3), 9, 1, 8),
        ((8, 3, 60), 13, 1, 12),
        ((64, 13, 13), 21, 1, 20),  # windows larger than the input; shared memory limits a tile's columns
        ((64, 3, 2), 401, 1, 400),  # even one window takes more shared memory than a block has unasked
    ],
    ids=str,
)
def test_max_pool(gpu: Gpu, shape: tuple[int, int, int], size: int, stride: int, padding: int) -> None:
    channels, height, width = shape
    source = Values(gpu, *shape)
    out = (height + padding - size) // stride + 1, (width + padding - size) // stride + 1
    target = Values(gpu, channels, *out, seed=1)
    gpu.run(MaxPool(gpu.kernels, source.slice, target.slice, BATCH, size, stride, padding // 2))
    target.check(compute_layer(model.MaxPool((0,), (channels, *out), size, stride, padding), [source.given]))


def test_a_window_with_nan_becomes_nan(gpu: Gpu) -> None:
    source, target = Values(gpu, 8, 4, 4, before=0, behind=0), Values(gpu, 8, 4, 4, seed=1)
    values = source.start.copy()
    values[0, 0, 0, 3] = np.nan
    gpu.overwrite(source.slice.address, values)
    gpu.run(MaxPool(gpu.kernels, source.slice, target.slice, BATCH, 3, 1, 1))
    found = gpu.download(target.address, target.start.shape, np.float16)[..., 8:16]
    assert np.argwhere(np.isnan(found)).tolist() == [[0, y, x, 3] for y in (0, 1) for x in (0, 1)]


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_enlarge(gpu: Gpu, factor: int) -> None:
    source, target = Values(gpu, 16, 5, 3), Values(gpu, 16, 5 * factor, 3 * factor, seed=1)
    gpu.run(Enlarge(gpu.kernels, source.slice, target.slice, BATCH, factor))
    target.check(source.given.repeat(factor, axis=2).repeat(factor, axis=3))


@pytest.mark.parametrize("form", [*CHAINS, *SINGLE], ids=lambda form: form.kernel)
@pytest.mark.parametrize("activations", [("mish", "leaky", "mish"), ("linear", "mish", "relu")], ids="-".join)
def test_pointwise_convolutions(gpu: Gpu, form: Form, activations: tuple[str, str, str]) -> None:
    """With a sum, too, and with more pixels than the blocks compute at once."""
    random = np.random.default_rng(form.output)
    height, width = 11, 13
    source, target = Values(gpu, form.input, height, width), Values(gpu, form.output or form.middle, height, width, seed=1)
    residual = Values(gpu, form.input, height, width, seed=2) if activations[0] == "mish" and not form.stores else None
    side = Values(gpu, form.side, height, width, seed=3) if form.side else None
    middle = Values(gpu, form.middle, height, width, seed=4) if form.stores and form.output else None
    shapes = (form.middle, form.input), (form.output, form.kept + form.side)
    first, second = (random.normal(0, 0.1, shape).astype(np.float16) for shape in shapes)
    bias = random.normal(0, 1, form.middle + form.output).astype(np.float32)
    ordered = packed(first.astype(np.float32)), packed(second.astype(np.float32), form.kept)
    weights = np.concatenate([each.astype(np.float16).ravel() for each in ordered])
    more = [None if each is None else each.slice for each in (residual, side, middle)]
    where = source.slice, target.slice, BATCH, gpu.upload(weights), gpu.upload(bias)
    gpu.run(Pointwise(gpu.kernels, form, *where, activations, 1, *more))

    before, between, behind = (ACTIVATIONS[model.Activation(name)] for name in activations)
    value = before(source.given) + (0 if residual is None else residual.given)
    value = between(np.einsum("fc,bchw->bfhw", first.astype(np.float64), value) + bias[: form.middle, None, None])
    for written in (middle, None if form.output else target):
        if written is not None:
            written.check(value, 4e-3)
    if form.output:
        seen = np.concatenate([value[:, : form.kept], *([] if side is None else [side.given])], axis=1)
        target.check(behind(np.einsum("fc,bchw->bfhw", second.astype(np.float64), seen) + bias[form.middle :, None, None]), 8e-3)


def test_too_many_values_are_refused(gpu: Gpu) -> None:
    form, huge = CHAINS[0], Slice(0, 64, 1 << 14, 1 << 14, 64)
    with pytest.raises(ValueError, match="more than the kernel can count"):
        Pointwise(gpu.kernels, form, huge, huge, 2, 0, 0, ("mish",) * 3, 1)
