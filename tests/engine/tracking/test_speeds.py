"""Objects at constant and slowly changing speed keep one number, up to one width of their boxes from frame to frame."""

from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.notices import Notice
from framefleet.engine.tracking.follow import Tracks, follow, make_tracker, too_fast
from framefleet.engine.tracking.refine import Sightings
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

WIDTH, HEIGHT, FRAMES = 60.0, 150.0, 24
RATES = (2, 5, 10, 25, 60)
SPEEDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def scene(
    speed: float, rate: float, objects: int = 1, noise: float = 0.0, missing: float = 0.0, change: float = 0.0, seed: int = 0
) -> tuple[list[FrameResult], list[int]]:
    """Objects one behind the other, with a gap of one width between them.

    speed: widths per frame. noise: of each edge, in sides of the box. missing: share of the boxes. change: the speed swings by this share.
    Returns the frames, and the object of each box.
    """
    random, frames, owners = np.random.default_rng(seed), list[FrameResult](), list[int]()
    lefts = 2 * WIDTH * np.arange(objects)
    for number in range(FRAMES):
        lefts = lefts + (speed * (1 + change * np.sin(number / 8)) * WIDTH if number else 0)
        shown = np.flatnonzero(random.random(objects) >= missing)
        boxes = np.stack((lefts, np.full(objects, 200), lefts + WIDTH, np.full(objects, 200 + HEIGHT)), 1)
        boxes += random.normal(0, noise, boxes.shape) * (WIDTH, HEIGHT, WIDTH, HEIGHT)
        found = Detections(boxes[shown].astype(np.float32), 0.9 - 0.01 * shown.astype(np.float32), np.zeros(len(shown), np.int32))
        frames.append(FrameResult(FrameRef(0, number, number / rate), DeviceId("cpu", "0"), 4000, 1000, found))
        owners += shown.tolist()
    return frames, owners


def numbers(frames: list[FrameResult], owners: list[int], rate: float) -> tuple[Tracks, list[set[int]]]:
    """The tracks, and the numbers of each object."""
    tracks = follow(frames, make_tracker(1 / rate))
    track_of = dict(zip(zip(tracks.frames.tolist(), tracks.ordinals.tolist(), strict=True), tracks.tracks.tolist(), strict=True))
    places = [(frame.ref.index, place) for frame in frames for place in range(len(frame.detections or ()))]
    found = [
        {track_of[place] for place, owner in zip(places, owners, strict=True) if owner == each and place in track_of} for each in range(3)
    ]
    return tracks, found[: max(owners) + 1]


def problem_of(frames: list[FrameResult], tracks: Tracks) -> Notice | None:
    found = [frame.detections for frame in frames if frame.detections is not None]
    positions = np.repeat(np.arange(len(found)), [*map(len, found)])
    ordinals = np.concatenate([np.arange(len(each)) for each in found])
    track_of = dict(zip(zip(tracks.frames.tolist(), tracks.ordinals.tolist(), strict=True), tracks.tracks.tolist(), strict=True))
    its = np.array([track_of.get(place, -1) for place in zip(positions.tolist(), ordinals.tolist(), strict=True)])
    boxes, scores, class_ids = (np.concatenate([getattr(each, name) for each in found]) for name in ("boxes", "scores", "class_ids"))
    times = np.array([frame.ref.pts for frame in frames])
    return too_fast(Sightings(positions, boxes.astype(float), its, times, np.zeros(0, int)), class_ids.astype(int), scores.astype(float))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("objects", [1, 3])
@pytest.mark.parametrize(
    ("noise", "missing", "change"),
    [(0, 0, 0), (0.03, 0.1, 0.3), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((0.03, 0, 0), (0.03, 0.1, 0)))],
)
def test_an_object_keeps_its_number(rate: float, objects: int, noise: float, missing: float, change: float) -> None:
    for seed, speed in enumerate(SPEEDS if objects > 1 else SPEEDS[1::4]):
        frames, owners = scene(speed / (1 + change), rate, objects, noise, missing, change, seed)
        tracks, found = numbers(frames, owners, rate)
        assert len(tracks.class_ids) == objects, f"{speed} widths a frame: {found}"
        assert [len(each) for each in found] == [1] * objects, f"{speed} widths a frame: {found}"
        assert len(tracks.tracks) >= 0.85 * len(owners), f"{speed} widths a frame"
        assert problem_of(frames, tracks) is None


@pytest.mark.parametrize("rate", RATES)
def test_motion_that_cannot_be_followed_is_said(rate: float) -> None:
    frames, owners = scene(2.5, rate)
    problem = problem_of(frames, numbers(frames, owners, rate)[0])
    assert problem is not None
    assert problem.code == "tracking.too_fast"
    assert f"({rate} frames/s)" in str(problem)


def test_frames_that_are_left_out_move_the_prediction() -> None:
    """Of an object at 0.5 widths a frame, 10 frames a second are analysed, then every fourth: two widths from one to the next."""
    frames, owners = scene(0.5, 10)
    kept = [frame for frame in frames if frame.ref.index < 12 or frame.ref.index % 4 == 0]
    tracks, _ = numbers(kept, owners[: len(kept)], 10)
    assert tracks.tracks.tolist() == [1] * len(kept)


def test_objects_that_appear_one_after_the_other_at_the_edge_keep_their_numbers() -> None:
    """Their first boxes are cut by the picture's edge, so they grow."""
    frames = []
    for number in range(30):
        lefts = 0.6 * WIDTH * number - WIDTH * 0.6 - np.arange(3) * 3.7 * WIDTH
        boxes = np.stack((np.maximum(lefts, 0), np.full(3, 200.0), lefts + WIDTH, np.full(3, 350.0)), 1)
        boxes = boxes[(boxes[:, 2] > 0.3 * WIDTH)]
        found = Detections(boxes.astype(np.float32), np.full(len(boxes), 0.9, np.float32), np.zeros(len(boxes), np.int32))
        frames.append(FrameResult(FrameRef(0, number, number / 10), DeviceId("cpu", "0"), 4000, 1000, found))
    assert len(follow(frames, make_tracker(0.1)).class_ids) == 3


@pytest.mark.parametrize("interval", [0.4, 0.5, 1.0, 30.0])
def test_few_frames_a_second_do_not_cut_tracks(interval: float) -> None:
    """A person stands; each third frame has no box: the gaps are longer than those that cut tracks at 25 frames/s."""
    frames = []
    for number in range(12):
        boxes = np.array([[300.0 + number % 2, 100, 360, 250]] if number % 3 != 2 or interval > 1 else np.zeros((0, 4)), np.float32)
        found = Detections(boxes, np.full(len(boxes), 0.9, np.float32), np.zeros(len(boxes), np.int32))
        frames.append(FrameResult(FrameRef(0, number, number * interval), DeviceId("cpu", "0"), 1280, 720, found))
    tracks = follow(frames, make_tracker(interval))
    assert set(tracks.tracks.tolist()) == {1}
