"""Shows two stored results of a video over the same picture, and goes from one frame that differs to the next."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QTreeWidgetItem, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.keys.bindings import Bindings, Command, Shortcuts
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import fields, formats, questions
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.build import ElidedLabel, Flow, column, push_button, row, say, within_screen, wrapped
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.evaluation.compare import (
    Differences,
    Results,
    StoredResult,
    common_labels,
    compare,
    results_of,
    without_counterpart,
)
from framefleet.engine.notices import Notice
from framefleet.engine.store.search import SearchIndex
from framefleet.engine.types import Detections, FrameResult

COMMANDS = (
    Command("compare/next", marked("keys", "Compare: next frame that differs"), ("M",)),
    Command("compare/previous", marked("keys", "Compare: previous frame that differs"), ("Shift+M",)),
    Command("compare/only", marked("keys", "Compare: only what differs"), ("Shift+D",)),
)
COLUMNS = marked("compare", "Model"), marked("compare", "Date"), marked("compare", "Frames"), marked("compare", "Session")
NUMBERS = (2,)
SIZE = 620, 340


class CompareBar(QWidget):
    """Says what is compared and where it differs. stepped: 1 = to the next frame that differs, -1 = to the previous one. closed: no more.

    only: whether only the objects are shown that differ.
    """

    stepped = Signal(int)
    closed = Signal()

    def __init__(self, bindings: Bindings) -> None:
        super().__init__()
        self._bindings = bindings
        bindings.add(COMMANDS)
        self.names, self.counts = ElidedLabel("caption"), ElidedLabel("small")  # their texts must not change the picture's size
        self.only = QCheckBox()
        self.previous = push_button("", lambda: self.stepped.emit(-1), symbol="arrow-left")
        self.next = push_button("", lambda: self.stepped.emit(1), symbol="arrow-right")
        self.close_button = push_button(translate("compare", "End the comparison"), self.closed)
        buttons = Flow(self.only, self.previous, self.next, self.close_button, spacing=8)
        column(self.names, self.counts, buttons, spacing=4, margins=(12, 6, 12, 6), of=self)
        bindings.changed.connect(self._name_keys)
        self._name_keys()

    def _name_keys(self) -> None:
        for button, text, what, name in (
            (self.only, translate("compare", "Only differences"), "", "only"),
            (self.previous, translate("compare", "Previous"), translate("compare", "Previous difference"), "previous"),
            (self.next, translate("compare", "Next"), translate("compare", "Next difference"), "next"),
        ):
            button.setText(f"{text} ({self._bindings.short(f'compare/{name}')})")
            button.setAccessibleName(what)
            button.setToolTip(what)

    def show_names(self, first: str, second: str) -> None:
        """Name the results and their styles."""
        text = translate("compare", "Solid: {first} · dashed: {second}").format(first=first, second=second)
        self.names.setText(text)
        self.names.setToolTip(text)

    def show_counts(self, parts: Sequence[str]) -> None:
        """Say where the results differ."""
        self.counts.show_parts(parts)
        self.counts.setToolTip(self.counts.text())

    def enable(self, enabled: bool) -> None:
        """Let the user go to frames that differ."""
        for button in (self.previous, self.next):
            button.setEnabled(enabled)


class ChoiceDialog(QDialog):
    """Lets the user choose other results of a video. name: of the video, "" = none is shown.

    chosen: the StoredResult. file_wanted: the user wants to choose a session in a file dialog.
    """

    chosen = Signal(object)
    file_wanted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("compare", "Compare with other results"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._found: Sequence[StoredResult] = ()
        titles = [translate("compare", title) for title in COLUMNS]
        self.table = fields.plain_tree(translate("compare", "Other results of this video"), titles, NUMBERS)
        self.table.itemSelectionChanged.connect(self._selected)
        self.table.itemActivated.connect(lambda *_: self._choose())
        self.said, self.problem = wrapped("muted"), wrapped("error")
        self.other = push_button(translate("compare", "Another session…"), self.file_wanted)
        self.compare = push_button(translate("compare", "Compare"), self._choose, role="primary")
        close = push_button(translate("compare", "Cancel"), self.reject)
        buttons = row(self.other, None, close, self.compare, spacing=8)
        column(self.said, (self.table, 1), self.problem, buttons, spacing=10, margins=(16, 16, 16, 14), of=self)
        self.resize(within_screen(self, *SIZE))
        self.other.setEnabled(bool(name))
        self.compare.setEnabled(False)
        missing = translate("compare", "Show a video with results first: open it, or choose a session with Open stored results….")
        looking = translate("compare", "Looking for other results of {name}…").format(name=name)
        say(self.said, looking if name else missing)

    def show_results(self, found: Sequence[StoredResult], name: str) -> None:
        """List other results of a video, the newest first."""
        self._found = found
        self.table.clear()
        for each in found:
            date = "" if each.time is None else f"{each.time:%Y-%m-%d %H:%M}"
            line = QTreeWidgetItem(self.table, [each.model, date, formats.count(each.frames), each.database.stem])
            line.setToolTip(3, str(each.database))
            fields.align(line, NUMBERS)
        nothing = translate("compare", "There are no other results of {name} yet. Detect in it with another model: each run is stored.")
        some = translate("compare", "Other results of {name}:")
        say(self.said, (some if found else nothing).format(name=name))
        if found:
            self.table.setCurrentIndex(self.table.model().index(0, 0))

    def show_problem(self, text: str) -> None:
        """Show why a session cannot be compared, "" = nothing."""
        say(self.problem, text)

    def _selected(self) -> None:
        self.compare.setEnabled(self.table.currentItem() is not None)

    def _choose(self) -> None:
        line = self.table.currentItem()
        if line is not None:
            self.chosen.emit(self._found[self.table.indexOfTopLevelItem(line)])
            self.accept()


SOON_MS = 300
"""Time without a change of the filter after which the frames are compared again."""
SUBJECT = "comparison"


class Comparison(QObject):
    """Compares the results of the shown file with others of the same video. bar: belongs under the picture."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._context, self._viewer, self._canvas = context, context.viewer, context.viewer.canvas
        self.bar = CompareBar(context.bindings)
        self.bar.hide()
        self._key: int | None = None
        self._own: StoredResult | None = None
        self._first: Results | None = None
        self._second = Results.empty()
        self._differences: Differences | None = None
        self._here = 0, 0
        self._stop = Event()
        self._soon = QTimer(self, singleShot=True, interval=SOON_MS)
        self._soon.timeout.connect(self._compare)
        acts: dict[str, Callable[[], object]] = {
            "compare/next": partial(self.step, 1),
            "compare/previous": partial(self.step, -1),
            "compare/only": self.bar.only.toggle,
        }
        self._shortcuts = Shortcuts(context.viewer, context.bindings, acts, enabled=False)
        self.bar.stepped.connect(self.step)
        self.bar.closed.connect(self.end)
        self.bar.only.toggled.connect(self._apply)
        context.filter.changed.connect(lambda _: self._soon.start() if self._first is not None else None)
        context.selection.file_changed.connect(self._file_changed)
        context.selection.item_changed.connect(self._item_changed)
        context.run.corrected.connect(self._corrected)
        context.actions.correct.toggled.connect(lambda shown: self.end() if shown else None)
        self._viewer.player.shown.connect(self._say)
        self._viewer.player.result.connect(self._say)

    @property
    def active(self) -> bool:
        """Whether two results are shown."""
        return self._first is not None

    def ask(self) -> None:
        """Let the user choose other results of the shown file."""
        context, item = self._context, self._viewer.item
        stored = item is not None and item.results is not None and item.results.source >= 0
        dialog = ChoiceDialog(item.path.name if item is not None and stored else "", context.settings.dialog or context.window)
        if item is not None and item.results is not None and stored:
            path, own, stop = item.path, item.results.database, Event()
            also = [each.results.database for each in context.queue if each.results is not None and each.path == path]
            dialog.chosen.connect(partial(self.start, item))
            dialog.file_wanted.connect(partial(self._choose_session, dialog, item))
            context.background.start(
                dialog,
                partial(_find, context.folder, also, path, own, stop),
                lambda found: dialog.show_results(found, path.name),
                lambda said: dialog.show_problem(of_engine(said, capital=True)),
                stop,
            )
        dialog.open()

    def _choose_session(self, dialog: ChoiceDialog, item: QueueItem) -> None:
        def taken(found: StoredResult) -> None:
            self.start(item, found)
            dialog.accept()

        def read(name: str) -> None:
            work = partial(StoredResult.find, Path(name), item.path)
            self._context.background.start(dialog, work, taken, lambda said: dialog.show_problem(of_engine(said, capital=True)))

        kinds = translate("compare", "Sessions (*.sqlite)")
        questions.choose_path(dialog, translate("compare", "Choose another session"), read, kinds)

    def start(self, item: QueueItem, other: StoredResult) -> None:
        """Compare the results of a file with others."""
        if item.results is None:
            return
        self.end()
        own, self._key = item.results, item.key
        labels, ids = common_labels(own.labels, other.labels)
        stop = self._stop = Event()

        def read() -> tuple[StoredResult, Results, Results]:
            first = StoredResult.of(own.database, own.source)
            return first, Results.read(replace(first, created=own.created), stop=stop), Results.read(other, ids, stop)

        def done(found: tuple[StoredResult, Results, Results]) -> None:
            self._context.banners.remove(SUBJECT)
            if stop.is_set() or self._viewer.item is None or self._viewer.item.key != item.key:
                return
            first, self._first, self._second = found
            self._own = replace(first, created=own.created)
            self._context.actions.correct.setChecked(False)
            self._canvas.set_labels(labels)
            self.bar.show_names(*_told_apart(first, other))
            self.bar.show()
            self._context.requests.comparing.emit(True)
            self._shortcuts.set_enabled(True)
            self._apply()
            self._compare()

        reading = translate("compare", "Comparing {name} with {other}…").format(name=item.path.name, other=other.model)
        self._context.banners.show_banner(SUBJECT, Severity.INFO, reading)
        self._context.background.start(self, read, done, partial(self._fail, stop), stop)

    def end(self) -> None:
        """Show only the results of the file again."""
        self._stop.set()
        self._context.banners.remove(SUBJECT)
        self._key = self._own = None
        if self._first is None:
            return
        self._first, self._second, self._differences = None, Results.empty(), None
        self.bar.hide()
        self._context.requests.comparing.emit(False)
        self.bar.show_counts(())
        self._shortcuts.set_enabled(False)
        item = self._viewer.item
        self._canvas.set_labels(item.results.labels if item is not None and item.results is not None else ())
        self._canvas.compare_with(None)

    def _file_changed(self, item: QueueItem | None) -> None:
        if item is None or item.key != self._key:
            self.end()

    def _item_changed(self, item: QueueItem) -> None:
        if item.key == self._key and item.results is None:  # detection begins again
            self.end()

    def _corrected(self, key: int) -> None:
        """Read the results of the shown file again."""
        if self._own is None or key != self._key:
            return
        stop = self._stop

        def done(first: Results) -> None:
            if not stop.is_set():
                self._first = first
                self._compare()

        self._context.background.start(self, partial(Results.read, self._own, stop=stop), done, partial(self._fail, stop), stop)

    def _fail(self, stop: Event, said: Notice) -> None:
        """Say why results cannot be compared, unless that comparison has ended. stop: its event."""
        if stop.is_set():
            return
        title = translate("compare", "The results cannot be compared")
        self._context.banners.show_banner(SUBJECT, Severity.WARNING, title, details=said)

    def _apply(self) -> None:
        """Show both results, or what differs."""
        if self.active:
            self._canvas.compare_with(self._split)
            self._say()

    def _split(self, result: FrameResult, visible: Detections) -> tuple[Detections, Detections, NDArray[np.bool_]]:
        """What to show of a frame in the two styles; of the other results, only what differs has labels. visible: its own detections."""
        other = self._canvas.filter.apply(self._second.at(result.ref.pts))
        alone = without_counterpart(visible, other)
        self._here = int(alone[0].sum()), int(alone[1].sum())
        if self.bar.only.isChecked():
            return visible.select(alone[0]), other.select(alone[1]), alone[1][alone[1]]
        return visible, other, alone[1]

    def _compare(self) -> None:
        """Look in the background for the frames that differ."""
        if self._first is None:
            return
        first, second, shown = self._first, self._second, self._context.filter.value

        def done(found: Differences) -> None:
            if self._first is first and shown == self._context.filter.value:
                self._differences = found
                self.bar.enable(bool(len(found.pts)))
                self._say()

        self._context.background.start(self, partial(_differences, first, second, shown), done, partial(self._fail, self._stop))

    def step(self, by: int) -> None:
        """Go to the next frame that differs (1), or to the previous one (-1)."""
        if self._differences is None:
            return
        pts = self._differences.after(self._viewer.player.position, by > 0)
        if pts is None:
            last = translate("compare", "No difference after this")
            self._viewer.transport.hint.setText(last if by > 0 else translate("compare", "No difference before this"))
        else:
            self._viewer.transport.hint.setText("")
            self._viewer.player.pause()
            self._viewer.player.seek(pts)

    def _say(self, *_: object) -> None:
        if not self.active:
            return
        found, texts = self._differences, []
        if found is None:
            texts.append(translate("compare", "comparing the frames…"))
        elif not found.frames:
            texts.append(translate("compare", "the results have no frame in common"))
        else:
            number, of = formats.count(len(found.pts)), formats.count(found.frames)
            texts.append(translate("compare", "{number} of {of} frames differ").format(number=number, of=of))
        if self._canvas.result is not None:
            here = translate("compare", "here {first} only solid, {second} only dashed")
            texts.append(here.format(first=self._here[0], second=self._here[1]))
        self.bar.show_counts(texts)


