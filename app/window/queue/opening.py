"""Opens files that the user drops, chooses or names at the start: as a model, as stored results, or as sources for the queue."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os.path import basename, realpath
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from framefleet.app.window.queue.item import SESSION, ItemState, QueueItem, Results
from framefleet.app.window.queue.memory import QueueMemory
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.results.stored import read_stored
from framefleet.app.window.run.background import Background
from framefleet.app.window.run.continuing import ask_to_continue, begun_files
from framefleet.app.window.run.controller import DetectionController
from framefleet.app.window.widgets import questions
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.sources import expand_sources, is_folder
from framefleet.engine.model.files import REFUSED_MODELS, find_weights
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.store.files import find_interrupted
from framefleet.engine.zones.file import holds_zones

CFG, WEIGHTS, LABELS = ".cfg", ".weights", ".names"
ONNX = ".onnx"
DESCRIPTIONS = (".yaml", ".yml")
"""The suffixes of descriptions of data sets, whose names are the labels of an ONNX file that is dropped with one."""
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


def local_paths(event: QDropEvent) -> list[Path]:
    """The local files and folders of a drag."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]


def sort_paths(paths: Iterable[Path]) -> Intake:
    """Sort paths by their suffix. Of several model files of one kind, the last one is used."""
    parts: dict[str, Path] = {}
    sources, sessions, lists = [], [], []
    paths = list(paths)
    has_onnx = any(path.suffix.lower() == ONNX for path in paths)
    for path in paths:
        suffix = path.suffix.lower()
        if suffix == ONNX or suffix in REFUSED_MODELS:  # the check of the model says how to export it
            parts[CFG] = path
        elif has_onnx and suffix in DESCRIPTIONS:
            parts.setdefault(LABELS, path)
        elif suffix in (CFG, WEIGHTS, LABELS):
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
    """The contents of paths. model: that of a folder, else None. problems: a message for each path without sources or model.

    begun: by the path without links, the sources that an interrupted run has begun: the path in its session, and where their frames are.
    """

    sources: tuple[Path, ...]
    model: Intake | None
    problems: tuple[str, ...]
    begun: Mapping[str, tuple[Path, Results]] = field(default_factory=dict)


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


def _expand(paths: Sequence[Path], sessions: Path) -> Contents:
    """Search files and folders, and interrupted runs of what they hold. sessions: the folder of the window's sessions."""
    found = expand(paths)
    sources = set(map(realpath, found.sources))
    names = {source.name for source in found.sources} | set(map(basename, sources))  # so that few paths are resolved
    runs = find_interrupted(sessions, listed=True)[::-1]  # the newest one counts
    unfinished = ((run.database, number, path) for run in runs for number, path in run.unfinished.items())
    begun = {realpath(path): (path, Results(database, number)) for database, number, path in unfinished if path.name in names}
    return replace(found, begun={place: entry for place, entry in begun.items() if place in sources})


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


def list_subject(path: Path) -> str:
    """The subject of the banner that says why a list of worst frames, or another JSON file, cannot be opened."""
    return f"list {path}"


def listed(problems: Sequence[str]) -> list[str]:
    """The first problems, and the number of further ones."""
    more = len(problems) - FEW
    return [*problems[:FEW], *([translate("queue", "… and {more} more").format(more=more)] if more > 0 else [])]


MANY = 20
"""The largest number of files of folders that are queued without a question."""


