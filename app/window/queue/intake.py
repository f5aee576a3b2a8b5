"""Sorts dropped or opened paths into parts of a model, stored results and sources."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import SourceError
from framefleet.engine.media.sources import expand_sources, is_folder
from framefleet.engine.model.files import find_weights

CFG, WEIGHTS, LABELS = ".cfg", ".weights", ".names"
SESSION = ".sqlite"
LIST = ".json"
"""The suffix of lists of worst frames."""
FEW = 3
"""The largest number of problems in one message."""


@dataclass(frozen=True)
class Intake:
    """Paths by their meaning. cfg, weights, labels: of a model. sessions: databases of stored results. lists: lists of worst frames.

    sources: all others, in order.
    """

    cfg: Path | None
    weights: Path | None
    labels: Path | None
    sources: tuple[Path, ...]
    sessions: tuple[Path, ...] = ()
    lists: tuple[Path, ...] = ()

    @property
    def has_model(self) -> bool:
        """Whether there is a part of a model."""
        return any((self.cfg, self.weights, self.labels))


def sort_paths(paths: Iterable[Path]) -> Intake:
    """Sort paths by their suffix. Of several model files of one kind, the last one is used."""
    parts: dict[str, Path] = {}
    sources, sessions, lists = [], [], []
    for path in paths:
        suffix = path.suffix.lower()
        if suffix in (CFG, WEIGHTS, LABELS):
            parts[suffix] = path
        elif suffix == SESSION:
            sessions.append(path)
        elif suffix == LIST:
            lists.append(path)
        else:
            sources.append(path)
    return Intake(parts.get(CFG), parts.get(WEIGHTS), parts.get(LABELS), tuple(sources), tuple(sessions), tuple(lists))


@dataclass(frozen=True)
class Contents:
    """The contents of paths. model: that of a folder, else None. problems: a message for each path without sources or model."""

    sources: tuple[Path, ...]
    model: Intake | None
    problems: tuple[str, ...]


def expand(paths: Sequence[Path]) -> Contents:
    """Search files and folders for sources and models. This may take seconds. A file that is given with its folder is one source."""
    sources: list[Path] = []
    model = None
    problems = []
    for path in paths:
        models = _models_in(path)
        try:
            sources += expand_sources([path])
        except SourceError as error:
            if len(models) > 1:
                names = ", ".join(cfg.name for cfg, _ in models)
                problems.append(
                    translate("queue", "{path} holds several models ({names}): drop the .cfg of the one you want").format(
                        path=path, names=names
                    )
                )
            elif not models:
                problems.append(of_engine(error.notice))
        if len(models) == 1:
            model = Intake(*models[0], None, ())
    return Contents(tuple(dict.fromkeys(sources)), model, tuple(problems))


def _models_in(folder: Path) -> list[tuple[Path, Path]]:
    """Each cfg in a folder with its weights. A single cfg and a single weights file belong together even if their names differ."""
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (CFG, WEIGHTS)) if is_folder(folder) else []
    except OSError:
        return []  # the search for sources reports the error
    cfgs = [path for path in files if path.suffix.lower() == CFG]
    weights = [path for path in files if path.suffix.lower() == WEIGHTS]
    if len(cfgs) == len(weights) == 1:
        return [(cfgs[0], weights[0])]
    return [(cfg, found) for cfg in cfgs if (found := find_weights(cfg)) is not None]


def listed(problems: Sequence[str]) -> list[str]:
    """The first problems, and the number of further ones."""
    more = len(problems) - FEW
    return [*problems[:FEW], *([translate("queue", "… and {more} more").format(more=more)] if more > 0 else [])]
