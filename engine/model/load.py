"""Checks and loads a model's files: the cfg, Darknet's weight file and the labels become a ``Network``.

A weight file has a header, then the values of all convolutions as little-endian float32. Header: int32 major, minor, revision, then the
number of pictures seen in training, int64 (int32 before version 0.2). Values of a convolution: biases; with batch normalisation scales,
means and variances; the kernel. Source: https://github.com/AlexeyAB/darknet, src/parser.c.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.describe import describe, with_hints
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.model.files import check_download, find_labels, is_random, read_start
from framefleet.engine.model.network import Convolution, Layer, Network
from framefleet.engine.model.random_weights import parse_seed, random_weights
from framefleet.engine.notices import ModelError, Notice
from framefleet.engine.settings import ModelFiles

if TYPE_CHECKING:
    from framefleet.engine.model.onnx.network import Model, Reading

EPSILON = 1e-5
"""Added to the variance before its square root, as in AlexeyAB's Darknet when it folds batch normalisation."""

_SHORT_HEADER, _LONG_HEADER = 16, 20
_CHECKED_BYTES = 512
"""Bytes from the start of a file that show what it is."""


def check_weights(description: Description, path: Path) -> int:
    """Check by header and size that a weight file fits a cfg. Returns the length of the header in bytes.

    Raises ModelError if the file is missing or unreadable, or belongs to another network.
    """
    start = read_start(path, _CHECKED_BYTES)
    check_download(path, start)
    if len(start) < _SHORT_HEADER:
        raise ModelError(Notice("model.weights_too_short", path=path, count=len(start)))
    actual = path.stat().st_size
    major, minor, _ = map(int, np.frombuffer(start[:12], "<i4"))
    header = _LONG_HEADER if major * 10 + minor >= 2 else _SHORT_HEADER
    expected = header + 4 * description.float_count
    if actual != expected:
        raise with_hints(
            Notice("model.wrong_weights", path=path, cfg=description.path, expected=expected, actual=actual), description.notes
        )
    return header


def read_weights(description: Description, path: Path) -> NDArray[np.float32]:
    """Read the values of a weight file.

    Returns
    -------
    ndarray
        float32 (``description.float_count``,).

    Raises
    ------
    ModelError
        The file is missing or unreadable, or belongs to another network.
    """
    header = check_weights(description, path)
    try:
        stream = np.fromfile(path, "<f4", offset=header)
    except OSError as error:
        raise ModelError(Notice("general.unreadable", path=path, detail=str(error))) from error
    if len(stream) != description.float_count:
        raise ModelError(Notice("model.changed_while_read", path=path))
    return stream


