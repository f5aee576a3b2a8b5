"""The frames whose detections differ most from the true objects: the list and the way to each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QTreeWidgetItem, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.opening import list_subject
from framefleet.app.window.results import moments, stored
from framefleet.app.window.widgets import fields, formats
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.build import column, label, say, stand_beside, wrapped
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, UsageError, literal
from framefleet.engine.store import schema
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.session import SessionReader, StoredSource

COLUMNS = (
    marked("results", "File"),
    marked("results", "Time"),
    marked("results", "Frame"),
    marked("results", "Objects"),
    marked("results", "Missed"),
    marked("results", "Wrong"),
)
NUMBERS = range(1, len(COLUMNS))
SIZE = 520, 460


class WorstFramesDialog(QDialog):
    """Lists the worst frames of one session at a time, beside the main window. chosen: the WorstFrame to show."""

    chosen = Signal(object)

    def __init__(self, path: Path, sessions: Mapping[str, Sequence[WorstFrame]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("results", "Worst frames: {name}").format(name=path.parent.name or path.name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sessions = sessions
        self.session = fields.combo_box(translate("results", "Session"))
        self.session.addItems([*sessions])
        self.session.setVisible(len(sessions) > 1)
        self.table = fields.plain_tree(translate("results", "Worst frames"), [translate("results", title) for title in COLUMNS], NUMBERS)
        hint = label(
            "small",
            translate(
                "results", "The arrow keys show the next or previous frame. Missed: objects without a box. Wrong: boxes without an object."
            ),
            wrap=True,
        )
        self.remark = wrapped("notice")
        column(self.session, (self.table, 1), self.remark, hint, spacing=10, margins=(16, 16, 16, 12), of=self)
        self.session.currentTextChanged.connect(self._list)
        self.session.currentTextChanged.connect(self.show_worst)
        self.table.currentItemChanged.connect(self._choose)
        self.resize(*SIZE)
        self._list(self.session.currentText())

    def showEvent(self, event: QShowEvent) -> None:
        """Stand beside the main window."""
        super().showEvent(event)
        if not event.spontaneous():
            stand_beside(self)

    def show_worst(self) -> None:
        """Choose the first frame."""
        if (first := self.table.topLevelItem(0)) is not None:
            self.table.setCurrentItem(first)

    def _list(self, session: str) -> None:
        self.table.clear()
        frames = self._sessions.get(session, ())
        corrected = translate(
            "results",
            "This session was corrected by hand. Missed and wrong count the model's own detections; the picture shows the corrected ones.",
        )
        say(self.remark, corrected if any(frame.corrected for frame in frames) else "")
        for frame in frames:
            counts = (frame.frame, frame.objects, frame.missed, frame.wrong)
            row = QTreeWidgetItem(self.table, [Path(frame.picture or frame.name).name, frame.moment, *map(formats.count, counts)])
            row.setToolTip(0, str(frame.file))
            row.setData(0, Qt.ItemDataRole.UserRole, frame)
            fields.align(row, NUMBERS)

    def _choose(self, row: QTreeWidgetItem | None, _: QTreeWidgetItem | None) -> None:
        if row is not None:
            self.chosen.emit(row.data(0, Qt.ItemDataRole.UserRole))


@dataclass(frozen=True)
class WorstFrame:
    """A frame with errors.

    database: of the session. file: the source. name: the source as the user named it. time: seconds. moment: the time as the window
    shows it. corrected: whether a person corrected the session; missed and wrong count the model's own detections. picture: the name of a
    folder's picture, "" for other frames.
    """

    database: Path
    file: Path
    name: str
    frame: int
    time: float
    moment: str
    objects: int
    missed: int
    wrong: int
    corrected: bool = False
    picture: str = ""


def read_worst_frames(path: Path) -> dict[str, list[WorstFrame]]:
    """Read the worst frames of each session by the session's name, the worst first.

    Raises UsageError: the file is not such a list, or an older Framefleet wrote it. Raises ExportError: the file cannot be read.
    """
    with schema.explained(path, "read"):
        content = path.read_bytes()
    try:
        lists = json.loads(content)
        databases = {name: Path(database) for name, database in lists["databases"].items()}
        about = {name: _About.read(database) for name, database in databases.items()}
        return {name: [_frame(databases[name], entry, about[name]) for entry in entries] for name, entries in lists["sessions"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UsageError(
            literal(
                translate(
                    "results", "{path} is not a list of worst frames: open a worst-frames.json that 'framefleet evaluate --out' wrote"
                ).format(path=path)
            )
        ) from None


@dataclass(frozen=True)
class _About:
    """What the list shows of a session. moments: what turns a time of each source, seconds, into text."""

    moments: Mapping[Path, Callable[[float], str]]
    corrected: bool

    @classmethod
    def read(cls, database: Path) -> Self:
        """Read a session; without moments if it cannot be read."""
        try:
            with SessionReader(database) as reader:
                return cls({each.file: partial(_moment, each, Clock.of(reader, each)) for each in reader.sources()}, reader.corrected)
        except ExportError:
            return cls({}, corrected=False)


def _frame(database: Path, entry: dict[str, Any], about: _About) -> WorstFrame:
    objects, missed, wrong = (int(entry[name]) for name in ("objects", "missed", "wrong"))
    file, time = Path(entry["file"]), float(entry["time"])
    moment = about.moments[file](time) if file in about.moments else formats.clock(time, 2)
    about_it = str(entry["source"]), int(entry["frame"]), time, moment
    return WorstFrame(database, file, *about_it, objects, missed, wrong, about.corrected, str(entry.get("picture", "")))


def _moment(source: StoredSource, clock: Clock, time: float) -> str:
    """The time since the beginning of the video, and the clock time if it is known; or the number of a picture."""
    if source.kind is SourceKind.IMAGES:
        return formats.count(round(time) + 1)
    position = formats.clock(time - (source.info.begin if source.info is not None else 0.0), 2)
    return " · ".join(filter(None, (position, stored.clock_text(clock, time, dated=False))))


class WorstFrames(QObject):
    """Shows lists of worst frames."""

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._window, self._background, self._banners, self._moments = context.window, context.background, context.banners, context.moments
        context.opening.lists.connect(self.open)

    def open(self, paths: Sequence[Path]) -> None:
        """Open lists in the background, each in a window of its own."""
        for path in paths:
            self._background.start(self, partial(read_worst_frames, path), partial(self._show, path), partial(self._failed, path))

    def _show(self, path: Path, sessions: dict[str, list[WorstFrame]]) -> None:
        dialog = WorstFramesDialog(path, sessions, self._window)
        dialog.chosen.connect(self.show_frame)
        dialog.show()
        dialog.show_worst()

    def show_frame(self, frame: WorstFrame) -> None:
        """Show a frame in the main window."""
        self._moments.show(moments.StoredMoment(frame.database, frame.file, frame.name, frame.time))

    def _failed(self, path: Path, message: Notice) -> None:
        title = translate("results", "{name} cannot be opened").format(name=path.name)
        self._banners.show_banner(list_subject(path), Severity.WARNING, title, details=message)


def attach(context: Context) -> Feature:
    """Let the user open lists of worst frames."""
    WorstFrames(context)
    return Feature()
