"""Runs capture processes without a pool, and decodes what they send."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import wait
from typing import Any, Self

from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.capture import Job, main
from framefleet.engine.media.live.messages import (
    Attach,
    Ended,
    EpochBegan,
    FileRecorded,
    LivePacket,
    LiveState,
    Received,
    RecordedFile,
    StateChanged,
    StopCapture,
)
from framefleet.engine.notices import Notice
from framefleet.engine.processes.child import ChildProcess

CONNECTING, WAITING, RUNNING = LiveState.CONNECTING, LiveState.WAITING_FOR_KEYFRAME, LiveState.RUNNING
PAUSING, STALLED = LiveState.WAITING_TO_RECONNECT, LiveState.STALLED

PATIENCE = 40.0
"""Seconds after which a test gives up: not a measurement."""


def read(text: str) -> LiveAddress:
    """The address in a text."""
    address = LiveAddress.read(text)
    assert address is not None
    return address


class Reading:
    """A capture process: its changes of state, packets, epochs and recorded files.

    process: its main function. job: further fields of ``Job``.
    """

    def __init__(self, address: LiveAddress, attach: bool = True, process: Callable[..., None] = main, **job: Any) -> None:
        self.changes: list[StateChanged] = []
        self.epochs: list[EpochBegan] = []
        self.packets: list[LivePacket] = []
        self.items: list[EpochBegan | LivePacket] = []
        self.files: list[RecordedFile] = []
        self.ended: Ended | None = None
        self.received = 0
        self.child = ChildProcess("capture", process, Job(address, time.perf_counter(), **job), words=Notice("live.process"))
        self.connection: Any = None
        if attach:
            self.attach()

    def attach(self) -> None:
        """Take the packets from now on."""
        self.connection, theirs = multiprocessing.Pipe()
        with theirs:
            self.child.connection.send(Attach(0))
            reduction.send_handle(self.child.connection, theirs.fileno(), self.child.pid)

    def states(self) -> list[LiveState]:
        """The states so far."""
        return [change.state for change in self.changes]

    def until(self, done: Callable[[Reading], bool]) -> Self:
        """Take messages until the condition holds. Fails if it never does."""
        deadline = time.monotonic() + PATIENCE
        while not done(self):
            assert time.monotonic() < deadline, (self.changes, len(self.packets), self.ended)
            self._take()
        return self

    def more(self, count: int) -> Self:
        """Wait for so many more packets."""
        wanted = len(self.packets) + count
        return self.until(lambda reading: len(reading.packets) >= wanted)

    def next_state(self, state: LiveState, known: int) -> Self:
        """Wait for a state. known: number of changes after which it counts."""
        return self.until(lambda reading: state in reading.states()[known:])

    def until_told(self, done: Callable[[Reading], bool]) -> Self:
        """As ``until``, but take no packets meanwhile, as a decoder that is busy."""
        packets, self.connection = self.connection, None
        try:
            return self.until(done)
        finally:
            self.connection = packets

    def _take(self) -> None:
        open_ones = [each for each in (None if self.ended else self.child.connection, self.connection) if each is not None]
        ready: list[Any] = wait(open_ones, 0.2)
        for connection in ready:
            try:
                message = connection.recv()
            except (EOFError, OSError):
                if connection is self.connection:
                    self.connection.close()
                    self.connection = None
                else:
                    self.ended = self.ended or Ended(False, Notice("live.stopped"), self.received)
                continue
            match message:
                case StateChanged():
                    self.changes.append(message)
                case Received(frames):
                    self.received = frames
                case Ended():
                    self.ended = message
                case FileRecorded(file):
                    self.files.append(file)
                case EpochBegan():
                    self.epochs.append(message)
                    self.items.append(message)
                case LivePacket():
                    self.packets.append(message)
                    self.items.append(message)

    def stop(self) -> Ended:
        """Stop, and take what is left."""
        self.child.send(StopCapture())
        self.until(lambda reading: reading.ended is not None and reading.connection is None)
        assert self.ended is not None
        return self.ended

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.end()
        if self.connection is not None:
            self.connection.close()
