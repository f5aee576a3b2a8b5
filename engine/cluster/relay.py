"""Moves messages between a pool and one agent, until the agent ends, and sends the agent the files that it needs.

The pool talks to each worker over a pipe, as to a worker of its own machine. Two threads are at the other ends: one collects what the
pool has sent and passes it to the agent; one waits for what the agent has collected and writes it into the pipes. When the agent does
not answer, each pipe gets ``Unreachable`` and ends.
"""

import errno
import itertools
import logging
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from framefleet.engine.cluster.agent import STOP_SECONDS
from framefleet.engine.cluster.files import CHUNK, Content, Contents
from framefleet.engine.cluster.library import AgentHandle
from framefleet.engine.cluster.messages import End, FromAgent, Hello, Measure, Measured, Message, Start, Task, ToAgent, Wanted
from framefleet.engine.notices import ClusterError, Notice, SourceError, notice_of
from framefleet.engine.pool.hosts import WorkerMain
from framefleet.engine.pool.protocol import Detect, Probe, Setup, Unreachable
from framefleet.engine.processes import AnyConnection

_numbers = itertools.count()


class Remote:
    """A worker on the node. connection: the relay's end of its pipe.

    One thread reads the connection and closes it; any thread may write.
    """

    def __init__(self, connection: AnyConnection) -> None:
        self.number = next(_numbers)
        self.connection = connection
        self._writing = threading.Lock()

    def write(self, data: bytes) -> None:
        """Pass a message to the pool, unless the pool has closed its end."""
        with self._writing, suppress(OSError):
            self.connection.send_bytes(data)

    def lose(self, why: Unreachable) -> None:
        """Tell the pool that the worker cannot be reached."""
        self.write(pickle.dumps(why))

    def close(self) -> None:
        """Close the connection."""
        with self._writing:
            self.connection.close()


ATTEMPTS = 2
"""How often a file is sent that does not arrive as it was sent."""

UNDER_WAY = 2
"""Chunks sent before the first one is confirmed."""


def send_content(agent: AgentHandle, content: Content, patience: float) -> int:
    """Send a content, or say why it cannot be sent. patience: seconds for one chunk. Returns the number of bytes sent.

    Raises ClusterError if the agent has ended.
    """

    def ask(method: str, *arguments: Any, **named: Any) -> None:
        agent.result(agent.call(method, content, *arguments, lane="files", **named), patience)

    try:
        files = [(path, path.stat().st_size) for path in content.files()]
    except (OSError, SourceError) as error:
        ask("abandon_file", Notice("general.unreadable", path=content.path, detail=_reason(error)), here=False)
        return 0
    for attempt in range(ATTEMPTS):
        try:
            ask("begin_file", [size for _, size in files])
            digests = [
                (name := "" if path == content.path else path.name, *_send_file(agent, content, path, name, patience)) for path, _ in files
            ]
            ask("finish_file", digests)
            break
        except SourceError as error:
            ask("abandon_file", error.notice, here=False)
            return 0
        except OSError as error:
            if error.errno != errno.EIO or attempt + 1 == ATTEMPTS:
                ask("abandon_file", Notice("cluster.not_stored", path=content.path, problem=_reason(error)), here=True)
                return 0
    return sum(size for _, size, _ in digests)


def _send_file(agent: AgentHandle, content: Content, path: Path, name: str, patience: float) -> tuple[int, str]:
    """Send one file in chunks. Returns its size in bytes and its digest."""
    digest, offset = blake2b(), 0
    under_way: deque[Any] = deque()
    for data in _chunks(path):
        digest.update(data)
        under_way.append(agent.call("write_file", content, name, offset, data, lane="files"))
        offset += len(data)
        if len(under_way) == UNDER_WAY:
            agent.result(under_way.popleft(), patience)
    for call in under_way:
        agent.result(call, patience)
    return offset, digest.hexdigest()


