"""Loads a model's files into a ``Network``."""

import hashlib
from pathlib import Path

import numpy as np

from framefleet.engine.errors import ModelError
from framefleet.engine.model.describe import describe
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.model.labels import find_labels
from framefleet.engine.model.network import Layer, Network
from framefleet.engine.model.random_weights import is_random, random_weights
from framefleet.engine.model.weights import fold, read_weights
from framefleet.engine.notices import Notice
from framefleet.engine.settings import ModelFiles


def load_network(files: ModelFiles) -> Network:
    """Load a model.

    Raises:
        ModelError: a file is missing, damaged or unsupported, or does not fit the others.
        UsageError: the size is not a multiple of 32, or the seed of random weights is not an integer.
    """
    description = describe(files.cfg, files.size)
    labels, _ = find_labels(files.cfg, description.classes, files.labels)
    weights = files.weights
    stream = random_weights(description, str(weights)) if is_random(weights) else read_weights(description, Path(weights))
    digest = hashlib.sha256(_fingerprint(description).encode())
    layers: list[Layer] = []
    offset = 0
    for index, layer in enumerate(description.layers):
        if not isinstance(layer, ConvolutionSpec):
            layers.append(layer)
            continue
        floats = stream[offset : offset + layer.float_count]
        offset += layer.float_count
        digest.update(floats.data)
        layers.append(fold(layer, floats))
        if not np.isfinite(floats).all():
            raise ModelError(Notice("model.not_finite", path=str(weights), layer=index))
    return Network(
        name=description.name,
        width=description.width,
        height=description.height,
        channels=description.channels,
        letter_box=description.letter_box,
        layers=tuple(layers),
        labels=labels,
        digest=digest.hexdigest(),
    )


def _fingerprint(description: Description) -> str:
    """Return the parts of a cfg that affect detection as text. It is equal for cfgs that differ only in format or training options."""
    lines = [f"{description.width} {description.height} {description.channels} {description.letter_box}"]
    for layer in description.layers:
        fields = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(layer).items()}
        lines.append(f"{type(layer).__name__} {fields}")
    return "\n".join(lines)
