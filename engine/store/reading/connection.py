"""The connection of a reader to its session, and the filter for detections and frames."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any, Self

from framefleet.engine.errors import ExportError
from framefleet.engine.store import schema
from framefleet.engine.store.facts import CREATED
from framefleet.engine.store.file.presence import Presence
from framefleet.engine.store.objects.corrected import show_corrected
from framefleet.engine.store.view import IN_SPAN, Span, View, passing, restrict
from framefleet.engine.types import Closing


class ReadingConnection(Closing):
    """Base class of ``SessionReader``, which describes parameters and errors.

    Attributes: corrected: whether there are corrections and this reader applies them. labels: one per class id. facts: properties of the
    run. stop: any thread sets it to end the reading of many frames early.
    """

    def __init__(
        self,
        path: Path,
        confidence: float = 0.0,
        classes: frozenset[int] | None = None,
        corrected: bool = True,
        span: Span | None = None,
        tracks: frozenset[int] | None = None,
        created: str = "",
    ) -> None:
        self.path, self.stop = path, Event()
        self.confidence, self.classes, self.span, self.tracks_shown = confidence, classes, span, tracks
        self._presence = Presence(path)
        with schema.reading(self.path):
            self._connection = schema.open_existing(path, "ro")
        try:
            with schema.reading(self.path):
                self.corrected = corrected and show_corrected(self._connection)
            if span is not None:
                with schema.explained(self.path, "read"):
                    restrict(self._connection, span)
            self.labels = tuple(str(label) for (label,) in self._query("SELECT label FROM labels ORDER BY class_id"))
            with schema.reading(self.path):
                self.facts: dict[str, str] = {key: os.fsdecode(value) for key, value in self._query("SELECT key, value FROM session")}
            if created not in ("", self.facts.get(CREATED)):
                raise self._replaced()
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Convert errors of the file to ExportError, also if another run has replaced the file.

        SQLite finds a log by its path. It would apply the log of the new session to the old one that this connection still has open.
        """
        try:
            with schema.reading(self.path):
                yield
        finally:
            if self._presence.replaced:
                raise self._replaced()

    def _replaced(self) -> ExportError:
        return ExportError(f"cannot read {self.path}: another run has replaced it in the meantime: open it again")

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._reading():  # SQLite may return any bytes as text from a damaged file
            return self._connection.execute(sql, values).fetchall()

    def _value(self, sql: str, *values: object) -> Any:
        """The only value of a query that returns one row."""
        return self._query(sql, *values)[0][0]

    def _passing(self, in_span: bool = False) -> tuple[str, list[float]]:
        """Return the filter as a condition in SQL, and its values. in_span: also for frames, if a query does not choose them."""
        condition, values = passing(self.confidence, self.classes, self.tracks_shown)
        return f"{condition} AND {IN_SPAN}" if in_span and self.span is not None else condition, values

    @property
    def view(self) -> View:
        """What this reader shows, for a reader in another process."""
        return View(self.path, self.confidence, self.classes, self.corrected, self.span, self.tracks_shown, self.facts.get(CREATED, ""))

    @classmethod
    def of(cls, view: View) -> Self:
        """Open a reader that shows the same."""
        return cls(view.path, view.confidence, view.classes, view.corrected, view.span, view.tracks, view.created)

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        self._connection.close()
