from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.pool.protocol import Frames
from framefleet.engine.pool.sequencer import Sequencer
from framefleet.engine.types import UNNUMBERED, Detections, DeviceId, FrameRef, FrameResult, InferenceFailure
from tests.support.notices import words

CPU = DeviceId("cpu", "0")


def frames(segment: int, first: int, count: int, pts: float | None = None) -> Frames:
    refs = [FrameRef(3, UNNUMBERED, 100.0 * segment + first + at if pts is None else pts) for at in range(count)]
    return Frames.pack(segment, first, [FrameResult(ref, CPU, 8, 6, Detections()) for ref in refs], CPU)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_segments_in_any_order_come_out_in_display_order(lengths: list[int], random: Random) -> None:
    sequencer = Sequencer(lengths)
    came, out = dict.fromkeys(range(len(lengths)), 0), []
    todo = list(came)
    while todo:
        segment = random.choice(todo)
        if came[segment] == lengths[segment]:
            sequencer.finish(segment, lengths[segment])
            todo.remove(segment)
        else:
            count = random.randint(1, lengths[segment] - came[segment])
            sequencer.add(CPU, frames(segment, came[segment], count))
            came[segment] += count
        out += [result for message in sequencer.pop() for result in message]
        assert sequencer.waiting == sum(came.values()) - len(out)
    assert sequencer.complete
    assert [result.ref.index for result in out] == list(range(sum(lengths)))
    assert [result.ref.pts for result in out] == [100.0 * segment + at for segment, length in enumerate(lengths) for at in range(length)]


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([0, 0, -3, 5])), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_source_that_ends_early_keeps_what_waits(segments: list[tuple[int, int]], random: Random) -> None:
    """segments: number of frames, and how many more the container announces."""
    sequencer = Sequencer([max(0, length + amiss) for length, amiss in segments])
    came, out = 0, []
    for number in random.sample(range(len(segments)), len(segments)):
        length = segments[number][0]
        count = random.choice([0, length, random.randint(0, length)])
        if count:
            sequencer.add(CPU, frames(number, 0, count))
        if count == length:
            sequencer.finish(number, length)
        came += count
        out += [result for message in sequencer.pop() for result in message]
    prefix = len(out)
    out += [result for message in sequencer.rest() for result in message]
    assert len(out) == came
    assert sequencer.waiting == 0
    indices = [result.ref.index for result in out]
    assert indices[:prefix] == list(range(prefix))
    assert indices == sorted(set(indices)), "each index once, in order"
    if all(amiss == 0 for _, amiss in segments):
        true = [100.0 * number + at for number, (length, _) in enumerate(segments) for at in range(length)]
        assert [true[index] for index in indices] == [result.ref.pts for result in out]


def test_the_time_of_a_frame_without_one_counts_the_gap_before_it() -> None:
    sequencer = Sequencer([4, 2], step=1.0)
    sequencer.add(CPU, frames(0, 0, 1, math.nan))
    sequencer.add(CPU, frames(1, 0, 2, math.nan))
    list(sequencer.pop())
    assert [(result.ref.index, result.ref.pts) for message in sequencer.rest() for result in message] == [(4, 4.0), (5, 5.0)]


def test_a_frame_that_is_not_the_next_is_a_bug_that_shows() -> None:
    sequencer = Sequencer([5, 5])
    sequencer.add(CPU, frames(0, 0, 2))
    with pytest.raises(RuntimeError, match="frame 1 came where 2 was due"):
        sequencer.add(CPU, frames(0, 1, 1))
    with pytest.raises(RuntimeError, match="frame 3 came where 2 was due"):
        sequencer.add(CPU, frames(0, 3, 1))
    with pytest.raises(RuntimeError, match="ended at frame 5, with 2 received"):
        sequencer.finish(0, 5)
    sequencer.finish(0, 2)
    with pytest.raises(RuntimeError, match="frame 2 came"):
        sequencer.add(CPU, frames(0, 2, 1))
    assert len(list(sequencer.pop())) == 1
    with pytest.raises(RuntimeError, match="segment 0 is not open"):
        sequencer.received(0)


def test_frames_without_a_time_get_one_from_their_neighbours() -> None:
    sequencer = Sequencer([4], step=0.5)
    for first, pts in enumerate((math.nan, 3.0, math.nan, math.nan)):
        sequencer.add(CPU, frames(0, first, 1, pts))
    assert [result.ref.pts for message in sequencer.pop() for result in message] == [0.0, 3.0, 3.5, 4.0]


def test_a_message_keeps_every_frame_as_it_was() -> None:
    import pickle

    import numpy as np

    boxes = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = Detections(boxes, np.array([0.9, 0.8, 0.7], np.float32), np.array([2, 0, 1], np.int32))
    sent = [
        FrameResult(FrameRef(7, UNNUMBERED, 0.5), CPU, 64, 48, found),
        FrameResult(FrameRef(7, UNNUMBERED, 0.75, "b.png"), CPU, 64, 48, InferenceFailure(words("damaged"))),
        FrameResult(FrameRef(7, UNNUMBERED, 1.0, "c.png", "2026-11-01T08:00:00"), DeviceId("cpu", "1"), 32, 24, Detections()),
        FrameResult(FrameRef(7, 150, 1.25), CPU, 64, 48, found.select(np.array([1]))),
    ]
    message = pickle.loads(pickle.dumps(Frames.pack(2, 10, sent, CPU)))
    arrived = list(message.unpack(CPU, 100, 0.0, 0.25))
    assert [result.ref.index for result in arrived] == [100, 101, 102, 150]
    for before, after in zip(sent, arrived, strict=True):
        assert after.ref._replace(index=before.ref.index) == before.ref
        assert (after.device, after.width, after.height, after.failure) == (before.device, before.width, before.height, before.failure)
        if before.detections is None or after.detections is None:
            assert before.detections is after.detections
        else:
            np.testing.assert_array_equal(after.detections.boxes, before.detections.boxes)
            np.testing.assert_array_equal(after.detections.scores, before.detections.scores)
            np.testing.assert_array_equal(after.detections.class_ids, before.detections.class_ids)
