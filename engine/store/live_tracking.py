"""Tracks the sources of a run while they are detected, each in a child process that reads the session that the run writes."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from framefleet.engine.notices import FramefleetError, Notice
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import FIRST_FRAMES, track_source
from framefleet.engine.types import Closing, FrameResult

MAX_PROCESSES = os.cpu_count() or 1
"""Most processes at once. Further sources wait: their frames are stored."""

POLL_SECONDS = 0.25
"""How long the process waits before it looks for new frames again."""


@dataclass(frozen=True)
class Begin:
    """A request: track a source. It is followed by ``End``."""

    database: Path
    source: int


@dataclass(frozen=True)
class End:
    """A message: no more frames of the source follow. complete: whether all of them are stored."""

    complete: bool


@dataclass(frozen=True)
class Done:
    """The answer to a request. error: why the source has no tracks, None if it has."""

    error: Notice | None


class _CancelledError(Exception):
    pass


def main(connection: AnyConnection) -> None:
    """Answer requests until the connection is closed."""
    while True:
        try:
            request: Begin = connection.recv()
        except EOFError:
            return
        error: Notice | None = None
        try:
            with SessionReader(request.database, corrected=False) as reader:
                track_source(request.database, request.source, _frames(connection, reader, request.source))
        except _CancelledError:
            error = Notice("store.cancelled")
        except FramefleetError as problem:
            error = problem.notice
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


class LiveTracking(Closing):
    """Tracks sources of the session ``database``. Use it from one thread.

    A process takes the next source when its source has ended. If it dies at any moment, this process tracks its source in ``finish``.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._waiting: deque[int] = deque()
        self._ended: set[int] = set()
        self._working: dict[int, ChildProcess] = {}
        self._idle: list[ChildProcess] = []
        self._untracked: set[int] = set()  # no process tracks these any more

    def begin(self, source: int) -> None:
        """Track a source. The frames that are stored of it must stay."""
        self._waiting.append(source)
        self._hand_out()

    def end(self, source: int) -> None:
        """All frames of a source are stored and committed."""
        self._ended.add(source)
        if source in self._working:
            self._working[source].send(End(complete=True))
        self._hand_out()

    def cancel(self, source: int) -> None:
        """A source will not be completed."""
        if source in self._waiting:
            self._waiting.remove(source)
        if source in self._working:
            self._working[source].send(End(complete=False))

    def finish(self) -> None:
        """Wait until all sources that have ended are tracked. Raises ExportError if the session cannot be read or written."""
        while self._working:
            wait([process.connection for process in self._working.values()])
            self._hand_out()
        for source in sorted((self._untracked | {*self._waiting}) & self._ended):
            with SessionReader(self._database, corrected=False) as reader:
                track_source(self._database, source, reader.frames(source))

    def close(self) -> None:
        """End the processes. A source that is not yet tracked has no tracks."""
        for process in (*self._working.values(), *self._idle):
            process.kill()
            process.end()
        self._working.clear()
        self._idle.clear()

    def _hand_out(self) -> None:
        """Take the answers, and give waiting sources to processes."""
        for source, process in list(self._working.items()):
            if not process.connection.poll():
                continue
            answer = process.receive()
            del self._working[source]
            if isinstance(answer, Done):
                self._idle.append(process)
            else:
                process.end()
            if not isinstance(answer, Done) or answer.error is not None:
                self._untracked.add(source)  # also before its end: its remaining frames are still to come
        while self._waiting and (self._idle or len(self._working) < MAX_PROCESSES):
            source = self._waiting.popleft()
            try:
                process = self._idle.pop() if self._idle else ChildProcess("tracking", main, words=Notice("store.tracks_objects"))
            except OSError:  # no process can be started now
                self._untracked.add(source)
                continue
            process.send(Begin(self._database, source))
            if source in self._ended:
                process.send(End(complete=True))
            self._working[source] = process
