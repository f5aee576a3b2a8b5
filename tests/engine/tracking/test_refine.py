"""The tracks of a whole source are improved when it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from framefleet.engine.tracking.follow import Tracks, follow, make_tracker
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

RATE = 25

Object = tuple[float, float, float]
"""x, y and confidence."""


def frame(number: int, objects: Iterable[Object], class_id: int = 0) -> FrameResult:
    rows = sorted(objects, key=lambda each: -each[2])
    boxes = np.array([[x, y, x + 40, y + 80] for x, y, _ in rows], np.float32).reshape(-1, 4)
    found = Detections(boxes, np.array([each[2] for each in rows], np.float32), np.full(len(rows), class_id, np.int32))
    return FrameResult(FrameRef(0, number, number / RATE), DeviceId("cpu", "0"), 1280, 720, found)


def tracked(objects: Callable[[int], list[Object]], frames: int, classes: Callable[[int], int] = lambda _: 0) -> Tracks:
    return follow((frame(each, objects(each), classes(each)) for each in range(frames)), make_tracker(1 / RATE))


def walker(number: int, confidence: float = 0.9) -> Object:
    return 4.0 * number, 100.0, confidence


def hidden(number: int) -> list[Object]:
    """A walker that is out of sight for 3 s, longer than a track lives."""
    return [] if 20 <= number < 95 else [walker(number)]


def crowd(first: float, number: int) -> list[Object]:
    return [(first + 150 * each + 3 * number, 50.0 + 70 * each, 0.9) for each in range(6)]


def test_pieces_of_an_object_are_joined_where_its_way_goes_on() -> None:
    tracks = tracked(hidden, 120)
    assert tracks.tracks.tolist() == [1] * 45
    assert tracks.class_ids.tolist() == [0]


def test_pieces_that_do_not_fit_stay_apart() -> None:
    beside = tracked(lambda number: [(x, y + 150 * (number >= 95), score) for x, y, score in hidden(number)], 120)
    assert beside.tracks.tolist() == [1] * 20 + [2] * 25, "another place"
    later = tracked(lambda number: hidden(number) if number < 20 else [walker(number)] if number >= 130 else [], 150)
    assert later.tracks.tolist() == [1] * 20 + [2] * 20, "more than 4 s"
    other = tracked(hidden, 120, lambda number: int(number >= 95))
    assert (other.tracks.tolist(), other.class_ids.tolist()) == ([1] * 20 + [2] * 25, [0, 1])


def test_an_object_that_appears_elsewhere_at_once_gets_the_nearer_way() -> None:
    """Two pieces could go on with the one that appears: the nearer one does."""
    tracks = tracked(lambda number: [*hidden(number), *([(4.0 * number, 130.0, 0.8)] if number < 20 else [])], 120)
    ends = {number: tracks.frames[tracks.tracks == number].max() for number in (1, 2)}
    assert sorted(ends.values()) == [19, 119]
    assert tracks.frames[(tracks.tracks == 1)].max() == 119, "the first one is that with the higher confidence, at the same height"


def test_weak_detections_in_a_gap_belong_to_the_track_and_others_do_not() -> None:
    def objects(number: int) -> list[Object]:
        weak = 10 <= number < 20
        return [walker(number, 0.3 if weak else 0.9), *([(600.0, 300.0, 0.3)] if weak else [])]

    tracks = tracked(objects, 30)
    assert tracks.frames.tolist() == [*range(30)]
    assert tracks.ordinals.tolist() == [0] * 30


def test_a_second_track_on_one_object_goes() -> None:
    """A rider and the motorcycle have nearly the same box: too little for one frame, enough for a whole track."""

    def objects(number: int) -> list[Object]:
        x, y, _ = walker(number)
        return [walker(number), *([(x, y + 24, 0.8)] if 20 <= number < 60 else []), (x, y + 200, 0.8)]

    assert np.bincount(tracked(objects, 80).tracks)[1:].tolist() == [80, 80]


def test_a_gap_stays_a_gap() -> None:
    """No box is made up."""
    tracks = tracked(lambda number: [] if 10 <= number < 20 else [walker(number)], 30)
    assert tracks.frames.tolist() == [*range(10), *range(20, 30)]


def test_tracks_end_at_a_cut() -> None:
    """The second scene has its objects where those of the first one were, so that one is taken for the same."""

    def objects(number: int) -> list[Object]:
        return crowd(0, number) if number < 40 else [*crowd(60, number - 40)[:5], (3.0 * number, 50.0, 0.9)]

    tracks = tracked(objects, 80)
    for number in range(1, tracks.tracks.max() + 1):
        frames = tracks.frames[tracks.tracks == number]
        assert frames.max() < 40 or frames.min() >= 40, number
    assert tracks.tracks.max() == 12


@pytest.mark.parametrize("damaged", [1, 4])
def test_damaged_pictures_are_no_cut(damaged: int) -> None:
    tracks = tracked(lambda number: crowd(0, number) if not 40 <= number < 40 + damaged else crowd(70, number)[:5], 80)
    assert np.bincount(tracks.tracks)[1:7].min() >= 80 - damaged


def test_few_frames_a_second_have_no_cuts() -> None:
    frames = [
        FrameResult(FrameRef(0, number, float(number)), DeviceId("cpu", "0"), 1280, 720, frame(number, crowd(0, number)).detections)
        for number in range(20)
    ]
    tracks = follow(frames, make_tracker(1.0))
    assert np.bincount(tracks.tracks)[1:].tolist() == [20] * 6
