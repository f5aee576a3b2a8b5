"""Runs the demo in the window: detects in its clip with its own model, and compares the result with the truth."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from framefleet.app.demo import demo_accuracy, demo_labels, demo_settings
from framefleet.app.window.demo.card import DemoCard
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.session.background import Background
from framefleet.app.window.session.controller import DetectionController
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.evaluation.accuracy import Accuracy
from framefleet.engine.settings import RunSettings
from framefleet.resources import DEMO


class Demo(QObject):
    """Queues the demo's clip, and shows its card while the clip is in the queue. begun: the clip's key.

    The user's own model and settings stay as they are.
    """

    begun = Signal(int)

    def __init__(self, items: QueueModel, controller: DetectionController, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items, self._controller, self._background = items, controller, background
        self._key: int | None = None
        self._compared: Results | None = None
        self.card = DemoCard()
        self.card.hide()
        controller.item_changed.connect(self._item_changed)
        items.rowsRemoved.connect(self._rows_removed)

    @property
    def item(self) -> QueueItem | None:
        """The clip in the queue, None if it is not there."""
        return self._items.get(self._key) if self._key is not None else None

    def watch(self) -> None:
        """Show the clip; queue it if it is not in the queue."""
        item = self.item
        if item is None:
            self.start(demo_settings())
        else:
            self.begun.emit(item.key)

    def start(self, settings: RunSettings) -> None:
        """Queue the clip with these settings."""
        (self._key,) = self._controller.add([DEMO.clip], (settings, demo_labels()))
        self.card.show()
        self._item_changed(self._key)
        self.begun.emit(self._key)

    def _item_changed(self, key: int) -> None:
        item = self.item
        if item is None or key != self._key:
            return
        if item.state is not ItemState.DONE:
            self._compared = None
            self.card.show_progress(item)
        elif item.results is not None and item.results != self._compared:
            self._compared = results = item.results
            self.card.show_text(translate("demo", "Comparing with the true objects…"))
            done = partial(self._compare_done, results)
            self._background.start(self, partial(demo_accuracy, results.database, results.source), done, self.card.show_text)

    def _compare_done(self, results: Results, accuracy: Accuracy) -> None:
        if results == self._compared:  # else it was restarted meanwhile
            self.card.show_accuracy(accuracy)

    def _rows_removed(self) -> None:
        if self.item is None:
            self._key = self._compared = None
            self.card.hide()
