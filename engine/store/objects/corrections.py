"""Corrects the results of a session: confirms, relabels and deletes detections and tracks, joins and splits tracks, with undo and redo.

Corrections are stored beside the model's results (see ``corrected``). ``SessionReader`` applies them.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from framefleet.engine.errors import UsageError
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store import schema
from framefleet.engine.store.exporters.common.rounding import label_of
from framefleet.engine.store.objects import corrected
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import Closing

_KEY = "source, frame, ordinal"
_VALUES = "class_id, track, deleted, verified"
_CORRECTED = "c.class_id, c.track, c.deleted, c.verified"
_SLACK = 1e-6  # stored times are rounded


@dataclass(frozen=True)
class OneDetection:
    """A detection. ordinal: its number in its frame as the model found it, from 0: see ``SessionReader.ordinals``."""

    source: int
    frame: int
    ordinal: int

    condition = "source = ? AND frame = ? AND ordinal = ?"

    @property
    def values(self) -> tuple[int, ...]:
        """The values for ``condition``."""
        return self.source, self.frame, self.ordinal

    def __str__(self) -> str:
        return f"detection {self.ordinal} in frame {self.frame}"


@dataclass(frozen=True)
class OneTrack:
    """All detections of a track."""

    source: int
    track: int

    condition = "source = ? AND track = ?"

    @property
    def values(self) -> tuple[int, ...]:
        """The values for ``condition``."""
        return self.source, self.track

    def __str__(self) -> str:
        return f"track {self.track}"


Chosen = OneDetection | OneTrack


@dataclass(frozen=True)
class Edit:
    """Something that the user corrected. made: when, ISO 8601. words: what, for the user."""

    number: int
    made: str
    words: str


def undoable(path: Path) -> tuple[bool, bool]:
    """Whether the session at ``path`` has a correction to undo, and one to do again. Raises ExportError if the session cannot be read."""
    with schema.explained(path, "read"), closing(schema.open_existing(path, "ro")) as connection:
        return corrected.undoable(connection)


def edits(path: Path) -> list[Edit]:
    """Return what was corrected in the session at ``path`` and not undone, the oldest first. Also while another process writes it.

    Raises ExportError if the session cannot be read.
    """
    with schema.explained(path, "read"), closing(schema.open_existing(path, "ro")) as connection:
        if not schema.has_table(connection, "edits"):
            return []
        return [Edit(*row) for row in connection.execute("SELECT edit, made, words FROM edits WHERE edit > 0 ORDER BY edit")]


class Corrections(Closing):
    """Corrects the session at ``path``. Use it from one thread.

    Raises (all methods):
        UsageError: the session has no such detection, track or class.
        ExportError: the session cannot be read or written.
    """

    def __init__(self, path: Path, created: str = "") -> None:
        """Open a session. created: see ``SessionReader``."""
        self._path = path
        with SessionReader(path, created=created) as reader:
            self._labels = reader.labels
            self._names = {source.number: source.name for source in reader.sources()}
        with schema.explained(path, "write"):
            self._connection = schema.open_existing(path, "rw")
            self._connection.executescript(f"BEGIN IMMEDIATE; {corrected.TABLES} COMMIT")
            self._connection.execute(corrected.VIEW)

    def confirm(self, chosen: Chosen) -> None:
        """Mark as verified."""
        self._edit([chosen], "verified = 1", f"{self._name(chosen)} confirmed")

    def relabel(self, chosen: Chosen, class_id: int) -> None:
        """Give another class, and mark as verified."""
        if not 0 <= class_id < len(self._labels):
            raise UsageError(f"there is no class {class_id}: the session has {len(self._labels)} classes")
        words = f"{self._name(chosen)} labelled {label_of(self._labels, class_id)}"
        self._edit([chosen], f"class_id = {class_id}, verified = 1", words)

    def delete(self, chosen: Chosen) -> None:
        """Leave out of all results."""
        self._edit([chosen], "deleted = 1", f"{self._name(chosen)} deleted")

    def join(self, source: int, tracks: Sequence[int]) -> None:
        """Make one track of several, with the number of the first one. A frame may hold only one of them."""
        first, *others = dict.fromkeys(tracks)
        if not others:
            raise UsageError("give two or more different tracks to join")
        chosen = [OneTrack(source, track) for track in (first, *others)]
        for track in chosen:
            self.check(track)
        places = ", ".join("?" * len(chosen))
        query = f"SELECT frame FROM detections WHERE source = ? AND track IN ({places}) GROUP BY frame HAVING count(*) > 1 LIMIT 1"
        shared = self._connection.execute(query, (source, *(track.track for track in chosen))).fetchone()
        names = " and ".join(map(str, chosen))
        if shared is not None:
            raise UsageError(f"{names} are both in frame {shared[0]} of {self._names[source]}, so they are different objects")
        self._edit(chosen[1:], f"track = {first}", f"{names} of {self._names[source]} joined")

    def split(self, source: int, track: int, frame: int) -> int:
        """Make a new track of a track's detections from a frame on. Returns the number of the new track."""
        part = OneTrack(source, track)
        self.check(part)
        query = "SELECT min(frame), max(frame) FROM detections WHERE source = ? AND track = ?"
        first, last = self._connection.execute(query, part.values).fetchone()
        if not first < frame <= last:
            raise UsageError(f"{self._name(part)} is in frames {first} to {last}: give a frame behind the first one, up to the last one")
        query = "SELECT max(track) FROM (SELECT track FROM main.detections WHERE source = ?1 UNION SELECT track FROM main.corrections WHERE"
        new = int(self._connection.execute(f"{query} source = ?1)", (source,)).fetchone()[0]) + 1
        words = f"{self._name(part)} split at frame {frame}, the new track is {new}"
        self._edit([part], f"track = {new}", words, f" AND frame >= {int(frame)}")
        return new

    def frame_from(self, source: int, moment: Moment) -> int:
        """Return the first stored frame of a source from a moment on. Times count from the source's first frame."""
        with schema.explained(self._path, "read"):
            column, value = "frame", float(moment.frames or 0)
            if moment.seconds is not None:
                query = f"SELECT {schema.ORIGIN} FROM sources s WHERE source = ?"
                ((origin,),) = self._connection.execute(query, (source,))
                column, value = "pts", origin + float(moment.seconds) - _SLACK
            query = f"SELECT min(frame) FROM frames WHERE source = ? AND {column} >= ?"
            ((frame,),) = self._connection.execute(query, (source, value))
        if frame is None:
            raise UsageError(f"{self._names.get(source, source)} has no frame from {moment} on")
        return int(frame)

    def check(self, chosen: Chosen) -> None:
        """Raise UsageError if the session has no such detection or track."""
        with schema.explained(self._path, "read"):
            found = self._connection.execute(f"SELECT 1 FROM detections WHERE {chosen.condition} LIMIT 1", chosen.values).fetchone()
        if found is None:
            raise UsageError(f"there is no {self._name(chosen)}")

    def edits(self) -> list[Edit]:
        """Return what was corrected and not undone, the oldest first."""
        return edits(self._path)

    def undo(self) -> Edit | None:
        """Undo the last edit. Returns it, None if there is none."""
        return self._exchange("edit > 0")

    def redo(self) -> Edit | None:
        """Make the edit again that was undone last. Returns it, None if there is none. A new edit forgets those that were undone."""
        return self._exchange("edit < 0")

    def _exchange(self, which: str) -> Edit | None:
        """Exchange what ``corrections`` and ``edited`` say for the highest of these edits, which is then undone, or no longer undone."""
        with self._transaction():
            found = self._connection.execute(f"SELECT edit, made, words FROM edits WHERE {which} ORDER BY edit DESC LIMIT 1").fetchone()
            if found is None:
                return None
            number, made, words = found
            self._connection.execute(
                f"INSERT INTO edited SELECT -edit, {_KEY}, {_CORRECTED} FROM edited LEFT JOIN corrections AS c USING ({_KEY})"
                " WHERE edit = ?",
                (number,),
            )
            for change in (
                f"DELETE FROM corrections WHERE ({_KEY}) IN (SELECT {_KEY} FROM edited WHERE edit = ?)",
                f"INSERT INTO corrections SELECT {_KEY}, {_VALUES} FROM edited WHERE edit = ?"
                " AND coalesce(class_id, track, deleted, verified) IS NOT NULL",
                "DELETE FROM edited WHERE edit = ?",
                "UPDATE edits SET edit = -edit WHERE edit = ?",
            ):
                self._connection.execute(change, (number,))
        return Edit(abs(number), made, words)

    def close(self) -> None:
        """Close the session; harmless when repeated."""
        self._connection.close()

    def _name(self, chosen: Chosen) -> str:
        """Name a track or a detection for the user: with class and confidence, which show whether it is the one that was meant."""
        source = self._names.get(chosen.source, f"source {chosen.source}")
        if isinstance(chosen, OneDetection):
            query = (
                "SELECT d.class_id, d.confidence, f.name FROM detections AS d JOIN frames AS f USING (source, frame)"
                " WHERE source = ? AND frame = ? AND ordinal = ?"
            )
            with schema.explained(self._path, "read"):
                found = self._connection.execute(query, chosen.values).fetchone()
            if found is not None:
                class_id, confidence, picture = found
                place = f"frame {chosen.frame}" if picture is None else picture
                return f"detection {chosen.ordinal} ({label_of(self._labels, class_id)}, {confidence:.2f}) in {place} of {source}"
        return f"{chosen} of {source}"

    def _edit(self, chosen: Sequence[Chosen], change: str, words: str, also: str = "") -> None:
        """Set values of the chosen detections. change: SQL, such as ``verified = 1``. also: a further condition in SQL."""
        for each in chosen:
            self.check(each)
        columns = ", ".join(part.split(" = ")[0] for part in change.split(", "))
        values = ", ".join(part.split(" = ")[1] for part in change.split(", "))
        with self._transaction():
            corrected.forget_undone(self._connection)
            made = datetime.now(UTC).isoformat(timespec="microseconds")
            number = self._connection.execute("INSERT INTO edits (made, words) VALUES (?, ?)", (made, words)).lastrowid
            for each in chosen:
                where = f"{each.condition}{also}"
                self._connection.execute(
                    f"INSERT INTO edited SELECT ?, {_KEY}, {_CORRECTED}"
                    f" FROM (SELECT {_KEY} FROM detections WHERE {where}) LEFT JOIN corrections AS c USING ({_KEY})",
                    (number, *each.values),
                )
            self._connection.execute(
                f"INSERT INTO corrections ({_KEY}, {columns}) SELECT {_KEY}, {values} FROM edited WHERE edit = ?"
                f" ON CONFLICT DO UPDATE SET {change}",
                (number,),
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with schema.explained(self._path, "write"), schema.transaction(self._connection):
            yield
