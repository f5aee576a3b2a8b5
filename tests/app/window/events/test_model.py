"""The list of events: sorting, searching and finding the next one."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from framefleet.app.window.events.model import CLASS, CONFIDENCE, EVENT, LENGTH, TIME, TRACK, EventModel
from framefleet.engine.store.appearances import EVENTS, EventKind
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet

ZONES = ZoneSet((9, 9), (Line("gate", (0, 0), (9, 9)), Zone("yard", ((0, 0), (9, 0), (9, 9)))))
UP, DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


@pytest.fixture
def model(qapp):
    events = np.zeros(4, EVENTS)
    events["kind"] = [0, 1, 2, 0]
    events["start"], events["end"] = [0, 3, 4, 8], [5, 3, 7, 9]
    events["class_id"], events["track"] = [1, 1, 0, 0], [7, 7, 3, -1]
    events["shape"], events["confidence"] = [-1, 0, 1, -1], [0.9, np.nan, np.nan, 0.5]
    model = EventModel()
    model.set_events(events, ("person", "car"), ZONES)
    return model


def column(model, number):
    return [model.index(row, number).data() for row in range(model.rowCount())]


def test_the_cells(model):
    assert column(model, TIME) == ["0:00.0", "0:03.0", "0:04.0", "0:08.0"]
    assert column(model, CLASS) == ["car", "car", "person", "person"]
    assert column(model, TRACK) == ["7", "7", "3", ""]
    assert column(model, EVENT) == ["appears", "crosses gate backward", "is in yard", "appears"]
    assert column(model, LENGTH) == ["5.0 s", "", "3.0 s", "1.0 s"]
    assert column(model, CONFIDENCE) == ["90 %", "", "", "50 %"]


@pytest.mark.parametrize(
    ("number", "order", "times"),
    [
        (TIME, DOWN, [8, 4, 3, 0]),
        (CLASS, UP, [0, 3, 4, 8]),
        (CLASS, DOWN, [4, 8, 0, 3]),
        (TRACK, UP, [8, 4, 0, 3]),
        (LENGTH, DOWN, [0, 4, 8, 3]),
        (CONFIDENCE, DOWN, [0, 8, 3, 4]),
    ],
)
def test_sorting_keeps_the_order_of_time_among_equal_rows(model, number, order, times):
    model.sort(number, order)
    assert [model.time_at(row) for row in range(4)] == times


@pytest.mark.parametrize(
    ("text", "kind", "times"),
    [("CAR", None, [0, 3]), ("yard", None, [4]), ("7", None, [0, 3]), ("", EventKind.APPEARANCE, [0, 8]), ("zebra", None, [])],
)
def test_searching(model, text, kind, times):
    model.set_filter(text, kind)
    assert [model.time_at(row) for row in range(model.rowCount())] == times


def test_the_next_and_the_previous_event(model):
    model.sort(TIME, DOWN)
    assert model.time_at(model.row_near(3.0, forward=True)) == 4
    assert model.time_at(model.row_near(3.0, forward=False)) == 0
    assert model.row_near(8.0, forward=True) is None
