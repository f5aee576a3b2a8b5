"""The controls below the picture: play, step, seek, speed, and whether to wait for detection."""

import re

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu

from framefleet.app.window.player.player import Playback
from framefleet.app.window.results.stored import clock_text
from framefleet.app.window.timeline.timeline import PartButton, Timeline
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import ElidedLabel, Panel, column, label, push_button, row, tool_button
from framefleet.app.window.widgets.painting import icon
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.store.clock import Clock

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
DIGIT = re.compile(r"\d")
TEXT_MS = 100
"""Time between changes of the shown position while the video plays: they lay the row of controls out and paint the timeline again."""


class Transport(Panel):
    """The signals tell the player what to do. sought: pts. speed_chosen: seconds of video per second.

    clock_found: of the source, None if it is unknown. begin: the pts of the source's first frame, seconds; the timeline and the shown
    times count from there. shown_clock: the clock time of pictures, None if unknown.
    """

    sought = Signal(float)
    speed_chosen = Signal(float)
    clock_found = Signal(object)

    def __init__(self) -> None:
        super().__init__("bar")
        self._duration, self._pictures, self._total, self._rate = 0.0, False, 0, 0.0
        self.begin = 0.0
        self._roomy, self._playing = True, False
        self._waiting, self._name, self._note = False, "", ""
        self._writing = QTimer(self, singleShot=True, interval=TEXT_MS)
        self._writing.timeout.connect(lambda: self.set_position(*self._shown) if self._shown != self._written else None)
        self._shown: tuple[float, int | None] = (0.0, None)
        self._written: tuple[float, int | None] = (0.0, None)
        self.timeline = Timeline()
        self.timeline.sought.connect(lambda time: self.sought.emit(self.begin + time))
        self.back = tool_button("step-back", translate("viewer", "Previous frame"))
        self.play = tool_button("play", translate("viewer", "Play"))
        self.play.setIconSize(QSize(22, 22))
        self.forward = tool_button("step-forward", translate("viewer", "Next frame"))
        self.time, self.length, self.frame = (
            label(""),
            label("muted"),
            label("muted", tip=translate("viewer", "The number of the frame, from 0")),
        )
        self.time.setAccessibleName(translate("viewer", "Time"))
        self.frame.setAccessibleName(translate("viewer", "Frame"))
        self.length.setAccessibleName(translate("viewer", "Length"))
        self.clock = label("muted", tip=translate("viewer", "The clock time of the picture"))
        self.clock.setAccessibleName(translate("viewer", "Clock time"))
        self.shown_clock: Clock | None = None
        self.hint = ElidedLabel("small")  # elided, so that its text does not widen the window
        self.wait = push_button(translate("viewer", "Wait"), symbol="follow", role="flat")
        self.wait.setCheckable(True)
        self.wait.setChecked(True)
        self.wait.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.wait.setIconSize(QSize(18, 18))
        self.wait.setAccessibleName(translate("viewer", "Wait for detection"))
        self.speed = tool_button("", translate("viewer", "Speed"), menu=QMenu(self))
        self.speed.setText("1×")
        self.speed.setMinimumWidth(self.speed.fontMetrics().horizontalAdvance("0.25×") + 18)
        self._add_speeds()
        self.fullscreen = tool_button("fullscreen", translate("viewer", "Full screen"), "F")
        self.more = tool_button("more", translate("viewer", "More"), menu=QMenu(self))
        self._add_more()
        space = theme.SPACE
        times = (self.time, 4, self.length, space, self.frame, space, self.clock, space, (self.hint, 100))
        self.part = PartButton(self.timeline)
        self.timeline.part_chosen.connect(lambda _: self.set_position(*self._shown))
        buttons = (self.part, self.wait, self.speed, self.fullscreen, self.more)
        below = row(self.back, self.play, self.forward, space, *times, 1.0, *buttons, spacing=2, margins=(space, 0, space, space - 2))
        column(self.timeline, below, spacing=0, of=self)
        for button in self.findChildren(QAbstractButton):
            button.installEventFilter(self)
        self.setMinimumWidth(28 * theme.base_size())
        self.set_source(None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave Space to the player, whichever button has the focus: Enter presses the button."""
        if isinstance(event, QKeyEvent) and isinstance(watched, QAbstractButton):
            if event.key() == Qt.Key.Key_Space and event.type() in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
                event.ignore()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.type() is QEvent.Type.KeyPress:
                watched.click()
                return True
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window hide the length, the hint and the label of Wait. At last, full screen moves into a menu."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        narrow = self.width() < 32 * theme.base_size()
        self.more.setVisible(narrow)
        self.fullscreen.setVisible(not narrow)
        self._roomy = roomy = self.width() >= 44 * theme.base_size()
        for widget in (self.length, self.frame):
            widget.setVisible(roomy)
        alone = self._pictures and not (roomy and self.shown_clock and self.shown_clock.known)
        self.hint.setVisible(self.width() >= (36 if alone else 56) * theme.base_size())
        self.wait.setText(translate("viewer", "Wait") if roomy else "")
        self.set_position(*self._shown)

    def _add_speeds(self) -> None:
        menu = self.speed.menu()
        group = QActionGroup(menu)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        for value in SPEEDS:
            action = QAction(f"{value:g}×", group, checkable=True)
            action.setData(value)
            action.setChecked(value == 1.0)
            menu.addAction(action)
        group.triggered.connect(lambda action: self.choose_speed(action.data()))

    def _add_more(self) -> None:
        menu = self.more.menu()
        menu.addAction(self.fullscreen.accessibleName(), self.fullscreen.click)

    def nudge_speed(self, by: int) -> None:
        """Choose the next faster (1) or slower (-1) speed."""
        current = next((index for index, action in enumerate(self.speed.menu().actions()) if action.isChecked()), SPEEDS.index(1.0))
        self.choose_speed(SPEEDS[min(max(current + by, 0), len(SPEEDS) - 1)])

    def choose_speed(self, speed: float) -> None:
        """Choose a speed, seconds of video per second; negative = backwards, which is not in the menu."""
        for action in self.speed.menu().actions():
            action.setChecked(action.data() == speed)
        self.speed.setText(f"{speed:g}×".replace("-", "\N{MINUS SIGN}"))
        self.speed_chosen.emit(speed)

    def set_source(self, info: SourceInfo | None) -> None:
        """Set the length and the kind of the source, None = no source."""
        self._pictures = info is not None and info.kind is SourceKind.IMAGES
        self._total = info.frames if info is not None else 0
        self._note = of_engine(info.note) if info is not None and info.note is not None else ""
        self.begin = info.begin if info is not None else 0.0
        self._rate = (info.rate or 0.0) if info is not None else 0.0
        self._duration = float(max(self._total - 1, 0)) if self._pictures else (info.duration or 0.0) if info is not None else 0.0
        self.timeline.set_duration(self._duration, self._pictures)
        length = str(self._total) if self._pictures else formats.clock(self._duration, int(self._duration < 10))
        self.length.setText("" if info is None else f"/ {length}")
        for widget in (self.back, self.play, self.forward, self.speed, self.fullscreen, self.more):
            widget.setEnabled(info is not None)
        self._writing.stop()
        self._arrange()
        self._write_hint()
        self.set_position(self.begin)

    def set_live_length(self, info: SourceInfo, head: float | None) -> None:
        """Set the length of a live source, which has become longer. head: the time of its last frame, seconds."""
        self._duration = info.duration or 0.0
        self.timeline.set_duration(self._duration)
        self.length.setText(f"/ {formats.clock(head or 0.0, 0)}")

    def show_name(self, name: str) -> None:
        """Show the name of the current picture of a folder, "" for a video."""
        if name != self._name:
            self._name = name
            self._write_hint()

    def _write_hint(self) -> None:
        self.hint.setText(translate("viewer", "Waits for detection") if self._waiting else self._name or self._note)

    def set_clock(self, clock: Clock | None) -> None:
        """Show the clock time of the current picture, too. None: unknown."""
        self.shown_clock = clock
        self.clock_found.emit(clock)
        self._arrange()

    def set_events(self, events: NDArray[np.void]) -> None:
        """Mark events on the timeline. events: ``EVENTS``."""
        events = events.copy()
        events["start"] -= self.begin
        events["end"] -= self.begin
        self.timeline.set_events(events)

    def set_position(self, pts: float, frame: int | None = None) -> None:
        """Show the time of the current picture, seconds, and the number of its frame, None = as the frame rate says."""
        if pts != self._shown[0] and not self._playing:
            self._write_hint()  # what the hint says is about the picture before
        self._shown = pts, frame
        if not self._writing.isActive():
            self._write_position()

    def _write_position(self) -> None:
        if self._playing:
            self._writing.start()
        self._written = pts, frame = self._shown
        time = pts - self.begin
        self.timeline.set_position(time)
        room = self.width() >= (70 if self.part.isVisibleTo(self) else 0) * theme.base_size()
        text = clock_text(self.shown_clock, pts, dated=self._pictures or (room and self.hint.isVisibleTo(self)))
        self.clock.setText(text)
        self.clock.setVisible(bool(text) and self._roomy)
        if not self._total and not self._duration:
            _write(self.time, "")
        elif self._pictures:
            _write(self.time, f"{round(pts) + 1}")
        else:
            _write(self.time, formats.clock(time, 3 if self._roomy else 1))
        known = not self._pictures and (self._rate or frame is not None)
        number = formats.count(round(time * self._rate) if frame is None else frame)
        _write(self.frame, translate("viewer", "frame {number}").format(number=number) if known else "")

    def set_playback(self, state: Playback) -> None:
        """Show whether the video plays or waits for detection."""
        self._playing = state.playing and not state.waiting
        if not self._playing:
            self._writing.stop()
            self._write_position()
        self.play.setIcon(icon("pause" if state.playing else "play"))
        self.play.setAccessibleName(translate("viewer", "Pause") if state.playing else translate("viewer", "Play"))
        self._waiting = state.waiting
        self._write_hint()


def _write(field: QLabel, text: str) -> None:
    """Set the text of a label whose size depends on the number of digits only: other changes do not lay the whole row out again."""
    width = field.fontMetrics().horizontalAdvance(DIGIT.sub("0", text)) + 2
    if width != field.minimumWidth():
        field.setFixedSize(width, field.sizeHint().height())
    field.setText(text)
