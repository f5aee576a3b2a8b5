"""Converts a cfg to a ``Description``, and checks all sizes before any memory is allocated."""

import math
from pathlib import Path

from framefleet.engine.errors import ModelError, UsageError
from framefleet.engine.model.cfg import Section, read_cfg
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.model.layer_context import MAX_LAYERS
from framefleet.engine.model.layers import make_layer
from framefleet.engine.model.network import Layer, Shape, Yolo
from framefleet.engine.notices import Notice

MAX_SIDE = 16_384
"""Maximum width and height of the network's input, pixels."""

MAX_PARAMETERS = 1 << 29
"""Maximum number of parameters: 2 GiB of float32. YOLOv4-P7, the largest YOLOv4, has 288 million."""

MAX_ACTIVATIONS = 1 << 32
"""Maximum number of values that all layers compute for one picture. YOLOv4-P5 computes 417 million at 896×896."""


def describe(path: Path, size: tuple[int, int] | None = None) -> Description:
    """Read a cfg. size: (width, height) of the network's input in pixels instead of the cfg's own, multiples of 32.

    Raises:
        ModelError: the cfg cannot be used; the message names section and line.
        UsageError: the size is not a multiple of 32 or out of range.
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
    return Description(width, height, channels, letter_box, layers, path, (*net.misspelt(), *notes))


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
            hints = [*(note for note in notes if note.fields["problem"].code == "model.option_misspelt"), *section.misspelt()]
            if not hints:
                raise
            raise ModelError(Notice("model.with_hints", problem=error.notice, hints=tuple(hints))) from error
        notes += section.misspelt()
        layers.append(layer)
        parameters += layer.float_count if isinstance(layer, ConvolutionSpec) else 0
        activations += math.prod(layer.shape)
        if parameters > MAX_PARAMETERS:
            raise section.error(Notice("model.too_many_parameters", most=MAX_PARAMETERS), "filters")
        if activations > MAX_ACTIVATIONS:
            raise section.error(Notice("model.too_many_values", most=MAX_ACTIVATIONS))
    return tuple(layers), notes
