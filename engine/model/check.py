"""Whether the files of a model fit together, and what the model is, in milliseconds: before workers load it in earnest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.model.describe import describe
from engine.model.labels import find_labels
from engine.model.random_weights import is_random, parse_seed
from engine.model.weights import check_weights
from engine.settings import ModelFiles


@dataclass(frozen=True)
class ModelSummary:
    """A model in numbers.

    width, height: network input, pixels. layers: as Darknet counts them. parameters: numbers in the weight file.
    weights_bytes: the weight file's exact size. gflops: 10⁹ floating-point operations per picture, as Darknet's BFLOPS.
    """

    name: str
    width: int
    height: int
    letter_box: bool
    classes: int
    labels: tuple[str, ...]
    layers: int
    parameters: int
    weights_bytes: int
    gflops: float


def check_model(files: ModelFiles, size: tuple[int, int] | None = None) -> ModelSummary:
    """Check all that can be checked without reading the weights: what it accepts, ``load_network`` loads, unless a number
    in the weight file is infinite or undefined.

    Raises:
        ModelError: a file that is missing, damaged, unsupported, or does not belong to the others.
        UsageError: the size is no multiple of 32, or the seed of random weights no whole number.
    """
    description = describe(files.cfg, size or files.size)
    labels = find_labels(files.cfg, description.classes, files.labels)
    if is_random(files.weights):
        parse_seed(str(files.weights))
    else:
        check_weights(description, Path(files.weights))
    return ModelSummary(
        name=description.name,
        width=description.width,
        height=description.height,
        letter_box=description.letter_box,
        classes=description.classes,
        labels=labels,
        layers=len(description.layers),
        parameters=description.float_count,
        weights_bytes=description.weights_bytes,
        gflops=description.flops / 1e9,
    )
