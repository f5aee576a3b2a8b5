"""Writes Darknet's weight files, for the training of the demo's model, tests and measurements. The product only reads them."""

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import ExportError, literal

_VERSION = (0, 2, 5)


def write_weights(path: Path, stream: NDArray[np.float32]) -> None:
    """Write a weight file that Darknet and OpenCV can read, see ``engine.model.weights``. The file appears complete or not at all.

    stream: the values of all convolutions, float32 (n,).

    Raises ExportError if the file cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".weights-") as folder:
            made = Path(folder, path.name)
            with made.open("wb") as file:
                file.write(np.array(_VERSION, "<i4").tobytes() + np.array(0, "<i8").tobytes())
                stream.astype("<f4", copy=False).tofile(file)
            made.replace(path)
    except OSError as error:
        raise ExportError(literal(f"{path} cannot be written: {error}")) from error
