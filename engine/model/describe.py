"""Converts a cfg to a ``Description``: each section to a typed layer. All sizes are checked before any memory is allocated.

The meanings and defaults of options follow https://github.com/AlexeyAB/darknet, src/parser.c and the layers' source files.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model import network as net
from framefleet.engine.model.cfg import Section, read_cfg
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.model.network import Activation, Layer, Shape, Yolo
from framefleet.engine.notices import ModelError, Notice, UsageError

MAX_LAYERS = 4_096
MAX_CHANNELS = 65_536
MAX_WINDOW = 1_024
"""Maximum side of a kernel or pooling window, and maximum stride, pixels."""

_OTHER_NAMES = {"silu": Activation.SWISH.value}
"""Names that authors of cfgs for other Darknets use."""


@dataclass(frozen=True)
class LayerContext:
    """A section and the layers before it.

    shape: of the previous layer's output, or of the picture for the first section. picture: shape of the network's input. notes: what a
    person should know about the cfg; layers add to it.
    """

    section: Section
    layers: Sequence[Layer]
    shape: Shape
    picture: Shape
    notes: list[Notice]

    @property
    def before(self) -> int:
        """Index of the previous layer; -1 is the picture."""
        return len(self.layers) - 1

    def error(self, problem: Notice, key: str | None = None) -> ModelError:
        """Create a ModelError that names this section and the option's line."""
        return self.section.error(problem, key)

    def integer(self, key: str, default: int, *, low: int = 1, high: int) -> int:
        """Return the value of an integer option, as ``Section.integer``."""
        return self.section.integer(key, default, low=low, high=high)

    def stride(self) -> int:
        """Return the option ``stride``, which must be equal in both directions."""
        stride = self.integer("stride", 1, high=MAX_WINDOW)
        across, down = self.integer("stride_x", stride, high=MAX_WINDOW), self.integer("stride_y", stride, high=MAX_WINDOW)
        if across != down:
            raise self.error(Notice("model.unequal_strides", across=across, down=down), "stride_x")
        return across

    def slide(self, channels: int, size: int, stride: int, padding: int) -> Shape:
        """Return the output shape of a sliding window. padding: sum of both sides, pixels."""
        _, height, width = self.shape
        if min(height, width) + padding < size:
            raise self.error(Notice("model.window_too_large", size=size, width=width, height=height, padding=padding), "size")
        return channels, (height + padding - size) // stride + 1, (width + padding - size) // stride + 1

    def activation(self, default: str, excluded: tuple[Activation, ...] = ()) -> Activation:
        """Return the option ``activation``. excluded: the activations that this layer does not support."""
        name = self.section.text("activation", default)
        name = _OTHER_NAMES.get(name, name)
        supported = tuple(activation.value for activation in Activation if activation not in excluded)
        if name not in supported:
            raise self.error(Notice("model.unknown_activation", name=name[:40], supported=supported), "activation")
        return Activation(name)

    def sources(self, key: str) -> tuple[int, ...]:
        """Return the indices of the layers that an option names. In the option, negative numbers are relative to this layer."""
        here, found = len(self.layers), []
        for value in self.section.integers(key, low=-MAX_LAYERS, high=MAX_LAYERS):
            index = value + here if value < 0 else value
            if not 0 <= index < here:
                if not here:
                    raise self.error(Notice("model.no_earlier_layer", key=key, value=value), key)
                raise self.error(Notice("model.not_earlier_layer", key=key, value=value, last=here - 1, first=-here), key)
            found.append(index)
        return tuple(found)

    def source(self) -> tuple[int, Shape]:
        """Return index and shape of the only layer that the option ``from`` names."""
        sources = self.sources("from")
        if len(sources) != 1:
            raise self.error(Notice("model.takes_one_layer", count=len(sources), section=self.section.name), "from")
        return sources[0], self.layers[sources[0]].shape


def make_layer(section: Section, layers: Sequence[net.Layer], picture: net.Shape, notes: list[Notice]) -> net.Layer:
    """Convert a section to a layer. layers: all layers before it. picture: shape of the network's input. notes: takes what should be said.

    Raises ModelError if the type is unknown, an option or value is not supported, or sizes do not fit.
    """
    name = _SHORT_NAMES.get(section.name, section.name)
    make = _MAKERS.get(name)
    if make is None:
        raise section.error(Notice("model.unknown_layer", name=section.name[:40], supported=tuple(_MAKERS)))
    for key, harmless in _UNSUPPORTED.get(name, {}).items():
        if key in section.options and section.text(key) not in harmless:
            raise section.error(Notice("model.option_not_supported", key=key, value=section.text(key)[:40]), key)
    context = LayerContext(section, layers, layers[-1].shape if layers else picture, picture, notes)
    layer = make(context)
    for index in layer.inputs:
        if index >= 0 and isinstance(layers[index], net.Yolo):
            head = "region" if isinstance(layers[index], net.Region) else "yolo"
            raise section.error(Notice("model.input_is_head", head=head, index=index))
    return layer


