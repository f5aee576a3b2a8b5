"""What a bundle of dropped or opened paths means: parts of a model, or sources to detect in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CFG, WEIGHTS, LABELS = ".cfg", ".weights", ".names"


@dataclass(frozen=True)
class Intake:
    """The parts of a model (None where there is none) and everything else, in order."""

    cfg: Path | None
    weights: Path | None
    labels: Path | None
    sources: tuple[Path, ...]

    @property
    def has_model(self) -> bool:
        """Whether a part of a model is among it."""
        return any((self.cfg, self.weights, self.labels))


def sort_paths(paths: Iterable[Path]) -> Intake:
    """Tell model files from sources by their suffix; of several model files of one kind the last counts."""
    parts: dict[str, Path] = {}
    sources = []
    for path in paths:
        suffix = path.suffix.lower()
        if suffix in (CFG, WEIGHTS, LABELS):
            parts[suffix] = path
        else:
            sources.append(path)
    return Intake(parts.get(CFG), parts.get(WEIGHTS), parts.get(LABELS), tuple(sources))
