"""Offers to go on with an interrupted run, and says when another run has replaced the session of results."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from os.path import realpath
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.player.preview_client import Shown
from framefleet.app.window.queue.item import QueueItem, Results
from framefleet.app.window.queue.memory import Remembered, unfinished_text
from framefleet.app.window.queue.opening import listed
from framefleet.app.window.results.stored import read_stored
from framefleet.app.window.run.continuing import ask_to_continue
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store.facts import CREATED
from framefleet.engine.store.files import Interrupted, find_interrupted
from framefleet.engine.store.session import SessionReader
from framefleet.resources import DEMO

OFFERED = "window/offered"
"""Key of the stored preference: the last session that was offered. No session is offered twice."""
_SUBJECT = "interrupted"
_log = logging.getLogger(__name__)


class InterruptedRun(QObject):
    """Looks for the queue of the last run, and goes on with it if the user wants. queued: keys of its unfinished files.

    Without a remembered queue it looks for a session that was interrupted, as one of the command line.
    """

    queued = Signal(object)

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._controller, self._opening, self._memory, self._store = context.run, context.opening, context.memory, context.store
        self._window, self._background, self._banners = context.window, context.background, context.banners
        self._offered: Interrupted | None = None
        self._memory.taken.connect(self._some_taken)
        self._opening.queued.connect(self._look_for_offered)

    def look(self, go_on: bool = False) -> None:
        """Show the finished files of the last run, and a banner if files were interrupted. go_on: continue with them without asking."""
        remembered = self._memory.start()
        ended = [entry for entry in remembered if entry.ended and entry.database is not None]
        # each demo starts from the first frame, with its own model
        self._memory.unfinished = tuple(entry for entry in remembered if not entry.ended and entry.path != DEMO.clip)
        if ended:
            self._background.start(self, partial(_read_ended, ended), partial(self._opening.show_stored, remembered=True), _log.warning)
        if self._memory.unfinished and go_on:
            self._go_on_with_queue()
        elif self._memory.unfinished:
            files = self._memory.unfinished
            self._ask(unfinished_text(files), self._ask_to_go_on, _names(files))
        elif not remembered:
            self._background.start(self, partial(find_interrupted, self._controller.folder), self._offer, _log.warning)

    def _ask(self, title: str, go_on: Callable[[], object], details: str = "") -> None:
        actions = (translate("results", "Continue"), go_on), (translate("results", "Discard"), self._discard)
        self._banners.show_banner(_SUBJECT, Severity.INFO, title, *actions, details=details)

    def _some_taken(self) -> None:
        """Offer only the other files, because the user has opened some of the interrupted ones."""
        if self._memory.unfinished:
            files = self._memory.unfinished
            self._banners.update_text(_SUBJECT, unfinished_text(files), _names(files))
        else:
            self._banners.remove(_SUBJECT)

    def _discard(self) -> None:
        """Forget the interrupted files, and do not offer their session again as one of the command line."""
        self._banners.remove(_SUBJECT)
        self._background.start(self, partial(find_interrupted, self._controller.folder), self._note, _log.warning)
        self._memory.decide()

    def _ask_to_go_on(self) -> None:
        files = [(entry.path, begun) for entry in self._memory.unfinished if (begun := entry.begun) is not None]
        ask_to_continue(self._window, self._background, files, self._go_on_with_queue)

    def _go_on_with_queue(self) -> None:
        self._banners.remove(_SUBJECT)
        keys = self._controller.go_on((entry.path, entry.part, entry.begun) for entry in self._memory.unfinished)
        self._memory.decide()
        self.queued.emit(keys)

    def _note(self, found: Sequence[Interrupted]) -> None:
        """Do not offer the last session again."""
        if found:
            self._store.setValue(OFFERED, str(found[0].database))

    def _offer(self, found: Sequence[Interrupted]) -> None:
        if not found or self._store.value(OFFERED) == str(found[0].database):
            return
        self._note(found)
        run = found[0]
        if not self._missing(run):
            return
        self._offered = run
        details = translate("results", "{count} of {sources} files are not finished.")
        details = details.format(count=len(run.unfinished), sources=run.sources)
        self._ask(translate("results", "The last detection was interrupted"), partial(self._read, run), details)

    def _read(self, run: Interrupted) -> None:
        def read() -> None:
            self._background.start(self, partial(read_stored, run.database), partial(self._go_on, run), self._failed)

        files = [(path, Results(run.database, number)) for number, path in self._missing(run).items()]
        ask_to_continue(self._window, self._background, files, read)

    def _go_on(self, run: Interrupted, stored: Sequence[QueueItem]) -> None:
        self._banners.remove(_SUBJECT)
        self._opening.show_stored(item for item in stored if item.results and item.results.source not in run.unfinished)
        if keys := self._controller.go_on((path, None, Results(run.database, number)) for number, path in self._missing(run).items()):
            self.queued.emit(keys)

    def _missing(self, run: Interrupted) -> dict[int, Path]:
        """The unfinished files of a session without those that the user has opened, by source number."""
        there = {realpath(item.path) for item in self._controller.unfinished()}
        return {number: path for number, path in run.unfinished.items() if realpath(path) not in there}

    def _look_for_offered(self) -> None:
        """Do not offer a session any more when the user has opened all of its unfinished files."""
        if self._offered is not None and not self._missing(self._offered):
            self._banners.remove(_SUBJECT)
            self._offered = None

    def _failed(self, message: Notice) -> None:
        title = translate("results", "The last detection cannot continue")
        self._banners.show_banner(_SUBJECT, Severity.WARNING, title, details=message)


def _names(files: Sequence[Remembered]) -> str:
    """The names of several files, the first of many only; "" for one, which ``unfinished_text`` names."""
    return ", ".join(listed([file.path.name for file in files])) if len(files) > 1 else ""


def _read_ended(entries: Sequence[Remembered]) -> list[QueueItem]:
    """The stored results of finished files, in the order of the queue. Those whose session is gone are left out."""
    found: dict[tuple[Path, int], QueueItem] = {}
    for database in dict.fromkeys(entry.database for entry in entries if entry.database is not None):
        try:
            found |= {(database, item.results.source): item for item in read_stored(database) if item.results is not None}
        except ExportError as error:
            _log.info("results of the last run cannot be shown: %s", error)
    keys = [(entry.database, entry.source) for entry in entries if entry.database is not None]
    return [found[key] for key in keys if key in found]


LOOK_MS = 300
"""Time between a picture without detections and the look at its session, so that a video that plays does not ask for each picture."""


class ReplacedResults(QObject):
    """Looks at the session of the results when a picture of the shown file has no detections."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._viewer, self._items, self._controller = context.viewer, context.queue, context.run
        self._opening, self._background, self._banners = context.opening, context.background, context.banners
        self._soon = QTimer(self, singleShot=True, interval=LOOK_MS)
        self._soon.timeout.connect(self._look)
        self._viewer.player.shown.connect(self._shown)

    def _shown(self, shown: Shown) -> None:
        if shown.result is None and self._stored is not None and not self._soon.isActive():
            self._soon.start()

    @property
    def _stored(self) -> Results | None:
        """The results of the shown file if their session has begun and is not known to be replaced."""
        item = self._viewer.item
        return item.results if item is not None and item.results is not None and item.results.created and not item.replaced else None

    def _look(self) -> None:
        if (results := self._stored) is not None:
            self._background.start(self, partial(_is_replaced, results), partial(self._found, results), lambda _: None)

    def _found(self, results: Results, replaced: bool) -> None:
        if replaced:
            self._controller.mark_replaced(results)
            title = translate("results", "Another run has replaced the results in {name}").format(name=results.database.name)
            action = translate("results", "Open the new results"), partial(self._open, results)
            details = translate("results", "They are no longer shown.")
            self._banners.show_banner(_subject(results), Severity.WARNING, title, action, details=details)

    def _open(self, results: Results) -> None:
        self._banners.remove(_subject(results))
        for item in self._items:
            if item.replaced and item.results is not None and item.results.database == results.database:
                self._controller.remove(item.key)
        self._opening.take([results.database])


def _subject(results: Results) -> str:
    return f"replaced {results.database}"


def _is_replaced(results: Results) -> bool:
    """Whether another run has created the session that is now at the same place. Raises ExportError if there is none."""
    with SessionReader(results.database) as reader:
        return reader.facts.get(CREATED) != results.created


def attach(context: Context) -> Feature:
    """Show the queue of the last run again at the start, and say when another run has replaced the results of the shown file."""
    ReplacedResults(context)
    interrupted = InterruptedRun(context)
    for act in (context.selection.begin, context.selection.show_first):  # the user has just said which files matter
        interrupted.queued.connect(act)
    return Feature(begin=lambda start: interrupted.look(go_on=start.again))
