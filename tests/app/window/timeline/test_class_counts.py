from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from framefleet.app.window.timeline.class_counts import BINS, Tally, live_length, parts_of
from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult, InferenceFailure
from tests.support.notices import words
from tests.support.store import CPU, LABELS, video_info

scored = st.lists(st.tuples(st.floats(0.0, 1.0, width=32), st.integers(0, 5)), max_size=30)


def detections(pairs: list[tuple[float, int]]) -> Detections:
    return Detections(
        np.zeros((len(pairs), 4), np.float32), np.array([p[0] for p in pairs], np.float32), np.array([p[1] for p in pairs], np.int32)
    )


@given(scored, st.integers(0, 100))
def test_counts_are_those_that_the_filter_lets_through(pairs: list[tuple[float, int]], hundredths: int) -> None:
    tally, found = Tally(), detections(pairs)
    tally.add(found.class_ids, found.scores, np.full(len(found), 120))
    shown = found.filter(hundredths / 100)
    expected = {class_id: int((shown.class_ids == class_id).sum()) for class_id in {int(number) for number in found.class_ids}}
    assert tally.counts(hundredths / 100) == expected
    assert tally.activity(hundredths / 100)[120] == sum(expected.values())
    tally.compress()
    assert tally.counts(hundredths / 100) == expected, "the totals stay"
    assert tally.activity(hundredths / 100).sum() == 0, "when they were seen is on disk only"


def test_activity_says_when_something_was_seen() -> None:
    tally = Tally()
    info = replace(video_info("a.mp4", 2), duration=10.0, origin=1000.0)
    found = (detections([(0.9, 1), (0.3, 2)]), detections([(0.9, 1)]), detections([]))
    frames = [FrameResult(FrameRef(0, n, 1000.0 + n * 10.0), CPU, 9, 9, each) for n, each in enumerate(found)]
    tally.add_frames([*frames, FrameResult(FrameRef(0, 3, 1005.0), CPU, 9, 9, InferenceFailure(words("damaged")))], info)
    assert tally.activity(0.25).nonzero()[0].tolist() == [0, BINS - 1]
    assert tally.activity(0.25)[0] == 2
    assert tally.activity(0.5)[0] == 1
    assert tally.activity(0.25, {2}).tolist() == [1] + [0] * (BINS - 1)
    assert tally.activity(0.25, set()).sum() == 0
    assert tally.failures.nonzero()[0].tolist() == [BINS // 2]
    assert tally.frames[[0, BINS // 2, BINS - 1]].tolist() == [1, 0, 2]  # the last two lie behind the end


@settings(deadline=None, max_examples=30)
@given(st.lists(scored, min_size=1, max_size=12), st.integers(0, 100), st.integers(0, 30), st.integers(1, 3))
def test_stored_detections_are_counted_as_those_of_a_run(
    frames: list[list[tuple[float, int]]], hundredths: int, first: int, every: int
) -> None:
    """first: the number of the run's first frame. every: the distance from one of its frames to the next."""
    numbers = range(first, first + every * len(frames), every)
    results = [FrameResult(FrameRef(0, n, n / 25), CPU, 9, 9, detections(pairs)) for n, pairs in zip(numbers, frames, strict=True)]
    run, stored = Tally(), Tally()
    info = replace(video_info("a.mp4", len(frames)), duration=len(frames) / 25)
    run.add_frames(results, info)
    with TemporaryDirectory() as folder:
        with SessionWriter(Path(folder) / "s.sqlite", LABELS, {}) as writer:
            writer.add_source(0, "a.mp4", info)
            writer.add_frames(results)
        with SessionReader(Path(folder) / "s.sqlite") as reader:
            stored.add_stored(reader, 0, info)
    assert stored.counts(hundredths / 100) == run.counts(hundredths / 100)
    assert np.array_equal(stored.activity(hundredths / 100), run.activity(hundredths / 100))
    assert np.array_equal(stored.frames, run.frames)


def test_the_slices_of_a_live_source_become_longer_as_it_goes_on() -> None:
    info = replace(video_info("cam", 0), kind=SourceKind.LIVE, duration=None, frames=0)
    tally = Tally()
    times = [0.0, 30.0, 59.9, 61.0, 200.0]
    for index, pts in enumerate(times):
        found = detections([(0.5, 1)] * (index + 1)) if index != 1 else InferenceFailure(words("broken"))
        tally.add_frames([FrameResult(FrameRef(0, index, pts), CPU, 320, 240, found)], info)
    length = live_length(times[-1])
    assert length == 240.0
    activity, places = tally.activity(0.25), [int(pts / length * BINS) for pts in times]
    assert np.flatnonzero(activity).tolist() == sorted({place for index, place in enumerate(places) if index != 1})
    assert activity.sum() == 1 + 3 + 4 + 5
    assert np.flatnonzero(tally.failures).tolist() == [places[1]]
    assert tally.frames.sum() == 4
    assert tally.counts(0.25) == {1: 13}


def test_a_gap_is_where_more_slices_than_usual_have_no_frame() -> None:
    """Of a run over every tenth slice, the second quarter was not reached before the user stopped it."""
    frames = np.zeros(BINS, np.int64)
    frames[::10] = 1
    assert parts_of(frames) == ((0.0, 951 / BINS),)
    frames[BINS // 4 : BINS // 2] = 0
    assert parts_of(frames) == ((0.0, 231 / BINS), (BINS // 2 / BINS, 951 / BINS))
    frames[1:] = 0
    assert parts_of(frames) == ((0.0, 1 / BINS),)