def _convolution(context: LayerContext) -> net.Layer:
    channels, section = context.shape[0], context.section
    filters = context.integer("filters", 1, high=MAX_CHANNELS)
    size, stride = context.integer("size", 1, high=MAX_WINDOW), context.stride()
    padding = size // 2 if section.flag("pad") else context.integer("padding", 0, low=0, high=MAX_WINDOW)
    groups = context.integer("groups", 1, high=MAX_CHANNELS)
    if channels % groups or filters % groups:
        raise context.error(Notice("model.groups_of_filters", groups=groups, channels=channels, filters=filters), "groups")
    if size > 1 and context.integer("dilation", 1, low=0, high=MAX_WINDOW) > 1:
        raise context.error(Notice("model.dilation"), "dilation")
    normalize = section.flag("batch_normalize") or section.flag("cbn")  # cbn differs in training only
    shape = context.slide(filters, size, stride, 2 * padding)
    return ConvolutionSpec((context.before,), shape, channels, size, stride, padding, groups, context.activation("logistic"), normalize)


def _pool(kind: type[net.MaxPool] | type[net.LocalAveragePool], context: LayerContext) -> net.Layer:
    stride = context.stride()
    size = context.integer("size", stride, high=MAX_WINDOW)
    # with more padding, a window could contain only padding
    padding = context.integer("padding", size - 1, low=0, high=2 * (size - 1))
    return kind((context.before,), context.slide(context.shape[0], size, stride, padding), size, stride, padding)


