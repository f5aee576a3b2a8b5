"""The panel with the list of events."""

from __future__ import annotations

import os

import numpy as np
import pytest
from PySide6.QtCore import QSettings

from framefleet.app.window.events.model import CLASS, TRACK
from framefleet.app.window.events.panel import EventsPanel
from framefleet.app.window.keys.bindings import Bindings
from framefleet.engine.store.appearances import EVENTS


@pytest.fixture
def panel(qtbot):
    panel = EventsPanel(Bindings(QSettings(os.devnull, QSettings.Format.IniFormat)))
    qtbot.addWidget(panel)
    return panel


def test_while_a_file_is_detected_the_list_says_when_its_events_come(panel):
    panel.set_running(True)
    assert panel.count.text() == "The events are listed when the file is done."
    panel.set_running(True, begun=True)
    assert panel.count.text() == "The events are listed when the file is done."
    panel.set_events(np.zeros(2, EVENTS), ("cat",), None)
    assert panel.count.text() == "2 events. The others are listed when the file is done."
    panel.set_running(False)
    assert panel.count.text().startswith("2 events")


@pytest.mark.parametrize("width", [430, 900])
def test_names_of_classes_are_not_cut(panel, width):
    events = np.zeros(2, EVENTS)
    events["class_id"], events["shape"] = [0, 1], -1
    panel.set_events(events, ("cat", "motorcycle of the fire brigade"), None)
    panel.resize(width, 300)
    panel.grab()
    table = panel.table
    assert table.sizeHintForIndex(panel.model.index(1, CLASS)).width() <= table.columnWidth(CLASS)
    assert sum(table.columnWidth(number) for number in range(panel.model.columnCount())) >= table.viewport().width()


def test_all_columns_are_visible_in_the_usual_window(panel):
    events = np.zeros(30, EVENTS)
    events["track"], events["shape"] = np.arange(30), -1
    panel.resize(412, 300)  # in a window of 1360 pixels
    panel.set_events(events, ("motorcycle",), None)
    panel.grab()
    assert panel.table.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize("track", [-1, 7])
def test_events_without_tracks_have_no_column_of_tracks(panel, track):
    events = np.zeros(1, EVENTS)
    events["track"], events["shape"] = track, -1
    panel.set_events(events, ("cat",), None)
    assert panel.table.isColumnHidden(TRACK) is (track < 0)
