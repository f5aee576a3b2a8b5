"""The way in: a model's files become one ``Network``."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from engine.errors import ModelError
from engine.model.describe import describe
from engine.model.description import ConvolutionSpec, Description
from engine.model.labels import find_labels
from engine.model.network import Layer, Network
from engine.model.random_weights import is_random, random_weights
from engine.model.weights import fold, read_weights
from engine.settings import ModelFiles


def load_network(files: ModelFiles, size: tuple[int, int] | None = None) -> Network:
    """Read a model. size: (width, height) in pixels instead of the cfg's own, multiples of 32.

    Raises:
        ModelError: a file that is missing, damaged, unsupported, or does not belong to the others.
        UsageError: the size is no multiple of 32, or the seed of random weights no whole number.
    """
    description = describe(files.cfg, size)
    labels = find_labels(files.cfg, description.classes, files.labels)
    if is_random(files.weights):
        stream = random_weights(description, str(files.weights))
    else:
        stream = read_weights(description, Path(files.weights))
    digest = hashlib.sha256(fingerprint(description).encode())
    digest.update(stream)
    layers: list[Layer] = []
    offset = 0
    for index, layer in enumerate(description.layers):
        if isinstance(layer, ConvolutionSpec):
            convolution = fold(layer, stream[offset : offset + layer.float_count])
            if not np.isfinite(convolution.weights.sum() + convolution.bias.sum()):
                raise ModelError(f"{files.weights}: infinite or undefined numbers in layer {index}")
            layers.append(convolution)
            offset += layer.float_count
        else:
            layers.append(layer)
    return Network(
        description.path.stem,
        description.width,
        description.height,
        description.channels,
        description.letter_box,
        tuple(layers),
        labels,
        digest.hexdigest(),
    )


def fingerprint(description: Description) -> str:
    """All that a cfg says about detecting, as text: equal for cfgs that differ in nothing but form or training."""
    lines = [f"{description.width} {description.height} {description.channels} {description.letter_box}"]
    for layer in description.layers:
        fields = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(layer).items()}
        lines.append(f"{type(layer).__name__} {fields}")
    return "\n".join(lines)
