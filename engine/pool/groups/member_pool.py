"""The members of a group and their queue of pictures. A member with a free slot takes a batch from the queue.

One thread per member builds its engine, takes pictures and submits them. A member whose process ends is restarted, as often as a worker,
and the other members do its pictures. A picture that may have crashed several members is done alone.
"""

import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, takewhile
from typing import NoReturn

from framefleet.engine.backends.base import Backend
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import DeviceError, FramefleetError, Notice, notice_of, unexpected
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting
from framefleet.engine.pool.groups.remote_backend import MemberLostError, RemoteBackend
from framefleet.engine.pool.protocol import DeviceEvent, Failed, Stats
from framefleet.engine.pool.scheduling.strategies import DIED_TWICE, CrashCount
from framefleet.engine.pool.worker.inference import Inference, SharedBatch, build, still_works
from framefleet.engine.processes.outcome import RESTART_SECONDS, RESTARTS, RestartBudget
from framefleet.engine.processes.watchdog import Watchdog
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, EngineInfo, Found, InferenceFailure, of_device, without_device

_SMOOTHING = 0.3


@dataclass(eq=False, slots=True)
class QueuedPicture:
    """A picture for any member. crashes: of members during its inference."""

    image: HostImage
    still: bool
    shared: SharedBatch
    position: int
    crashes: CrashCount = CrashCount()  # noqa: RUF009


@dataclass(eq=False)
class MemberState:
    """One device. backend: None while it has no engine. batches, pictures: numbers under way. seconds: recent time per picture.

    alone: it has a suspect picture and gets no other one. doubtful: why a batch failed, until a test shows whether the engine works.
    lost: why the engine does not work any more. out: why the member has left the group. without_picture: number of its processes in a row
    that something outside ended before a batch was done.
    """

    device: DeviceId
    backend: Backend | None = None
    batches: int = 0
    pictures: int = 0
    seconds: float | None = None
    free_since: float = 0.0
    alone: bool = False
    doubtful: Notice | None = None
    lost: FramefleetError | None = None
    out: Notice | None = None
    attempt: int = 0
    without_picture: int = 0
    budget: RestartBudget = field(default_factory=RestartBudget)


class PictureQueue:
    """Pictures that wait for a member with a free slot. Not thread-safe.

    members: all of the group. spread_evenly: see ``MemberPool``.
    """

    def __init__(self, members: Collection[MemberState], spread_evenly: bool) -> None:
        self._members, self._spread_evenly = members, spread_evenly
        self._waiting: deque[QueuedPicture] = deque()

    @property
    def waiting(self) -> int:
        """Number of pictures that wait for a member."""
        return len(self._waiting)

    def put(self, pictures: Iterable[QueuedPicture]) -> None:
        """Append pictures."""
        self._waiting.extend(pictures)

    def take(self, member: MemberState) -> list[QueuedPicture]:
        """Take the pictures of the member's next batch. Empty: none now."""
        count = self._share(member)
        pictures = [self._waiting.popleft() for _ in range(count)]
        if pictures:
            member.alone = pictures[0].crashes.suspect
            member.batches += 1
            member.pictures += count
        return pictures

    def end(self, member: MemberState, pictures: Collection[QueuedPicture], again: list[QueuedPicture], started: float | None) -> None:
        """Note that a batch has ended. again: pictures to infer again, before all others. started: monotonic time, None = it failed."""
        member.batches -= 1
        member.pictures -= len(pictures)
        member.alone = False
        if started is not None:
            self._time(member, started, len(pictures))
        self._waiting.extendleft(reversed(again))

    def _share(self, member: MemberState) -> int:
        """Number of queued pictures that this member should take now."""
        assert member.backend is not None
        engine = member.backend.info
        if not self._waiting or member.batches == engine.slots or member.alone:
            return 0
        first = self._waiting[0]
        if first.crashes.suspect:
            return int(member.batches == 0)
        alike = takewhile(lambda picture: picture.still == first.still and not picture.crashes.suspect, self._waiting)
        count = sum(1 for _ in islice(alike, engine.batch))
        if count < engine.batch and member.batches:  # the member is busy, and later pictures may fill the batch
            return 0
        return count if not self._spread_evenly or self._pays(member, count) else 0

    def _pays(self, member: MemberState, count: int) -> bool:
        """Whether this member finishes ``count`` pictures before another member could finish the whole queue."""
        if member.seconds is None:
            return True
        own = (member.pictures + count) * member.seconds
        others = [
            (other.pictures + len(self._waiting)) * other.seconds
            for other in self._members
            if other is not member and other.backend is not None and other.seconds is not None
        ]
        return own <= min(others, default=own)

    def _time(self, member: MemberState, started: float, count: int) -> None:
        now = time.monotonic()
        seconds = (now - max(started, member.free_since)) / count
        member.free_since = now
        member.seconds = seconds if member.seconds is None else member.seconds + _SMOOTHING * (seconds - member.seconds)


