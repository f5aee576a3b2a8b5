"""All detections of a file as a table: each row jumps to its frame."""

import logging
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QObject, QTimer, Signal
from PySide6.QtGui import QShowEvent

from framefleet.app.window.events.model import ArrayModel
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import fields, formats
from framefleet.app.window.widgets.build import ElidedLabel, Panel, column
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import SourceFinished
from framefleet.engine.store.session import SessionReader

HEADINGS = (
    *(marked("events", "Time"), marked("events", "Frame"), marked("events", "Class"), marked("events", "Track")),
    *(marked("events", "Confidence"), marked("events", "Size")),
)
TIME, FRAME, CLASS, TRACK, CONFIDENCE, SIZE = range(len(HEADINGS))
DETECTIONS = np.dtype(
    [
        *(("start", np.float64), ("frame", np.int32), ("class_id", np.int32), ("track", np.int32), ("score", np.float32)),
        *(("width", np.float32), ("height", np.float32)),
    ]
)
"""start: of the frame, seconds. track: -1 = none. width, height: of the box, pixels."""
_log = logging.getLogger(__name__)
WAIT_MS = 300
"""Time after a change of the filter until the detections are read again."""


class DetectionModel(ArrayModel):
    """Shows detections, see ``DETECTIONS``. It sorts them in the background: two million take half a second."""

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(np.zeros(0, DETECTIONS), HEADINGS, (FRAME, TRACK, CONFIDENCE, SIZE), CLASS, parent)
        self._background = background
        self._next = self.table
        self._wanted: tuple[NDArray[np.void], int, bool] | None = None
        self._busy = False

    def show_table(self, table: NDArray[np.void], labels: tuple[str, ...]) -> None:
        """Show other detections, in the order of their frames."""
        self._next, self.labels = table, labels
        self.refresh()

    def refresh(self) -> None:
        """Sort again, and then show the detections."""
        self._wanted = self._next, self._column, self._descending
        if not len(self._next):
            self.show_rows(self._next, np.zeros(0, np.intp))
        elif not self._busy:
            self._busy = True
            self._background.start(self, partial(self._sort, *self._wanted), partial(self._sorted, self._wanted), _log.error)

    def _sort(self, table: NDArray[np.void], column: int, descending: bool) -> NDArray[np.intp]:
        return self.arranged(table, np.arange(len(table)), column, descending)

    def _sorted(self, wanted: tuple[NDArray[np.void], int, bool], rows: NDArray[np.intp]) -> None:
        self._busy = False
        if self._wanted is not None and wanted[0] is self._wanted[0] and wanted[1:] == self._wanted[1:]:
            self.show_rows(wanted[0], rows)
        else:
            self.refresh()

    def keys(self, column: int, table: NDArray[np.void]) -> NDArray[Any]:
        """What these rows are sorted by."""
        match column:
            case 2:
                return self.ranks(table["class_id"])
            case 3:
                return np.asarray(table["track"])
            case 4:
                return np.round(table["score"] * 10_000).astype(np.uint16)  # 16 bits are sorted ten times as fast
            case 5:
                return np.asarray(table["width"] * table["height"])
        return np.asarray(table["frame"])

    def cell(self, row: np.void, column: int) -> str:
        """The text of a cell."""
        match column:
            case 0:
                return self.place(row, 2)
            case 1:
                return formats.count(int(row["frame"]))
            case 2:
                return self.label(int(row["class_id"]))
            case 3:
                return str(row["track"]) if row["track"] >= 0 else ""
            case 4:
                return formats.percent(float(row["score"]))
        return f"{row['width']:.0f} × {row['height']:.0f}"


class _Wanted(NamedTuple):
    """What to read. After a pause, the run stores further frames until the source is finished or detection goes on in another run."""

    results: Results | None
    shown: ViewFilter
    state: ItemState | None = None
    finished: SourceFinished | None = None


