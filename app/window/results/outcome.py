"""The line under the picture that says what came out of a file, and leads to what can be done with it."""

from collections import Counter
from functools import partial
from threading import Event

import numpy as np
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.run.background import Background
from framefleet.app.window.run.continuing import ask_to_continue, begun_files
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import formats, painting
from framefleet.app.window.widgets.build import ElidedLabel, Panel, push_button, row
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.store.session import SessionReader
from framefleet.engine.zones.shapes import Line

WAIT_MS = 300
"""Time after a change of the filter until the frames are counted again."""
MAX_NAMED = 6
"""The largest number of classes that the line names; its tooltip names all."""
NARROW = 620
"""The width below which the buttons are below the sentence, logical pixels."""


class OutcomeLine(Panel):
    """Says how many frames a file has, and in how many of them each class was found.

    A file that is being detected has no such line. One that was cancelled before its first frame can only go on.

    count, correct, export, go_on: the user wants to draw lines, correct objects, export the results, or detect in the rest.
    """

    count_requested = Signal()
    correct_requested = Signal()
    export_requested = Signal()
    continue_requested = Signal()

    def __init__(self, background: Background) -> None:
        super().__init__("bar")
        self._background = background
        self._item: QueueItem | None = None
        self._filter = ViewFilter()
        self._key: object = None
        self._stop = Event()
        self._found: Counter[str] | None = None
        self._wanted = True
        self.symbol, self.text = painting.Symbol(size=16), ElidedLabel("")
        self.go_on = push_button(translate("results", "Continue"), self.continue_requested, role="primary")
        self.go_on.setToolTip(translate("results", "Detect in the rest of the file"))
        self.export = push_button(translate("results", "Export…"), self.export_requested)
        self.count = push_button(translate("results", "Count…"), self.count_requested)
        self.count.setToolTip(translate("results", "Draw lines and zones, and count what crosses them"))
        self.correct = push_button(translate("results", "Correct…"), self.correct_requested)
        self.correct.setToolTip(translate("results", "Confirm, relabel and delete objects"))
        self._of_results = self.export, self.count, self.correct
        said = row(self.symbol, (self.text, 1), spacing=8)
        self._box = row((said, 1), row(self.go_on, *self._of_results, None, spacing=8), spacing=8, margins=(12, 4, 12, 4), of=self)
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self._count)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the buttons below the sentence where it would have too little room beside them."""
        super().resizeEvent(event)
        narrow = self.width() < NARROW
        self._box.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)

    def show_item(self, item: QueueItem | None) -> None:
        """Show the outcome of this file."""
        self._item = item
        self._count()

    def set_filter(self, shown: ViewFilter) -> None:
        """Count these detections only."""
        self._filter = shown
        self._soon.start()

    def count_again(self) -> None:
        """Count the corrected results."""
        self._key = None
        self._soon.start()

    def set_wanted(self, wanted: bool) -> None:
        """Leave the room to something else, or show the line when there is an outcome."""
        self._wanted = wanted
        self._show()

    def _results(self) -> Results | None:
        """The results of the shown file, None while it is being detected or if it has none."""
        item = self._item
        there = item is not None and item.ended and not item.replaced and item.progress.frames > 0
        return item.results if item is not None and there and item.results is not None and item.results.source >= 0 else None

    def _count(self) -> None:
        """Count in the background, unless that was done already."""
        results, state = self._results(), self._item.state if self._item is not None else None
        key = results, state, self._filter, self._item.progress.frames if results is not None and self._item is not None else 0
        if key != self._key:
            self._key, self._found = key, None
            self._stop.set()
            stop = self._stop = Event()
            if results is not None:

                def done(found: Counter[str]) -> None:
                    if key == self._key:
                        self._found = found
                        self._show()

                work = partial(frames_with, results, self._filter, stop)
                self._background.start(self, work, done, lambda _: None, stop)
        self._show()

    def _show(self) -> None:
        item, results = self._item, self._results()
        cancelled = item is not None and item.state is ItemState.CANCELLED
        goes_on = item is not None and cancelled and not item.replaced and not item.live  # the bar of a stream continues it
        if item is None or (results is None and not goes_on):
            self.hide()
            return
        for button in self._of_results:
            button.setVisible(results is not None)
        found = self._found.most_common() if self._found is not None else []
        parts = [translate("results", "{name} in {count}").format(name=name, count=formats.count(number)) for name, number in found]
        kept = range(min(len(parts), MAX_NAMED), 0, -1)
        texts = [self._sentence(item, parts[:number]) + (" …" if number < len(parts) else "") for number in kept]
        self.text.show_longest(texts or [self._sentence(item, parts)])
        self.text.setToolTip(self._sentence(item, parts))
        icon = ("stop", "MUTED") if cancelled else ("warning", "WARNING") if item.progress.failed > 0 else ("check", "GOOD")
        self.symbol.show_icon(*(("error", "DANGER") if item.state is ItemState.FAILED else icon))
        self.go_on.setVisible(goes_on)
        self.setVisible(self._wanted)

    def _sentence(self, item: QueueItem, found: list[str]) -> str:
        """What came out: ``1,394 frames in 13 s: person in 1,041, car in 30``. found: the frames with each class, in words."""
        frames = item.frames_text
        if item.state is ItemState.CANCELLED:
            head = item.summary
        elif item.state is ItemState.FAILED:
            head = translate("results", "Failed after {frames}").format(frames=frames)
        elif item.progress.seconds:
            text = translate("results", "{frames} in {time}")
            if item.progress.before:
                text = translate("results", "{frames}, {new} of them new, in {time}")
            time = formats.remaining(item.progress.seconds)
            head = text.format(frames=frames, new=formats.count(item.new_frames), time=time)
        else:
            head = frames
        if self._found is None:
            return head
        return f"{head}: {', '.join(found) or translate('results', 'nothing found')}"


def frames_with(results: Results, shown: ViewFilter, stop: Event) -> Counter[str]:
    """In how many frames each class occurs, by label, among the shown detections. Raises ExportError if the session cannot be read."""
    found: Counter[str] = Counter()
    with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
        reader.stop = stop
        for block in reader.blocks(results.source):
            pairs = np.unique(np.stack([block.frame, block.class_ids]), axis=1)
            for class_id, number in zip(*np.unique(pairs[1], return_counts=True), strict=True):
                label = results.labels[class_id] if class_id < len(results.labels) else str(class_id)
                found[label] += int(number)
    return found


def attach(context: Context) -> Feature:
    """Show the outcome of the shown file, and do what its buttons and the menu of a file ask for."""
    line, actions, requests, selection = OutcomeLine(context.background), context.actions, context.requests, context.selection

    def count() -> None:
        actions.zones.setChecked(True)
        if not context.zones.editor.zones.shapes:
            requests.draw.emit(Line)

    def go_on() -> None:
        if selection.key is not None:
            continue_files = partial(context.run.continue_files, [selection.key])
            ask_to_continue(context.window, context.background, begun_files([selection.item]), continue_files)

    line.count_requested.connect(count)
    line.correct_requested.connect(lambda: actions.correct.setChecked(True))
    line.export_requested.connect(lambda: requests.export.emit(selection.item, ""))
    line.continue_requested.connect(go_on)
    requests.count.connect(count)
    for changed in (selection.file_changed, selection.item_changed):
        changed.connect(line.show_item)
    context.filter.changed.connect(line.set_filter)
    context.run.corrected.connect(lambda key: line.count_again() if key == selection.key else None)
    others: set[object] = set()  # that need the room: the panels that the line leads to, and the bar of a comparison

    def give_room(other: object, shown: bool) -> None:
        others.add(other) if shown else others.discard(other)
        line.set_wanted(not others)

    for action in (actions.correct, actions.zones):
        action.toggled.connect(partial(give_room, action))
    requests.comparing.connect(partial(give_room, requests))
    context.viewer.add_bar(line)
    return Feature()
