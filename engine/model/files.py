"""Finds the files that belong together by their names, and reads them with plain errors."""

from __future__ import annotations

from pathlib import Path

from engine.errors import ModelError

_TRAINED = ("", "_best", "_final", "_last")
"""What Darknet's training puts between a cfg's stem and ``.weights``, the preferred one first."""


def find_weights(cfg: Path) -> Path | None:
    """The weight file beside a cfg: ``yolov4.weights`` for ``yolov4.cfg``, else a file that training wrote, ``yolov4_best.weights``."""
    return _first([cfg.with_name(f"{cfg.stem}{suffix}.weights") for suffix in _TRAINED])


def find_cfg(weights: Path) -> Path | None:
    """The cfg beside a weight file, by the same names."""
    return _first([weights.with_name(f"{weights.stem.removesuffix(suffix)}.cfg") for suffix in _TRAINED])


def _first(candidates: list[Path]) -> Path | None:
    return next((path for path in candidates if path.is_file()), None)


def read_start(path: Path, length: int) -> bytes:
    """The first ``length`` bytes of a file.

    Raises:
        ModelError: the file is missing or unreadable.
    """
    try:
        if not path.is_file():
            raise ModelError(f"{path} is not a file" if path.exists() else f"{path} does not exist")
        with path.open("rb") as file:
            return file.read(length)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise ModelError(f"{path} cannot be read: {error}") from error
