"""The timeline with a real mouse: zoom, the chosen part, failures, and the card under the mouse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from framefleet.app.window.queue.item import Part
from framefleet.app.window.timeline.class_counts import BINS, slices_of
from framefleet.app.window.timeline.contents import CROSSING, MIN_SPAN, MIN_TEXT, Lane, TimeView, draw_names, rows_of
from framefleet.app.window.timeline.timeline import MARGIN, PartButton, Timeline
from framefleet.app.window.widgets import theme
from framefleet.engine.store.appearances import EVENTS, EventKind

LEFT = Qt.MouseButton.LeftButton
SHIFT = Qt.KeyboardModifier.ShiftModifier
places = st.floats(0, 1)
EACH = np.ones(BINS, np.int64)
"""A frame in each slice."""


def turn(timeline: Timeline, x: int, notches: int, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    place, none = QPointF(MARGIN + x, 20), Qt.MouseButton.NoButton
    delta = QPoint(0, 120 * notches)
    QApplication.sendEvent(
        timeline,
        QWheelEvent(place, timeline.mapToGlobal(place), QPoint(), delta, none, modifiers, Qt.ScrollPhase.NoScrollPhase, False),
    )


def spot(x: float, y: int = 20) -> QPoint:
    return QPoint(int(MARGIN + x), y)


@given(places, places, st.lists(st.tuples(st.floats(0.1, 10), places, st.floats(-1, 1)), max_size=8))
def test_a_view_stays_within_the_length_and_keeps_the_place_under_the_mouse(
    start: float, span: float, steps: list[tuple[float, float, float]]
) -> None:
    view = TimeView(0.0, max(span, MIN_SPAN)).moved(start)
    for factor, at, by in steps:
        fraction = view.fraction(at)
        larger = view.zoomed(factor, fraction)
        if larger.start > 0 and larger.end < 1:
            assert larger.place(fraction) == pytest.approx(at, abs=1e-6)
        view = larger.moved(by).showing(fraction)
        assert -1e-9 <= view.start < view.end <= 1 + 1e-9
        assert view.start - 1e-9 <= fraction <= view.end + 1e-9


def test_the_wheel_enlarges_at_the_mouse_and_a_click_then_seeks_finer(qtbot: QtBot, timeline: Timeline) -> None:
    turn(timeline, 250, 4)
    assert timeline.view.span == pytest.approx(1.25**-4)
    with qtbot.waitSignal(timeline.sought) as sought:
        qtbot.mouseClick(timeline, LEFT, pos=spot(251))
    assert sought.args == pytest.approx([50.0 + 0.2 / 1.25**4], abs=0.01)
    before = timeline.view
    turn(timeline, 250, -1, SHIFT)
    assert timeline.view.start > before.start
    timeline.set_position(99.0)  # playing on moves the view
    assert timeline.view.start < 0.99 <= timeline.view.end
    qtbot.mouseDClick(timeline, LEFT, pos=spot(100))
    assert timeline.view == TimeView()


def test_shift_and_the_mouse_choose_a_part_whose_edges_can_be_moved(qtbot: QtBot, timeline: Timeline) -> None:
    chosen: list[Part | None] = []
    sought: list[float] = []
    timeline.part_chosen.connect(chosen.append)
    timeline.sought.connect(sought.append)
    qtbot.mousePress(timeline, LEFT, SHIFT, spot(300))
    qtbot.mouseMove(timeline, spot(100))
    qtbot.mouseRelease(timeline, LEFT, SHIFT, spot(100))
    assert chosen[-1] == Part(20.0, 60.0)
    qtbot.mousePress(timeline, LEFT, pos=spot(302))
    qtbot.mouseMove(timeline, spot(400))
    qtbot.mouseRelease(timeline, LEFT, pos=spot(400))
    assert chosen[-1] == Part(20.0, 80.0)
    assert sought == []  # the position stays
    image = timeline.grab().toImage()
    assert image.pixelColor(spot(100)) == QColor(theme.ACCENT)
    qtbot.mouseClick(timeline, LEFT, pos=spot(400, 50))  # on the track, the edge does not take the mouse
    assert sought == [80.0]
    timeline.set_part(None)
    assert chosen[-1] is None


def test_the_part_begins_and_ends_where_the_user_says(qtbot: QtBot, timeline: Timeline) -> None:
    button = PartButton(timeline)
    qtbot.addWidget(button)
    button.mark(30.0, end=False)
    assert timeline.part == Part(30.0, 100.0)
    button.mark(40.0, end=True)
    assert (timeline.part, button.text()) == (Part(30.0, 40.0), "0:30.00 – 0:40.00")
    button.mark(20.0, end=True)  # before its beginning
    assert timeline.part == Part(0.0, 20.0)
    with qtbot.waitSignal(button.detection_requested) as asked:
        button.menu().actions()[0].trigger()
    assert asked.args == [Part(0.0, 20.0)]
    button.menu().actions()[-1].trigger()
    assert timeline.part is None
    assert button.isHidden()


def test_failed_frames_are_marked_and_named(timeline: Timeline) -> None:
    failures = np.zeros(BINS, np.int32)
    failures[BINS // 2] = 3
    timeline.set_lanes([], failures)
    assert timeline.text_at(50.0) == "0:50.0\n3 frames failed"
    red = [x for x in range(timeline.width()) if timeline.grab().toImage().pixelColor(x, 40) == QColor(theme.DANGER)]
    assert red
    assert all(abs(x - MARGIN - 250) <= 2 for x in red)


def test_a_rare_object_stays_visible_when_slices_are_narrower_than_pixels(timeline: Timeline) -> None:
    for place in range(0, BINS, 37):
        counts = np.zeros(BINS, np.int64)
        counts[place] = 1
        timeline.set_lanes([Lane("car", 2, counts, EACH)])
        picture = Lane("car", 2, counts, EACH).image(TimeView(), 300)
        assert sum(picture.pixelColor(x, 0).alpha() > 0 for x in range(picture.width())) == 1


def test_a_video_with_the_same_objects_in_all_frames_looks_even(timeline: Timeline) -> None:
    frames = 1 + np.arange(BINS) % 2  # slices of a short video have one or two frames in turn
    for columns in (300, 641, BINS):
        picture = Lane("car", 2, 3 * frames, frames).image(TimeView(), columns)
        assert {picture.pixelColor(x, 0).alpha() for x in range(picture.width())} == {255}


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("number", [500, 1394])
def test_frames_that_a_run_took_leave_no_gaps(timeline: Timeline, number: int, every: int) -> None:
    frames = np.bincount(slices_of(np.arange(0, number, every) * 1.0, float(number)), minlength=BINS)
    frames[: BINS // 4] = 0  # of a part
    timeline.set_lanes([Lane("car", 2, 3 * frames, frames)], frames=number)
    picture = timeline.contents.lanes[0].image(TimeView(), timeline.contents.columns)
    alphas = [picture.pixelColor(x, 0).alpha() for x in range(picture.width())]
    begin = alphas.index(255)
    assert begin == pytest.approx(len(alphas) / 4, abs=1)
    assert alphas == [0] * begin + [255] * (len(alphas) - begin)


def test_names_stand_beside_the_lanes_and_further_classes_appear_at_a_click(qtbot: QtBot, timeline: Timeline) -> None:
    counts = np.ones(BINS, np.int64)
    timeline.set_lanes([Lane(f"class {number}", number, counts, EACH) for number in range(9)])
    timeline.resize(timeline.width(), timeline.sizeHint().height())
    low = timeline.height()
    lane = timeline.grab().toImage().pixelColor(int(timeline.left) + 3, 10)
    assert lane.green() > lane.red() + 20  # the lane's first slice is not behind its name
    assert timeline.contents.more == "+ 3 classes"
    qtbot.mouseClick(timeline, LEFT, pos=timeline.more_row.center().toPoint())
    assert timeline.sizeHint().height() == low + 30
    timeline.resize(timeline.width(), timeline.sizeHint().height())
    qtbot.mouseClick(timeline, LEFT, pos=timeline.more_row.center().toPoint())
    assert timeline.sizeHint().height() == low
    with qtbot.waitSignal(timeline.sought) as sought:
        qtbot.mouseClick(timeline, LEFT, pos=QPoint(int(timeline.left), 50))
    assert sought.args == [0.0]


def test_with_little_room_there_are_fewer_lanes(timeline: Timeline) -> None:
    counts = np.ones(BINS, np.int32)
    timeline.set_lanes([Lane(f"class {number}", number, counts, EACH) for number in range(9)])
    usual = timeline.sizeHint().height()
    timeline.show_few(few=True)
    assert (timeline.contents.rows, timeline.contents.more) == (3, "+ 7 classes")
    assert timeline.sizeHint().height() == usual - 40
    timeline.show_few(few=False)
    assert timeline.sizeHint().height() == usual


def test_new_classes_do_not_move_what_is_above_while_a_source_is_detected(qtbot: QtBot, timeline: Timeline) -> None:
    counts, heights = np.ones(BINS, np.int64), set[int]()
    timeline.expect_lanes(growing=True)
    for number in range(10):
        timeline.set_lanes([Lane(f"class {each}", each, counts, EACH) for each in range(number)])
        heights.add(timeline.sizeHint().height())
        timeline.resize(timeline.width(), timeline.sizeHint().height())
        if number == 2:  # two lanes of twice the usual height, and dark ground below them
            picture, x = timeline.grab().toImage(), int(timeline.left) + 3
            assert picture.pixelColor(x, 6 + 35) != QColor(theme.STAGE)
            assert picture.pixelColor(x, 6 + 45) == QColor(theme.STAGE)
    assert len(heights) == 1
    qtbot.mouseClick(timeline, LEFT, pos=timeline.more_row.center().toPoint())
    assert timeline.contents.all_lanes
    timeline.toggle_lanes()
    timeline.set_lanes([Lane("class 0", 0, counts, EACH)])
    timeline.expect_lanes(growing=False)
    assert timeline.sizeHint().height() < heights.pop(), "when it is done, one class needs less room"


def test_the_name_of_the_only_lane_stands_in_the_middle_of_it(timeline: Timeline) -> None:
    """The lane has the height of two, from 6 to 26 logical pixels."""
    timeline.set_lanes([Lane("tvmonitor", 0, np.ones(BINS, np.int64), EACH)])
    timeline.resize(timeline.width(), timeline.sizeHint().height())
    picture, ground = timeline.grab().toImage(), QColor(theme.STAGE)
    rows = [y for y in range(6, 30) if any(picture.pixelColor(x, y) != ground for x in range(12, 60))]
    assert abs((rows[0] + rows[-1]) / 2 - 16) <= 2


def test_the_first_name_stands_on_the_dark_ground(timeline: Timeline) -> None:
    """Its ground begins at 4 logical pixels; the light text can be read only there."""
    timeline.set_lanes([Lane("tvmonitor", number, np.ones(BINS, np.int64), EACH) for number in range(3)])
    timeline.resize(timeline.width(), timeline.sizeHint().height())
    picture, ground = timeline.grab().toImage(), QColor(theme.STAGE)
    rows = [y for y in range(16) if any(picture.pixelColor(x, y).lightness() > 150 for x in range(12, 60))]
    assert picture.pixelColor(40, rows[0] - 1) == ground


def test_each_picture_of_a_folder_has_a_cell_around_its_place(timeline: Timeline) -> None:
    """Of three pictures at 0, 1 and 2, the first one and the last one have a quarter of the length each."""
    found = slices_of(np.array([0.0, 2.0]), 2.0)
    counts = np.zeros(BINS, np.int64)
    counts[found] = 1, 5
    timeline.set_duration(2.0, pictures=True)
    timeline.set_lanes([Lane("horse", 0, counts, EACH)], frames=3)
    (lane,) = timeline.contents.lanes
    assert lane.counts.tolist() == [1] * (BINS // 4) + [0] * (BINS // 2) + [5] * (BINS // 4)
    assert timeline.contents.columns == BINS
    assert [timeline.text_at(pts) for pts in (0.4, 1.0, 1.6)] == ["1\n1 horse", "2", "3\n5 horse"]


def test_the_mouse_asks_for_the_time_below_it(qtbot: QtBot, timeline: Timeline) -> None:
    with qtbot.waitSignal(timeline.hovered) as hovered:
        qtbot.mouseMove(timeline, spot(125))
    assert hovered.args == [25.0]


def tracks(*rows: tuple[int, float, float]) -> np.ndarray:
    """Appearances of tracks: number, start and end."""
    found = np.zeros(len(rows), EVENTS)
    found["track"], found["start"], found["end"] = np.array(rows).T
    found["shape"] = -1
    return found


def test_tracks_are_bars_in_rows_without_overlaps_the_longest_first(timeline: Timeline) -> None:
    events = tracks((1, 0, 40), (2, 10, 90), (3, 50, 60), (4, 20, 30), (5, 25, 35))
    assert [(row, int(track["track"])) for row, track in rows_of(events, 2)] == [(0, 2), (1, 1), (1, 3)]
    timeline.set_events(events)
    plain = timeline.grab().toImage()
    timeline.show_tracks(True)
    assert timeline.grab().toImage() != plain
    assert timeline.sizeHint().height() > 6 * 9


def test_crossings_are_marked_and_named(timeline: Timeline) -> None:
    events = tracks((1, 50.0, 50.0), (2, 50.01, 50.01))
    events["kind"], events["shape"] = EventKind.CROSSING, 0
    timeline.set_events(events)
    assert timeline.text_at(50.0) == "0:50.0\n2 crossings"
    assert timeline.text_at(60.0) == "1:00.0"
    marked = [x for x in range(timeline.width()) if timeline.grab().toImage().pixelColor(x, 40) == CROSSING]
    assert marked
    assert all(abs(x - MARGIN - 250) <= 3 for x in marked)


def test_a_name_is_whole_in_the_lowest_row_that_has_room_for_text() -> None:
    def written(height: float) -> int:
        picture = QImage(60, 60, QImage.Format.Format_Grayscale8)
        picture.fill(0)
        with QPainter(picture) as painter:
            draw_names(painter, ["gjpq"], QRectF(0, 20, 60, height), height)
        return sum(picture.pixelColor(x, y).lightness() for x in range(60) for y in range(60))

    assert written(MIN_TEXT) == written(2 * MIN_TEXT)
