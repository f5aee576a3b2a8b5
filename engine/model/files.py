"""Which files belong together by their names, so that dropping one of them is enough."""

from __future__ import annotations

from pathlib import Path

_TRAINED = ("", "_best", "_final", "_last")
"""What Darknet's training puts between a cfg's stem and ``.weights``, the most wanted first."""


def find_weights(cfg: Path) -> Path | None:
    """The weight file beside a cfg: ``yolov4.weights`` for ``yolov4.cfg``, else what training made of it, ``yolov4_best.weights``."""
    return _first([cfg.with_name(f"{cfg.stem}{suffix}.weights") for suffix in _TRAINED])


def find_cfg(weights: Path) -> Path | None:
    """The cfg beside a weight file, by the same names."""
    return _first([weights.with_name(f"{weights.stem.removesuffix(suffix)}.cfg") for suffix in _TRAINED])


def _first(candidates: list[Path]) -> Path | None:
    return next((path for path in candidates if path.is_file()), None)
