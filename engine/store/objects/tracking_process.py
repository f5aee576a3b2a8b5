"""The child process that tracks sources while they are detected: it reads the session that the run writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.errors import FramefleetError
from framefleet.engine.processes import AnyConnection
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import FIRST_FRAMES, track_source
from framefleet.engine.tracking.follow import TrackerName
from framefleet.engine.types import FrameResult

POLL_SECONDS = 0.25
"""How long the process waits before it looks for new frames again."""


@dataclass(frozen=True)
class Begin:
    """A request: track a source. It is followed by ``End``."""

    database: Path
    source: int
    tracker: TrackerName


@dataclass(frozen=True)
class End:
    """A message: no more frames of the source follow. complete: whether all of them are stored."""

    complete: bool


@dataclass(frozen=True)
class Done:
    """The answer to a request. error: why the source has no tracks, None if it has."""

    error: str | None


class _CancelledError(Exception):
    pass


def main(connection: AnyConnection) -> None:
    """Answer requests until the connection is closed."""
    while True:
        try:
            request: Begin = connection.recv()
        except EOFError:
            return
        error: str | None = None
        try:
            with SessionReader(request.database, corrected=False) as reader:
                track_source(request.database, request.source, request.tracker, _frames(connection, reader, request.source))
        except _CancelledError:
            error = "cancelled"
        except FramefleetError as problem:
            error = str(problem)
        connection.send(Done(error))


def _frames(connection: AnyConnection, reader: SessionReader, source: int) -> Iterator[FrameResult]:
    """Yield the frames of a source as the run stores them. Begins when ``FIRST_FRAMES`` frames or all are stored."""
    last, ended = -1, False
    while not ended and reader.count(source) < FIRST_FRAMES:
        ended = _ended(connection)
    while True:
        for frame in reader.frames(source, last):
            yield frame
            last = frame.ref.index
        if ended:
            return
        ended = _ended(connection)


def _ended(connection: AnyConnection) -> bool:
    """Wait for a message for ``POLL_SECONDS``. Whether the source has ended."""
    if not connection.poll(POLL_SECONDS):
        return False
    if not connection.recv().complete:
        raise _CancelledError
    return True
