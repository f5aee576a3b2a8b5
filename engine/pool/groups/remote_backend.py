"""A backend whose engine runs in another process. Pictures are in shared memory; results come back over a pipe.

The process can decode, too: then it gets whole segments, and their frames stay on its device.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from typing import ClassVar

from framefleet.engine.backends.base import Backend, Progress
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.pool import protocol
from framefleet.engine.pool.events import DeviceReady, EngineBuilding
from framefleet.engine.pool.groups.shared_pictures import Chunk, PictureLocation, SharedPictures
from framefleet.engine.pool.hosts import Host, RemoteWorker, WorkerMain
from framefleet.engine.pool.worker import worker
from framefleet.engine.processes.child import KILL_SECONDS
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import EngineInfo, Found

STOP_SECONDS = 0.4
"""How long ``close`` waits for the worker to stop by itself."""


class MemberLostError(DeviceError):
    """The member's process has ended; a new one may succeed. waited, external: as in ``Outcome``."""

    def __init__(self, why: Notice, waited: float = 0.0, external: bool = False) -> None:
        super().__init__(why)
        self.waited, self.external = waited, external


@dataclass(eq=False)
class _Task:
    """A batch that was sent. images: kept until the answer, since the member reads them in place."""

    future: Future[list[Found]]
    images: Sequence[HostImage]