class Opening(QObject):
    """Sorts paths by their meaning, and searches or reads them in the background.

    model_taken: Intake with parts of a model. queued: keys of the new files in the queue. unfinished: keys of files that the queue holds
    already, if no other ones were opened. repeated: a sentence about them, or about files that go on. restored: keys of stored results.
    remembered: those of the last queue. restored_anew: those that were not in the queue, whose detections are not counted yet. named: keys
    of files that the user wants to see now. lists: paths of lists of worst frames. zones: path of a file with lines and zones.
    """

    model_taken = Signal(object)
    queued = Signal(object)
    unfinished = Signal(object)
    repeated = Signal(str)
    restored = Signal(object)
    remembered = Signal(object)
    named = Signal(object)
    restored_anew = Signal(object)
    lists = Signal(object)
    zones = Signal(object)

    def __init__(
        self,
        items: QueueModel,
        controller: DetectionController,
        memory: QueueMemory,
        background: Background,
        banners: BannerArea,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._window = parent
        self._items, self._controller, self._memory = items, controller, memory
        self._background, self._banners = background, banners
        self._reading: set[Path] = set()

    def take(self, paths: Iterable[Path], show: bool = False) -> None:
        """Open files and folders. show: also if another file is shown."""
        intake = sort_paths(paths)
        for subject in ("sources", *map(list_subject, intake.lists)):  # a mended file may be opened now
            self._banners.remove(subject)
        if intake.has_model:
            self.model_taken.emit(intake)
        if intake.sources:
            self._background.start(
                self,
                partial(_expand, intake.sources, self._controller.folder),
                partial(self._ask_for_many, intake.sources, show),
                self.refuse,
            )
        for database in intake.sessions:
            self._restore(database)
        zones = tuple(filter(holds_zones, intake.lists))
        if zones:
            self.zones.emit(zones[-1])
        if lists := tuple(path for path in intake.lists if path not in zones):
            self.lists.emit(lists)

    def _ask_for_many(self, paths: Sequence[Path], show: bool, found: Contents) -> None:
        """Queue files; ask before that if folders contain more of them than the user may expect."""
        there = self._unfinished()
        number = sum(realpath(path) not in there for path in found.sources)
        if number <= MANY or number <= len(paths):
            self._ask_to_continue(found, show)
            return
        texts = (
            translate("queue", "Add %Ln files to the queue?", None, number),
            translate("queue", "They are in {folder} and in the folders below it.").format(folder=paths[0]),
        )
        answers = translate("queue", "Add"), translate("queue", "Cancel")
        questions.ask(
            self._window,
            translate("queue", "Open folder"),
            texts,
            answers,
            lambda yes: self._ask_to_continue(found, show) if yes else None,
            harmless=True,
        )

    def _ask_to_continue(self, found: Contents, show: bool) -> None:
        """Queue files; ask before that if some go on and this removes corrections."""
        places = set(map(realpath, found.sources))
        remembered = [(entry.path, entry.begun) for entry in self._memory.unfinished if realpath(entry.path) in places]
        stopped = (item for item in self._controller.stopped() if realpath(item.path) in places)
        files = begun_files(item for item in stopped if item.state is ItemState.CANCELLED or self._controller.goes_on(item))
        files += [(path, results) for path, results in (*found.begun.values(), *remembered) if results is not None]
        ask_to_continue(self._window, self._background, files, partial(self._queue, found, show))

    def _queue(self, found: Contents, show: bool) -> None:
        if found.problems:
            self.refuse("\n".join(listed(found.problems)))
        if found.model is not None:
            self.model_taken.emit(found.model)
        there, new = self._unfinished(), dict[str, Path]()
        for path in found.sources:
            if (place := realpath(path)) not in there:
                new.setdefault(place, path)
        repeated = [path for path in found.sources if new.get(realpath(path)) != path]
        begun = {place: item for item in self._controller.stopped() if (place := realpath(item.path)) in new}
        others = {place: path for place, path in new.items() if place not in begun}
        interrupted = self._memory.take(others)
        again: dict[str, tuple[Path, None, Results | None]] = {place: (path, None, where) for place, (path, where) in found.begun.items()}
        again |= {place: (entry.path, None, entry.begun) for place, entry in interrupted.items()}
        keys = self._controller.go_on(again.get(place, (path, None, None)) for place, path in others.items())
        self._controller.continue_files(item.key for item in begun.values() if item.state is ItemState.CANCELLED)
        for item in begun.values():
            if item.state is ItemState.FAILED:
                self._controller.retry(item.key)
        if keys:
            self.queued.emit(keys)
            if show:
                self.named.emit(keys)
        elif begun or repeated:
            held = [there[place] for place in map(realpath, repeated) if place in there]
            self.unfinished.emit([item.key for item in (*begun.values(), *held)])
        if begun:
            first = next(iter(begun.values()))
            one = translate("queue", "{name} goes on").format(name=first.path.name)
            if first.state is ItemState.FAILED and not first.progress.frames:
                one = translate("queue", "{name} is tried again").format(name=first.path.name)
            self.repeated.emit(one if len(begun) == 1 else translate("queue", "%Ln files go on where they stopped", None, len(begun)))
        elif repeated:
            one = translate("queue", "{name} is already in the queue").format(name=repeated[0].name or repeated[0])
            self.repeated.emit(one if len(repeated) == 1 else translate("queue", "%Ln files are already in the queue", None, len(repeated)))

    def _unfinished(self) -> dict[str, QueueItem]:
        """The files that need not be added again, by their paths without links."""
        return {realpath(item.path): item for item in self._controller.unfinished()}

    def _restore(self, database: Path) -> None:
        database = database.resolve()
        if database in self._reading:
            return
        subject = f"stored {database}"
        stored = [item for item in self._items if item.results is not None and not item.replaced]
        there = [item.key for item in stored if item.results and same_file(item.results.database, database)]
        if there:
            self.restored.emit(there)
            return

        def done(found: Sequence[QueueItem]) -> None:
            self._reading.remove(database)
            self._banners.remove(subject)
            self.show_stored(found)

        def failed(message: Notice) -> None:
            self._reading.remove(database)
            title = translate("queue", "{name} cannot be opened").format(name=database.name)
            self._banners.show_banner(subject, Severity.WARNING, title, details=message)

        self._reading.add(database)
        self._banners.show_banner(subject, Severity.INFO, translate("queue", "Opening the results in {name}…").format(name=database.name))
        self._background.start(self, partial(read_stored, database), done, failed)

    def show_stored(self, found: Iterable[QueueItem], remembered: bool = False) -> None:
        """Put stored results into the queue, unless they are there. remembered: they are those of the last queue."""
        place = _Places()
        there = {place(item): item.key for item in self._items if place(item) is not None}
        places = [(item, place(item)) for item in found]
        items = self._controller.restore(item for item, where in places if where not in there)
        if places:
            (self.remembered if remembered else self.restored).emit(
                [*(there[where] for _, where in places if where in there), *(item.key for item in items)]
            )
        self._warn_of_changes([item.path for item in items if item.changed])
        self.restored_anew.emit([item.key for item in items])

    def _warn_of_changes(self, paths: Sequence[Path]) -> None:
        if paths:
            changes = listed([translate("queue", "{path} has changed since the detection.").format(path=path) for path in paths])
            self._banners.show_banner(
                "changed",
                Severity.WARNING,
                "\n".join(changes),
                details=translate("queue", "The boxes are of the earlier file: detect again."),
            )

    def refuse(self, message: Notice | str) -> None:
        """Say why something cannot be opened."""
        self._banners.show_banner("sources", Severity.WARNING, translate("queue", "This cannot be opened"), details=message)


class _Places:
    """The database of an item's results and the number of the source there; None without results, and if they are replaced."""

    def __init__(self) -> None:
        self._resolved: dict[Path, Path] = {}  # a database may have thousands of sources

    def __call__(self, item: QueueItem) -> tuple[Path, int] | None:
        if item.results is None or item.replaced:
            return None
        database = item.results.database
        if database not in self._resolved:
            self._resolved[database] = database.resolve()
        return self._resolved[database], item.results.source


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths name the same file; False if one does not exist."""
    try:
        return one.samefile(other)
    except OSError:
        return False
