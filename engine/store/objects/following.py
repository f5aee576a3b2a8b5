"""Tracks the sources of a run while they are detected, each in a child process that reads the session."""

import os
from collections import deque
from multiprocessing.connection import wait
from pathlib import Path

from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.store.objects.tracking_process import Begin, Done, End, main
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import track_source
from framefleet.engine.tracking.follow import TrackerName
from framefleet.engine.types import Closing

MOST = os.cpu_count() or 1
"""Most processes at once. Further sources wait: their frames are stored."""


class Following(Closing):
    """Tracks sources of the session ``database``. Use it from one thread.

    A process takes the next source when its source has ended. If it crashes, this process tracks its source in ``finish``.
    """

    def __init__(self, database: Path, tracker: TrackerName) -> None:
        self._database, self.tracker = database, tracker
        self._waiting: deque[int] = deque()
        self._ended: set[int] = set()
        self._working: dict[int, ChildProcess] = {}
        self._idle: list[ChildProcess] = []
        self._failed: list[int] = []

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
        for source in self._failed:
            with SessionReader(self._database, corrected=False) as reader:
                track_source(self._database, source, self.tracker, reader.frames(source))

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
            if source in self._ended and not (isinstance(answer, Done) and answer.error is None):
                self._failed.append(source)
        while self._waiting and (self._idle or len(self._working) < MOST):
            source = self._waiting.popleft()
            process = self._idle.pop() if self._idle else ChildProcess("tracking", main, words="the process that tracks objects")
            process.send(Begin(self._database, source, self.tracker))
            if source in self._ended:
                process.send(End(complete=True))
            self._working[source] = process
