"""Corrects the results of a session: confirms, relabels, moves, adds and deletes detections, joins and splits tracks, with undo and redo.

Corrections lie beside the model's results, by frame and place. ``SessionReader`` applies them.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store import schema
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.sources import label_of
from framefleet.engine.types import Closing

_KEY = "source, frame, place"
_VALUES = "class_id, track, deleted, verified"
_CORRECTED = "c.class_id, c.track, c.deleted, c.verified"
_SLACK = 1e-6  # stored times are rounded
_CORNERS = "x1, y1, x2, y2"
_MIN_SIDE = 1.0
"""The smallest width and height of a drawn box, pixels."""

Box = tuple[float, float, float, float]
"""The corners x1, y1, x2, y2 of a box in source pixels."""


@dataclass(frozen=True)
class OneDetection:
    """A detection. place: its number in its frame as the model found it, from 0: see ``SessionReader.places``."""

    source: int
    frame: int
    place: int


@dataclass(frozen=True)
class OneTrack:
    """All detections of a track."""

    source: int
    track: int


Chosen = OneDetection | OneTrack


@dataclass(frozen=True)
class Edit:
    """Something that the user corrected. made: when, ISO 8601. words: what."""

    number: int
    made: str
    words: Notice


def _edit(number: int, made: str, words: str) -> Edit:
    return Edit(abs(number), made, Notice.from_json(json.loads(words)))


def undoable(path: Path) -> tuple[bool, bool]:
    """Whether the session at ``path`` has a correction to undo, and one to do again. Raises ExportError if the session cannot be read."""
    with schema.reading(path), closing(schema.open_existing(path, "ro")) as connection:
        undo, redo = connection.execute("SELECT max(edit) > 0, min(edit) < 0 FROM edits").fetchone()
        return bool(undo), bool(redo)


def edits(path: Path) -> list[Edit]:
    """Return what was corrected in the session at ``path`` and not undone, the oldest first. Also while another process writes it.

    Raises ExportError if the session cannot be read.
    """
    with schema.reading(path), closing(schema.open_existing(path, "ro")) as connection:
        return [_edit(*row) for row in connection.execute("SELECT edit, made, words FROM edits WHERE edit > 0 ORDER BY edit")]


class Corrections(Closing):
    """Corrects the session at ``path``. Use it from one thread.

    Raises (all methods):
        UsageError: the session has no such detection, track or class.
        ExportError: the session cannot be read or written.
    """

    def __init__(self, path: Path, created: str = "") -> None:
        """Open a session. created: see ``SessionReader``."""
        self._path = path
        with schema.explained(path, "write"):
            self._connection = schema.open_existing(path, "rw")
        try:
            self._reader = SessionReader(path, created=created)
        except BaseException:
            self._connection.close()
            raise
        self._labels = self._reader.labels
        self._names = {source.number: source.name for source in self._reader.sources()}

    def confirm(self, chosen: Chosen) -> None:
        """Mark as verified."""
        self._edit([chosen], {"verified": 1}, Notice("store.edit_confirmed", what=self._name(chosen)))

    def relabel(self, chosen: Chosen, class_id: int) -> None:
        """Give another class, and mark as verified."""
        self._check_class(class_id)
        words = Notice("store.edit_relabelled", what=self._name(chosen), label=label_of(self._labels, class_id))
        self._edit([chosen], {"class_id": class_id, "verified": 1}, words)

    def delete(self, chosen: Chosen) -> None:
        """Leave out of all results."""
        self._edit([chosen], {"deleted": 1}, Notice("store.edit_deleted", what=self._name(chosen)))

    def move(self, chosen: OneDetection, box: Box) -> None:
        """Give another box, and mark as verified. The box is cut to the picture."""
        self._places(chosen)
        cut = self._cut(chosen.source, chosen.frame, box)
        self._edit([chosen], {"verified": 1}, Notice("store.edit_moved", what=self._name(chosen)), box=cut)

    def add(self, source: int, frame: int, class_id: int, box: Box) -> OneDetection:
        """Add an object that the model missed, verified and with confidence 1. The box is cut to the picture.

        Raises UsageError if the frame has no results.
        """
        self._check_class(class_id)
        cut = self._cut(source, frame, box)
        with schema.explained(self._path, "read"):
            query = "SELECT length(boxes) FROM frames WHERE source = ? AND frame = ?"
            ((length,),) = self._connection.execute(query, (source, frame))
            query = "SELECT max(place) + 1 FROM (SELECT place FROM {0} WHERE source = ?1 AND frame = ?2)"
            behind = [self._connection.execute(query.format(table), (source, frame)).fetchone()[0] for table in ("corrections", "edited")]
        new = OneDetection(source, frame, max(length // schema.BOX.itemsize, *(each or 0 for each in behind)))
        where = self._place_name(source, frame)
        words = Notice("store.edit_added", label=label_of(self._labels, class_id), where=where, source=self._names[source])
        self._store([(source, frame, new.place)], {"class_id": class_id, "verified": 1}, words, cut)
        return new

    def _cut(self, source: int, frame: int, box: Box) -> Box:
        """The part of a box inside its picture. Raises UsageError if there is none, or if the frame has no results."""
        with schema.explained(self._path, "read"):
            query = "SELECT width, height, failure FROM frames WHERE source = ? AND frame = ?"
            found = self._connection.execute(query, (source, frame)).fetchone()
        if found is None or found[2] is not None:
            raise UsageError(Notice("store.no_results_of_frame", frame=frame, source=self._names.get(source, str(source))))
        width, height, _ = found
        x1, y1, x2, y2 = (min(max(value, 0.0), float(most)) for value, most in zip(box, (width, height) * 2, strict=True))
        if x2 - x1 < _MIN_SIDE or y2 - y1 < _MIN_SIDE:
            raise UsageError(Notice("store.box_too_small", width=width, height=height))
        return x1, y1, x2, y2

    def _check_class(self, class_id: int) -> None:
        if not 0 <= class_id < len(self._labels):
            raise UsageError(Notice("store.no_such_class", class_id=class_id, count=len(self._labels)))

    def join(self, source: int, tracks: Sequence[int]) -> None:
        """Make one track of several, with the number of the first one. A frame may hold only one of them."""
        first, *others = dict.fromkeys(tracks)
        if not others:
            raise UsageError(Notice("store.join_needs_two"))
        chosen = [OneTrack(source, track) for track in (first, *others)]
        frames = np.concatenate([self._places(track)[0] for track in chosen])
        names, name = " and ".join(f"track {track}" for track in (first, *others)), self._names[source]
        shared, counts = np.unique(frames, return_counts=True)
        if (counts > 1).any():
            raise UsageError(Notice("store.join_in_one_frame", tracks=names, frame=int(shared[counts > 1][0]), source=name))
        self._edit(chosen[1:], {"track": first}, Notice("store.edit_joined", tracks=names, source=name))

    def split(self, source: int, track: int, frame: int) -> int:
        """Make a new track of a track's detections from a frame on. Returns the number of the new track."""
        part = OneTrack(source, track)
        frames, _ = self._places(part)
        first, last = int(frames[0]), int(frames[-1])
        if not first < frame <= last:
            raise UsageError(Notice("store.split_outside", track=self._name(part), first=first, last=last))
        query = "SELECT max(track) FROM (SELECT track FROM tracks WHERE source = ?1 UNION SELECT track FROM corrections WHERE source = ?1)"
        new = int(self._connection.execute(query, (source,)).fetchone()[0]) + 1
        words = Notice("store.edit_split", track=self._name(part), frame=frame, new=new)
        self._edit([part], {"track": new}, words, frame)
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
            raise UsageError(Notice("store.no_frame_from", source=self._names.get(source, str(source)), moment=str(moment)))
        return int(frame)

    def check(self, chosen: Chosen) -> None:
        """Raise UsageError if the session has no such detection or track."""
        self._places(chosen)

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
            for change in (
                f"INSERT INTO edited SELECT -edit, {_KEY}, {_CORRECTED} FROM edited LEFT JOIN corrections AS c USING ({_KEY})"
                " WHERE edit = ?",
                f"DELETE FROM corrections WHERE ({_KEY}) IN (SELECT {_KEY} FROM edited WHERE edit = ?)",
                f"INSERT INTO corrections SELECT {_KEY}, {_VALUES} FROM edited WHERE edit = ?"
                " AND coalesce(class_id, track, deleted, verified) IS NOT NULL",
                "DELETE FROM edited WHERE edit = ?",
                "UPDATE edits SET edit = -edit WHERE edit = ?",
            ):
                self._connection.execute(change, (found[0],))
            if schema.has_drawn(self._connection):
                for change in (
                    f"INSERT INTO drawn SELECT -b.edit, {_KEY}, {', '.join(f'n.{name}' for name in _CORNERS.split(', '))} FROM drawn AS b"
                    f" LEFT JOIN (SELECT {_KEY}, {_CORNERS} FROM drawn WHERE edit = 0) AS n USING ({_KEY}) WHERE b.edit = ?",
                    f"DELETE FROM drawn WHERE edit = 0 AND ({_KEY}) IN (SELECT {_KEY} FROM drawn WHERE edit = ?)",
                    f"INSERT INTO drawn SELECT 0, {_KEY}, {_CORNERS} FROM drawn WHERE edit = ? AND x1 IS NOT NULL",
                    "DELETE FROM drawn WHERE edit = ?",
                ):
                    self._connection.execute(change, (found[0],))
        return _edit(*found)

    def close(self) -> None:
        """Close the session; harmless when repeated."""
        self._reader.close()
        self._connection.close()

    def _places(self, chosen: Chosen) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The frame and the place of each chosen detection, as corrected. Raises UsageError if there is none."""
        self._reader.corrected = True  # the first edit of this object comes after the reader was opened
        first, last = (chosen.frame, chosen.frame) if isinstance(chosen, OneDetection) else (0, 1 << 62)
        frames, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for block in self._reader.blocks(chosen.source, first=first, last=last):
            mine = block.places == chosen.place if isinstance(chosen, OneDetection) else block.tracks == chosen.track
            frames.append(block.numbers[block.frame[mine]])
            places.append(block.places[mine])
        found = np.concatenate(frames), np.concatenate(places)
        if not len(found[0]):
            raise UsageError(Notice("store.no_such_detection", what=self._name(chosen)))
        return found

    def _name(self, chosen: Chosen) -> Notice:
        """Name a track or a detection for the user: with class and confidence, which show whether it is the one that was meant."""
        source = self._names.get(chosen.source) or Notice("store.source_number", number=chosen.source)
        if isinstance(chosen, OneTrack):
            return Notice("store.track_of", track=chosen.track, source=source)
        self._reader.corrected = True
        for block in self._reader.blocks(chosen.source, first=chosen.frame, last=chosen.frame):
            for at in np.flatnonzero(block.places == chosen.place).tolist():
                label, confidence = label_of(self._labels, int(block.class_ids[at])), f"{block.confidences[at]:.2f}"
                place = self._place_name(chosen.source, chosen.frame)
                fields = {"place": chosen.place, "label": label, "confidence": confidence, "where": place, "source": source}
                return Notice("store.detection_in", **fields)
        return Notice("store.detection_of", place=chosen.place, frame=chosen.frame, source=source)

    def _place_name(self, source: int, frame: int) -> Notice | str:
        """A frame of a video, or the name of a picture."""
        with schema.explained(self._path, "read"):
            found = self._connection.execute("SELECT name FROM frames WHERE source = ? AND frame = ?", (source, frame)).fetchone()
        return Notice("store.frame", frame=frame) if found is None or found[0] is None else str(found[0])

    def _edit(self, chosen: Sequence[Chosen], change: dict[str, int], words: Notice, begin: int = 0, box: Box | None = None) -> None:
        """Set values of the chosen detections. change: by column of ``corrections``. begin: only detections from this frame on.

        box: the new box of all of them.
        """
        rows = []
        for each in chosen:
            frames, places = self._places(each)
            later = frames >= begin
            rows += [(each.source, frame, place) for frame, place in zip(frames[later].tolist(), places[later].tolist(), strict=True)]
        self._store(rows, change, words, box)

    def _store(self, rows: Sequence[tuple[int, int, int]], change: dict[str, int], words: Notice, box: Box | None) -> None:
        """Store an edit of detections, given as source, frame and place. change, box: as for ``_edit``."""
        with self._transaction():
            schema.forget_edits(self._connection, "edit < 0")
            if box is not None and not schema.has_drawn(self._connection):
                self._connection.execute(schema.DRAWN)
            made = datetime.now(UTC).isoformat(timespec="microseconds")
            text = json.dumps(words.as_json())
            number = self._connection.execute("INSERT INTO edits (made, words) VALUES (?, ?)", (made, text)).lastrowid
            self._connection.executemany(
                f"INSERT INTO edited SELECT ?1, ?2, ?3, ?4, {_CORRECTED} FROM (SELECT 1) LEFT JOIN corrections AS c"
                " ON c.source = ?2 AND c.frame = ?3 AND c.place = ?4",
                [(number, *row) for row in rows],
            )
            values = ", ".join(f"{column} = {int(value)}" for column, value in change.items())
            self._connection.executemany(
                f"INSERT INTO corrections ({_KEY}, {', '.join(change)}) VALUES (?, ?, ?, {', '.join(map(str, change.values()))})"
                f" ON CONFLICT DO UPDATE SET {values}",
                rows,
            )
            if box is not None:
                corners = ", ".join(f"n.{name}" for name in _CORNERS.split(", "))
                self._connection.executemany(
                    f"INSERT INTO drawn SELECT ?1, ?2, ?3, ?4, {corners} FROM (SELECT 1) LEFT JOIN drawn AS n"
                    " ON n.edit = 0 AND n.source = ?2 AND n.frame = ?3 AND n.place = ?4",
                    [(number, *row) for row in rows],
                )
                self._connection.executemany("INSERT OR REPLACE INTO drawn VALUES (0, ?, ?, ?, ?, ?, ?, ?)", [(*row, *box) for row in rows])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with schema.explained(self._path, "write"), schema.transaction(self._connection):
            yield
