"""Checks that a model's files belong together, in milliseconds, before workers load the model."""

from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.model.describe import describe
from framefleet.engine.model.labels import find_labels
from framefleet.engine.model.random_weights import is_random, parse_seed
from framefleet.engine.model.weights import check_weights
from framefleet.engine.notices import Notice
from framefleet.engine.settings import ModelFiles


@dataclass(frozen=True)
class ModelSummary:
    """The properties of a model.

    width, height: size of the network's input, pixels. parameters: number of values in the weight file. weights_bytes: exact size of the
    weight file. gflops: 10⁹ floating-point operations per picture, Darknet's BFLOPS. labels_source: file and number of the labels. notes:
    what the cfg says that has another effect than its author may expect.
    """

    name: str
    width: int
    height: int
    classes: int
    labels: tuple[str, ...]
    parameters: int
    weights_bytes: int
    gflops: float
    labels_source: Notice
    notes: tuple[Notice, ...] = ()


def check_model(files: ModelFiles) -> ModelSummary:
    """Check a model's files without reading the weights. Afterwards, ``load_network`` can fail only on weights that are not finite.

    Raises:
        ModelError: a file is missing, damaged or unsupported, or does not fit the others.
        UsageError: the size is not a multiple of 32, or the seed of random weights is not an integer.
    """
    description = describe(files.cfg, files.size)
    labels, source = find_labels(files.cfg, description.classes, files.labels)
    if is_random(files.weights):
        parse_seed(str(files.weights))
    else:
        check_weights(description, Path(files.weights))
    return ModelSummary(
        name=description.name,
        width=description.width,
        height=description.height,
        classes=description.classes,
        labels=labels,
        parameters=description.float_count,
        weights_bytes=description.weights_bytes,
        gflops=description.flops / 1e9,
        labels_source=source,
        notes=description.notes,
    )
