"""What the window knows of the objects of a source."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from threading import Event

import numpy as np

from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.zones.counts.counting import read_tracks, with_shown
from framefleet.engine.store import schema
from framefleet.engine.store.tracks import track_session
from tests.support.window import write_results


def test_objects_without_a_track_are_no_events_of_tracked_results_however_they_are_filtered(tmp_path: Path) -> None:
    results = write_results(tmp_path / "a.sqlite", tmp_path / "a.mp4", 60)
    track_session(results.database)
    with closing(schema.open_existing(results.database, "rw")) as connection:
        rows = connection.execute("SELECT frame, boxes, tracks FROM frames JOIN frame_tracks USING (source, frame)").fetchall()
        for frame, boxes, packed in rows:
            classes, numbers = np.frombuffer(boxes, schema.BOX)["class_id"], np.frombuffer(packed, schema.TRACK)
            kept = np.where(classes == 2, -1, numbers).astype(schema.TRACK).tobytes()
            connection.execute("UPDATE frame_tracks SET tracks = ? WHERE frame = ?", (kept, frame))
    tracks = read_tracks(results, True, Event())
    everything, cars = (with_shown(tracks, results, ViewFilter(0.25, classes), Event()) for classes in (None, frozenset({2})))
    assert everything.appearances["detections"].tolist() == [40]
    assert (len(cars.appearances), cars.heat.cells.sum()) == (0, 20)


def test_the_heat_map_has_objects_of_smaller_pictures_in_their_place(tmp_path: Path) -> None:
    """The size of all pictures but the first half, and their boxes, are divided by two."""
    results = write_results(tmp_path / "a.sqlite", tmp_path / "a.mp4", 60)
    before = with_shown(read_tracks(results, True, Event()), results, ViewFilter(0.25, None), Event())
    with closing(schema.open_existing(results.database, "rw")) as connection:
        for frame, boxes in connection.execute("SELECT frame, boxes FROM frames WHERE frame >= 30").fetchall():
            table = np.frombuffer(boxes, schema.BOX).copy()
            table["corners"] /= 2
            connection.execute(
                "UPDATE frames SET width = width / 2, height = height / 2, boxes = ? WHERE frame = ?", (table.tobytes(), frame)
            )
    after = with_shown(read_tracks(results, True, Event()), results, ViewFilter(0.25, None), Event())
    assert before.heat.cells.any()
    assert np.array_equal(before.heat.cells, after.heat.cells)