class DetectionsPanel(Panel):
    """Lists the detections that the filter shows. It reads them while it is visible. sought: the time of the chosen one, seconds."""

    sought = Signal(float)

    def __init__(self, background: Background) -> None:
        super().__init__()
        self._background = background
        self._item: QueueItem | None = None
        self._filter = ViewFilter()
        self._read: _Wanted | None = None
        self._busy, self._stop = False, Event()
        self._said = ""
        self._wait = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._wait.timeout.connect(self._start)
        self.model = DetectionModel(background, self)
        self.table = fields.sorted_table(self.model, translate("events", "Detections"), (68, 56, 84, 54, 88, 84), CLASS)
        self.count = ElidedLabel("small")
        column((self.table, 1), self.count, spacing=6, of=self)
        self.model.modelReset.connect(self._shown)
        self.table.clicked.connect(self._jump)
        self.table.activated.connect(self._jump)

    def show_item(self, item: QueueItem | None) -> None:
        """Show the detections of a file."""
        other = self._item is None or item is None or item.key != self._item.key
        self._item = item
        if other:
            self._show(np.zeros(0, DETECTIONS), (), "")
        info = item.progress.info if item is not None else None
        self.model.begin = info.begin if info is not None else 0.0
        self._update()

    def set_filter(self, shown: ViewFilter) -> None:
        """Show only these detections."""
        self._filter = shown
        self._update()

    def reread(self) -> None:
        """Read again, because detections were corrected."""
        self._read = None
        self._stop.set()
        self._update()

    def showEvent(self, event: QShowEvent) -> None:
        """Read what changed while the panel was hidden."""
        super().showEvent(event)
        self._update()

    @property
    def _wanted(self) -> _Wanted:
        item = self._item
        if item is None or (item.state is ItemState.RUNNING and item.begun is None):
            return _Wanted(None, self._filter)
        return _Wanted(item.stored, self._filter, item.state, item.progress.finished)

    def _update(self) -> None:
        if self._wanted != self._read:
            self._stop.set()
            if self.isVisible():
                self._wait.start()

    def _start(self) -> None:
        wanted = self._wanted
        if self._busy or wanted == self._read or not self.isVisible():
            return
        self._read = wanted
        results, unfinished = wanted.results, self._item is not None and not self._item.ended
        if results is None:
            text = translate("events", "The detections are listed when the file is done.") if unfinished else ""
            self._show(np.zeros(0, DETECTIONS), (), text)
            return
        self._busy, self._stop = True, Event()
        self.count.setText(translate("events", "Reading the detections…"))
        done = partial(self._done, self._stop, results.labels, unfinished)
        self._background.start(self, partial(read_detections, results, wanted.shown, self._stop), done, self._failed, self._stop)

    def _done(self, stop: Event, labels: tuple[str, ...], unfinished: bool, table: NDArray[np.void]) -> None:
        self._busy = False
        if stop.is_set():
            self._read = None
        else:
            text = translate("events", "%Ln detections", None, len(table))
            if unfinished:
                text = translate("events", "{count}. The others are listed when the file is done.").format(count=text)
            self._show(table, labels, text)
        self._update()

    def _failed(self, problem: Notice) -> None:
        self._busy = False
        if self._stop.is_set():  # other detections are wanted by now
            self._read = None
        else:
            self._show(np.zeros(0, DETECTIONS), (), of_engine(problem, capital=True))
        self._update()

    def _show(self, table: NDArray[np.void], labels: tuple[str, ...], text: str) -> None:
        """Show detections, and then a text below them."""
        self._said = text
        self.model.pictures = self._item is not None and self._item.pictures
        self.model.show_table(table, labels)

    def _shown(self) -> None:
        self.count.setText(self._said)
        self.table.setColumnHidden(TRACK, not (self.model.table["track"] >= 0).any())

    def _jump(self, index: QModelIndex) -> None:
        self.sought.emit(self.model.time_at(index.row()))


def read_detections(results: Results, shown: ViewFilter, stop: Event) -> NDArray[np.void]:
    """Read the detections of a source that pass a filter, ``DETECTIONS`` (n,). Two million take about three seconds.

    stop: ends it early, with a part of the detections.

    Raises ExportError if the session cannot be read.
    """
    parts = []
    with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
        reader.stop = stop
        for block in reader.blocks(results.source):
            part = np.zeros(len(block.frame), DETECTIONS)
            part["frame"], part["start"] = block.numbers[block.frame], block.pts[block.frame]
            part["class_id"], part["track"], part["score"] = block.class_ids, block.tracks, block.scores
            part["width"], part["height"] = block.boxes[:, 2], block.boxes[:, 3]
            parts.append(part)
    return np.concatenate(parts) if parts else np.zeros(0, DETECTIONS)