def fold(spec: ConvolutionSpec, floats: NDArray[np.float32]) -> Convolution:
    """Create a convolution from its values in a weight file. The result uses the memory of ``floats`` and changes its content.

    floats: float32 (``spec.float_count``,).

    Batch normalisation is folded into each filter in float64 and rounded to float32: with s = scale / √(variance + ε),
    weight' = weight · s and bias' = bias - mean · s (AlexeyAB/darknet, ``fuse_conv_batchnorm`` in src/network.c).
    """
    filters = spec.filters
    bias, kernel = floats[:filters], floats[-spec.kernel_count :]
    if spec.batch_normalize:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # the caller checks the result
            scale, mean, variance = floats[filters : 4 * filters].astype(np.float64).reshape(3, filters)
            factor = scale / np.sqrt(variance + EPSILON)
            bias[:] = bias - mean * factor
            rows = kernel.reshape(filters, -1)
            np.multiply(rows, factor[:, None], out=rows, casting="same_kind")
    weights = kernel.reshape(filters, spec.channels // spec.groups, spec.size, spec.size)
    return Convolution(spec.inputs, spec.shape, weights, bias, spec.stride, spec.padding, spec.groups, spec.activation)


@dataclass(frozen=True)
class ModelSummary:
    """The properties of a model.

    Attributes
    ----------
    width, height
        Size of the network's input, pixels.
    parameters
        Number of values in the weight file.
    weights_bytes
        Exact size of the weight file.
    gflops
        10⁹ floating-point operations per picture, Darknet's BFLOPS; None for an ONNX file.
    labels_source
        File and number of the labels.
    notes
        What the cfg says that has another effect than its author may expect.
    reading
        How the outputs of an ONNX file are read; None for a cfg.
    licence
        What an ONNX file says about its licence; None if it says nothing.
    """

    name: str
    width: int
    height: int
    classes: int
    labels: tuple[str, ...]
    parameters: int
    weights_bytes: int
    gflops: float | None
    labels_source: Notice
    notes: tuple[Notice, ...] = ()
    reading: Reading | None = None
    licence: str | None = None


def check_model(files: ModelFiles) -> ModelSummary:
    """Check a model's files without reading the weights.

    Afterwards, ``load_network`` can fail only on weights that are not finite.

    Raises
    ------
    ModelError
        A file is missing, damaged or unsupported, or does not fit the others.
    UsageError
        The size is not a multiple of 32, or the seed of random weights is not an integer.
    """
    if files.is_onnx:
        return _check_onnx(files)
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


def _check_onnx(files: ModelFiles) -> ModelSummary:
    from framefleet.engine.model.onnx.recognise import describe_onnx  # few models need it

    described = describe_onnx(files)
    file, reading = described.file, described.candidate.reading
    notes = [Notice("model.onnx_read_as", name=reading.value, meaning=reading.notice)]
    if described.most_boxes is not None:
        notes.append(Notice("model.onnx_most_boxes", most=described.most_boxes))
    if described.licence is not None:
        notes.append(Notice("model.onnx_licence", licence=described.licence))
    return ModelSummary(
        name=file.path.stem,
        width=described.width,
        height=described.height,
        classes=len(described.labels),
        labels=described.labels,
        parameters=file.parameters,
        weights_bytes=file.nbytes,
        gflops=None,
        labels_source=described.labels_source,
        notes=tuple(notes),
        reading=reading,
        licence=described.licence,
    )


def input_size(files: ModelFiles) -> tuple[int, int]:
    """Return width and height of the network's input, pixels. Errors: see ``check_model``."""
    if files.is_onnx:
        summary = _check_onnx(files)
        return summary.width, summary.height
    description = describe(files.cfg, files.size)
    return description.width, description.height


def load_network(files: ModelFiles) -> Network:
    """Load a Darknet model.

    Raises
    ------
    ModelError
        A file is missing, damaged or unsupported, or does not fit the others.
    UsageError
        The size is not a multiple of 32, or the seed of random weights is not an integer.
    """
    description = describe(files.cfg, files.size)
    labels, _ = find_labels(files.cfg, description.classes, files.labels)
    weights = files.weights
    stream = random_weights(description, str(weights)) if is_random(weights) else read_weights(description, Path(weights))
    digest = hashlib.sha256(_fingerprint(description).encode())
    layers: list[Layer] = []
    parts = _parts(description, stream)
    with ThreadPoolExecutor(1, "digest") as thread:  # both threads compute without Python's lock: YOLOv4 takes two thirds of the time
        digested = {index: thread.submit(digest.update, floats.data) for index, floats in parts.items()}
        for index, layer in enumerate(description.layers):
            if not isinstance(layer, ConvolutionSpec):
                layers.append(layer)
                continue
            digested[index].result()
            layers.append(fold(layer, parts[index]))
            if not np.isfinite(parts[index]).all():
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


def _parts(description: Description, stream: NDArray[np.float32]) -> dict[int, NDArray[np.float32]]:
    """The values of each convolution, by its index."""
    parts, offset = {}, 0
    for index, layer in enumerate(description.layers):
        if isinstance(layer, ConvolutionSpec):
            parts[index] = stream[offset : offset + layer.float_count]
            offset += layer.float_count
    return parts


def load_model(files: ModelFiles) -> Model:
    """Load a model, from Darknet's files or an ONNX file. Errors: see ``check_model``."""
    if files.is_onnx:
        from framefleet.engine.model.onnx.load import load_onnx  # imports onnx

        return load_onnx(files)
    return load_network(files)


def _fingerprint(description: Description) -> str:
    """Return the parts of a cfg that affect detection as text. It is equal for cfgs that differ only in format or training options."""
    lines = [f"{description.width} {description.height} {description.channels} {description.letter_box}"]
    for layer in description.layers:
        fields = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(layer).items()}
        lines.append(f"{type(layer).__name__} {fields}")
    return "\n".join(lines)
