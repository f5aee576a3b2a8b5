"""Lists, renames and deletes the sessions in a folder, and chooses which to delete. No Qt."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from framefleet.app.window.queue.item import SESSION
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import ExportError, literal
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
            names = tuple(source.file.name or source.path for source in sources)
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
