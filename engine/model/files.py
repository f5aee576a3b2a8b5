"""Finds a model's cfg and weight files by their names, and reads the start of files."""

from pathlib import Path

from framefleet.engine.errors import ModelError

_TRAINED = ("", "_best", "_final", "_last")
"""What Darknet's training inserts between a cfg's stem and ``.weights``, in order of preference."""


def find_weights(cfg: Path) -> Path | None:
    """Find the weight file for a cfg in its folder: ``yolov4.weights`` for ``yolov4.cfg``, else a training result.

    Training results are ``yolov4_best.weights``, ``yolov4_final.weights`` and ``yolov4_last.weights``. None if there is no such file.
    """
    return _first([cfg.with_name(f"{cfg.stem}{suffix}.weights") for suffix in _TRAINED])


def find_cfg(weights: Path) -> Path | None:
    """Find the cfg for a weight file in its folder, by the same names. None if there is no such file."""
    return _first([weights.with_name(f"{weights.stem.removesuffix(suffix)}.cfg") for suffix in _TRAINED])


def _first(candidates: list[Path]) -> Path | None:
    return next((path for path in candidates if path.is_file()), None)


def read_start(path: Path, length: int) -> bytes:
    """Read the first ``length`` bytes of a file, or the whole file if it is shorter.

    Raises ModelError if the file is missing or unreadable.
    """
    try:
        if not path.is_file():
            raise ModelError(f"{path} is not a file" if path.exists() else f"{path} does not exist: check the name and the folder")
        with path.open("rb") as file:
            return file.read(length)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise ModelError(f"{path} cannot be read: {error}") from error
