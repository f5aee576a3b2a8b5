"""From the sections of a cfg to typed layers, with every size checked before anything is allocated.

Layer semantics and option names: https://github.com/AlexeyAB/darknet (src/parser.c and the layer files).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from engine.errors import UsageError
from engine.model.cfg import Section, read_cfg
from engine.model.description import ConvolutionSpec, Description
from engine.model.network import (
    Activation,
    AveragePool,
    Identity,
    Layer,
    MaxPool,
    Route,
    Sam,
    ScaleChannels,
    Shape,
    Shortcut,
    Upsample,
    Yolo,
)

MAX_SIDE = 16_384
MAX_CHANNELS = 65_536
MAX_PARAMETERS = 1 << 29
MAX_ACTIVATIONS = 1 << 32


def describe(path: Path, size: tuple[int, int] | None = None) -> Description:
    """Read a cfg. size: (width, height) in pixels instead of the cfg's own, multiples of 32.

    Raises:
        ModelError: the file is no cfg that can be used; the message names section and line.
        UsageError: the size is no multiple of 32 or absurd.
    """
    net, *sections = read_cfg(path)
    if net.name not in ("net", "network"):
        raise net.error("a Darknet cfg begins with [net]")
    width, height = size or (net.integer("width", low=1, high=MAX_SIDE), net.integer("height", low=1, high=MAX_SIDE))
    if size is not None and not all(32 <= side <= MAX_SIDE and side % 32 == 0 for side in size):
        raise UsageError(f"network size {width}×{height}: both must be multiples of 32, at most {MAX_SIDE}")
    channels = net.integer("channels", 3, low=1, high=MAX_CHANNELS)
    if channels != 3:
        raise net.error(f"channels={channels} is not supported: pictures have 3 channels, RGB", "channels")
    layers: list[Layer] = []
    parameters, activations = 0, channels * height * width
    for section in sections:
        layer = _layer(section, layers, (channels, height, width))
        layers.append(layer)
        parameters += layer.float_count if isinstance(layer, ConvolutionSpec) else 0
        activations += layer.shape[0] * layer.shape[1] * layer.shape[2]
        if parameters > MAX_PARAMETERS:
            raise section.error(f"the network has more than {MAX_PARAMETERS:,} parameters up to here: check filters, size and groups")
        if activations > MAX_ACTIVATIONS:
            raise section.error(f"the network computes more than {MAX_ACTIVATIONS:,} values per picture up to here: check width and height")
    heads = [layer for layer in layers if isinstance(layer, Yolo)]
    if not heads:
        raise net.error("the network has no [yolo] layer: only Darknet's YOLO detectors can be used")
    return Description(path, width, height, channels, net.flag("letter_box"), tuple(layers))


def _layer(section: Section, layers: Sequence[Layer], network_input: Shape) -> Layer:
    build = _BUILDERS.get(section.name)
    if build is None:
        raise section.error(f"unknown or unsupported layer type [{section.name}]: supported are {', '.join(sorted(_BUILDERS))}")
    for key, neutral in _REJECTED.get(section.name, {}).items():
        if key in section.options and section.text(key) not in neutral:
            raise section.error(f"{key}={section.text(key)} is not supported: remove it, or use a model trained without it", key)
    layer = build(section, layers, layers[-1].shape if layers else network_input)
    for index in layer.inputs:
        if index >= 0 and isinstance(layers[index], Yolo):
            raise section.error(f"takes the output of [yolo] (layer {index}), which is the network's output: put a [route] before it")
    return layer


def _convolutional(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    channels, height, width = before
    filters = section.integer("filters", 1, low=1, high=MAX_CHANNELS)
    size = section.integer("size", 1, low=1, high=127)
    stride = _stride(section, 1)
    padding = size // 2 if section.flag("pad") else section.integer("padding", 0, low=0, high=127)
    groups = section.integer("groups", 1, low=1, high=MAX_CHANNELS)
    if channels % groups or filters % groups:
        raise section.error(f"groups={groups} must divide both the {channels} input channels and filters={filters}", "groups")
    if size > 1 and section.integer("dilation", 1, low=1, high=MAX_SIDE) != 1:
        raise section.error("dilation is not supported: use a model trained without it", "dilation")
    shape = (filters, _extent(section, height, size, stride, 2 * padding), _extent(section, width, size, stride, 2 * padding))
    # cbn is batch normalisation across mini-batches: a matter of training only
    normalize = section.integer("batch_normalize", 0, low=0, high=2) > 0 or section.flag("cbn")
    activation = _activation(section, "logistic")
    return ConvolutionSpec((len(layers) - 1,), shape, channels, size, stride, padding, groups, activation, normalize)


def _maxpool(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    channels, height, width = before
    stride = _stride(section, 1)
    size = section.integer("size", stride, low=1, high=MAX_SIDE)
    # more padding than this, and a window would hold nothing but padding
    padding = section.integer("padding", size - 1, low=0, high=2 * (size - 1))
    shape = (channels, _extent(section, height, size, stride, padding), _extent(section, width, size, stride, padding))
    return MaxPool((len(layers) - 1,), shape, size, stride, padding)


def _avgpool(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    return AveragePool((len(layers) - 1,), (before[0], 1, 1))


def _identity(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    return Identity((len(layers) - 1,), before)


def _upsample(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    stride = section.integer("stride", 2, low=1, high=64)
    if section.number("scale", 1.0, above=0.0, high=1e6) != 1.0:
        raise section.error("scale is not supported: use a model trained without it", "scale")
    shape = (before[0], before[1] * stride, before[2] * stride)
    return Upsample((len(layers) - 1,), shape, stride)


def _shortcut(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    sources = _references(section, "from", layers)
    for index in sources:
        if layers[index].shape != before:
            raise section.error(f"adds layer {index} of {_text(layers[index].shape)} to {_text(before)}: the sizes must be equal", "from")
    return Shortcut((len(layers) - 1, *sources), before, _activation(section, "linear"))


def _scale_channels(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    source = _reference(section, layers)
    shape = layers[source].shape
    if before != (shape[0], 1, 1):
        raise section.error(f"scales layer {source} of {_text(shape)} by {_text(before)}: that must be {_text((shape[0], 1, 1))}", "from")
    return ScaleChannels((len(layers) - 1, source), shape, _product_activation(section))


def _sam(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    source = _reference(section, layers)
    if layers[source].shape != before:
        raise section.error(f"multiplies layer {source} of {_text(layers[source].shape)} with {_text(before)}: must be equal", "from")
    return Sam((len(layers) - 1, source), before, _product_activation(section))


def _route(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    sources = _references(section, "layers", layers)
    groups = section.integer("groups", 1, low=1, high=MAX_CHANNELS)
    group = section.integer("group_id", 0, low=0, high=groups - 1)
    shapes = [layers[index].shape for index in sources]
    for index, shape in zip(sources, shapes, strict=True):
        if shape[1:] != shapes[0][1:]:
            raise section.error(
                f"joins layer {sources[0]} of {_text(shapes[0])} and layer {index} of {_text(shape)}: heights and widths must be equal",
                "layers",
            )
        if shape[0] % groups:
            raise section.error(f"groups={groups} does not divide the {shape[0]} channels of layer {index}", "groups")
    return Route(sources, (sum(shape[0] for shape in shapes) // groups, *shapes[0][1:]), groups, group)


def _yolo(section: Section, layers: Sequence[Layer], before: Shape) -> Layer:
    classes = section.integer("classes", 20, low=1, high=MAX_CHANNELS)
    total = section.integer("num", 1, low=1, high=MAX_CHANNELS)
    sides = section.numbers("anchors", above=0.0, high=1e5)
    if len(sides) % 2:
        raise section.error(f"anchors= has {len(sides)} numbers: they come in pairs of width and height", "anchors")
    anchors = np.array(sides, np.float32).reshape(-1, 2)
    count = min(total, len(anchors))
    mask = section.integers("mask", low=0, high=count - 1) if "mask" in section.options else tuple(range(count))
    for head in layers:
        if isinstance(head, Yolo) and head.classes != classes:
            raise section.error(f"classes={classes}, but an earlier [yolo] has {head.classes}: all must have the same", "classes")
    if before[0] != len(mask) * (5 + classes):
        raise section.error(
            f"the layer before gives {before[0]} channels, but {len(mask)} anchors · (5 + {classes} classes) = {len(mask) * (5 + classes)}: "
            "set filters= of the last [convolutional] to that, or correct mask= or classes="
        )
    scale = section.number("scale_x_y", 1.0, above=0.0, high=100.0)
    return Yolo((len(layers) - 1,), before, anchors[list(mask)], classes, scale, section.flag("new_coords"))


_Builder = Callable[[Section, Sequence[Layer], Shape], Layer]

_BUILDERS: Mapping[str, _Builder] = MappingProxyType(
    {
        "convolutional": _convolutional,
        "conv": _convolutional,
        "maxpool": _maxpool,
        "max": _maxpool,
        "avgpool": _avgpool,
        "avg": _avgpool,
        "dropout": _identity,
        "empty": _identity,
        "silence": _identity,
        "upsample": _upsample,
        "shortcut": _shortcut,
        "scale_channels": _scale_channels,
        "sam": _sam,
        "route": _route,
        "yolo": _yolo,
    }
)

_CONVOLUTION_REJECTED = {
    **{
        key: ("0",)
        for key in (
            "antialiasing",
            "assisted_excitation",
            "binary",
            "xnor",
            "bin_output",
            "sway",
            "rotate",
            "stretch",
            "stretch_sway",
            "flipped",
            "coordconv",
            "dontload",
            "dontloadscales",
        )
    },
    "share_index": (),
}
_MAXPOOL_REJECTED = {"maxpool_depth": ("0",), "antialiasing": ("0",), "maxpool_zero_nonmax": ("0",)}

_REJECTED: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "convolutional": _CONVOLUTION_REJECTED,
        "conv": _CONVOLUTION_REJECTED,
        "maxpool": _MAXPOOL_REJECTED,
        "max": _MAXPOOL_REJECTED,
        "shortcut": {"weights_type": ("none",)},
        "scale_channels": {"scale_wh": ("0",)},
    }
)
"""Options that change what a layer computes or takes from the weight file, and their values that do not."""


def _stride(section: Section, default: int) -> int:
    stride = section.integer("stride", default, low=1, high=MAX_SIDE)
    across = section.integer("stride_x", stride, low=1, high=MAX_SIDE)
    down = section.integer("stride_y", stride, low=1, high=MAX_SIDE)
    if across != down:
        raise section.error(f"stride_x={across} and stride_y={down} differ: only equal strides are supported", "stride_x")
    return across


def _extent(section: Section, before: int, size: int, stride: int, padding: int) -> int:
    """Output height or width; padding: in all, both sides together."""
    if before + padding < size:
        raise section.error(f"size={size} does not fit into an input of {before} pixels padded by {padding}", "size")
    return (before + padding - size) // stride + 1


def _activation(section: Section, default: str) -> Activation:
    name = section.text("activation", default)
    if name not in tuple(Activation):
        raise section.error(f"activation={name[:40]} is unknown or unsupported: supported are {', '.join(Activation)}", "activation")
    return Activation(name)


def _product_activation(section: Section) -> Activation:
    activation = _activation(section, "linear")
    if activation in (Activation.SWISH, Activation.MISH):
        raise section.error(f"activation={activation} does not exist for [{section.name}], in Darknet neither", "activation")
    return activation


def _references(section: Section, key: str, layers: Sequence[Layer]) -> tuple[int, ...]:
    """Earlier layers, by number from 0, or counted backwards from this one."""
    here = len(layers)
    found = []
    for value in section.integers(key, low=-(10**9), high=10**9):
        index = value + here if value < 0 else value
        if not 0 <= index < here:
            raise section.error(f"{key}={value} is layer {index}, but only the layers before this one can be named (0..{here - 1})", key)
        found.append(index)
    return tuple(found)


def _reference(section: Section, layers: Sequence[Layer]) -> int:
    sources = _references(section, "from", layers)
    if len(sources) != 1:
        raise section.error(f"from= names {len(sources)} layers: [{section.name}] takes one", "from")
    return sources[0]


def _text(shape: Shape) -> str:
    return "×".join(map(str, shape))
