"""A box that a person verified has another label than the others, in annotated videos and in the window."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from framefleet.app.window.viewer.layout import Placement
from framefleet.app.window.viewer.overlay import Overlay
from framefleet.engine.media.annotation.drawing import OTHERS, Annotator, CountChart, yuv
from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.types import Detections

GREY = 120


def drawn(size, counts, seconds=0.0, span=(0.0, 10.0), labels=()):
    """Draw a chart into a grey picture. Returns the chart and the planes."""
    chart = CountChart(Annotator(size, labels), size, counts, span)
    planes = tuple(np.full((size[1] // part, size[0] // part), GREY, np.uint8) for part in (1, 2, 2))
    chart.draw(planes, seconds)
    return chart, planes


def is_colour(planes, x, y, colour):
    wanted = np.array(yuv(colour))
    return bool(np.abs(np.array([planes[0][y, x], planes[1][y // 2, x // 2], planes[2][y // 2, x // 2]]) - wanted).max() <= 2)


def test_bars_have_the_heights_of_the_counts():
    """Two classes on top of each other: three and one object at first, none later. The mark is at the end, so no bar is dimmed."""
    size = (640, 360)
    counts = {4: np.array([3.0, 0.0]), 7: np.array([1.0, 0.0])}
    chart, planes = drawn(size, counts, 10.0)
    plot = chart.height - Annotator(size, ()).height
    heights = {}
    for class_id in counts:
        heights[class_id] = sum(is_colour(planes, 100, size[1] - row, class_colour(class_id)) for row in range(1, plot + 1))
    assert heights[4] == pytest.approx(plot * 3 / 4, abs=2)
    assert heights[7] == pytest.approx(plot / 4, abs=2)
    assert not any(is_colour(planes, 500, size[1] - row, class_colour(4)) for row in range(1, plot + 1))


@pytest.mark.parametrize("size", [(640, 360), (1920, 1080), (320, 1080), (64, 48), (16, 16)])
def test_the_strip_is_small_and_what_is_above_stays(size):
    chart, planes = drawn(size, {0: np.ones(160)}, 5.0)
    assert chart.height <= size[1] // 4
    assert all((plane[: -max(chart.height // part, 1)] == GREY).all() for plane, part in zip(planes, (1, 2, 2), strict=True))
    assert (planes[0][-1] != GREY).all()


def test_classes_without_room_for_a_name_share_one():
    size, names = (320, 240), [f"a long name {number}" for number in range(30)]
    few, many = ({number: np.ones(10) for number in range(count)} for count in (1, 30))
    for counts, shared in ((few, False), (many, True)):
        chart, planes = drawn(size, counts, 10.0, labels=names)
        assert is_colour(planes, 150, size[1] - chart.height + Annotator(size, names).height + 3, OTHERS) is shared


@pytest.mark.parametrize("counts", [{}, {0: np.zeros(5)}])
def test_a_video_without_objects_has_an_empty_chart(counts):
    _, planes = drawn((320, 240), counts, 3.0, span=(3.0, 3.0))
    assert planes[0][-1].max() >= 230, "the mark"


SIZE = (320, 240)


def found(score, verified):
    box = np.array([[100, 100, 200, 200]], np.float32)
    return Detections(box, np.array([score], np.float32), np.array([0], np.int32), None, np.array([verified]))


def in_a_video(detections):
    planes = tuple(np.full((240 // part, 320 // part), 128, np.uint8) for part in (1, 2, 2))
    Annotator(SIZE, ("car",)).draw(planes, detections, SIZE)
    return planes[0].tobytes()


def in_the_window(detections):
    overlay = Overlay(detections, Placement(0, 0, *SIZE, SIZE), SIZE, lambda _: "car", 1.0)
    return [(x, y, picture.toImage()) for x, y, picture in overlay.labels]


@pytest.mark.parametrize("drawn", [in_a_video, in_the_window])
def test_a_verified_box_has_a_sign_instead_of_the_model_s_confidence(qapp, drawn):
    assert drawn(found(0.98, verified=True)) == drawn(found(0.4, verified=True))
    assert drawn(found(0.98, verified=True)) != drawn(found(0.98, verified=False))
    assert drawn(found(0.98, verified=False)) != drawn(found(0.4, verified=False))


def test_an_annotated_video_shows_the_sign_of_the_window():
    annotator = Annotator(SIZE, ("car",))
    planes = tuple(np.full((240 // part, 320 // part), 128, np.uint8) for part in (1, 2, 2))
    annotator.draw(planes, found(0.98, verified=True), SIZE)
    text = annotator.text("car ✓", class_colour(0))[0]
    places = np.lib.stride_tricks.sliding_window_view(planes[0][70:110, 90:200], text.shape)
    assert (places == text).all((2, 3)).any()
    assert not np.array_equal(text, annotator.text("car", class_colour(0))[0])


FLAT = (320, 24)
"""The size of a picture in which each label has one place only."""


def beside(distance):
    """A weak object at the left of a strong one, whose label begins at x = 200."""
    boxes = np.array([[200, 0, 260, 24], [200 - distance, 0, 260 - distance, 24]], np.float32)
    return Detections(boxes, np.array([0.9, 0.8], np.float32), np.array([0, 0], np.int32), np.array([7, 8], np.int32))


def test_without_room_a_label_loses_its_percentage_and_then_goes_as_a_whole(qapp):
    widths = []
    size = FLAT[0], 60  # the only room for labels is above the boxes
    for distance in range(180, 0, -2):
        found = beside(distance)
        standing = replace(found, boxes=found.boxes + np.array([0, 30, 0, 30], np.float32))
        labels = Overlay(standing, Placement(0, 0, *size, size), size, lambda _: "motorbike", 1.0, numbers=True).labels
        assert len(labels) in (3, 5, 6)  # number, class and percentage; the number of a track never stands alone
        widths.append(labels[4][2].width() if len(labels) > 3 else 0)
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3


def test_labels_of_annotated_videos_lose_their_percentage_first_too():
    annotator = Annotator(FLAT, ("motorbike",))
    full, bare = (annotator.text(text, class_colour(0))[0] for text in ("8 motorbike 80%", "8 motorbike"))
    for distance, shown in ((180, full), (bare.shape[1] + 4, bare), (10, None)):
        planes = tuple(np.full((24 // part, 320 // part), 128, np.uint8) for part in (1, 2, 2))
        annotator.draw(planes, beside(distance), FLAT, ids=True)
        found = [(np.lib.stride_tricks.sliding_window_view(planes[0], text.shape) == text).all((2, 3)).any() for text in (full, bare)]
        assert found == [shown is full, shown is bare]


def test_labels_of_annotated_videos_keep_off_reserved_places():
    annotator = Annotator(FLAT, ("motorbike",))
    text = annotator.text("7 motorbike 90%", class_colour(0))[0]
    for reserved, seen in (((), True), ([(210.0, 0.0, 20.0, 24.0)], False)):
        planes = tuple(np.full((24 // part, 320 // part), 128, np.uint8) for part in (1, 2, 2))
        annotator.draw(planes, beside(150), FLAT, ids=True, reserved=reserved)
        assert (np.lib.stride_tricks.sliding_window_view(planes[0], text.shape) == text).all((2, 3)).any() == seen
