"""Looks up the detections of the player's pictures in a session, for the preview's thread."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from app.window.queue.item import Results
from engine.errors import FramefleetError
from engine.store.session import SessionReader
from engine.store.skipped import is_skipped, result_at
from engine.types import FrameResult

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Lookup:
    """Where detections are looked up. hold: while the video plays, a picture waits for its detections."""

    results: Results | None = None
    hold: bool = False


class DetectionLookup:
    """Keeps the session of the shown file open. Not thread-safe."""

    def __init__(self) -> None:
        self._lookup = Lookup()
        self._reader: SessionReader | None = None

    def set(self, lookup: Lookup) -> None:
        """Look detections up there from now on."""
        if self._reader is not None and (lookup.results is None or lookup.results.database != self._reader.path):
            self.close()
        self._lookup = lookup

    def close(self) -> None:
        """Close the session; the next lookup opens it again, with corrections that were made meanwhile."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def waits(self, pts: float) -> bool:
        """Whether a picture without detections waits for them. Those that the run leaves out get none."""
        results = self._lookup.results
        if not self._lookup.hold or self._reader is None or results is None:
            return self._lookup.hold
        try:
            return not is_skipped(self._reader, results.source, pts)
        except FramefleetError:
            return True  # as in ``result``

    def result(self, pts: float) -> FrameResult | None:
        """The detections of the picture at this time, None if there are none yet."""
        results = self._lookup.results
        if results is None:
            return None
        try:
            if self._reader is None:
                self._reader = SessionReader(results.database)
            return result_at(self._reader, results.source, pts)
        except FramefleetError as error:  # the session has not begun, or its file is gone; detection reports that itself
            _log.info("no detections for the preview: %s", error)
            return None