class Forwarding:
    """Forwards segments to the members of a group that decode themselves, when they ask for one. Thread-safe."""

    def __init__(self) -> None:
        self._needs: dict[RemoteBackend, int] = {}
        self._stopped = False
        self._changed = threading.Condition()

    def join(self, member: RemoteBackend) -> None:
        """Note that a member works."""
        with self._changed:
            self._needs[member] = 0

    def ask(self, member: RemoteBackend) -> None:
        """Note that a member asks for one more segment."""
        with self._changed:
            if member in self._needs:
                self._needs[member] += 1
                self._changed.notify()

    def leave(self, member: RemoteBackend) -> None:
        """Note that a member has ended."""
        with self._changed:
            self._needs.pop(member, None)
            self._changed.notify_all()

    def detect(self, task: protocol.Detect) -> protocol.Done | protocol.Detect:
        """Wait until the group has done a task. A source that is one segment is left: only the group can share its frames."""
        segment = task.segment
        whole = segment.start is None and segment.end is None
        return task if whole or (member := self._take()) is None else member.detect(task)

    def drop(self, source: int) -> None:
        """Let the tasks of a source end soon."""
        for member in self._members():
            member.drop(source)

    def stop(self) -> None:
        """Let every ``detect`` return now."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for member in self._members():
            member.abandon()

    def _members(self) -> list[RemoteBackend]:
        with self._changed:
            return list(self._needs)

    def _take(self) -> RemoteBackend | None:
        """Wait until a member asks for a segment. None: no member is there, or ``stop`` was called."""
        with self._changed:
            while self._needs and not self._stopped:
                member = max(self._needs, key=self._needs.__getitem__)
                if self._needs[member]:
                    self._needs[member] -= 1
                    return member
                self._changed.wait()
            return None


@dataclass(eq=False)
class _Segment:
    """A segment that was sent to a member. frames: number of those that have arrived, and of those left out before them."""

    task: protocol.Detect
    end: Future[protocol.Done]
    frames: int


class RemoteBackend(Backend):
    """A device's engine in its own worker process.

    setup: of its worker. pictures: shared memory; submitted pictures that are not in it are copied into it. forwarding: told when the
    process asks for segments. relay: gets the frames of segments. When the process ends, all current and later submissions fail with
    MemberLostError. The process has its own watchdog; a frozen process is killed.

    Attributes: lost: why the process has ended; None while it runs. delivered: whether it has inferred a frame of a segment.
    """

    worker_main: ClassVar[WorkerMain] = staticmethod(worker.main)

    def __init__(
        self, setup: protocol.Setup, pictures: SharedPictures, forwarding: Forwarding, relay: Callable[[protocol.Frames], None]
    ) -> None:
        super().__init__(setup.device)
        self._forwarding, self._relay = forwarding, relay
        self._segments: dict[tuple[int, int], _Segment] = {}
        self._stats: list[protocol.Stats] = []
        self.delivered = False
        self._setup = setup
        self._pictures = pictures
        # nice=0: the process inherits this process's niceness
        self._host = Host(str(setup.device), type(self).worker_main, nice=0)
        self._remote = RemoteWorker(setup.device, self._host)
        self._lock = threading.Lock()
        self._tasks: dict[int, _Task] = {}
        self._number = 0
        self._known: list[Chunk] = []
        self._busy: Counter[str] = Counter()
        self.lost: MemberLostError | None = None

    def _activate_impl(
        self,
        network: Model,  # noqa: ARG002  sending the weights through a pipe takes longer than reading the file
        settings: EngineSettings,
        progress: Progress | None,
    ) -> EngineInfo:
        self._remote.start(replace(self._setup, engine=settings, member=True))
        self._messages = self._remote.messages()
        for message in self._messages:
            match message:
                case EngineBuilding(_, phase, fraction):
                    if progress is not None:
                        progress(phase, fraction)
                case DeviceReady(engine):
                    self._slots = threading.Semaphore(engine.slots)
                    if self._setup.decodes:
                        self._forwarding.join(self)
                    self._listening = threading.Thread(target=self._listen, name=f"member {self.device}", daemon=True)
                    self._listening.start()
                    return engine
        outcome = self._remote.reap(self._remote.host.end())
        raise MemberLostError(outcome.reason, outcome.waited, outcome.external) if outcome.retry else DeviceError(outcome.reason)

    def _submit_impl(self, images: Sequence[HostImage], still: bool) -> Future[list[Found]]:
        self._slots.acquire()
        try:
            # urgent: the picture that tests the engine must not wait for memory of pictures that wait for this test
            images = [image if self._pictures.locate(image) is not None else self._pictures.put(image, urgent=True) for image in images]
            places = tuple(map(self._place, images))
            with self._lock:
                if self.lost is not None:
                    raise self.lost
                if (chunks := self._pictures.chunks) != self._known:
                    self._known = chunks
                    self._remote.send(protocol.SharedMemory(tuple(chunks)))
                self._number += 1
                future: Future[list[Found]] = Future()
                self._tasks[self._number] = _Task(future, images)
                self._remote.send(protocol.Infer(self._number, places, still))
        except BaseException:
            self._slots.release()
            raise
        future.add_done_callback(lambda _: self._slots.release())
        return future

    def _place(self, image: HostImage) -> PictureLocation:
        place = self._pictures.locate(image)
        if place is None:
            raise RuntimeError(f"a picture of {image.nbytes} bytes is not in shared memory")
        return place

    def timings(self) -> Mapping[str, float]:
        """ms that the device spent in each stage since the last call, by its own clock; empty if it has none. From any thread."""
        with self._lock:
            busy, self._busy = self._busy, Counter()
        return busy

    def stats(self) -> list[protocol.Stats]:
        """What the process has measured in segments since the last call."""
        with self._lock:
            stats, self._stats = self._stats, []
        return stats

    def detect(self, task: protocol.Detect) -> protocol.Done | protocol.Detect:
        """Let the process decode and infer a segment, and relay its frames.

        Returns its end, or what is left of it after ``abandon`` or a crash.
        """
        key = task.source, task.segment.number
        segment = _Segment(task, Future(), task.skip)
        with self._lock:
            if self.lost is not None:
                return task
            self._segments[key] = segment
            self._remote.send(task)
        try:
            return segment.end.result()
        except (MemberLostError, CancelledError):
            done = segment.frames - task.skip
            return replace(task, skip=segment.frames, limit=None if task.limit is None else task.limit - done)

    def abandon(self) -> None:
        """End every ``detect`` now."""
        for segment in self._take_segments():
            segment.end.cancel()

    def drop(self, source: int) -> None:
        """Let the process end the segments of a source."""
        with self._lock:
            if self.lost is None and any(number == source for number, _ in self._segments):
                self._remote.send(protocol.Drop(source))

    def _close_impl(self) -> None:
        with self._lock:
            if self.lost is None:
                self._remote.send(protocol.Stop())
        self._listening.join(STOP_SECONDS)
        if self._listening.is_alive():
            self._host.kill()
            self._listening.join(KILL_SECONDS)

    def _listen(self) -> None:
        for message in self._messages:
            self._take(message)
        ended = self._remote.host.end()
        with self._lock:
            outcome, tasks = self._remote.reap(ended), list(self._tasks.values())
            self.lost = MemberLostError(outcome.reason, outcome.waited, outcome.external)
            self._tasks.clear()
        self._forwarding.leave(self)
        for segment in self._take_segments():
            segment.end.set_exception(self.lost)
        for task in tasks:
            task.future.set_exception(self.lost)

    def _take_segments(self) -> list[_Segment]:
        with self._lock:
            segments = list(self._segments.values())
            self._segments.clear()
        return segments

    def _take(self, message: protocol.FromWorker) -> None:
        match message:
            case DeviceReady(engine) if self._info is not None:
                self._info = engine
            case protocol.Inferred() | protocol.InferenceFailed():
                with self._lock:
                    task = self._tasks.pop(message.number)
                task.images = ()
                if isinstance(message, protocol.Inferred):
                    task.future.set_result(list(message.results.unpack()))
                else:
                    task.future.set_exception(DeviceError(message.message))
            case protocol.Need():
                self._forwarding.ask(self)
            case protocol.Frames():
                with self._lock:
                    segment = self._segments.get((message.source, message.segment))
                    if segment is None:  # abandoned
                        return
                    segment.frames, self.delivered = message.first + len(message), True
                self._relay(replace(message, devices=dict.fromkeys(range(len(message)), self.device)))
            case protocol.Done():
                with self._lock:
                    segment = self._segments.pop((message.source, message.segment), None)
                if segment is not None:
                    segment.end.set_result(message)
            case protocol.Stats():
                with self._lock:
                    self._busy.update(message.busy)
                    if len(message.latencies):
                        self._stats.append(message)
