"""An agent's side of one worker: its process, its messages, and the files that its tasks need."""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.files import Content, Store
from framefleet.engine.cluster.messages import End, FromAgent, Message, Start, Task
from framefleet.engine.errors import ClusterError, FramefleetError
from framefleet.engine.notices import Notice
from framefleet.engine.pool.hosts import Host
from framefleet.engine.pool.protocol import Detect, Done, Drop, Failed, Probe, Probed, ProbeFailed, Revoke, Setup, Stopped
from framefleet.engine.settings import ModelFiles

Key = tuple[int, int | None]
"""The numbers of a task's source and segment, None = a probe."""


class WorkerLink:
    """Connects the driver to a worker on this node.

    put: takes a message for the driver, and whether to wait until there is room. store: the node's files. before: the earlier worker of
    the same device, which has to end first.
    """

    def __init__(self, start: Start, put: Callable[[FromAgent, bool], None], store: Store, before: WorkerLink | None) -> None:
        self._start = start
        self._put = put
        self._store = store
        self._before = before
        self._lock = threading.Lock()
        self._host: Host | None = None
        self._connection: Connection[Any, Any] | None = None
        self._early: list[bytes] = []  # messages that came before the worker was started
        self._over = self._said_why = False
        self._held: dict[Key, Task] = {}  # tasks whose file is not here yet
        self._tasks: dict[Key, Task] = {}  # all unfinished tasks
        self._files: list[Content] = []  # that the setup needs
        self._names: dict[str, str] = {}  # paths on this node, and on the driver
        self._thread = threading.Thread(target=self._run, name=f"worker {start.worker}", daemon=True)
        self._thread.start()

    def join(self, seconds: float | None = None) -> None:
        """Wait until the worker's process has ended."""
        self._thread.join(seconds)

    def end(self) -> None:
        """End the worker's process, without waiting for it."""
        with self._lock:
            self._over = True
            if self._host is not None:
                self._host.release()

    def take(self, task: Task) -> None:
        """Pass a task on when its file is here."""
        key = task.task.source, None if isinstance(task.task, Probe) else task.task.segment.number
        with self._lock:
            self._held[key] = self._tasks[key] = task
        self._store.obtain(task.content, lambda found: self._found(key, task, found))

    def pass_on(self, data: bytes) -> None:
        """Pass any other message on. A held task that it revokes or drops ends here."""
        message = pickle.loads(data)
        if isinstance(message, Drop | Revoke):
            with self._lock:
                held = [key for key in self._held if key[0] == message.source and (isinstance(message, Drop) or key[1] == message.segment)]
                ended = [self._held.pop(key).task for key in held]
            for task in ended:
                self._answer(_unfinished(task, Notice("cluster.cancelled"), complete=False))
        self._send(data)

    def _found(self, key: Key, task: Task, found: Path | FramefleetError) -> None:
        with self._lock:
            if self._held.get(key) is not task:
                return  # it was revoked or dropped meanwhile
            del self._held[key]
        if isinstance(found, ClusterError):
            self._fail(found)
        elif isinstance(found, FramefleetError):
            self._answer(_unfinished(task.task, found.notice, complete=True))
        else:
            self._send(pickle.dumps(self._localized(task.task, str(found))))

    def _localized(self, task: Probe | Detect, path: str) -> Probe | Detect:
        original = str(task.path) if isinstance(task, Probe) else task.info.path
        if path != original:
            self._names[path] = original
        return replace(task, path=Path(path)) if isinstance(task, Probe) else replace(task, info=replace(task.info, path=path))

    def _send(self, data: bytes) -> None:
        with self._lock:
            if self._connection is None:
                self._early.append(data)
                return
        with suppress(OSError):  # the worker has ended; its thread notices that
            self._connection.send_bytes(data)

    def _answer(self, message: Any) -> None:
        """Answer the driver in the worker's place."""
        self._put(Message(self._start.worker, pickle.dumps(self._returned(message))), False)

    def _fail(self, problem: FramefleetError) -> None:
        """Give this worker's device up: the node cannot have a file."""
        self._answer(Failed(problem.notice, retry=False))
        self.end()

    def _run(self) -> None:
        if self._before is not None:
            self._before.join()
            self._before = None
        try:
            setup = self._with_files()
        except FramefleetError as problem:
            self._fail(problem)
            setup = None
        if setup is not None and (connection := self._begin(setup)) is not None:
            while (data := _receive(connection)) is not None:
                self._put(Message(self._start.worker, self._handed_on(data)), True)
            assert self._host is not None
            outcome = self._host.end()
            connection.close()
            if not self._said_why:
                self._answer(Failed(outcome.reason, outcome.retry, outcome.waited, outcome.external))
        with self._lock:
            self._over = True
            tasks, self._tasks, self._held = self._tasks, {}, {}
        for task in tasks.values():
            self._store.release(task.content)
        for content in self._files:
            self._store.release(content)
        self._put(End(self._start.worker), False)

    def _with_files(self) -> Setup:
        """The setup, with the paths of its files on this node. Waits for files that are sent."""
        setup, model = self._start.setup, self._start.setup.model
        paths = {content.path: self._await(content) for content in self._start.model}
        weights = paths[model.weights.absolute()] if isinstance(model.weights, Path) else model.weights
        labels = None if model.labels is None else paths[model.labels.absolute()]
        return replace(setup, model=ModelFiles(paths[model.cfg.absolute()], weights, labels, model.size, model.reading))

    def _await(self, content: Content) -> Path:
        """Wait for a file. Raises ClusterError, SourceError."""
        self._files.append(content)
        found: queue.SimpleQueue[Path | FramefleetError] = queue.SimpleQueue()
        self._store.obtain(content, found.put)
        path = found.get()
        if isinstance(path, FramefleetError):
            raise path
        return path

    def _begin(self, setup: Setup) -> Connection[Any, Any] | None:
        """Start the worker. None: it is not wanted any more."""
        host = Host(str(setup.device), self._start.worker_main, nice=0)  # Ray's own processes have a niceness already
        with self._lock:
            if self._over:
                return None
            self._host = host
            connection = host.admit(setup)
            for data in self._early:
                connection.send_bytes(data)
            self._early = []
            self._connection = connection
        return connection

    def _handed_on(self, data: bytes) -> bytes:
        """A worker's message, with the paths of the driver."""
        message = pickle.loads(data)
        returned = self._returned(message)
        return data if returned is message else pickle.dumps(returned)

    def _returned(self, message: Any) -> Any:
        """The message with the paths of the driver. Notes the end of tasks."""
        match message:
            case Probed(source) | ProbeFailed(source):
                key: Key = (source, None)
            case Done(source, segment):
                key = (source, segment)
            case Stopped():
                self._said_why = True
                return message
            case Failed():
                self._said_why = True
                return replace(message, message=self._renamed(message.message))
            case _:
                return message
        with self._lock:
            task = self._tasks.pop(key, None)
        if task is not None:
            self._store.release(task.content)
        if isinstance(message, Probed):
            path = message.info.path
            return replace(message, info=replace(message.info, path=self._names[path])) if path in self._names else message
        return message if message.error is None else replace(message, error=self._renamed(message.error))

    def _renamed(self, notice: Notice) -> Notice:
        return notice.map(lambda value: self._on_driver(value) if isinstance(value, Path) else value)

    def _on_driver(self, path: Path) -> Path:
        """A path of this node as the driver knows it: that of a source, or of a picture in one."""
        for here, there in self._names.items():
            if path.is_relative_to(here):
                return Path(there) / path.relative_to(here)
        return path


def _unfinished(task: Probe | Detect, why: Notice, complete: bool) -> ProbeFailed | Done:
    """The answer to a task that never reached the worker. complete: no other worker can do it, because its file cannot be read."""
    if isinstance(task, Probe):
        return ProbeFailed(task.source, why)
    return Done(task.source, task.segment.number, task.skip, complete, why if complete else None)


def _receive(connection: Connection[Any, Any]) -> bytes | None:
    try:
        return connection.recv_bytes()
    except (EOFError, OSError):
        return None
