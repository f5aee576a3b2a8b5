from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.player.player import Playback
from framefleet.app.window.queue.item import Part
from framefleet.app.window.timeline.class_counts import BINS
from framefleet.app.window.timeline.contents import Lane
from framefleet.app.window.timeline.timeline import MARGIN, Timeline
from framefleet.app.window.viewer.transport import Transport
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import column
from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.store.clock import Clock
from tests.support.store import video_info

EACH = np.ones(BINS, np.int64)
"""A frame in each slice."""


@pytest.fixture
def transport(qtbot: QtBot) -> Transport:
    transport = Transport()
    qtbot.addWidget(transport)
    return transport


def test_a_click_seeks_and_dragging_goes_on_seeking(qtbot: QtBot, timeline: Timeline) -> None:
    sought: list[float] = []
    timeline.sought.connect(sought.append)
    start = QPoint(int(MARGIN) + 125, 30)
    qtbot.mousePress(timeline, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(timeline, QPoint(int(MARGIN) + 250, 30))
    timeline.set_position(3.0)  # playing on must not pull the handle away from the mouse
    qtbot.mouseRelease(timeline, Qt.MouseButton.LeftButton, pos=QPoint(int(MARGIN) + 250, 30))
    assert sought == [25.0, 50.0]
    assert timeline.value() == 5000
    timeline.set_position(3.0)
    assert timeline.value() == 300


def test_it_can_be_moved_with_keys(qtbot: QtBot, timeline: Timeline) -> None:
    with qtbot.waitSignal(timeline.sought) as sought:
        qtbot.keyClick(timeline, Qt.Key.Key_End)
    assert sought.args == [100.0]


def test_it_shows_how_far_detection_is_and_when_something_was_seen(timeline: Timeline) -> None:
    timeline.set_detected(0.5)
    counts = np.zeros(BINS, np.int64)
    counts[BINS // 2] = 4
    other = np.zeros(BINS, np.int64)
    other[BINS // 24 : BINS // 12] = 1
    timeline.set_lanes([Lane("car", 2, counts, EACH), Lane("person", 0, other, EACH)])
    timeline.set_position(80.0)  # the played part does not cover the analysed one
    left = int(timeline.left)  # the names of the lanes stand before it
    timeline.resize(500 + left + int(MARGIN), 40)
    image = timeline.grab().toImage()
    assert image.pixelColor(left + 200, 35) == QColor(theme.GOOD)
    assert image.pixelColor(left + 300, 35) != QColor(theme.GOOD)
    for y, class_id, first, last in ((10, 2, 250, 251), (20, 0, 21, 41)):
        seen = [x - left for x in range(image.width()) if image.pixelColor(x, y) == QColor(*class_colour(class_id))]
        assert (seen[0], seen[-1]) == (pytest.approx(first, abs=1), pytest.approx(last, abs=1))
    assert timeline.text_at(50.0) == "0:50.0\n4 car"


def test_the_transport_reads_and_speaks_like_the_player(transport: Transport) -> None:
    assert not transport.play.isEnabled()
    transport.set_source(video_info("a.mp4", 2500))
    transport.set_position(12.36)
    assert (transport.time.text(), transport.length.text()) == ("0:12.360", "/ 1:40")
    assert transport.frame.text() == "frame 309"
    transport.set_source(video_info("short.mp4", 20))
    assert transport.length.text() == "/ 0:00.8"
    transport.set_playback(Playback(True))
    assert transport.play.accessibleName() == "Pause"
    transport.set_playback(Playback(True, waiting=True))
    assert transport.hint.text() == "Waits for detection"
    transport.set_source(SourceInfo("folder", SourceKind.IMAGES, "png", 10, 10, 12, None, None, ()))
    transport.set_position(4.0)
    assert (transport.time.text(), transport.length.text()) == ("5", "/ 12")


def test_a_note_on_the_file_stays_while_it_plays(transport: Transport) -> None:
    transport.set_source(replace(video_info("a.mp4", 2500), note=Notice("media.several_tracks", path=Path("a.mp4"), count=2)))
    for state in (Playback(True), Playback(True, waiting=True), Playback(False)):
        transport.set_playback(state)
        transport.set_position(12.36)
    assert transport.hint.text().startswith("a.mp4 has 2 video tracks: objects are searched in the one that players show")
    transport.set_source(video_info("b.mp4", 20))
    assert transport.hint.text() == ""


def test_while_it_plays_it_writes_the_position_less_often_but_never_leaves_an_old_one(qtbot: QtBot, transport: Transport) -> None:
    transport.set_source(video_info("a.mp4", 2500))
    transport.set_playback(Playback(True))
    transport.set_position(1.0)
    transport.set_position(2.0)
    assert transport.time.text() == "0:01.000"
    qtbot.waitUntil(lambda: transport.time.text() == "0:02.000")
    transport.set_position(3.0)
    transport.set_position(4.0)
    transport.set_playback(Playback(False))
    assert transport.time.text() == "0:04.000"


def test_its_buttons_say_what_is_wanted(transport: Transport) -> None:
    transport.set_source(video_info("a.mp4", 2500))
    speeds: list[float] = []
    transport.speed_chosen.connect(speeds.append)
    for by in (1, 1, 1, 1, -1):
        transport.nudge_speed(by)
    assert speeds == [2.0, 4.0, 8.0, 8.0, 4.0]
    assert transport.speed.text() == "4×"


def test_in_little_room_nothing_is_cut_off_and_nothing_pushes(qtbot: QtBot, transport: Transport) -> None:
    transport.set_source(video_info("a.mp4", 2500))
    transport.show()
    transport.resize(transport.minimumWidth(), transport.height())
    qtbot.waitUntil(lambda: transport.minimumSizeHint().width() <= transport.width())
    needed = transport.minimumSizeHint().width()
    transport.set_playback(Playback(True, waiting=True))
    assert transport.minimumSizeHint().width() == needed  # the window does not grow with what is said
    assert transport.wait.text() == ""
    assert transport.wait.accessibleName() == "Wait for detection"
    assert not transport.fullscreen.isVisible()
    (fullscreen,) = transport.more.menu().actions()
    with qtbot.waitSignal(transport.fullscreen.clicked):
        fullscreen.trigger()
    transport.resize(700, transport.height())
    assert transport.wait.text() == "Wait"
    assert transport.length.isVisible()
    assert transport.fullscreen.isVisible()
    assert not transport.more.isVisible()


def test_while_it_plays_the_timeline_is_not_painted_for_each_frame(transport: Transport) -> None:
    transport.set_source(video_info("a.mp4", 100))
    transport.set_playback(Playback(True))
    transport.set_position(0.5)
    before = transport.timeline.value()
    transport.set_position(1.5)
    assert transport.timeline.value() == before
    transport.set_playback(Playback(False))
    assert transport.timeline.value() > before


def test_beside_a_chosen_part_the_clock_time_is_not_cut(qtbot: QtBot) -> None:
    transport = Transport()
    qtbot.addWidget(transport)
    transport.set_source(video_info("a.mp4", 100))
    transport.set_clock(Clock(datetime(2026, 11, 1, 7, tzinfo=UTC)))
    transport.resize(60 * theme.base_size(), 120)
    transport.show()
    assert transport.clock.text() == "2026-11-01 07:00:00"
    transport.timeline.set_part(Part(0.0, 2.0))
    assert transport.clock.text() == "07:00:00"
    for field in (transport.clock, transport.part):
        qtbot.waitUntil(lambda field=field: field.width() >= field.sizeHint().width())
    transport.timeline.set_part(None)
    assert transport.clock.text() == "2026-11-01 07:00:00"


@pytest.mark.parametrize(("width", "clock", "name"), [(40, False, True), (48, True, False), (60, True, True)])
def test_where_there_is_little_room_a_picture_has_its_name_or_its_time(qtbot: QtBot, width: int, clock: bool, name: bool) -> None:
    transport = Transport()
    qtbot.addWidget(transport)
    transport.set_source(SourceInfo("trap", SourceKind.IMAGES, "jpg", 64, 48, 5, None, None, ()))
    transport.show_name("IMG_0001.jpg")
    transport.set_clock(Clock(None, taken={0.0: datetime(2026, 11, 1, 7, tzinfo=UTC)}))
    transport.resize(width * theme.base_size(), 120)
    transport.show()
    assert (transport.clock.isVisible(), transport.hint.isVisible()) == (clock, name)
    assert (transport.clock.text(), transport.hint.text()) == ("2026-11-01 07:00:00", "IMG_0001.jpg")


def test_a_part_that_ends_at_the_last_frame_contains_it(qtbot: QtBot) -> None:
    transport = Transport()
    qtbot.addWidget(transport)
    info = video_info("a.mp4", 100)
    assert (info.rate, info.duration) == (25.0, 4.0)
    transport.set_source(info)
    transport.part.mark(1.0, False, info)
    transport.part.mark(3.92, True, info)
    assert transport.timeline.part == Part(1.0, 3.92)
    transport.part.mark(3.96, True, info)
    assert transport.timeline.part == Part(1.0, 4.0)


def test_space_plays_whichever_button_has_the_focus_and_enter_presses_it(qtbot: QtBot) -> None:
    keys: list[int] = []

    class Window(QWidget):
        def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
            keys.append(event.key())

    window, transport = Window(), Transport()
    qtbot.addWidget(window)
    column(transport, of=window)
    transport.set_source(video_info("a.mp4", 100))
    window.show()
    for button in (transport.play, transport.back, transport.wait, transport.fullscreen):
        with qtbot.assertNotEmitted(button.clicked):
            qtbot.keyClick(button, Qt.Key.Key_Space)
        with qtbot.waitSignal(button.clicked):
            qtbot.keyClick(button, Qt.Key.Key_Return)
    assert keys == [Qt.Key.Key_Space] * 4
