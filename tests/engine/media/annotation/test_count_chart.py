"""The chart of counts over time in annotated videos."""

from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.media.annotation.colours import class_colour
from framefleet.engine.media.annotation.count_chart import OTHERS, CountChart
from framefleet.engine.media.annotation.draw import Annotator, yuv

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
