"""Devices of unequal speed: how much each is given at once, and what is taken from one that others would wait for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.media.types import Segment, SourceInfo, SourceKind
from framefleet.engine.pool.events import Event, FramesDone, SourceFinished
from framefleet.engine.pool.protocol import Began, Detect, Done, Drop, Frames, Listening, Need, Probe, Probed, Revoke
from framefleet.engine.pool.scheduling.dispatcher import Dispatcher
from framefleet.engine.pool.scheduling.strategies import Segments
from framefleet.engine.pool.scheduling.workers import (
    MAX_DELAY_SECONDS,
    MIN_CHUNK,
    RECENT_SECONDS,
    TAKEOVER_SECONDS,
    Load,
    Remaining,
    Throughput,
    choose_revoke,
    chunk_size,
)
from framefleet.engine.types import UNNUMBERED, DeviceId, FrameRef, FrameResult, InferenceFailure
from tests.support.notices import words

A, B, C = (DeviceId("cuda", str(number)) for number in range(3))
CPU = DeviceId("cpu", "0")


def test_only_the_time_with_work_counts() -> None:
    throughput = Throughput()
    assert throughput.rate(5.0) is None
    throughput.start(10.0)
    throughput.start(10.5)
    assert throughput.rate(10.5) is None
    throughput.done(30, 11.0)
    throughput.stop(11.5)
    assert throughput.rate(100.0) == pytest.approx(20)
    throughput.start(100.0)
    assert throughput.rate(100.5) == pytest.approx(15)


def test_what_was_long_ago_counts_less_and_less() -> None:
    throughput = Throughput()
    throughput.start(0.0)
    for tenth in range(1, 101):
        throughput.done(100, tenth / 10)
    for tenth in range(101, 101 + 30 * int(RECENT_SECONDS)):
        throughput.done(1, tenth / 10)
    rate = throughput.rate((100 + 30 * int(RECENT_SECONDS)) / 10)
    assert rate is not None
    assert 10 < rate < 100


def share(
    frames: int,
    rate: float | None,
    decode_threads: int,
    under_way: int,
    ahead: int,
    *others: tuple[float | None, int],
    left: float = math.inf,
    slow_kind: bool = False,
) -> int | None:
    """What a device gets. others: rate and frames under way."""
    own, *loads = (Load(rate, {(0, 0): Remaining(count, 0)}) for rate, count in ((rate, under_way), *others))
    return chunk_size(frames, own, decode_threads, loads, ahead, left, slow_kind)


def test_devices_of_about_the_same_speed_get_whole_segments() -> None:
    assert share(120, None, 12, 0, 50, (2000, 0)) is None
    assert share(120, 2000, 12, 0, 50) is None
    assert share(120, 2000, 12, 0, 50, (None, 0)) is None
    assert share(120, 2000, 12, 0, 50, (2000, 0)) is None
    assert share(3000, 150, 12, 0, 50, (150, 0)) is None
    assert share(120, 5, 1, 0, 6, (7, 0)) is None
    assert share(120, 800, 12, 0, 50, (2400, 0)) is None


def test_a_slow_device_gets_what_it_can_do_before_the_others_wait() -> None:
    # the others run through 28 segments of 120 frames in 2.8 s, in a quarter of which it does 21 frames
    assert share(120, 30, 1, 0, 28, (1200, 0)) == 21
    assert share(120, 60, 2, 0, 28, (1200, 0)) == 21
    assert share(120, 30, 1, 0, 28, (600, 0), (None, 0), (600, 0)) == 21
    assert share(120, 1, 1, 0, 28, (1200, 0)) == MIN_CHUNK
    assert share(MIN_CHUNK, 1, 1, 0, 28, (1200, 0)) is None


def test_short_segments_leave_a_slow_device_its_time() -> None:
    # 28 segments of 70 frames are done in 0.65 s, but so much more may be under way that the others need not wait for 2 s
    assert share(70, 30, 1, 0, 28, (3000, 0)) == MAX_DELAY_SECONDS / 4 * 30
    assert share(70, 30, 1, 15, 28, (3000, 0)) == MAX_DELAY_SECONDS / 4 * 30
    assert share(70, 30, 1, 16, 28, (3000, 0)) == 0
    assert share(70, 80, 1, 0, 28, (3000, 0)) is None


def test_a_slow_device_with_many_slots_gets_no_more_than_it_can_do_before_the_others_wait() -> None:
    # in half of 2.8 s it does 42 frames
    assert share(120, 30, 1, 21, 28, (1200, 0)) == 21
    assert share(120, 30, 1, 22, 28, (1200, 0)) == 0
    assert share(120, 1, 1, 1, 28, (1200, 0)) == 0
    assert share(120, 800, 12, 500, 50, (2400, 0)) is None


def test_what_another_device_does_sooner_by_itself_is_left_to_it() -> None:
    assert share(60, 100, 1, 0, 28, (1000, 0), left=60) == 0
    assert share(60, 100, 1, 0, 28, (1000, 500), left=60) == 0
    assert share(60, 100, 1, 0, 28, (1000, 600), left=60) is None
    assert share(60, 100, 1, 0, 28, (1000, 0), left=600) is None
    assert share(60, 100, 1, 30, 28, (1000, 0), left=600) == 0
    assert share(60, 100, 1, 0, 28, (100, 0), (1000, 0), left=60) == 0
    assert share(60, 100, 1, 0, 28, (100, 0), (None, 0), left=60) is None
    assert share(60, 100, 1, 0, 28, (100, 0), left=0) is None  # the container announced too few


@given(
    st.lists(st.tuples(st.floats(0.1, 5000), st.integers(0, 2000), st.integers(1, 16)), min_size=2, max_size=5),
    st.integers(1, 300),
    st.floats(0, 5000),
)
def test_there_is_always_one_who_may_go_on(devices: list[tuple[float, int, int]], frames: int, left: float) -> None:
    ahead = 2 * sum(decode_threads for *_, decode_threads in devices) + 2
    given_out = []
    for number, (rate, under_way, decode_threads) in enumerate(devices):
        others = [(rate, count) for rate, count, _ in devices[:number] + devices[number + 1 :]]
        given_out.append(share(frames, rate, decode_threads, under_way, ahead, *others, left=left))
    # those that have nothing under way ask; the others will, when they are done
    assert any(most != 0 for most in given_out) or any(under_way for _, under_way, _ in devices)


def test_a_device_that_is_probably_slow_shows_its_pace_with_one_frame() -> None:
    assert share(120, None, 1, 0, 28, (None, 0), slow_kind=True) == 1
    assert share(120, None, 1, 1, 28, (2000, 0), slow_kind=True) == 0
    assert share(120, 1500, 1, 0, 28, (2000, 0), slow_kind=True) is None
    assert share(6000, 150, 1, 0, 28, (20, 0), slow_kind=True) is None  # the other one is slower after all
    # the other one opens its files, or its first frames are all that counts yet
    assert share(120, 20, 1, 0, 28, (None, 0), slow_kind=True) == MAX_DELAY_SECONDS / 4 * 20
    assert share(120, 20, 1, 0, 28, (100, 0), slow_kind=True) == MAX_DELAY_SECONDS / 4 * 20


def left(*frames: int, done: int = 0) -> dict[tuple[int, int], Remaining]:
    return {(0, number): Remaining(count, done) for number, count in enumerate(frames)}


def test_the_longest_segment_of_the_one_with_longest_to_go_is_taken() -> None:
    others = {A: Load(100, left(300)), B: Load(10, left(30, 60, 40)), C: Load(10, left(90))}
    assert choose_revoke(Load(1000, {}), others) == (B, (0, 1))


def test_nothing_is_taken_that_would_not_be_done_sooner() -> None:
    assert choose_revoke(Load(1000, {}), {}) is None
    assert choose_revoke(Load(1000, {}), {A: Load(1000, {})}) is None
    assert choose_revoke(Load(1000, {}), {A: Load(1000, left(400))}) is None  # changing hands takes as long
    assert choose_revoke(Load(10, {}), {A: Load(30, left(100, 100))}) is None
    assert choose_revoke(Load(100, left(1000)), {A: Load(100, left(500, 500))}) is None
    assert choose_revoke(Load(100, {}, taken_over=1000), {A: Load(100, left(500, 500))}) is None
    assert choose_revoke(Load(100, {}), {A: Load(100, left(100, done=1000))}) is None  # it would have to be decoded again
    assert choose_revoke(Load(1000, {}), {A: Load(100, left(100, done=100))}) == (A, (0, 0))
    assert 100 / 1000 < TAKEOVER_SECONDS < 100 / 100


def test_a_rate_that_is_not_known_is_taken_to_be_equal() -> None:
    assert choose_revoke(Load(None, {}), {A: Load(None, left(100, 100))}) == (A, (0, 0))
    assert choose_revoke(Load(None, {}), {A: Load(None, left(100))}) is None
    assert choose_revoke(Load(None, {}), {A: Load(20, left(100, 100))}) == (A, (0, 0))
    assert choose_revoke(Load(20, {}), {A: Load(None, left(100))}) is None


RESULT = FrameResult(FrameRef(0, UNNUMBERED, 0.0), CPU, 64, 48, InferenceFailure(words("no detections")))
"""A frame of a race. Failed frames are counted like others, and take less time to make than detections."""


@dataclass
class Device:
    """One that does batches, of one decode thread after the other, in their frames / rate seconds.

    slots: frames that it has under way at least, if it gets them: it asks for more in time. opening: seconds before the first batch.
    """

    rate: float
    decode_threads: int
    slots: int = 0
    batch: int = 16
    opening: float = 0.0
    asked: int = 0
    busy_until: float = math.inf
    tasks: list[Detect] = field(default_factory=list)
    positions: dict[int, int] = field(default_factory=dict)
    revoked: set[int] = field(default_factory=set)
    turn: int = 0

    @property
    def next(self) -> tuple[Detect, int]:
        """What it does now, and how many frames of that."""
        task = self.tasks[self.turn % min(self.decode_threads, len(self.tasks))]
        return task, min(self.batch, frames_of(task) - self.positions[task.segment.number])

    def begin(self, now: float) -> None:
        """The next batch, if there is one."""
        self.busy_until = now + self.opening + self.next[1] / self.rate if self.tasks else math.inf
        self.opening = 0.0


def frames_of(task: Detect) -> int:
    """Where a task ends in its segment."""
    return task.segment.frames if task.limit is None else min(task.segment.frames, task.skip + task.limit)


class Race:
    """A video, and devices of known speeds that do it; time is that of the slowest clock among them."""

    def __init__(self, devices: dict[DeviceId, Device], segments: int, frames: int, ready: Sequence[DeviceId] | None = None) -> None:
        self.devices = devices
        self.now = 0.0
        self.done: Counter[DeviceId] = Counter()
        self.revokes = 0
        self.finished: SourceFinished | None = None
        self.handed_on = 0
        self.dispatcher = Dispatcher(Segments(list(devices)), list(devices), lambda: self.now)
        pieces = tuple(Segment(number, None, None, frames) for number in range(segments))
        info = SourceInfo("x.mp4", SourceKind.VIDEO, "h264", 64, 48, segments * frames, None, 25.0, pieces)
        for device in devices:
            self.dispatcher.started(device)
            self.dispatcher.receive(device, Listening())
        self.dispatcher.add(0, Path("x.mp4"))
        for device, message in self.dispatcher.assignments():
            assert isinstance(message, Probe)
            self.tell(self.dispatcher.receive(device, Probed(0, info)))
        for device in devices if ready is None else ready:
            self.join(device)

    def join(self, device: DeviceId) -> None:
        """Its engine is built."""
        self.dispatcher.ready(device, self.devices[device].decode_threads)
        for _ in range(self.devices[device].decode_threads):
            self.ask(device)

    def tell(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case FramesDone():
                    self.handed_on += len(event.frames)
                case SourceFinished():
                    self.finished = event

    def ask(self, device: DeviceId) -> None:
        self.devices[device].asked += 1
        self.tell(self.dispatcher.receive(device, Need()))

    def deliver(self) -> None:
        """What can be given out, and again what is asked for then."""
        before = -1
        while before != (before := sum(len(state.tasks) for state in self.devices.values())):
            self.give()
            for device, state in self.devices.items():
                left = sum(frames_of(task) - state.positions[task.segment.number] for task in state.tasks)
                if state.tasks and left <= state.slots and not state.asked:
                    self.ask(device)

    def give(self) -> None:
        for device, message in self.dispatcher.assignments():
            state = self.devices[device]
            match message:
                case Detect():
                    state.asked -= 1
                    state.tasks.append(message)
                    state.positions[message.segment.number] = message.skip
                    state.revoked.discard(message.segment.number)
                    if len(state.tasks) == 1:
                        state.begin(self.now)
                case Revoke():
                    self.revokes += 1
                    state.revoked.add(message.segment)
                case Drop() | Probe():
                    pytest.fail(f"{message} is not due")

    def run(self) -> float:
        """Seconds from the first frame to the last."""
        while self.finished is None:
            self.deliver()
            device, state = min(((d, s) for d, s in self.devices.items() if s.tasks), key=lambda item: item[1].busy_until)
            self.now = state.busy_until
            self.batch(device, state)
        return self.now

    def batch(self, device: DeviceId, state: Device) -> None:
        task, count = state.next
        number = task.segment.number
        position = state.positions[number]
        if position == task.skip:
            self.tell(self.dispatcher.receive(device, Began(0, number)))
        self.tell(self.dispatcher.receive(device, Frames.pack(number, position, [RESULT] * count, CPU)))
        self.done[device] += count
        position = state.positions[number] = position + count
        if position == frames_of(task) or number in state.revoked:
            state.tasks.remove(task)
            self.tell(self.dispatcher.receive(device, Done(0, number, position, position == task.segment.frames)))
            if state.asked < state.decode_threads:
                self.ask(device)
        state.turn += 1
        state.begin(self.now)


RACES = {
    "a third": {A: (1200, 12), B: (400, 12)},
    "GPU and CPU": {A: (2400, 12), CPU: (20, 1, 5, 1)},
    "GPU and CPU of 65 slots": {A: (2400, 12), CPU: (60, 1, 65, 1)},
    "GPU and very slow CPU": {A: (2200, 12), CPU: (1, 1, 3, 1)},
    "GPU that opens files first, and CPU": {A: (2200, 12, 0, 32, 0.5), CPU: (11, 1, 5, 1)},
    "small network": {A: (4000, 12), CPU: (350, 1, 17, 1)},
    "small GPU and CPU": {A: (150, 12), CPU: (5, 1, 9, 1)},
    "GPU and CPU about equal": {A: (100, 4), CPU: (90, 1, 17, 1)},
    "two fast, one slow": {A: (2400, 12), B: (2400, 12), C: (100, 2)},
    "three kinds": {A: (2400, 12), B: (300, 4), CPU: (10, 1, 7, 1)},
    "four GPUs and CPU": {**{DeviceId("cuda", str(number)): (2330, 12) for number in range(4)}, CPU: (9.5, 1, 7, 1)},
    "equal": {A: (500, 4), B: (500, 4), C: (500, 4)},
}


CRITICAL = ("GPU and CPU", "GPU and CPU of 65 slots", "small network")
CASES = [*((name, 60) for name in RACES), *((name, length) for name in CRITICAL for length in (12, 250))]
"""Names of races, and the frames of a segment: the critical ones with short and long segments, too."""

USUAL = (
    ("a third", 60),
    ("GPU and CPU", 12),
    ("GPU and CPU", 60),
    ("GPU and very slow CPU", 60),
    ("GPU that opens files first, and CPU", 60),
    ("small network", 250),
    ("three kinds", 60),
    ("equal", 60),
)
"""Those that every run of the tests has."""


@pytest.mark.parametrize(
    ("name", "length"),
    [case if case in USUAL else pytest.param(*case, marks=pytest.mark.slow) for case in CASES],
)
def test_unequal_devices_reach_the_sum_of_their_speeds(name: str, length: int) -> None:
    """In five seconds; in ten where the fastest begins half a second late."""
    devices = RACES[name]
    rate = sum(each for each, *_ in devices.values())
    segments = round((10 if "first" in name else 5) * rate / length)
    race = Race({device: Device(*how) for device, how in devices.items()}, segments, length)
    seconds = race.run()
    assert race.finished is not None
    assert race.finished.error is None
    assert race.handed_on == sum(race.finished.ledger.failed.values()) == length * segments
    assert race.handed_on / seconds > 0.93 * rate
    assert all(race.done[device] for device in devices)


@pytest.mark.parametrize("slots", [1, 7, 17])
def test_a_short_video_is_not_held_up_by_a_slow_device(slots: int) -> None:
    race = Race({A: Device(2200, 12), CPU: Device(20, 1, slots, 1)}, 20, 60)
    assert race.run() < 1.1 * 20 * 60 / 2200


def test_a_cpu_fallback_does_whole_segments() -> None:
    """While the GPU's engine is being built the CPU gets whole segments; then the GPU takes over."""
    race = Race({A: Device(2200, 12), CPU: Device(20, 1, 7, 1)}, 100, 60, ready=[CPU])
    while race.now < 10:
        race.deliver()
        race.now = race.devices[CPU].busy_until
        race.batch(CPU, race.devices[CPU])
    assert race.handed_on == race.done[CPU] > 150
    race.join(A)
    since = race.now
    assert race.run() - since < 1.2 * (100 * 60 - race.done[CPU]) / 2200 + TAKEOVER_SECONDS