def _told_apart(first: StoredResult, second: StoredResult) -> tuple[str, str]:
    """A name for each result: that of its model or, if both have the same, the time of its run, the second one without the same day."""
    if first.model != second.model:
        return first.model, second.model
    if first.time is None or second.time is None:
        return first.database.stem, second.database.stem
    day = "" if first.time.date() == second.time.date() else "%Y-%m-%d "
    return f"{first.time:%Y-%m-%d %H:%M:%S}", f"{second.time:{day}%H:%M:%S}"


def _find(folder: Path, also: Sequence[Path], path: Path, own: Path, stop: Event) -> list[StoredResult]:
    """Other results of a video, in the sessions of the folder and some more. own: the session that is shown."""
    index = SearchIndex(folder)
    for database in index.outdated():
        index.update(database, stop)
    databases = [each for each in (*index.sessions_with(path), *also) if each.resolve() != own.resolve()]
    return results_of(databases, path)


def _differences(first: Results, second: Results, shown: ViewFilter) -> Differences:
    return compare(first, second, shown.confidence, shown.classes)


def attach(context: Context) -> Feature:
    """Let the user compare two results of a video."""
    comparison = Comparison(context)
    context.viewer.add_bar(comparison.bar)
    context.actions.compare.triggered.connect(comparison.ask)
    context.requests.compare.connect(comparison.ask)
    context.settings.library.results_wanted.connect(comparison.ask)
    return Feature()
