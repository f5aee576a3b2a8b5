"""The pool's bookkeeping against simulated workers that work, die and come back in every order Hypothesis can think of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framefleet.engine.media.types import Segment, SourceInfo, SourceKind
from framefleet.engine.pool.events import Event, FramesAhead, FramesDone, SourceFinished, SourceOpened
from framefleet.engine.pool.protocol import Began, Detect, Done, Drop, Frames, Listening, Need, Probe, Probed, ProbeFailed, Revoke, Trying
from framefleet.engine.pool.scheduling.dispatcher import PROBE_SECONDS, Dispatcher
from framefleet.engine.pool.scheduling.strategies import AHEAD_FRAMES, DIED_TWICE, STRATEGIES, WINDOW_FRAMES
from framefleet.engine.settings import Parallel
from framefleet.engine.types import UNNUMBERED, Detections, DeviceId, FrameRef, FrameResult
from tests.support.notices import words

DEVICES = (DeviceId("cuda", "0"), DeviceId("cpu", "0"), DeviceId("cuda", "1"))
SEGMENT_PTS = 1_000_000
NOTHING = Detections()


def frame_ref(task: Detect, position: int) -> FrameRef:
    """A frame as a worker decodes it. Its time shows its place."""
    return FrameRef(task.source, UNNUMBERED, task.segment.number * SEGMENT_PTS + position)


@dataclass(frozen=True)
class Truth:
    """The real content of a source. lengths: frames of each segment. amiss: how many more the container announces for each.

    poison: (segment, position) of frames that kill a worker that infers them. venom: that kill it when it decodes them,
    which it also does to skip them.
    """

    lengths: tuple[int, ...]
    poison: frozenset[tuple[int, int]] = frozenset()
    venom: frozenset[tuple[int, int]] = frozenset()
    readable: bool = True
    amiss: int = 0

    def info(self) -> SourceInfo:
        segments = tuple(
            Segment(number, number * SEGMENT_PTS or None, None, max(0, length + self.amiss)) for number, length in enumerate(self.lengths)
        )
        announced = sum(segment.frames for segment in segments)
        return SourceInfo("x.mp4", SourceKind.VIDEO, "h264", 64, 48, announced, None, 25.0, segments)

    def frames(self) -> list[float]:
        return [segment * SEGMENT_PTS + position for segment, length in enumerate(self.lengths) for position in range(length)]


@dataclass
class Simulated:
    """A worker process: in each decode thread a task and one that follows, each task's results in order, dead at a poisoned frame.

    positions: of the tasks it began, how far it is.
    """

    decode_threads: int
    probes: list[Probe] = field(default_factory=list)
    tasks: list[Detect] = field(default_factory=list)
    positions: dict[tuple[int, int], int] = field(default_factory=dict)
    asked: int = 0


class DeathError(Exception):
    """A simulated worker met a frame that kills it."""


class Run:
    """A dispatcher with simulated workers around it."""

    def __init__(
        self,
        parallel: Parallel,
        devices: int,
        sources: list[Truth],
        random: Random,
        decode_threads: int | None = None,
        together: bool = False,
    ) -> None:
        self.devices = DEVICES[:devices]
        self.dispatcher = Dispatcher(STRATEGIES[parallel](self.devices), self.devices, lambda: self.now, together=together)
        self.now = 0.0
        self.together = together
        self.leaving: set[DeviceId] = set()
        self.sources = list(sources)
        self.random = random
        self.decode_threads = {device: decode_threads or random.choice((1, 2, 3, 12)) for device in self.devices}
        self.workers: dict[DeviceId, Simulated] = {}
        self.frames: dict[int, list[FrameResult]] = {number: [] for number in range(len(sources))}
        self.finished: dict[int, SourceFinished] = {}
        self.opened: set[int] = set()
        self.most_waiting = 0
        self.deaths = 0
        self.revoked: list[tuple[DeviceId, Detect]] = []
        self.ahead: dict[int, list[FrameResult]] = {number: [] for number in range(len(sources))}
        self.assigned: list[Detect] = []
        for device in self.devices:
            self.start(device)
        for number in range(len(sources)):
            self.tell(self.dispatcher.add(number, Path(f"{number}.mp4")))

    def start(self, device: DeviceId) -> None:
        self.workers[device] = Simulated(self.decode_threads[device])
        self.dispatcher.started(device)
        self.dispatcher.ready(device, self.decode_threads[device])

    def tell(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case SourceOpened():
                    self.opened.add(event.source)
                case FramesDone():
                    assert event.source in self.opened
                    assert event.source not in self.finished
                    self.frames[event.source] += event.frames
                case FramesAhead():
                    assert event.source not in self.finished
                    assert {frame.ref.pts // SEGMENT_PTS for frame in event.frames} == {event.segment}
                    self.ahead[event.source] += event.frames
                case SourceFinished():
                    assert event.source not in self.finished, "finished twice"
                    self.finished[event.source] = event

    def deliver(self) -> None:
        for device, message in self.dispatcher.assignments():
            worker = self.workers[device]
            match message:
                case Probe():
                    assert len(worker.probes) < max(1, worker.decode_threads // 4)
                    assert device not in self.leaving
                    worker.probes.append(message)
                case Detect():
                    assert len(worker.tasks) < 2 * worker.decode_threads
                    assert worker.asked
                    assert message.info.segments == ()
                    assert device not in self.leaving
                    process = list(self.workers.values()) if self.together else [worker]
                    assert not message.careful or not any(other.tasks or other.probes for other in process), "a suspect is not alone"
                    assert not any(task.careful for other in process for task in other.tasks), "a suspect is not left alone"
                    worker.asked -= 1
                    worker.tasks.append(message)
                    self.assigned.append(message)
                case Drop():
                    for task in list(worker.tasks):
                        if task.source == message.source:
                            self.end(device, task, complete=False)
                case Revoke():
                    assert device not in self.leaving
                    (task,) = [task for task in worker.tasks if (task.source, task.segment.number) == (message.source, message.segment)]
                    assert not task.careful
                    self.revoked.append((device, task))
        waiting = sum(source.sequencer.waiting for source in self.dispatcher._sources.values())
        self.most_waiting = max(self.most_waiting, waiting)

    def step(self, device: DeviceId) -> None:
        """Let one worker do something."""
        worker = self.workers[device]
        self.now += 0.1
        self.deliver()
        for holder, task in self.revoked:
            if task in self.workers.get(holder, worker).tasks:
                self.end(holder, task, complete=False)
        self.revoked.clear()
        if worker.probes and self.random.random() < 0.7:
            number = worker.probes.pop(self.random.randrange(len(worker.probes))).source
            self.tell(self.dispatcher.receive(device, Began(number, None)))
            truth = self.sources[number]
            self.tell(
                self.dispatcher.receive(
                    device, Probed(number, truth.info()) if truth.readable else ProbeFailed(number, words("unreadable"))
                )
            )
        elif worker.tasks:
            self.work(device, self.random.choice(worker.tasks[: worker.decode_threads]))
        if worker.asked + len(worker.tasks) < 2 * worker.decode_threads:
            worker.asked += 1
            self.tell(self.dispatcher.receive(device, Need()))

    def work(self, device: DeviceId, task: Detect) -> None:
        worker, truth, number = self.workers[device], self.sources[task.source], task.segment.number
        place = task.source, number
        if place not in worker.positions:
            self.tell(self.dispatcher.receive(device, Began(task.source, number)))
        position = worker.positions.setdefault(place, task.skip)
        end = truth.lengths[number] if task.limit is None else min(truth.lengths[number], task.skip + task.limit)
        if position >= end:
            self.end(device, task, complete=task.limit is None or position < task.skip + task.limit)
            return
        if any(segment == number and at < position for segment, at in truth.venom):
            raise DeathError
        count = 1 if task.careful else self.random.randint(1, end - position)
        deadly = [at for segment, at in truth.poison | truth.venom if segment == number and position <= at < position + count]
        if task.careful and (number, position) not in truth.venom:
            self.tell(self.dispatcher.receive(device, Trying(frame_ref(task, position), number, position, 64, 48)))
        if deadly:
            # what had left the worker when it died: in careful mode all before, else whatever was not under way
            survived = min(deadly) - position
            self.send(device, task, position, survived if task.careful else self.random.randint(0, survived))
            raise DeathError
        self.send(device, task, position, count)
        worker.positions[place] = position + count

    def send(self, device: DeviceId, task: Detect, position: int, count: int) -> None:
        number = task.segment.number
        if count:
            results = [FrameResult(frame_ref(task, position + at), device, 64, 48, NOTHING) for at in range(count)]
            self.tell(self.dispatcher.receive(device, Frames.pack(number, position, results, device)))

    def end(self, device: DeviceId, task: Detect, *, complete: bool) -> None:
        worker = self.workers[device]
        position = worker.positions.pop((task.source, task.segment.number), task.skip)
        worker.tasks.remove(task)
        self.tell(self.dispatcher.receive(device, Done(task.source, task.segment.number, position, complete)))

    def kill(self, device: DeviceId, *, gone: bool = False) -> None:
        self.deaths += 1
        dead = list(self.workers) if self.together else [device]
        for other in dead:
            out = (gone and other == device) or other in self.leaving
            self.tell(self.dispatcher.lost(other, gone=out, why=words("it died")))
            self.leaving.discard(other)
            if out:
                del self.workers[other]
        for other in dead:
            if other in self.workers:
                self.start(other)

    def shuffle(self, devices: Sequence[DeviceId]) -> None:
        """Let one of these join or leave, or be gone if it is leaving."""
        device = self.random.choice(devices)
        staying = [other for other in self.workers if other not in self.leaving]
        if device in self.leaving:
            again = self.random.random() < 0.3
            if again:
                self.dispatcher.join([device])
            self.tell(self.dispatcher.lost(device, gone=not again, why=words("it was removed"), suspect=False))
            self.leaving.discard(device)
            del self.workers[device]
            if again:
                self.start(device)
        elif device not in self.workers:
            self.decode_threads.setdefault(device, self.random.choice((1, 2, 3, 12)))
            self.dispatcher.join([device])
            self.start(device)
        elif len(staying) > 1:
            self.tell(self.dispatcher.leave(device))
            self.leaving.add(device)

    def seek(self, source: int, segment: int, position: int = 0) -> None:
        self.tell(self.dispatcher.seek(source, segment * SEGMENT_PTS + position))
        self.deliver()

    def until_finished(self, deaths: int = 0, cancels: int = 0, losses: int = 0, moves: int = 0, seeks: int = 0) -> None:
        for _ in range(100_000):
            if self.dispatcher.finished:
                return
            if not self.workers:
                self.deliver()
                continue
            # a device that is leaving has to be gone some time: the pool ensures that
            movable = DEVICES if moves else [other for other in DEVICES if other in self.leaving]
            if movable and self.random.random() < 0.1:
                moves = max(0, moves - 1)
                self.shuffle(movable)
            device = self.random.choice(list(self.workers))
            if deaths and self.random.random() < 0.05:
                deaths -= 1
                gone = losses > 0
                losses -= gone
                self.kill(device, gone=gone)
                continue
            if cancels and self.random.random() < 0.05:
                cancels -= 1
                self.tell(self.dispatcher.cancel(self.random.choice([None, *range(len(self.sources))])))
            if seeks and self.random.random() < 0.1:
                seeks -= 1
                source = self.random.randrange(len(self.sources))
                self.seek(source, self.random.randint(-1, len(self.sources[source].lengths)), self.random.randint(0, 50))
            try:
                self.step(device)
            except DeathError:
                self.kill(device)
        pytest.fail("the run does not come to an end")


few = settings(max_examples=20, deadline=None)
lengths = st.lists(st.integers(0, 40), min_size=1, max_size=8).map(tuple)
readable = st.integers(0, 4).map(bool)
sources = st.lists(st.builds(Truth, lengths, readable=readable), min_size=1, max_size=5)
announced_amiss = st.lists(st.builds(Truth, lengths, readable=readable, amiss=st.sampled_from([0, -3, 5])), min_size=1, max_size=5)
parallels = st.sampled_from([Parallel.STREAMS, Parallel.SEGMENTS])
randoms = st.randoms(use_true_random=True)
togethers = st.booleans()


def check_complete(run: Run, number: int) -> None:
    """Every frame exactly once, in order, and accounted for."""
    truth, frames, finished = run.sources[number], run.frames[number], run.finished[number]
    assert [frame.ref.index for frame in frames] == list(range(len(frames)))
    assert not finished.cancelled
    if not truth.readable:
        assert (frames, finished.error) == ([], words("unreadable"))
        return
    assert finished.error is None
    assert len(frames) == len(truth.frames())
    for frame, pts in zip(frames, truth.frames(), strict=True):
        assert frame.ref.source == number
        if frame.failure is None:
            assert frame.ref.pts == pts
        else:
            assert frame.failure == DIED_TWICE.reason
            assert not math.isnan(frame.ref.pts)
    failed = sum(frame.failure is not None for frame in frames)
    assert finished.ledger.decoded == len(frames)
    assert finished.ledger.inferred == len(frames) - failed
    assert sum(finished.ledger.failed.values()) == failed
    assert not finished.ledger.dropped


@few
@given(parallels, st.integers(1, 3), announced_amiss, randoms)
def test_every_frame_comes_once_and_in_order(parallel: Parallel, devices: int, sources: list[Truth], random: Random) -> None:
    run = Run(parallel, devices, sources, random)
    run.until_finished()
    for number in range(len(sources)):
        check_complete(run, number)
        assert not any(frame.failure for frame in run.frames[number])


@few
@given(parallels, st.integers(1, 3), sources, randoms, togethers, st.sampled_from([0, 20]))
def test_workers_may_die_and_devices_come_and_go_at_any_time(
    parallel: Parallel, devices: int, sources: list[Truth], random: Random, together: bool, moves: int
) -> None:
    run = Run(parallel, devices, sources, random, together=together)
    run.until_finished(deaths=10, moves=moves)
    for number in range(len(sources)):
        if "opening it ended the worker twice" in str(run.finished[number].error):
            continue
        check_complete(run, number)


@few
@given(parallels, st.integers(1, 3), st.lists(lengths, min_size=1, max_size=3), st.data(), randoms, togethers, st.sampled_from([0, 20]))
def test_a_frame_that_kills_is_the_only_one_lost(
    parallel: Parallel, devices: int, shapes: list[tuple[int, ...]], data: st.DataObject, random: Random, together: bool, moves: int
) -> None:
    truths = []
    for shape in shapes:
        places = [(segment, at) for segment, length in enumerate(shape) for at in range(length)]
        poison = data.draw(st.sets(st.sampled_from(places), max_size=3)) if places else set()
        truths.append(Truth(shape, frozenset(poison)))
    run = Run(parallel, devices, truths, random, together=together)
    run.until_finished(moves=moves)
    for number, truth in enumerate(truths):
        check_complete(run, number)
        failed = {at for at, frame in enumerate(run.frames[number]) if frame.failure is not None}
        assert failed == {sum(truth.lengths[:segment]) + at for segment, at in truth.poison}


@few
@given(parallels, st.integers(1, 3), lengths.filter(any), st.data(), randoms)
def test_a_frame_the_decoder_cannot_pass_costs_the_rest_of_its_segment(
    parallel: Parallel, devices: int, shape: tuple[int, ...], data: st.DataObject, random: Random
) -> None:
    segment, at = data.draw(st.sampled_from([(segment, at) for segment, length in enumerate(shape) for at in range(length)]))
    run = Run(parallel, devices, [Truth(shape, venom=frozenset({(segment, at)}))], random)
    run.until_finished()
    check_complete(run, 0)
    start = sum(shape[:segment])
    assert {number for number, frame in enumerate(run.frames[0]) if frame.failure} == set(range(start + at, start + shape[segment]))
    assert run.deaths <= 3 + (devices > 1)  # a second device has to show that the first one is not to blame


@few
@given(parallels, st.integers(1, 3), sources, randoms, togethers)
def test_devices_that_come_and_go_cost_no_frame(
    parallel: Parallel, devices: int, sources: list[Truth], random: Random, together: bool
) -> None:
    run = Run(parallel, devices, sources, random, together=together)
    run.until_finished(moves=40)
    for number in range(len(sources)):
        check_complete(run, number)
        assert not any(frame.failure for frame in run.frames[number])


@few
@given(parallels, st.integers(2, 3), sources, randoms)
def test_the_others_take_over_from_a_lost_device(parallel: Parallel, devices: int, sources: list[Truth], random: Random) -> None:
    run = Run(parallel, devices, sources, random)
    run.until_finished(deaths=1, losses=1)
    for number in range(len(sources)):
        check_complete(run, number)


@few
@given(parallels, st.integers(1, 3), sources, randoms)
def test_without_a_device_every_source_ends_with_an_error(parallel: Parallel, devices: int, sources: list[Truth], random: Random) -> None:
    run = Run(parallel, devices, sources, random)
    run.until_finished(deaths=devices, losses=devices)
    late = len(sources)
    run.sources.append(Truth((1,)))
    if not run.workers:
        run.tell(run.dispatcher.add(late, Path("late.mp4")))
        assert "no device is left" in str(run.finished[late].error)
    for number in range(len(sources)):
        ledger = run.finished[number].ledger
        assert ledger.balanced
        assert ledger.inferred + sum(ledger.failed.values()) == len(run.frames[number])
        if run.finished[number].error is None:
            check_complete(run, number)


@few
@given(parallels, st.integers(1, 3), sources, randoms)
def test_cancelling_ends_a_source_at_once_and_no_other(parallel: Parallel, devices: int, sources: list[Truth], random: Random) -> None:
    run = Run(parallel, devices, sources, random)
    run.until_finished(cancels=3)
    for number in range(len(sources)):
        finished, frames = run.finished[number], run.frames[number]
        if finished.cancelled:
            true = sources[number].frames()
            assert [true[frame.ref.index] for frame in frames] == [frame.ref.pts for frame in frames]
            assert finished.ledger.decoded == finished.ledger.inferred == len(frames), "what was received is kept"
        else:
            check_complete(run, number)


@pytest.mark.parametrize(
    ("devices", "decode_threads", "seed"), [(2, 1, 1), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((3, 1, 2), (2, 3, 3)))]
)
def test_results_that_wait_are_bounded(devices: int, decode_threads: int, seed: int) -> None:
    random = Random(seed)
    run = Run(Parallel.SEGMENTS, devices, [Truth((6_000, 5_000, 4_000, 3_000, 5_000) * decode_threads)], random, decode_threads)
    slow = run.devices[0]
    while not run.dispatcher.finished:
        run.step(slow if random.random() < 0.02 else random.choice(run.devices[1:]))
    check_complete(run, 0)
    assert 0 < run.most_waiting <= (2 * devices * decode_threads + 2) * AHEAD_FRAMES


@pytest.mark.parametrize("parallel", [Parallel.STREAMS, Parallel.SEGMENTS])
@pytest.mark.parametrize("shapes", [[(30,) * 40], [(250,) * 40], [(30,)] * 60, [(100, 70)] * 40], ids=["short", "long", "clips", "pairs"])
def test_every_decode_thread_has_work(parallel: Parallel, shapes: list[tuple[int, ...]]) -> None:
    run = Run(parallel, 1, [Truth(shape) for shape in shapes], Random(1), decode_threads=8)
    busy = []
    while not run.dispatcher.finished:
        run.step(run.devices[0])
        busy.append(len(run.workers[run.devices[0]].tasks))
    for number in range(len(shapes)):
        check_complete(run, number)
    first = next(at for at, tasks in enumerate(busy) if tasks >= 8)
    assert min(busy[first : len(busy) // 2]) >= 7


def test_a_long_queue_is_opened_only_a_little_ahead() -> None:
    run = Run(Parallel.AUTO, 1, [Truth((50,)) for _ in range(200)], Random(1), decode_threads=1)
    for _ in range(40):
        run.step(run.devices[0])
        assert len(run.opened) - len(run.finished) <= 4
    run.until_finished()
    assert len(run.finished) == 200


@pytest.mark.parametrize("decode_threads", [1, 12])
def test_a_file_that_kills_the_worker_when_opened_is_given_up_and_the_others_go_on(decode_threads: int) -> None:
    """With 12 decode threads, a worker opens several files at once: the one that is not to blame is opened again."""
    run = Run(Parallel.AUTO, 2, [Truth((5,)), Truth((5,)), Truth((5,))], Random(1), decode_threads)
    for _ in range(10_000):
        if run.dispatcher.finished:
            break
        device = run.random.choice(run.devices)
        run.deliver()
        if any(probe.source == 0 for probe in run.workers[device].probes):
            run.tell(run.dispatcher.receive(device, Began(0, None)))
            run.kill(device)
        else:
            run.step(device)
    assert "opening it ended the worker twice" in str(run.finished[0].error)
    check_complete(run, 1)
    check_complete(run, 2)


def started_dispatcher(clock: Callable[[], float]) -> Dispatcher:
    """A dispatcher of two devices whose workers were started, and have not been heard from."""
    devices = list(DEVICES[:2])
    dispatcher = Dispatcher(STRATEGIES[Parallel.SEGMENTS](devices), devices, clock)
    for device in devices:
        dispatcher.started(device)
    return dispatcher


def test_a_source_is_opened_by_a_worker_that_was_heard_from_and_by_another_if_it_takes_long() -> None:
    now = 0.0
    first, second = DEVICES[:2]
    dispatcher = started_dispatcher(lambda: now)
    dispatcher.add(0, Path("0.mp4"))
    assert list(dispatcher.assignments()) == []
    dispatcher.receive(first, Listening())
    assert list(dispatcher.assignments()) == [(first, Probe(0, Path("0.mp4")))]
    dispatcher.receive(second, Listening())
    now = PROBE_SECONDS
    assert list(dispatcher.assignments()) == []
    now += 0.1
    assert list(dispatcher.assignments()) == [(second, Probe(0, Path("0.mp4")))]
    info = Truth((10,)).info()
    assert [type(event) for event in dispatcher.receive(second, Probed(0, info))] == [SourceOpened]
    assert dispatcher.receive(first, Probed(0, info)) == [], "the second answer changes nothing"
    assert not dispatcher.finished


def test_a_source_that_two_workers_open_stays_with_the_one_that_lives() -> None:
    now = 0.0
    first, second = DEVICES[:2]
    dispatcher = started_dispatcher(lambda: now)
    for device in (first, second):
        dispatcher.receive(device, Listening())
    dispatcher.add(0, Path("0.mp4"))
    assert len(list(dispatcher.assignments())) == 1
    now = PROBE_SECONDS + 1
    assert len(list(dispatcher.assignments())) == 1
    assert dispatcher.lost(first, gone=False, why=words("frozen")) == []
    assert list(dispatcher.assignments()) == []
    assert [type(event) for event in dispatcher.receive(second, Probed(0, Truth((10,)).info()))] == [SourceOpened]


@few
@given(parallels, st.integers(1, 3), announced_amiss, randoms, togethers, st.sampled_from([0, 10]), st.sampled_from([0, 20]))
def test_seeking_changes_neither_the_frames_nor_their_order(
    parallel: Parallel, devices: int, sources: list[Truth], random: Random, together: bool, deaths: int, moves: int
) -> None:
    run = Run(parallel, devices, sources, random, together=together)
    run.until_finished(deaths=deaths, moves=moves, seeks=30)
    for number in range(len(sources)):
        if "opening it ended the worker twice" in str(run.finished[number].error):
            continue
        check_complete(run, number)
        later = {frame.ref.pts for frame in run.frames[number]}
        assert {frame.ref.pts for frame in run.ahead[number] if frame.failure is None} <= later, "what is shown ahead stays"


@few
@given(parallels, st.integers(1, 3), sources, randoms)
def test_cancelling_after_seeking_keeps_what_was_received(parallel: Parallel, devices: int, sources: list[Truth], random: Random) -> None:
    run = Run(parallel, devices, sources, random)
    run.until_finished(cancels=3, seeks=20)
    for number in range(len(sources)):
        true = sources[number].frames()
        assert [true[frame.ref.index] for frame in run.frames[number]] == [frame.ref.pts for frame in run.frames[number]]
        assert run.finished[number].ledger.inferred == len(run.frames[number])


def cut_run(devices: int, lengths: tuple[int, ...]) -> Run:
    """A run that has done the first segment of its source."""
    run = Run(Parallel.SEGMENTS, devices, [Truth(lengths)], Random(1), decode_threads=1)
    while len(run.frames[0]) < lengths[0]:
        run.step(run.random.choice(run.devices))
    return run


@pytest.mark.parametrize("devices", [1, 2])
def test_the_sought_segment_is_next_and_then_the_gap(devices: int) -> None:
    run = cut_run(devices, (20,) * 12)
    before, first = len(run.assigned), len(run.frames[0]) // 20
    run.seek(0, 8, 5)
    run.until_finished()
    order = list(dict.fromkeys(task.segment.number for task in run.assigned[before:]))
    assert order[:2] == [8, 9]
    assert [number for number in order if number > 7] == [8, 9, 10, 11]
    assert order.index(11) < order.index(first + devices + 1), "the gap is next"
    assert {frame.ref.pts for frame in run.ahead[0]} >= {8 * SEGMENT_PTS + at for at in range(20)}
    assert {frame.ref.index for frame in run.ahead[0] if frame.ref.pts >= 8 * SEGMENT_PTS} == set(range(160, 240))
    check_complete(run, 0)


def test_the_last_of_several_places_is_next() -> None:
    run = cut_run(1, (20,) * 12)
    before = len(run.assigned)
    run.seek(0, 8)
    run.step(run.devices[0])
    run.seek(0, 4)
    run.until_finished()
    order = list(dict.fromkeys(task.segment.number for task in run.assigned[before:]))
    assert order.index(4) <= 2
    assert order.index(6) < order.index(9)
    check_complete(run, 0)


def test_work_under_way_makes_room_for_the_sought_segment() -> None:
    run = cut_run(1, (2_000,) * 4)
    run.step(run.devices[0])
    run.step(run.devices[0])
    run.seek(0, 3)
    assert {task.segment.number for _, task in run.revoked} == {task.segment.number for task in run.workers[run.devices[0]].tasks}
    run.until_finished()
    check_complete(run, 0)


def test_results_behind_a_gap_are_bounded() -> None:
    run = cut_run(1, (200,) * 160)
    before = len(run.assigned)
    run.seek(0, 60)
    run.until_finished()
    assert WINDOW_FRAMES - 200 <= run.most_waiting <= WINDOW_FRAMES + 2 * AHEAD_FRAMES
    order = list(dict.fromkeys(task.segment.number for task in run.assigned[before:]))
    assert order[:3] == [60, 61, 62]
    assert any(number < 10 for number in order[80:90]), "the gap is next when enough is done ahead"
    check_complete(run, 0)


def test_a_place_in_a_later_file_comes_before_the_rest_of_an_earlier_one() -> None:
    run = Run(Parallel.SEGMENTS, 1, [Truth((20,) * 12), Truth((20,) * 12)], Random(1), decode_threads=1)
    while len(run.opened) < 2:
        run.step(run.devices[0])
    before = len(run.assigned)
    run.seek(1, 6)
    run.until_finished()
    assert (1, 6) in [(task.source, task.segment.number) for task in run.assigned[before : before + 3]]
    for number in range(2):
        check_complete(run, number)


def test_places_that_are_not_cut_or_not_there_change_nothing() -> None:
    run = Run(Parallel.SEGMENTS, 1, [Truth((20,)), Truth((20,) * 3)], Random(1))
    run.seek(7, 1)
    run.seek(0, 1)
    run.until_finished()
    run.seek(1, 1)
    assert not any(run.ahead.values())