def test_equal_devices_leave_each_other_alone() -> None:
    race = Race({A: Device(2000, 8), B: Device(2000, 8)}, 64, 120)
    race.run()
    assert race.revokes == 0


def test_a_device_that_stops_for_a_while_is_relieved() -> None:
    race = Race({A: Device(1000, 4), B: Device(1000, 4)}, 40, 120)
    stopped = False
    while race.finished is None:
        race.deliver()
        if not stopped and race.now > 1:
            stopped = True
            race.devices[B].busy_until += 60
        device, state = min(((d, s) for d, s in race.devices.items() if s.tasks), key=lambda item: item[1].busy_until)
        race.now = state.busy_until
        race.batch(device, state)
    # what it had begun has to wait for its answer, but nothing else
    assert race.revokes > 0
    assert race.done[A] + race.done[B] == 40 * 120


def test_a_slow_device_leaves_what_others_wait_for_to_them() -> None:
    """A piece of its own is done: the rest of that segment is the oldest work, and the next one to ask is the slow device itself."""
    race = Race({A: Device(1000, 4), B: Device(20, 1)}, 200, 120)
    given: list[tuple[DeviceId, int, bool]] = []
    deliver = race.deliver

    def watch() -> None:
        before = {device: list(state.tasks) for device, state in race.devices.items()}
        deliver()
        for device, state in race.devices.items():
            given.extend((device, task.segment.number, task.skip > 0) for task in state.tasks if task not in before[device])

    race.deliver = watch  # type: ignore[method-assign]
    race.run()
    rests = [(device, number) for device, number, rest in given if rest and number < 180]  # then there is nothing else
    assert len(rests) > 3
    assert all(device == A for device, _ in rests)
