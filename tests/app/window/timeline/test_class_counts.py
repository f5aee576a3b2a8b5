import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.window.timeline.class_counts import BINS, Tally
from engine.types import Detections

scored = st.lists(st.tuples(st.floats(0.0, 1.0, width=32), st.integers(0, 5)), max_size=30)


def detections(pairs: list[tuple[float, int]]) -> Detections:
    return Detections(
        np.zeros((len(pairs), 4), np.float32), np.array([p[0] for p in pairs], np.float32), np.array([p[1] for p in pairs], np.int32)
    )


@given(scored, st.integers(0, 100))
def test_counts_are_those_that_the_filter_lets_through(pairs: list[tuple[float, int]], hundredths: int) -> None:
    tally, found = Tally(), detections(pairs)
    tally.add(found, 0.5)
    shown = found.filter(hundredths / 100)
    expected = {class_id: int((shown.class_ids == class_id).sum()) for class_id in {int(number) for number in found.class_ids}}
    assert tally.counts(hundredths / 100) == expected


def test_activity_says_when_something_was_seen() -> None:
    tally = Tally()
    tally.add(detections([(0.9, 1), (0.3, 2)]), 0.0)
    tally.add(detections([(0.9, 1)]), 1.0)
    assert tally.activity(0.25).nonzero()[0].tolist() == [0, BINS - 1]
    assert tally.activity(0.25)[0] == 2
    assert tally.activity(0.5)[0] == 1
    assert tally.activity(0.25, {2}).tolist() == [1] + [0] * (BINS - 1)
    assert tally.activity(0.25, set()).sum() == 0
