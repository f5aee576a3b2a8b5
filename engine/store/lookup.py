"""Looks up the stored detections of single frames, for the preview process."""

import logging
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.notices import FramefleetError
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import Closing, FrameResult

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stored:
    """Where the detections of a source are stored.

    edition: grows with each correction, because a reader shows only earlier ones. created: see ``SessionReader``. ahead: the first and
    the last time of parts whose detections the window has already, seconds: nothing waits for these to be stored.
    """

    database: Path
    source: int
    edition: int = 0
    created: str = ""
    ahead: tuple[tuple[float, float], ...] = ()


class DetectionLookup(Closing):
    """Keeps the session of the last lookup open. Not thread-safe."""

    def __init__(self) -> None:
        self._reader: SessionReader | None = None
        self._opened: tuple[Path, int, str] | None = None

    def result(self, stored: Stored, pts: float) -> FrameResult | None:
        """The detections of the frame at this time (seconds), None if there are none yet."""
        try:
            return self._open(stored).result_at(stored.source, pts)
        except FramefleetError as error:  # the session has not begun, or its file is gone; detection reports that itself
            _log.info("no detections for the preview: %s", error)
            return None

    def never_comes(self, stored: Stored, pts: float) -> bool:
        """Whether nobody has to wait for this frame's detections: the run leaves the frame out, or the window has them."""
        if any(begin <= pts <= end for begin, end in stored.ahead):
            return True
        try:
            return self._open(stored).is_skipped(stored.source, pts)
        except FramefleetError:
            return False

    def _open(self, stored: Stored) -> SessionReader:
        wanted = stored.database, stored.edition, stored.created
        if self._reader is None or self._opened != wanted:
            self.close()
            self._reader, self._opened = SessionReader(stored.database, created=stored.created), wanted
        return self._reader

    def close(self) -> None:
        """Close the session; the next lookup opens it again."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
