"""Small models for tests, and a reference implementation of their layers in NumPy, by Darknet's definitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import (
    Activation,
    AveragePool,
    Convolution,
    Layer,
    LocalAveragePool,
    MaxPool,
    Network,
    Region,
    Reorg,
    Route,
    Sam,
    ScaleChannels,
    Shortcut,
    Upsample,
    Yolo,
)
from framefleet.engine.settings import ModelFiles

TINY_CFG = Path(__file__).resolve().parent.parent / "fixtures" / "tiny.cfg"
"""A detector of 24 layers, 96×96, 3 classes, heads of 6×6 and 12×12."""

SMALL_CFG = TINY_CFG.with_name("small.cfg")
"""A detector of five layers, 64×64, 3 classes, one head of 8×8: for what stands around a network. A frame takes a third of the time."""

OLDER_CFG = TINY_CFG.with_name("older.cfg")
"""A detector of 14 layers, 64×96, 3 classes, with the layers that YOLOv2 and other older networks have."""


def tiny_files(seed: int = 1) -> ModelFiles:
    """The tiny detector with random weights."""
    return ModelFiles(TINY_CFG, f"random:{seed}")


def small_files() -> ModelFiles:
    """The small detector with random weights, by which it finds five to ten objects in a picture of ``numbered``, at 0.25."""
    return ModelFiles(SMALL_CFG, "random:98")


def overflowing_files(folder: Path) -> ModelFiles:
    """Write a detector of one convolution whose outputs are infinite for light pictures (mean above 96), and finite for dark ones."""
    boxes, classes = 3, 1
    filters = boxes * (5 + classes)
    cfg = folder / "overflowing.cfg"
    cfg.write_text(
        f"[net]\nwidth=32\nheight=32\nchannels=3\n[convolutional]\nfilters={filters}\nsize=1\nstride=1\nactivation=linear\n"
        f"[yolo]\nmask=0,1,2\nanchors=4,4,8,8,16,16\nclasses={classes}\nnum={boxes}\n"
    )
    weights = folder / "overflowing.weights"
    values = np.concatenate([np.full(filters, -5), np.full(3 * filters, 3e38)]).astype(np.float32)  # biases, then three per filter
    weights.write_bytes(np.array([0, 2, 5, 0, 0], np.int32).tobytes() + values.tobytes())
    return ModelFiles(cfg, weights)


def tiny_network(seed: int = 1) -> Network:
    """The tiny detector with random weights, loaded. Takes a few milliseconds."""
    return load_network(tiny_files(seed))


def run_by_definition(network: Network, inputs: NDArray[np.float32]) -> list[NDArray[np.float64]]:
    """The raw outputs of a network, computed in float64 with NumPy only: slow. inputs: (batch, channels, height, width)."""
    picture, values = inputs.astype(np.float64), list[NDArray[np.float64]]()
    for layer in network.layers:
        values.append(compute_layer(layer, [picture if index < 0 else values[index] for index in layer.inputs]))
        assert values[-1].shape[1:] == layer.shape
    return [value for layer, value in zip(network.layers, values, strict=True) if isinstance(layer, Yolo)]


def compute_layer(layer: Layer, inputs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The output of one layer, float64 (batch, channels, height, width). A YOLO layer returns its input."""
    first = inputs[0]
    match layer:
        case Convolution():
            return _convolve(layer, first)
        case MaxPool():
            before = layer.padding // 2
            padded = _pad(first, before, layer.padding - before, -np.inf)
            largest: NDArray[np.float64] = _windows(padded, layer.size, layer.stride).max(axis=(-2, -1))
            return largest
        case Upsample():
            return first.repeat(layer.stride, axis=2).repeat(layer.stride, axis=3)
        case Route():
            parts = [value.reshape(len(value), layer.groups, -1, *value.shape[2:])[:, layer.group] for value in inputs]
            return np.concatenate(parts, axis=1)
        case Shortcut():
            total = first.copy()
            for other in inputs[1:]:
                common = min(total.shape[1], other.shape[1])
                total[:, :common] += other[:, :common]
            return ACTIVATIONS[layer.activation](total)
        case ScaleChannels() | Sam():
            return ACTIVATIONS[layer.activation](first * inputs[1])
        case LocalAveragePool():
            before = layer.padding // 2
            padded = _pad(first, before, layer.padding - before, np.nan)
            average: NDArray[np.float64] = np.nanmean(_windows(padded, layer.size, layer.stride), axis=(-2, -1))
            return average
        case Reorg():
            return reorganise(first, layer.stride, layer.view).reshape(len(first), *layer.shape)
        case Region():
            boxes = first.reshape(len(first), len(layer.anchors), 5 + layer.classes, *layer.shape[1:]).copy()
            classes = np.exp(boxes[:, :, 5:])
            boxes[:, :, 5:] = np.log(classes / (classes.sum(axis=2, keepdims=True) - classes))
            return boxes.reshape(first.shape)
        case AveragePool():
            mean: NDArray[np.float64] = first.mean(axis=(2, 3), keepdims=True)
            return mean
    return first


def reorganise(value: NDArray[np.float64], stride: int, view: tuple[int, int, int]) -> NDArray[np.float64]:
    """Darknet's loop (AlexeyAB/darknet, ``reorg_cpu`` in src/blas.c, with forward = 0), one output value at a time: slow."""
    channels, height, width = view[0] * stride**2, view[1] // stride, view[2] // stride
    seen, result = value.reshape(len(value), *view), np.empty((len(value), channels, height, width))
    for channel, row, column in np.ndindex(channels, height, width):
        square, source = divmod(channel, view[0])
        result[:, channel, row, column] = seen[:, source, row * stride + square // stride, column * stride + square % stride]
    return result


def _convolve(layer: Convolution, value: NDArray[np.float64]) -> NDArray[np.float64]:
    windows = _windows(_pad(value, layer.padding, layer.padding, 0.0), layer.weights.shape[-1], layer.stride)
    grouped = windows.reshape(len(value), layer.groups, -1, *windows.shape[2:])
    weights = layer.weights.reshape(layer.groups, -1, *layer.weights.shape[1:]).astype(np.float64)
    result = np.einsum("bgchwyx,gfcyx->bgfhw", grouped, weights, optimize=True)
    result = result.reshape(len(value), -1, *result.shape[3:]) + layer.bias[:, None, None]
    return ACTIVATIONS[layer.activation](result)


def _pad(value: NDArray[np.float64], before: int, after: int, filler: float) -> NDArray[np.float64]:
    return np.pad(value, ((0, 0), (0, 0), (before, after), (before, after)), constant_values=filler)


def _windows(value: NDArray[np.float64], size: int, stride: int) -> NDArray[np.float64]:
    return np.lib.stride_tricks.sliding_window_view(value, (size, size), axis=(2, 3))[:, :, ::stride, ::stride]


ACTIVATIONS: dict[Activation, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    Activation.LINEAR: lambda x: x,
    Activation.LEAKY: lambda x: np.where(x > 0, x, 0.1 * x),
    Activation.RELU: lambda x: x.clip(0),
    Activation.RELU6: lambda x: x.clip(0, 6),
    Activation.LOGISTIC: lambda x: 1 / (1 + np.exp(-x)),
    Activation.SWISH: lambda x: x / (1 + np.exp(-x)),
    Activation.MISH: lambda x: x * np.tanh(np.log1p(np.exp(x))),
}
"""The formulas of the activations. They overflow for very large values."""
