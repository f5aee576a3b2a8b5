"""What a bundle of dropped or opened paths means: parts of a model, stored results, or sources to detect in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import SourceError
from engine.media.sources import expand_sources

CFG, WEIGHTS, LABELS = ".cfg", ".weights", ".names"
SESSION = ".sqlite"
FEW = 3
"""Problems that are told of many."""


@dataclass(frozen=True)
class Intake:
    """The parts of a model (None where there is none), session databases, and everything else, in order."""

    cfg: Path | None
    weights: Path | None
    labels: Path | None
    sources: tuple[Path, ...]
    sessions: tuple[Path, ...] = ()

    @property
    def has_model(self) -> bool:
        """Whether a part of a model is among it."""
        return any((self.cfg, self.weights, self.labels))


def sort_paths(paths: Iterable[Path]) -> Intake:
    """Tell model files and session databases from sources by their suffix; of several model files of one kind the last counts."""
    parts: dict[str, Path] = {}
    sources, sessions = [], []
    for path in paths:
        suffix = path.suffix.lower()
        if suffix in (CFG, WEIGHTS, LABELS):
            parts[suffix] = path
        elif suffix == SESSION:
            sessions.append(path)
        else:
            sources.append(path)
    return Intake(parts.get(CFG), parts.get(WEIGHTS), parts.get(LABELS), tuple(sources), tuple(sessions))


def expand(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The sources that files and folders hold, and what is wrong with those that hold none."""
    sources: list[Path] = []
    problems = []
    for path in paths:
        try:
            sources += expand_sources([path])
        except SourceError as error:
            problems.append(str(error))
    return sources, problems


def listed(problems: Sequence[str]) -> str:
    """The first few, one a line, and how many there are besides."""
    more = len(problems) - FEW
    return "\n".join([*problems[:FEW], *([f"… and {more} more"] if more > 0 else [])])
