"""Reproducible random weights, ``random:SEED``, for measuring and testing an architecture without a weight file.

The weights have the order of a weight file. With arbitrary weights, activations would grow or vanish within a hundred layers. Therefore
mean and variance of every channel are propagated from layer to layer, as if channels were independent and normally distributed. They
become the batch-normalisation statistics of the next convolution. Batch normalisation moves most values above zero, where the
activations are nearly linear. Errors of the estimate then do not grow from layer to layer, and the outputs still depend on the picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model import files, network
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.notices import Notice, UsageError

_Array: TypeAlias = NDArray[np.float64]
_Moments: TypeAlias = tuple[_Array, _Array]
"""Mean and variance of each channel, float64 (channels,)."""

_PICTURE_MEAN, _PICTURE_VARIANCE = 0.45, 0.07  # of photographs scaled to 0..1
_GAIN = 4.0  # times the standard deviation of He's initialisation: then the epsilon of batch normalisation is negligible
_BIAS, _SCALE = 1.5, 0.75
_OBJECTNESS, _CLASS = -3.0, -2.0  # mean logits: a few boxes in a thousand reach a confidence of 0.25


def parse_seed(weights: str) -> int:
    """Return the SEED of ``random:SEED``. Raises UsageError if SEED is not an integer from 0 to 2⁶³ - 1."""
    text = weights.removeprefix(files.RANDOM)
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) < 1 << 63):
        raise UsageError(Notice("model.wrong_seed", weights=weights[:60]))
    return int(text)


def random_weights(description: Description, weights: str) -> NDArray[np.float32]:
    """Generate the weights for ``random:SEED``, equal on every machine.

    Returns
    -------
    ndarray
        float32 (``description.float_count``,).

    Raises
    ------
    UsageError
        The seed is not an integer from 0 to 2⁶³ - 1.
    """
    seed = parse_seed(weights)
    heads = {head.inputs[0]: head for head in description.heads}
    stream = np.empty(description.float_count, np.float32)
    picture = np.full(description.channels, _PICTURE_MEAN), np.full(description.channels, _PICTURE_VARIANCE)
    moments: list[_Moments] = []
    offset = 0
    for index, layer in enumerate(description.layers):
        inputs = [picture if source < 0 else moments[source] for source in layer.inputs]
        if isinstance(layer, ConvolutionSpec):
            bits = np.random.PCG64(np.random.SeedSequence([seed, index]))
            part = stream[offset : offset + layer.float_count]
            moments.append(_fill(part, layer, inputs[0], bits, heads.get(index)))
            offset += layer.float_count
        else:
            moments.append(_propagate(layer, inputs))
    return stream


def _fill(
    stream: NDArray[np.float32], spec: ConvolutionSpec, before: _Moments, bits: np.random.PCG64, head: network.Yolo | None
) -> _Moments:
    """Write the weights of one convolution into ``stream``. Returns the moments of its output."""
    filters, fan_in = spec.filters, spec.kernel_count // spec.filters
    limit = _GAIN * math.sqrt(6 / fan_in)  # of a uniform distribution with variance gain² · 2 / fan_in
    kernel = stream[-spec.kernel_count :].reshape(spec.groups, -1, fan_in)
    kernel[:] = _uniform(bits, spec.kernel_count, limit).reshape(kernel.shape)
    means, variances = (moment.reshape(spec.groups, -1) for moment in before)
    taps = np.repeat(means, spec.size**2, axis=1)[:, :, None]
    seen_mean = _rounded(np.matmul(kernel.astype(np.float64), taps).ravel())
    seen_variance = _rounded(np.repeat(variances.mean(axis=1), filters // spec.groups) * (fan_in * limit**2 / 3))
    if spec.batch_normalize:
        bias = _BIAS + _uniform(bits, filters, 0.5).astype(np.float64)
        scale = _SCALE + _uniform(bits, filters, 0.25).astype(np.float64)
        stream[: 4 * filters] = np.concatenate([bias, scale, seen_mean, seen_variance])
        return _activated(bias, scale**2, spec.activation)
    bias = _head_bias(head, filters)
    scale = _rounded(1 / np.sqrt(seen_variance + 1e-12))
    kernel *= scale.astype(np.float32).reshape(spec.groups, -1, 1)
    stream[:filters] = bias - seen_mean * scale
    return _activated(bias, np.ones(filters), spec.activation)


def _head_bias(head: network.Yolo | None, filters: int) -> _Array:
    bias = np.zeros(filters)
    if head is not None:
        per_anchor = bias.reshape(len(head.anchors), 5 + head.classes)
        per_anchor[:, 4], per_anchor[:, 5:] = _OBJECTNESS, _CLASS
    return bias


def _uniform(bits: np.random.PCG64, count: int, limit: float) -> NDArray[np.float32]:
    """Generate uniform numbers in ±limit from raw bits. NumPy guarantees the sequence of bits, but not of its distributions (NEP 19)."""
    raw = np.asarray(bits.random_raw((count + 1) // 2), "<u8").view("<i4")[:count]
    return raw * np.float32(limit / 2**31)


def _rounded(values: _Array) -> _Array:
    """Round to 12 significant bits: the last bits of sums and exponentials differ between machines."""
    mantissa, exponent = np.frexp(values)
    result: _Array = np.ldexp(np.round(mantissa * 4096), exponent - 12)
    return result


def _propagate(layer: network.Layer, inputs: Sequence[_Moments]) -> _Moments:
    mean, variance = inputs[0]
    match layer:
        case network.Shortcut():
            sums = [_first_channels(moments, layer.shape[0]).sum(axis=0) for moments in zip(*inputs, strict=True)]
            return _activated(sums[0], sums[1], layer.activation)
        case network.ScaleChannels() | network.Sam():
            other_mean, other_variance = inputs[1]
            product = variance * other_variance + variance * other_mean**2 + other_variance * mean**2
            return _activated(mean * other_mean, product, layer.activation)
        case network.Route():
            parts = [[np.split(moment, layer.groups)[layer.group] for moment in moments] for moments in inputs]
            return np.concatenate([m for m, _ in parts]), np.concatenate([v for _, v in parts])
        case network.MaxPool():  # neighbours are similar: treated as if only ``size`` of them were independent
            return mean + np.sqrt(variance * math.log(layer.size)), variance * 0.7
        case network.AveragePool() | network.LocalAveragePool():
            return mean, variance * 0.1
        case network.Reorg():  # its channels mix several channels of its input
            count = layer.shape[0]
            return np.full(count, mean.mean()), np.full(count, variance.mean() + mean.var())
    return mean, variance


def _first_channels(moments: Sequence[_Array], count: int) -> _Array:
    """The first ``count`` channels of each input, float64 (inputs, count); missing ones are 0."""
    return np.stack([np.pad(each[:count], (0, max(0, count - len(each)))) for each in moments])


def _activated(mean: _Array, variance: _Array, activation: network.Activation) -> _Moments:
    """Compute the moments of activation(x) for normally distributed x, by Gauss-Hermite quadrature."""
    nodes, weights = _quadrature()
    values = _FUNCTIONS[activation](mean[:, None] + np.sqrt(variance)[:, None] * nodes)
    expected = values @ weights
    return expected, np.maximum((values - expected[:, None]) ** 2 @ weights, 0)


@cache
def _quadrature() -> tuple[_Array, _Array]:
    """Nodes and weights. The sum of the weights is 1."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(16)
    return nodes, weights / weights.sum()


def _logistic(x: _Array) -> _Array:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))


_FUNCTIONS: Mapping[network.Activation, Callable[[_Array], _Array]] = MappingProxyType(
    {
        network.Activation.LINEAR: lambda x: x,
        network.Activation.LEAKY: lambda x: np.where(x > 0, x, 0.1 * x),
        network.Activation.RELU: lambda x: np.maximum(x, 0),
        network.Activation.RELU6: lambda x: np.clip(x, 0, 6),
        network.Activation.LOGISTIC: _logistic,
        network.Activation.SWISH: lambda x: x * _logistic(x),
        network.Activation.MISH: lambda x: x * np.tanh(np.logaddexp(0, x)),
    }
)