_LOOK_SECONDS = 0.5
_JOIN_SECONDS = 1.0


class MemberPool:
    """Engines for several devices that share a queue of pictures.

    make: creates a device's backend, not yet activated. report: called with messages about members. die: called when no member is left, or
    after an internal error. watchdog: for members without their own process. spread_evenly: whether pictures are needed together; a slow
    member then takes none that the others can finish sooner.
    """

    def __init__(
        self,
        devices: Sequence[DeviceId],
        make: Callable[[DeviceId], Backend],
        report: Callable[[DeviceEvent], None],
        die: Callable[[Failed], NoReturn],
        watchdog: Watchdog,
        spread_evenly: bool = False,
    ) -> None:
        self._members = {device: MemberState(device) for device in devices}
        self._make, self._report, self._die, self._watchdog = make, report, die, watchdog
        self._queue = PictureQueue(self._members.values(), spread_evenly)
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._started = self._closed = False

    @property
    def engines(self) -> list[EngineInfo]:
        """The engines that work now."""
        with self._changed:
            return [member.backend.info for member in self._members.values() if member.backend is not None]

    @property
    def expected(self) -> int:
        """Number of members that have not left the group."""
        with self._changed:
            return sum(member.out is None for member in self._members.values())

    @property
    def idle(self) -> bool:
        """Whether no picture waits for a member or is inferred."""
        with self._changed:
            return not self._queue.waiting and not any(member.batches for member in self._members.values())

    def start(self, network: Model, settings: Mapping[DeviceId, EngineSettings]) -> None:
        """Build all engines at once. Returns when every first attempt has ended and an engine works. settings: of each member.

        Raises DeviceError if no engine works.
        """
        for member in self._members.values():
            name, arguments = f"lead {member.device}", (member, network, settings[member.device])
            self._threads.append(threading.Thread(target=self._run, args=arguments, name=name, daemon=True))
            self._threads[-1].start()
        with self._changed:
            while not self._can_start():
                self._changed.wait()
            problems = [member.out for member in self._members.values() if member.out is not None]
            if len(problems) == len(self._members):
                raise DeviceError(Notice("pool.members_failed", members=tuple(dict.fromkeys(problems))))
            self._started = True

    def _can_start(self) -> bool:
        """Whether every first attempt to build an engine has ended, and one has succeeded or none will."""
        missing = [member for member in self._members.values() if member.backend is None and member.out is None]
        return not missing or (bool(self.engines) and all(member.attempt > 1 for member in missing))

    def put(self, images: Sequence[HostImage], still: bool, shared: SharedBatch | None = None, first: int = 0) -> SharedBatch:
        """Queue pictures, and return their batch. They must not change until it is done.

        shared, first: the batch of which they are a part, and the position of the first one there. None: they are a batch of their own.
        """
        batch = shared or SharedBatch(len(images), next(iter(self._members)))
        with self._changed:
            self._queue.put(QueuedPicture(image, still, batch, position) for position, image in enumerate(images, first))
            self._changed.notify_all()
        return batch

    def timings(self, device: DeviceId) -> Mapping[str, float]:
        """ms that a member spent in each stage since the last call, by its own clock."""
        backend = self._members[device].backend
        return {} if backend is None else backend.timings()

    def stats(self, device: DeviceId) -> list[Stats]:
        """What a member has measured in segments since the last call."""
        backend = self._members[device].backend
        return backend.stats() if isinstance(backend, RemoteBackend) else []

    def close(self) -> None:
        """Let the members finish their batches, and stop them."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(_JOIN_SECONDS)

    def _run(self, member: MemberState, network: Model, settings: EngineSettings) -> None:
        """Run in a member's thread: build its engine and work, again after each restart."""
        while True:
            try:
                backend = self._build(member, network, settings)
                settings = replace(settings, precision=Precision(backend.info.precision))  # a later engine is the same, without trials
                self._work(member, backend)
            except FramefleetError as problem:
                member.lost = problem
            if self._closed:
                return
            assert member.lost is not None
            lost, why = member.lost, without_device(member.lost.notice)
            retry = isinstance(lost, MemberLostError)
            member.without_picture += isinstance(lost, MemberLostError) and lost.external
            restarting = isinstance(lost, MemberLostError) and member.budget.spend(time.monotonic(), lost.waited)
            restarting = restarting and member.without_picture <= RESTARTS
            if retry and not restarting:
                why = Notice("pool.restarts_did_not_help", why=why, restarts=RESTARTS, seconds=RESTART_SECONDS)
            self._report(DeviceFailed(member.device, why, restarting))
            if not restarting:
                self._leave(member, why)
                return

    def _build(self, member: MemberState, network: Model, settings: EngineSettings) -> Backend:
        with self._changed:
            member.attempt += 1
            member.lost = None
            self._changed.notify_all()
        self._report(DeviceStarting(member.device, member.attempt))
        backend = self._make(member.device)
        local = not isinstance(backend, RemoteBackend)
        build(backend, lambda: network, settings, self._report, self._watchdog, watched=local)
        return backend

    def _work(self, member: MemberState, backend: Backend) -> None:
        """Infer until the member pool is closed. Raises MemberLostError if the engine does not work any more."""
        reported = backend.info
        submit = backend.submit if isinstance(backend, RemoteBackend) else Inference(backend, self._watchdog).submit
        self._report(DeviceReady(reported))
        with self._changed:
            member.backend, member.alone, member.doubtful = backend, False, None
            self._changed.notify_all()
        try:
            while (pictures := self._take(member)) is not None:
                if not pictures:
                    self._examine(member, backend, submit)
                    continue
                started = time.monotonic()
                try:
                    future = submit([picture.image for picture in pictures], pictures[0].still)
                except Exception as problem:
                    future = Future()
                    future.set_exception(problem)
                future.add_done_callback(partial(self._finish, member, pictures, started))
                if backend.info is not reported:
                    reported = backend.info
                    self._report(DeviceReady(reported))
        finally:
            with self._changed:
                member.backend = None
                if isinstance(backend, RemoteBackend) and backend.delivered:
                    member.without_picture = 0
            backend.close()
        if member.lost is not None:
            raise member.lost

    def _examine(self, member: MemberState, backend: Backend, submit: Callable[[Sequence[HostImage]], Future[list[Found]]]) -> None:
        """Test the engine. Raises MemberLostError if it does not work any more."""
        why, member.doubtful = member.doubtful, None
        if still_works(submit, backend.info):
            return
        lost = Notice("pool.engine_stopped", problem=why)
        if not isinstance(backend, RemoteBackend):  # the fault may affect this whole process
            self._die(Failed(of_device(member.device, lost), retry=True))
        raise MemberLostError(lost)

    def _take(self, member: MemberState) -> list[QueuedPicture] | None:
        """Wait for the member's next pictures. None: the member is lost or the pool is closed. Empty: test the engine."""
        with self._changed:
            while True:
                if self._closed or member.lost is not None:
                    return None
                if member.doubtful is not None:
                    return []
                if pictures := self._queue.take(member):
                    return pictures
                self._changed.wait(_LOOK_SECONDS)
                if isinstance(member.backend, RemoteBackend) and not member.batches:
                    member.lost = member.backend.lost  # without a batch under way, no future reports the loss

    def _finish(self, member: MemberState, pictures: list[QueuedPicture], started: float, future: Future[list[Found]]) -> None:
        try:
            self._take_results(member, pictures, started, future)
        except Exception as problem:  # the future that calls this would swallow it
            traceback.print_exception(problem)
            self._die(Failed(unexpected(problem), retry=True))

    def _take_results(self, member: MemberState, pictures: list[QueuedPicture], started: float, future: Future[list[Found]]) -> None:
        problem = future.exception()
        again: list[QueuedPicture] = []
        if problem is None:
            member.without_picture = 0
            for picture, found in zip(pictures, future.result(), strict=True):
                picture.shared.put(picture.position, member.device, found)
        elif isinstance(problem, MemberLostError):
            for picture in pictures:
                if not problem.external:
                    picture.crashes = picture.crashes.after_crash(member.device, others=False)
                if picture.crashes.proven:
                    picture.shared.put(picture.position, member.device, DIED_TWICE)
                else:
                    again.append(picture)
        elif len(pictures) > 1:  # only the picture that causes the error should fail
            for picture in pictures:
                picture.crashes = CrashCount(1)
            again = pictures
        else:
            pictures[0].shared.put(
                pictures[0].position, member.device, InferenceFailure(Notice("backends.inference_failed", problem=notice_of(problem)))
            )
        with self._changed:
            self._queue.end(member, pictures, again, None if problem is not None else started)
            if isinstance(problem, MemberLostError):
                member.lost = problem
            elif problem is not None:
                member.doubtful = notice_of(problem)
            self._changed.notify_all()

    def _leave(self, member: MemberState, why: Notice) -> None:
        with self._changed:
            member.out = of_device(member.device, why)
            none_left = self._started and all(other.out is not None for other in self._members.values())
            self._changed.notify_all()
        if none_left:
            members = tuple(dict.fromkeys(other.out for other in self._members.values()))
            self._die(Failed(Notice("pool.members_failed", members=members), retry=False))