def _chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in parts of ``CHUNK`` bytes. Raises SourceError."""
    try:
        with path.open("rb") as file:
            while data := file.read(CHUNK):
                yield data
    except OSError as error:
        raise SourceError(Notice("general.unreadable", path=path, detail=_reason(error))) from error


def _reason(error: Exception) -> Notice | str:
    return error.strerror if isinstance(error, OSError) and error.strerror else notice_of(error)


_log = logging.getLogger(__name__)


class Relay:
    """The connection to one agent. Does not wait for the agent to start.

    name: of the node. agent: its handle. patience: seconds without an answer after which the agent counts as lost. contents: of the run.
    may_return: asked once, when the agent has ended: whether another one may be started. hello: the agent's first answer, or ClusterError.
    """

    def __init__(self, name: str, agent: AgentHandle, patience: float, contents: Contents, may_return: Callable[[], bool]) -> None:
        self.name = name
        self.hello: Future[Hello] = Future()
        self.sent = self.received = 0
        self.measured: Measured | None = None
        self._agent = agent
        self._patience = patience
        self._contents = contents
        self._may_return = may_return
        self._lock = threading.Lock()
        self._losing = threading.Lock()
        self._lost: Unreachable | None = None
        self._closed = False
        self._over = threading.Event()  # set when all workers' pipes have got their last message
        self._remotes: dict[int, Remote] = {}
        self._ended: list[Remote] = []  # to be closed by the thread that reads them
        self._starts: list[ToAgent] = []
        self._wake, self._wake_in = Pipe(duplex=False)
        self._sender = ThreadPoolExecutor(1, f"send files to {name}")
        self._threads = [
            threading.Thread(target=target, name=f"{name} {target.__name__.strip('_')}", daemon=True)
            for target in (self._receive, self._send)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def lost(self) -> bool:
        """Whether the agent has ended or does not answer."""
        return self._lost is not None

    @property
    def returns(self) -> bool:
        """Whether another agent may take the place of a lost one."""
        return self._lost is not None and self._lost.retry

    def admit(self, setup: Setup, worker_main: WorkerMain, pipe: AnyConnection) -> None:
        """Start a worker. pipe: to the pool."""
        remote = Remote(pipe)
        try:
            start = Start(remote.number, setup, worker_main, self._contents.model(setup))
        except OSError as error:
            refused: Unreachable | None = Unreachable(Notice("cluster.model_unreadable", error=str(error)), retry=False)
        else:
            with self._lock:
                if (refused := self._lost) is None:
                    self._remotes[remote.number] = remote
                    self._starts.append(start)
        if refused is None:
            self._wake_up()
        else:
            remote.lose(refused)
            remote.close()

    def ask(self, method: str) -> Any:
        """Call a method of the agent, and wait for its result. Raises ClusterError."""
        return self._agent.result(self._agent.call(method), self._patience)

    def measure(self, wanted: bool) -> None:
        """Let the agent take telemetry, or stop."""
        self.measured = None
        with self._lock:
            self._starts.append(Measure(wanted))
        self._wake_up()

    def give_up(self, why: Notice) -> None:
        """Tell the pool that the node is lost for good."""
        self._closed = True
        self._lose(why)

    def close(self) -> None:
        """End the agent and its workers."""
        if not self.lost:
            with suppress(ClusterError, OSError):
                self._agent.result(self._agent.call("stop"), STOP_SECONDS + 2)
        self._closed = True
        self._lose(Notice("cluster.run_has_ended"))
        self._agent.kill()
        self._wake_up()
        self._sender.shutdown(cancel_futures=True)
        for thread in self._threads:
            thread.join()
        self._wake.close()
        self._wake_in.close()

    def _wake_up(self) -> None:
        with suppress(OSError):
            self._wake_in.send_bytes(b"!")

    def _receive(self) -> None:
        try:
            self.hello.set_result(self._agent.result(self._agent.call("hello"), self._patience))
            pending = self._agent.call("receive", lane="receive")
            while True:
                messages = self._agent.result(pending, self._patience)
                if self._closed:
                    return
                pending = self._agent.call("receive", lane="receive")  # the agent collects while these are written
                for message in messages:
                    self._take(message)
        except (ClusterError, OSError) as error:
            self._lose(notice_of(error))

    def _take(self, message: FromAgent) -> None:
        match message:
            case Message(worker, data):
                if (remote := self._remotes.get(worker)) is not None:
                    self.received += len(data)
                    remote.write(data)
            case End(worker):
                with self._lock:
                    if (remote := self._remotes.pop(worker, None)) is not None:
                        self._ended.append(remote)
                self._wake_up()
            case Wanted(content) if content not in self._contents:
                self.give_up(Notice("cluster.foreign_content", path=content.path))
            case Wanted(content):
                with suppress(RuntimeError):  # the run has ended
                    self._sender.submit(self._send_content, content)
            case Measured():
                self.measured = message

    def _send_content(self, content: Content) -> None:
        try:
            _log.info("%s: sending %s", self.name, content.path)
            self.sent += send_content(self._agent, content, self._patience)
        except (ClusterError, OSError) as error:
            self._lose(notice_of(error))

    def _send(self) -> None:
        try:
            while (messages := self._collect()) is not None:
                if messages:
                    self._agent.result(self._agent.call("send", messages, lane="send"), self._patience)
        except (ClusterError, OSError) as error:
            self._lose(notice_of(error))
        self._over.wait()
        self._close_ended()

    def _close_ended(self) -> None:
        with self._lock:
            ended, self._ended = self._ended, []
        for remote in ended:
            remote.close()

    def _collect(self) -> Sequence[ToAgent] | None:
        """Wait for messages of the pool. Returns them in order, None: the relay has ended."""
        with self._lock:
            remotes = {remote.connection: remote for remote in self._remotes.values()}
        ready = wait([self._wake, *remotes])
        self._close_ended()
        if self._over.is_set():
            return None
        while self._wake.poll():
            self._wake.recv_bytes()
        with self._lock:
            starts, self._starts = self._starts, []
        messages: list[ToAgent] = [*starts]
        for connection in ready:
            if connection in remotes:
                messages += self._read(remotes[connection])
        return messages

    def _read(self, remote: Remote) -> list[ToAgent]:
        messages: list[ToAgent] = []
        if remote.connection.closed:  # its worker has ended
            return messages
        try:
            while remote.connection.poll():
                data = remote.connection.recv_bytes()
                task = pickle.loads(data)
                if isinstance(task, Probe | Detect):
                    path = task.path if isinstance(task, Probe) else Path(task.info.path)
                    messages.append(Task(remote.number, task, self._contents.source(path)))
                else:
                    messages.append(Message(remote.number, data))
        except (EOFError, OSError):  # the pool is done with the worker
            with self._lock:
                self._remotes.pop(remote.number, None)
            remote.close()
            messages.append(End(remote.number))
        return messages

    def _lose(self, why: Notice) -> None:
        """Tell the pool that the workers cannot be reached. The thread that reads their connections closes them."""
        with self._losing:
            if self._lost is not None:
                return
            retry = not self._closed and self._may_return()
            with self._lock:
                self._lost = Unreachable(Notice("cluster.unreachable", name=self.name, why=why), retry)
                remotes, self._remotes = list(self._remotes.values()), {}
        with suppress(InvalidStateError):
            self.hello.set_exception(ClusterError(why))
        _log.info("%s is lost: %s", self.name, why)
        for remote in remotes:
            remote.lose(self._lost)
        with self._lock:
            self._ended += remotes
        self._agent.kill()
        self._over.set()
        self._wake_up()
