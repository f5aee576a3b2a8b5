"""The stored sessions of a folder, and their dialog: open, export, rename, delete, and clean up."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QInputDialog, QTreeWidget, QTreeWidgetItem, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.item import SESSION
from framefleet.app.window.results.stored import read_stored
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import formats, questions
from framefleet.app.window.widgets.build import column, label, push_button, row, say, wrapped
from framefleet.app.window.widgets.fields import align, combo_box, plain_tree
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.notices import ExportError, Notice, literal
from framefleet.engine.store.facts import CREATED
from framefleet.engine.store.files import lock_session, noted_sessions
from framefleet.engine.store.session import SessionReader

_AUTOMATIC = re.compile(r"\d{8}-\d{6}-\d{6} ")
"""The time with which the window begins the name of a session."""
_COMPANIONS = ("", "-wal", "-shm")
"""What SQLite appends to the name of a database for the files beside it."""


@dataclass(frozen=True)
class StoredSession:
    """One session. complete: number of files with all frames. size: on disk, bytes. problem: why it cannot be read, "" if it can."""

    path: Path
    created: datetime
    files: tuple[str, ...] = ()
    frames: int = 0
    model: str = ""
    size: int = 0
    problem: str = ""
    complete: int = 0
    corrected: bool = False

    @property
    def name(self) -> str:
        """The name that the user gave it, or else its first file."""
        if self.path.stem == "session":  # of the command line: the folder has the name that the user gave
            return self.path.parent.name
        if not self.files or not _AUTOMATIC.match(self.path.name):
            return self.path.stem
        return f"{self.files[0]} + {len(self.files) - 1}" if len(self.files) > 1 else self.files[0]

    @property
    def state(self) -> str:
        """Whether it is complete, and whether a person has corrected it."""
        if self.problem:
            return translate("sessions", "unreadable")
        texts = [translate("sessions", "no results")] if not self.frames else []
        if self.frames:
            number, count = self.complete, len(self.files)
            part = translate("sessions", "{number} of {count} complete").format(number=number, count=count)
            texts = [translate("sessions", "complete") if number == count else part]
        return ", ".join(texts + [translate("sessions", "corrected")] * self.corrected)


def list_sessions(folder: Path) -> list[StoredSession]:
    """The sessions in a folder and those that the command line has noted there, the newest first."""
    paths = dict.fromkeys([*folder.glob(f"*{SESSION}"), *noted_sessions(folder)])
    return sorted(map(_read, paths), key=lambda session: session.created, reverse=True)


def _read(path: Path) -> StoredSession:
    size, created = 0, datetime.now().astimezone()
    with suppress(OSError):
        size = sum(part.stat().st_size for part in _parts(path))
        created = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    try:
        with SessionReader(path) as reader:
            sources = reader.sources()
            frames = sum(reader.count(source.number) for source in sources)
            with suppress(ValueError, KeyError):
                created = datetime.fromisoformat(reader.facts[CREATED]).astimezone()
            names = tuple(source.title for source in sources)
            complete = sum(source.complete for source in sources)
            model = reader.facts.get("model", "")
            return StoredSession(path, created, names, frames, model, size, complete=complete, corrected=reader.corrected)
    except ExportError as error:
        return StoredSession(path, created, size=size, problem=of_engine(error.notice))


def _parts(path: Path) -> list[Path]:
    return [part for end in _COMPANIONS if (part := path.with_name(path.name + end)).exists()]


def delete_sessions(paths: Iterable[Path]) -> None:
    """Delete sessions for ever. Raises ExportError if some are in use or cannot be deleted; the others are deleted."""
    problems = []
    for path in paths:
        try:
            with lock_session(path):
                for part in reversed(_parts(path)):
                    part.unlink()
        except ExportError as error:
            problems.append(of_engine(error.notice))
        except OSError as error:
            problems.append(translate("sessions", "cannot delete {path}: {strerror}").format(path=path, strerror=error.strerror or error))
    if problems:
        raise ExportError(literal("\n".join(problems)))


def rename_session(path: Path, name: str) -> Path:
    """Give a session another name, without suffix; return its path.

    Raises ExportError if the name cannot be used, or the session is in use.
    """
    if not name.strip() or any(letter in name for letter in "/\\:"):
        raise ExportError(
            literal(translate("sessions", "'{name}' cannot be a name: write at least one character, and no / \\ or :").format(name=name))
        )
    new = path.with_name(f"{name.strip()}{SESSION}")
    if new.exists():
        raise ExportError(
            literal(translate("sessions", "there is already a session named {strip}: choose another name").format(strip=name.strip()))
        )
    with lock_session(path):
        try:
            for part in _parts(path):
                part.rename(part.with_name(new.name + part.name.removeprefix(path.name)))
        except OSError as error:
            raise ExportError(
                literal(translate("sessions", "cannot rename {path}: {strerror}").format(path=path, strerror=error.strerror or error))
            ) from error
    return new


def to_clean(sessions: Sequence[StoredSession], now: datetime, older_than: timedelta | None, most_bytes: int | None) -> list[StoredSession]:
    """The sessions to delete: those older than a time, and the oldest of the others until the rest takes at most this much."""
    chosen = [session for session in sessions if older_than is not None and now - session.created > older_than]
    rest = sorted((session for session in sessions if session not in chosen), key=lambda session: session.created)
    size = sum(session.size for session in rest)
    while most_bytes is not None and size > most_bytes:
        oldest = rest.pop(0)
        chosen.append(oldest)
        size -= oldest.size
    return chosen


COLUMNS = (
    marked("sessions", "Name"),
    marked("sessions", "Date"),
    marked("sessions", "Files"),
    marked("sessions", "Frames"),
    marked("sessions", "State"),
    marked("sessions", "Model"),
    marked("sessions", "Size on disk"),
)
NUMBERS = 2, 3, 6
"""The columns of numbers."""
SIZE = 860, 460
AGES = {
    marked("sessions", "none"): None,
    marked("sessions", "older than a week"): 7,
    marked("sessions", "older than a month"): 30,
    marked("sessions", "older than 3 months"): 91,
    marked("sessions", "older than a year"): 365,
}
SIZES = {
    marked("sessions", "no limit"): None,
    marked("sessions", "the oldest above 1 GiB in all"): 1 << 30,
    marked("sessions", "the oldest above 5 GiB in all"): 5 << 30,
    marked("sessions", "the oldest above 20 GiB in all"): 20 << 30,
    marked("sessions", "the oldest above 100 GiB in all"): 100 << 30,
}


class SessionsDialog(QDialog):
    """Lists the sessions in a folder. in_use: returns the databases that the queue shows, which stay as they are.

    opened, export_requested: the Path of a session. search_requested: the user wants to search in all sessions.
    """

    opened = Signal(object)
    export_requested = Signal(object)
    search_requested = Signal()

    def __init__(self, folder: Path, background: Background, in_use: Callable[[], Collection[Path]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("sessions", "Sessions"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._folder, self._background, self._in_use = folder, background, in_use
        self._sessions: list[StoredSession] = []
        self.table = plain_tree(translate("sessions", "Sessions"), [translate("sessions", title) for title in COLUMNS], NUMBERS)
        self.table.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.table.itemSelectionChanged.connect(self._selected)
        self.table.itemActivated.connect(lambda *_: self._emit(self.opened))
        self.total, self.problem = label("small"), wrapped("error")
        self.empty = wrapped("muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column(None, self.empty, None, margins=(24, 0, 24, 0), of=self.table.viewport())
        self.show_ = push_button(translate("sessions", "Open"), partial(self._emit, self.opened), role="primary")
        self.export = push_button(translate("sessions", "Export…"), partial(self._emit, self.export_requested))
        self.rename = push_button(translate("sessions", "Rename…"), self._ask_name)
        self.delete = push_button(translate("sessions", "Delete…"), lambda: self._ask_delete(self.selected))
        self.age, self.size_ = (
            combo_box(translate("sessions", "Delete by age")),
            combo_box(translate("sessions", "Delete by size")),
        )
        self.age.addItems([translate("sessions", title) for title in AGES])
        self.size_.addItems([translate("sessions", title) for title in SIZES])
        self.clean = push_button(translate("sessions", "Clean up…"), lambda: self._ask_delete(self.cleanable))
        for changed in (self.age.currentIndexChanged, self.size_.currentIndexChanged):
            changed.connect(self._selected)
        for key, act in (("F2", self.rename.click), ("Delete", self.delete.click)):
            QShortcut(QKeySequence(key), self).activated.connect(act)
        cleaning = row(
            label("muted", translate("sessions", "Delete by age:")),
            self.age,
            label("muted", translate("sessions", "By size:")),
            self.size_,
            self.clean,
            None,
            push_button(translate("sessions", "Close"), self.reject),
            spacing=8,
        )
        self.reveal = push_button(translate("sessions", "Show folder"), lambda: questions.show_folder(folder), tip=str(folder))
        self.search = push_button(translate("sessions", "Search…"), self.search_requested, symbol="search")
        self.search.setToolTip(translate("sessions", "Find moments in all stored results"))
        actions = row(self.show_, self.export, self.rename, self.delete, None, self.total, self.search, self.reveal, spacing=8)
        column((self.table, 1), self.problem, actions, cleaning, spacing=12, margins=(16, 16, 16, 14), of=self)
        self.resize(*SIZE)
        self._selected()
        self._read()

    @property
    def selected(self) -> list[StoredSession]:
        """The sessions that the user has selected."""
        return [self._sessions[self.table.indexOfTopLevelItem(item)] for item in self.table.selectedItems()]

    def _read(self) -> None:
        self._background.start(self, partial(list_sessions, self._folder), self._show, self.show_problem)

    def _show(self, sessions: Sequence[StoredSession]) -> None:
        self._sessions = list(sessions)
        self.table.clear()
        for session in sessions:
            date, files, frames = f"{session.created:%Y-%m-%d %H:%M}", formats.count(len(session.files)), formats.count(session.frames)
            item = QTreeWidgetItem(
                self.table, (session.name, date, files, frames, session.state, session.model, formats.size(session.size))
            )
            for number in range(len(COLUMNS)):
                item.setToolTip(number, "\n".join(filter(None, (str(session.path), *session.files, session.problem))))
            align(item, NUMBERS)
        size = formats.size(sum(session.size for session in sessions))
        self.total.setText(translate("sessions", "%Ln sessions, {size}", None, len(sessions)).format(size=size))
        nothing = translate("sessions", "No sessions yet. Each run of the window and of framefleet detect appears here.")
        say(self.empty, "" if sessions else nothing)
        newest = self.table.topLevelItem(0)
        if newest is not None:
            self.table.setCurrentItem(newest)
        self._selected()

    def show_problem(self, message: Notice) -> None:
        """Show below the list what is wrong."""
        say(self.problem, of_engine(message, capital=True))

    def _fail(self, message: Notice) -> None:
        self.show_problem(message)
        self._read()

    def _selected(self) -> None:
        chosen = self.selected
        readable = len(chosen) == 1 and not chosen[0].problem
        for button in (self.show_, self.export):
            button.setEnabled(readable)
        self.rename.setEnabled(len(chosen) == 1 and chosen[0].path.parent == self._folder)
        self.delete.setEnabled(bool(chosen))
        self.clean.setEnabled(bool(self.cleanable))

    @property
    def cleanable(self) -> list[StoredSession]:
        """The sessions that cleaning up would delete."""
        days, most = [*AGES.values()][self.age.currentIndex()], [*SIZES.values()][self.size_.currentIndex()]
        used = self._in_use()
        free = [session for session in self._sessions if session.path not in used and session.path.parent == self._folder]
        return to_clean(free, datetime.now().astimezone(), timedelta(days=days) if days else None, most)

    def _emit(self, signal: object) -> None:
        chosen = self.selected
        if len(chosen) == 1 and not chosen[0].problem:
            signal.emit(chosen[0].path)  # type: ignore[attr-defined]

    def _ask_name(self) -> None:
        (session,) = self.selected
        dialog = QInputDialog(self)
        dialog.setWindowTitle(translate("sessions", "Rename the session"))
        dialog.setLabelText(translate("sessions", "New name"))
        dialog.setTextValue(session.path.stem)
        dialog.textValueSelected.connect(lambda name: self._change([session.path], partial(rename_session, session.path, name)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_delete(self, sessions: Sequence[StoredSession]) -> None:
        paths, size = [session.path for session in sessions], formats.size(sum(session.size for session in sessions))
        questions.ask(
            self,
            translate("sessions", "Delete sessions"),
            (
                translate("sessions", "Delete %Ln sessions ({size})?", None, len(paths)).format(size=size),
                translate("sessions", "Their detections are lost. The videos stay."),
            ),
            (translate("sessions", "Delete"), translate("sessions", "Keep")),
            lambda delete: self._change(paths, partial(delete_sessions, paths)) if delete else None,
        )

    def _change(self, paths: Sequence[Path], change: Callable[[], object]) -> None:
        used = [path.stem for path in paths if path in self._in_use()]
        say(
            self.problem,
            translate("sessions", "{used}: shown in the queue. Remove its files from the queue first.").format(used=", ".join(used))
            if used
            else "",
        )
        if not used:
            self._background.start(self, change, lambda _: self._read(), self._fail)


def attach(context: Context) -> Feature:
    """Let the user see the stored sessions."""

    def used() -> set[Path]:
        return {item.results.database for item in context.queue if item.results is not None}

    def export(dialog: SessionsDialog, path: Path) -> None:
        work = partial(read_stored, path)
        context.background.start(dialog, work, lambda found: context.requests.export.emit(found[0], ""), dialog.show_problem)

    def show() -> None:
        dialog = SessionsDialog(context.folder, context.background, used, context.settings.dialog or context.window)
        dialog.opened.connect(lambda path: context.opening.take([path]))
        dialog.opened.connect(dialog.accept)
        dialog.export_requested.connect(partial(export, dialog))
        dialog.search_requested.connect(dialog.accept)
        dialog.search_requested.connect(context.actions.search.trigger)
        dialog.open()

    context.actions.sessions.triggered.connect(show)
    context.settings.sessions_requested.connect(show)
    return Feature()
