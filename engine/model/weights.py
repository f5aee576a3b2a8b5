"""Reads Darknet's weight files: a header, then the values of all convolutions as little-endian float32.

Header: int32 major, minor, revision, then the number of pictures seen in training, int64 (int32 before version 0.2).
Values of a convolution: biases; with batch normalisation scales, means and variances; the kernel.
Source: https://github.com/AlexeyAB/darknet, src/parser.c.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.errors import ModelError
from framefleet.engine.model.description import ConvolutionSpec, Description
from framefleet.engine.model.files import check_download, read_start
from framefleet.engine.model.network import Convolution
from framefleet.engine.notices import Notice

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
        raise ModelError(Notice("model.wrong_weights", path=path, cfg=description.path, expected=expected, actual=actual))
    return header


def read_weights(description: Description, path: Path) -> NDArray[np.float32]:
    """Read the values of a weight file: float32 (``description.float_count``,).

    Raises ModelError if the file is missing or unreadable, or belongs to another network.
    """
    header = check_weights(description, path)
    try:
        stream = np.fromfile(path, "<f4", offset=header)
    except OSError as error:
        raise ModelError(Notice("model.unreadable", path=path, error=str(error))) from error
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