def _reorg(context: LayerContext, *, is_old: bool) -> net.Layer:
    stride = context.integer("stride", 1, high=MAX_WINDOW)
    channels, height, width = context.shape
    if height % stride or width % stride or channels * stride**2 > MAX_CHANNELS:
        raise context.error(Notice("model.reorg_size", stride=stride, shape=_text(context.shape)), "stride")
    view = context.shape
    if is_old:
        if channels % stride**2:
            raise context.error(Notice("model.reorg_channels", stride=stride, square=stride**2, channels=channels), "stride")
        view = (channels // stride**2, height * stride, width * stride)
    return net.Reorg((context.before,), (channels * stride**2, height // stride, width // stride), stride, view)


def _average_pool(context: LayerContext) -> net.Layer:
    return net.AveragePool((context.before,), (context.shape[0], 1, 1))


def _identity(context: LayerContext) -> net.Layer:
    return net.Identity((context.before,), context.shape)


def _upsample(context: LayerContext) -> net.Layer:
    stride = context.integer("stride", 2, high=MAX_WINDOW)
    channels, height, width = context.shape
    return net.Upsample((context.before,), (channels, height * stride, width * stride), stride)


def _shortcut(context: LayerContext) -> net.Layer:
    sources = context.sources("from")
    for index in sources:
        shape = context.layers[index].shape
        if shape[1:] != context.shape[1:]:
            raise context.error(Notice("model.unequal_sum", index=index, shape=_text(shape), other=_text(context.shape)), "from")
    return net.Shortcut((context.before, *sources), context.shape, context.activation("linear"))


def _scale_channels(context: LayerContext) -> net.Layer:
    source, shape = context.source()
    factors = (shape[0], 1, 1)
    if context.shape != factors:
        what = {"source": source, "shape": _text(shape)}
        raise context.error(Notice("model.wrong_factors", other=_text(context.shape), needed=_text(factors), **what), "from")
    return net.ScaleChannels((context.before, source), shape, context.activation("linear", _NOT_IN_PRODUCTS))


def _sam(context: LayerContext) -> net.Layer:
    source, shape = context.source()
    if context.shape != shape:
        raise context.error(Notice("model.unequal_product", source=source, shape=_text(shape), other=_text(context.shape)), "from")
    return net.Sam((context.before, source), shape, context.activation("linear", _NOT_IN_PRODUCTS))


def _route(context: LayerContext) -> net.Layer:
    sources = context.sources("layers")
    groups = context.integer("groups", 1, high=MAX_CHANNELS)
    group = context.integer("group_id", 0, low=0, high=groups - 1)
    shapes = [context.layers[index].shape for index in sources]
    for index, shape in zip(sources, shapes, strict=True):
        if shape[1:] != shapes[0][1:]:
            first = {"first": sources[0], "first_shape": _text(shapes[0])}
            raise context.error(Notice("model.unequal_route", index=index, shape=_text(shape), **first), "layers")
        if shape[0] % groups:
            raise context.error(Notice("model.groups_of_route", groups=groups, channels=shape[0], index=index), "groups")
    return net.Route(sources, (sum(shape[0] for shape in shapes) // groups, *shapes[0][1:]), groups, group)


def _yolo(context: LayerContext) -> net.Layer:
    section = context.section
    classes, anchors = _classes(context), _anchors(context)
    mask = section.integers("mask", low=0, high=len(anchors) - 1) if "mask" in section.options else range(len(anchors))
    _check_head(context, len(mask), classes, Notice("model.correct_yolo"))
    # Darknet's greedynms also uses the distance, with a fixed exponent (AlexeyAB/darknet, src/box.c, box_diou)
    betas = {"diounms": section.number("beta_nms", 0.6, above=0.0, high=1e3), "greedynms": 0.6}
    beta = betas.get(section.text("nms_kind", "default"))
    scale, new_coords = section.number("scale_x_y", 1.0, above=0.0, high=1e3), section.flag("new_coords")
    before = context.layers[-1] if context.layers else None
    if new_coords and isinstance(before, ConvolutionSpec) and before.activation is net.Activation.LINEAR:
        context.notes.append(section.place(Notice("model.linear_new_coords"), "new_coords"))
    return net.Yolo((context.before,), context.shape, anchors[list(mask)], classes, scale, new_coords, beta)


def _region(context: LayerContext) -> net.Layer:
    if context.integer("softmax", 0, low=0, high=100) != 1:
        raise context.error(Notice("model.region_softmax"), "softmax")
    if context.integer("coords", 4, low=0, high=100) != 4:
        raise context.error(Notice("model.region_coords"), "coords")
    classes, anchors = _classes(context), _anchors(context)
    _check_head(context, len(anchors), classes, Notice("model.correct_region"))
    # the anchors of [region] are in cells of its grid, those of [yolo] in pixels
    cell = np.array([context.picture[2] / context.shape[2], context.picture[1] / context.shape[1]], np.float32)
    return net.Region((context.before,), context.shape, anchors * cell, classes, 1.0, False)


def _classes(context: LayerContext) -> int:
    """The number of classes of a head, which must be equal in all heads."""
    classes = context.integer("classes", 20, high=MAX_CHANNELS)
    for index, other in enumerate(context.layers):
        if isinstance(other, net.Yolo) and other.classes != classes:
            raise context.error(Notice("model.unequal_classes", classes=classes, index=index, other=other.classes), "classes")
    return classes


def _anchors(context: LayerContext) -> NDArray[np.float32]:
    """The widths and heights of a head's anchors, as in the cfg, float32 (n, 2)."""
    sides = context.section.numbers("anchors", above=0.0, high=1e6)
    if len(sides) % 2:
        raise context.error(Notice("model.odd_anchors", numbers=len(sides)), "anchors")
    anchors, used = np.array(sides, np.float32).reshape(-1, 2), context.integer("num", 1, high=MAX_CHANNELS)
    if used < len(anchors):
        context.notes.append(context.section.place(Notice("model.anchors_cut", num=used, listed=len(anchors)), "num"))
    return anchors[:used]


def _check_head(context: LayerContext, anchors: int, classes: int, correct: Notice) -> None:
    """Check the number of channels that enter a head."""
    if context.shape[0] != (needed := anchors * (5 + classes)):
        how = {"channels": context.shape[0], "anchors": anchors, "classes": classes}
        raise context.error(Notice("model.head_channels", needed=needed, correct=correct, **how))


_NOT_IN_PRODUCTS = (net.Activation.SWISH, net.Activation.MISH)
"""Darknet does not support these in [sam] and [scale_channels]."""

_MAKERS: Mapping[str, Callable[[LayerContext], net.Layer]] = MappingProxyType(
    {
        "convolutional": _convolution,
        "maxpool": partial(_pool, net.MaxPool),
        "local_avgpool": partial(_pool, net.LocalAveragePool),
        "avgpool": _average_pool,
        "reorg": partial(_reorg, is_old=True),
        "reorg3d": partial(_reorg, is_old=False),
        "upsample": _upsample,
        "shortcut": _shortcut,
        "scale_channels": _scale_channels,
        "sam": _sam,
        "route": _route,
        "dropout": _identity,
        "empty": _identity,
        "silence": _identity,
        "yolo": _yolo,
        "region": _region,
    }
)
_SHORT_NAMES = MappingProxyType({"conv": "convolutional", "max": "maxpool", "avg": "avgpool", "local_avg": "local_avgpool"})

_OFF = ("0",)
_SWITCHES = "antialiasing binary xnor bin_output sway rotate stretch stretch_sway coordconv flipped dontload dontloadscales"
_UNSUPPORTED: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "convolutional": {"share_index": (), **dict.fromkeys(_SWITCHES.split(), _OFF)},
        "maxpool": dict.fromkeys(("maxpool_depth", "antialiasing", "maxpool_zero_nonmax"), _OFF),
        "reorg": {"reverse": _OFF},
        "reorg3d": {"reverse": _OFF},
        "region": {"tree": (), "map": (), "classfix": _OFF},
        "upsample": {"scale": ("1", "1.", "1.0", "1.00")},
        "shortcut": {"weights_type": ("none",)},
        "scale_channels": {"scale_wh": _OFF},
    }
)
"""Unsupported options that change a layer's result or its numbers in the weight file, with the values that have no effect.

All other options of Darknet affect only training (also assisted_excitation) or the order of work on a GPU (stream).
"""


def _text(shape: net.Shape) -> str:
    return f"{shape[2]}×{shape[1]}×{shape[0]}"


MAX_SIDE = 16_384
"""Maximum width and height of the network's input, pixels."""

MAX_PARAMETERS = 1 << 29
"""Maximum number of parameters: 2 GiB of float32. YOLOv4-P7, the largest YOLOv4, has 288 million."""

MAX_ACTIVATIONS = 1 << 32
"""Maximum number of values that all layers compute for one picture. YOLOv4-P5 computes 417 million at 896×896."""


def describe(path: Path, size: tuple[int, int] | None = None) -> Description:
    """Read a cfg.

    Parameters
    ----------
    size
        (width, height) of the network's input in pixels instead of the cfg's own, multiples of 32.

    Raises
    ------
    ModelError
        The cfg cannot be used; the message names section and line.
    UsageError
        The size is not a multiple of 32 or out of range.
    """
    if size is not None and not all(32 <= side <= MAX_SIDE and side % 32 == 0 for side in size):
        raise UsageError(Notice("model.wrong_size", width=size[0], height=size[1], most=MAX_SIDE))
    net, *sections = read_cfg(path)
    if net.name not in ("net", "network"):
        raise net.error(Notice("model.begins_with_net"))
    width, height = size or (net.integer("width", low=1, high=MAX_SIDE), net.integer("height", low=1, high=MAX_SIDE))
    channels = net.integer("channels", 3, low=0, high=1_000)
    if channels != 3:
        raise net.error(Notice("model.channels", channels=channels), "channels")
    letter_box = net.flag("letter_box")
    layers, notes = _layers(sections, (channels, height, width))
    if not any(isinstance(layer, Yolo) for layer in layers):
        raise net.error(Notice("model.no_head"))
    return Description(width, height, channels, letter_box, layers, path, _together([*net.misspelt(), *notes]))


_HINTS = ("model.option_misspelt", "model.anchors_cut")
"""Notes that explain errors which follow from them."""


def with_hints(problem: Notice, notes: Sequence[Notice]) -> ModelError:
    """An error about a cfg, with those notes that may explain it."""
    hints = _together([note for note in notes if _meaning(note).code in _HINTS])
    return ModelError(Notice("model.with_hints", problem=problem, hints=hints) if hints else problem)


def _together(notes: Sequence[Notice]) -> tuple[Notice, ...]:
    """Notes about sections of a cfg, with equal ones as one: the first, and the number of the others."""
    number, first = Counter(map(_meaning, notes)), dict[Notice, Notice]()
    for note in notes:
        first.setdefault(_meaning(note), note)
    return tuple(
        note if number[meaning] == 1 else Notice("model.also_elsewhere", problem=note, count=number[meaning] - 1)
        for meaning, note in first.items()
    )


def _meaning(note: Notice) -> Notice:
    """A note without its place."""
    problem = note.fields.get("problem")
    return _meaning(problem) if isinstance(problem, Notice) else note


def _layers(sections: list[Section], picture: Shape) -> tuple[tuple[Layer, ...], list[Notice]]:
    """The layers, and what a person should know about the cfg."""
    if len(sections) > MAX_LAYERS:
        raise sections[MAX_LAYERS].error(Notice("model.too_many_layers", most=MAX_LAYERS))
    layers: list[Layer] = []
    notes: list[Notice] = []
    parameters, activations = 0, math.prod(picture)
    for section in sections:
        try:
            layer = make_layer(section, layers, picture, notes)
        except ModelError as error:
            raise with_hints(error.notice, [*notes, *section.misspelt()]) from error
        notes += section.misspelt()
        layers.append(layer)
        parameters += layer.float_count if isinstance(layer, ConvolutionSpec) else 0
        activations += math.prod(layer.shape)
        if parameters > MAX_PARAMETERS:
            raise section.error(Notice("model.too_many_parameters", most=MAX_PARAMETERS), "filters")
        if activations > MAX_ACTIVATIONS:
            raise section.error(Notice("model.too_many_values", most=MAX_ACTIVATIONS))
    return tuple(layers), notes
