"""Counts all files with the shown set of lines and zones together, in the background."""

from collections.abc import Callable
from functools import partial
from threading import Event

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.queue.item import Results
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones.counts.counting import REREAD_MS
from framefleet.app.window.zones.counts.tracks import Total, count_files
from framefleet.engine.zones.shapes import ZoneSet

MOST_NAMES = 3
"""The largest number of files without counts that a message names."""


class Totals(QObject):
    """Counts all files with the set of lines and zones together, while it is on. files: returns their results.

    found: Total or None, what is wrong, and what they count.
    """

    found = Signal(object, str, str)

    def __init__(
        self,
        background: Background,
        files: Callable[[], list[Results]],
        zones: Callable[[], ZoneSet],
        shown: Callable[[], ViewFilter],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._background, self._files, self._zones, self._shown = background, files, zones, shown
        self.on = self._reading = self._stale = False
        self._soon = QTimer(self, singleShot=True, interval=REREAD_MS)
        self._soon.timeout.connect(self.count)

    def count_soon(self) -> None:
        """Count again soon, because files have changed."""
        if self.on and not self._soon.isActive():
            self._soon.start()

    def count(self) -> None:
        """Count again."""
        if self._reading or not self.on:
            self._stale = self._reading
            return
        self._reading, self._stale = True, False
        stop = Event()
        work = partial(count_files, self._files(), self._zones(), self._shown(), stop)
        self._background.start(self, work, self._counted, lambda problem: self._end(None, of_engine(problem, capital=True), ""), stop)

    def _counted(self, total: Total) -> None:
        problem = ""
        if total.others:
            names = ", ".join(total.others[:MOST_NAMES]) + (" …" if len(total.others) > MOST_NAMES else "")
            problem = translate("zones", "Without tracks or of another shape: {names}.").format(names=names)
        self._end(total, problem, translate("zones", "The sum of %Ln files.", None, total.files))

    def _end(self, total: Total | None, problem: str, remark: str) -> None:
        self._reading = False
        if self._stale:
            self.count()
        elif self.on:
            self.found.emit(total, problem, remark)
