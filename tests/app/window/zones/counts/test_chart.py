"""The chart of counts over time."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from framefleet.app.window.zones.counts.chart import MAX_CHOSEN, CountChart
from framefleet.engine.store.clock import Clock
from framefleet.engine.zones.counts import CROSSINGS, VISITS, Counts
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet

ZONES = ZoneSet((9, 9), (Line("gate", (0, 0), (9, 9)), Zone("yard", ((0, 0), (9, 0), (9, 9)))))
HOUR = 3600.0


def counts(*times):
    """One crossing of the line at each of these times, seconds; an object is in the zone from 0 to 3 s."""
    crossings, visits = np.zeros(len(times), CROSSINGS), np.zeros(1, VISITS)
    crossings["time"], crossings["forward"] = times, True
    visits["shape"], visits["end"] = 1, 3
    return Counts(ZONES, crossings, visits)


@pytest.fixture
def chart(qtbot):
    chart = CountChart(str)
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    return chart


def axis(chart, side, low, high, size):
    """The texts of an axis."""
    axis = chart.plot.getPlotItem().getAxis(side)
    ((spacing, values),) = axis.tickValues(low, high, size)
    return axis.tickStrings(values, 1.0, spacing)


def bars(chart):
    """The heights of the forward bars."""
    bars, _ = (item for item in chart.plot.getPlotItem().items if hasattr(item, "opts") and "height" in item.opts)
    return bars.opts["height"].tolist()


def test_crossings_have_whole_numbers_and_means_need_not(chart):
    chart.show_counts(counts(1.0), 0, 10.0)
    assert axis(chart, "left", -1.1, 1.1, 400) == ["1", "0", "1"]
    assert axis(chart, "left", -12, 12, 150) == ["10", "5", "0", "5", "10"]
    chart.show_counts(counts(1.0), 1, 10.0)
    assert axis(chart, "left", 0, 1.1, 150) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]


def test_the_highest_bar_keeps_away_from_the_border(chart):
    chart.show_counts(counts(1.0, 1.1, 1.2), 0, 10.0)
    (_, _), (low, high) = chart.plot.getPlotItem().viewRange()
    assert low <= -3.3
    assert high >= 3.3


def test_the_user_chooses_the_length_of_a_bar(chart):
    chart.show_counts(counts(1, 1200, 2700, 2701), 0, HOUR)
    assert "crossings in 1 min" in chart.heading.text()
    chart.interval.setCurrentText("15 min")
    assert "crossings in 15 min" in chart.heading.text()
    assert bars(chart) == [1, 1, 0, 2]
    chart.interval.setCurrentText("1 s")
    assert len(bars(chart)) == HOUR
    chart.show_counts(counts(1), 0, 2 * MAX_CHOSEN)
    assert "crossings in 2 s" in chart.heading.text()


def test_with_clock_times_bars_and_texts_keep_to_the_clock(chart):
    """The video begins at 7:50: of three crossings, one is before 8:00, two are before 8:15."""
    chart.interval.setCurrentText("15 min")
    chart.show_counts(counts(0, 601, 602), 0, HOUR)
    assert axis(chart, "bottom", 0, HOUR, 400) == ["0:00", "15:00", "30:00", "45:00", "1:00:00"]
    chart.set_clock(Clock(datetime(2026, 11, 1, 7, 50, tzinfo=UTC)))
    assert bars(chart) == [1, 2, 0, 0, 0]
    assert axis(chart, "bottom", 0, HOUR, 400) == ["08:00", "08:15", "08:30", "08:45"]
    assert axis(chart, "bottom", 0, 6, 400) == ["07:50:00", "07:50:02", "07:50:04", "07:50:06"]
    chart.set_clock(None)
    assert bars(chart) == [3, 0, 0, 0]


def test_the_mean_of_several_files_counts_the_recorded_time_only(chart):
    """Two recordings of 6 s in two quarters of an hour; an object is in the zone for 3 s of the first one."""
    recorded = np.array([[0.0, 6.0], [900.0, 906.0]])
    chart.show_counts(counts(), 1, 906.0, clock=Clock(datetime(2026, 11, 1, 7, tzinfo=UTC)), recorded=recorded)
    (drawn,) = (item for item in chart.plot.getPlotItem().items if hasattr(item, "opts") and "height" in item.opts)
    assert drawn.opts["height"].tolist() == [0.5, 0.0]
    assert drawn.opts["x1"].tolist() == [900.0, 1800.0], "the short recording has a bar as wide as the other"
    assert chart.plot.getPlotItem().viewRange()[0] == pytest.approx([0, 1800], abs=50)


def test_pictures_have_numbers(chart):
    chart.set_clock(Clock(datetime(2026, 11, 1, 7, 50, tzinfo=UTC)))
    chart.show_counts(counts(), 1, 5.0, pictures=True)
    assert axis(chart, "bottom", 0, 5, 600) == ["1", "2", "3", "4", "5", "6"]
    assert chart.interval.isHidden()
