"""``random:SEED``: reproducible random weights, so that an architecture without a weight file can be measured and tested.

The numbers have the same form as those of a weight file. Plain random weights explode or die out in a network of a
hundred layers; here the mean and variance of every channel are carried from layer to layer (as if independent and
normal), and each convolution's batch-norm statistics are set to what it will see. The heads then report some objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.model.description import ConvolutionSpec, Description
from engine.model.network import Activation, AveragePool, Layer, MaxPool, Route, Sam, ScaleChannels, Shortcut, Yolo

PREFIX = "random:"

_Array: TypeAlias = NDArray[np.float64]
_Moments: TypeAlias = tuple[_Array, _Array]
"""mean and variance of each channel, float64 (channels,)"""

_PICTURE_MEAN, _PICTURE_VARIANCE = 0.45, 0.07  # of photographs scaled to 0..1
_GAIN = 4.0  # times He's deviation: variances so far from 0 that no importer's epsilon matters
_OBJECTNESS, _CLASS = -3.0, -2.0  # mean logits of the heads: about one box in 200 above a confidence of 0.25

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(16)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def is_random(weights: object) -> bool:
    """Whether this stands for random weights, not for a file."""
    return str(weights).startswith(PREFIX)


def random_weights(description: Description, weights: str) -> NDArray[np.float32]:
    """The numbers that ``random:SEED`` stands for: float32 (``description.float_count``,), equal on every machine.

    Raises:
        UsageError: the seed is no whole number from 0 to 2⁶³ - 1.
    """
    text = weights.removeprefix(PREFIX)
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) < 1 << 63):
        raise UsageError(f"'{weights}' names no random weights: write random:SEED with a whole number from 0 on, such as random:1")
    heads = {head.inputs[0]: head for head in description.heads}
    stream = np.empty(description.float_count, np.float32)
    moments: list[_Moments] = []
    picture = np.full(description.channels, _PICTURE_MEAN), np.full(description.channels, _PICTURE_VARIANCE)
    offset = 0
    for index, layer in enumerate(description.layers):
        inputs = [picture if source < 0 else moments[source] for source in layer.inputs]
        if isinstance(layer, ConvolutionSpec):
            bits = np.random.PCG64(np.random.SeedSequence([int(text), index]))
            part = stream[offset : offset + layer.float_count]
            moments.append(_fill(part, layer, inputs[0], bits, heads.get(index)))
            offset += layer.float_count
        else:
            moments.append(_propagate(layer, inputs))
    return stream


def _fill(stream: NDArray[np.float32], spec: ConvolutionSpec, before: _Moments, bits: np.random.PCG64, head: Yolo | None) -> _Moments:
    """Write one convolution's numbers; returns the moments of its output."""
    filters, fan_in = spec.filters, spec.kernel_count // spec.filters
    limit = _GAIN * math.sqrt(6 / fan_in)  # of a uniform distribution of variance gain² · 2 / fan_in
    kernel = stream[-spec.kernel_count :]
    kernel[:] = _uniform(bits, spec.kernel_count, limit)
    means, variances = (moment.reshape(spec.groups, -1) for moment in before)
    taps = np.repeat(means.astype(np.float32), spec.size**2, axis=1)
    seen_mean = np.matmul(kernel.reshape(spec.groups, -1, fan_in), taps[:, :, None]).astype(np.float64).ravel()
    seen_variance = np.repeat(variances.mean(axis=1), filters // spec.groups) * fan_in * limit**2 / 3
    if spec.batch_normalize:
        bias = _uniform(bits, filters, 0.5).astype(np.float64)
        scale = 1 + _uniform(bits, filters, 0.25).astype(np.float64)
        stream[: 4 * filters] = np.concatenate([bias, scale, seen_mean, seen_variance])
        return _activated(bias, scale**2, spec.activation)
    scale = 1 / np.sqrt(seen_variance + 1e-12)
    bias = _head_bias(head, filters)
    kernel.reshape(filters, fan_in)[:] *= scale[:, None].astype(np.float32)
    stream[:filters] = bias - seen_mean * scale
    return _activated(bias, np.ones(filters), spec.activation)


def _head_bias(head: Yolo | None, filters: int) -> _Array:
    bias = np.zeros(filters)
    if head is not None:
        per_anchor = bias.reshape(len(head.anchors), 5 + head.classes)
        per_anchor[:, 4], per_anchor[:, 5:] = _OBJECTNESS, _CLASS
    return bias


def _uniform(bits: np.random.PCG64, count: int, limit: float) -> NDArray[np.float32]:
    """From raw bits, whose sequence NumPy guarantees for ever, unlike that of its distributions (NEP 19)."""
    raw: NDArray[np.uint64] = np.asarray(bits.random_raw((count + 1) // 2), "<u8")
    return raw.view("<i4")[:count] * np.float32(limit / 2**31)


def _propagate(layer: Layer, inputs: list[_Moments]) -> _Moments:
    mean, variance = inputs[0]
    match layer:
        case Shortcut():
            return _activated(sum(m for m, _ in inputs), sum(v for _, v in inputs), layer.activation)  # type: ignore[arg-type]
        case ScaleChannels() | Sam():
            other_mean, other_variance = inputs[1]
            product = variance * other_variance + variance * other_mean**2 + other_variance * mean**2
            return _activated(mean * other_mean, product, layer.activation)
        case Route():
            groups = [tuple(np.split(moment, layer.groups)[layer.group] for moment in moments) for moments in inputs]
            return np.concatenate([m for m, _ in groups]), np.concatenate([v for _, v in groups])
        case MaxPool():  # neighbours are much alike: as if ``size`` of them were independent
            return mean + np.sqrt(variance * math.log(layer.size)), variance * 0.7
        case AveragePool():
            return mean, variance * 0.1
    return mean, variance


def _activated(mean: _Array, variance: _Array, activation: Activation) -> _Moments:
    """Moments of activation(x) for normal x, by Gauss-Hermite quadrature."""
    values = _FUNCTIONS[activation](mean[:, None] + np.sqrt(variance)[:, None] * _NODES)
    expected = values @ _WEIGHTS
    return expected, (values**2) @ _WEIGHTS - expected**2


def _logistic(x: _Array) -> _Array:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


_FUNCTIONS: Mapping[Activation, Callable[[_Array], _Array]] = MappingProxyType(
    {
        Activation.LINEAR: lambda x: x,
        Activation.LEAKY: lambda x: np.where(x > 0, x, 0.1 * x),
        Activation.RELU: lambda x: np.maximum(x, 0),
        Activation.RELU6: lambda x: np.clip(x, 0, 6),
        Activation.LOGISTIC: _logistic,
        Activation.SWISH: lambda x: x * _logistic(x),
        Activation.MISH: lambda x: x * np.tanh(np.logaddexp(0, x)),
    }
)
