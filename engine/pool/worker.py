"""The process of one device: builds its engine, then probes, decodes and infers what the pool asks for.

Threads: ``main`` builds the engine and feeds it; ``receive`` listens to the pool, and ends the process when the pool is gone;
``probe`` opens sources, ``read 0``, ``read 1``, … decode, ``deliver`` awaits results and sends them, ``watch`` ends the process when
one of these hangs. Heavy libraries are imported after ``receive`` runs, so that the process can be stopped at any time.

The end of the pool is seen as the end of the connection, not by ``PR_SET_PDEATHSIG``: that signal comes when the *thread* that
started the worker ends, and the pool may be driven by a thread of the window's.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import signal
import sys
import threading
import time
import traceback
from multiprocessing.connection import Connection
from typing import NoReturn

from engine.backends.base import Backend, Progress
from engine.errors import FramefleetError
from engine.pool.pipeline import Pipeline
from engine.pool.protocol import Began, Building, Detect, Drop, Failed, FromWorker, Probe, Probed, ProbeFailed, Ready, Setup, Stop, ToWorker
from engine.pool.watchdog import Watchdog

NICE = 5
"""Workers give way to the window and to whatever else the user does: a detection may take a moment longer, a click may not."""

PROGRESS_SECONDS = 0.1

PROBE_PATIENCE = 20
"""Opening a source may take so many times as long as one frame: a file without an index is read from start to end."""

STOP_SECONDS = 0.7
"""After this long, a worker that was asked to stop leaves its engine as it is: the user is waiting."""


def main(connection: Connection[FromWorker, ToWorker], setup: Setup) -> None:
    """A worker's life. Never returns: the interpreter's own shutdown would wait for threads that are inside libraries."""
    # the pool stops its workers in stages; Ctrl-C reaches them too, and must not be quicker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    if hasattr(os, "nice"):
        os.nice(NICE)
    Worker(connection, setup).run()


def leave(status: int) -> NoReturn:
    """End the process, whatever its threads are doing."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


class Worker:
    """What the threads share."""

    def __init__(self, connection: Connection[FromWorker, ToWorker], setup: Setup) -> None:
        self._connection = connection
        self._setup = setup
        self._sending = threading.Lock()
        self._probes: queue.SimpleQueue[Probe] = queue.SimpleQueue()
        self._pipeline: Pipeline | None = None
        self._watchdog = Watchdog(setup.stall_seconds, self._sending.locked, self._die)

    def run(self) -> NoReturn:
        """Build the engine, feed it until the pool says ``Stop``."""
        threading.excepthook = lambda problem: self._crash(problem.exc_value)  # a worker without one of its threads would hang
        for name, target in (("receive", self._receive), ("probe", self._probe), ("watch", self._watchdog.run)):
            threading.Thread(target=target, name=name, daemon=True).start()
        try:
            with self._build() as backend:
                self._pipeline = Pipeline(backend, self._send, self._die, self._watchdog)
                self._send(Ready(backend.info))
                self._pipeline.run()
        except Exception as problem:
            self._crash(problem)
        leave(0)

    def _build(self) -> Backend:
        from engine.backends import create_backend
        from engine.model.load import load_network

        try:
            backend = create_backend(self._setup.device)
            backend.activate(load_network(self._setup.model), self._setup.engine, self._progress())
        except FramefleetError as error:
            self._die(Failed(str(error), retry=False))
        return backend

    def _progress(self) -> Progress:
        """Tells the pool how far the engine is: every new phase, and of each no more than it can show."""
        told, due = "", 0.0

        def tell(phase: str, fraction: float) -> None:
            nonlocal told, due
            self._watchdog.reset()
            now = time.monotonic()
            if phase != told or now >= due:
                told, due = phase, now + PROGRESS_SECONDS
                self._send(Building(phase, fraction))

        return tell

    def _crash(self, problem: BaseException | None) -> NoReturn:
        traceback.print_exception(problem)
        self._die(Failed(f"{type(problem).__name__}: {problem}", retry=True))

    def _send(self, message: FromWorker) -> None:
        with self._sending:
            try:
                self._connection.send(message)
            except OSError:
                leave(1)

    def _die(self, why: Failed) -> NoReturn:
        self._send(why)
        leave(1)

    def _receive(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                leave(1)
            match message:
                case Probe():
                    self._probes.put(message)
                case Detect() if self._pipeline is not None:
                    self._pipeline.reader.put(message)
                case Drop() if self._pipeline is not None:
                    self._pipeline.reader.drop(message.source)
                case Stop():
                    if self._pipeline is None:
                        leave(0)
                    self._pipeline.buffer.close()
                    time.sleep(STOP_SECONDS)
                    leave(0)

    def _probe(self) -> None:
        from engine.media.probe import probe

        clock = self._watchdog.add()
        while True:
            task = self._probes.get()
            self._send(Began(task.source, None))
            clock.start(f"opening {task.path}", PROBE_PATIENCE * self._watchdog.seconds)
            try:
                answer: Probed | ProbeFailed = Probed(task.source, probe(task.path))
            except FramefleetError as error:
                answer = ProbeFailed(task.source, str(error))
            except Exception as error:
                traceback.print_exc()
                answer = ProbeFailed(task.source, f"{task.path}: {type(error).__name__}: {error}")
            clock.stop()
            self._send(answer)
