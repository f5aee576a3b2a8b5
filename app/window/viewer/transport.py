"""The controls under the picture: play, step, seek, speed, follow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.window.timeline.timeline import Timeline
from app.window.viewer.player import Playback
from app.window.widgets import formats, theme
from app.window.widgets.icons import icon
from app.window.widgets.indicators import ElidedLabel
from engine.media.types import SourceInfo, SourceKind

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)


def tool_button(name: str, title: str, keys: str = "") -> QToolButton:
    """A flat button with an icon, a tooltip that names its key, and a name for screen readers."""
    button = QToolButton()
    button.setProperty("role", "flat")
    button.setIcon(icon(name))
    button.setIconSize(QSize(18, 18))
    button.setToolTip(f"{title} ({keys})" if keys else title)
    button.setAccessibleName(title)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


class Transport(QWidget):
    """Says what the user wants of the player. speed_chosen: video seconds per second."""

    play_toggled = Signal()
    stepped = Signal(int)
    sought = Signal(float)
    speed_chosen = Signal(float)
    follow_toggled = Signal(bool)
    fullscreen_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._duration, self._pictures, self._total = 0.0, False, 0
        self.timeline = Timeline()
        self.timeline.sought.connect(self.sought)
        self.back = tool_button("step-back", "Previous frame", "←")
        self.play = tool_button("play", "Play", "Space")
        self.play.setIconSize(QSize(22, 22))
        self.forward = tool_button("step-forward", "Next frame", "→")
        self.time, self.length = QLabel(), QLabel()
        self.time.setAccessibleName("Time")
        self.length.setAccessibleName("Length")
        self.length.setProperty("role", "muted")
        self.hint = ElidedLabel("small")  # must not make the window wider when it comes
        self.follow = QPushButton(icon("follow"), "Follow")
        self.follow.setProperty("role", "flat")
        self.follow.setIconSize(QSize(18, 18))
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        self.follow.setToolTip("Follow detection: play no further than what is analysed (L)")
        self.follow.setAccessibleName("Follow detection")
        self.follow.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed = QToolButton()
        self.speed.setProperty("role", "flat")
        self.speed.setText("1×")
        self.speed.setToolTip("Speed")
        self.speed.setAccessibleName("Speed")
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.speed.setMinimumWidth(self.speed.fontMetrics().horizontalAdvance("0.25×") + 18)
        self._add_speeds()
        self.fullscreen = tool_button("fullscreen", "Full screen", "F")
        self.back.clicked.connect(self._step_back)
        self.forward.clicked.connect(self._step_forward)
        self.play.clicked.connect(self.play_toggled)
        self.follow.toggled.connect(self.follow_toggled)
        self.fullscreen.clicked.connect(self.fullscreen_requested)
        row = QHBoxLayout()
        row.setContentsMargins(theme.SPACE, 0, theme.SPACE, theme.SPACE - 2)
        row.setSpacing(2)
        for button in (self.back, self.play, self.forward):
            row.addWidget(button)
        row.addSpacing(theme.SPACE)
        row.addWidget(self.time)
        row.addSpacing(4)
        row.addWidget(self.length)
        row.addSpacing(theme.SPACE)
        row.addWidget(self.hint, 100)
        row.addStretch(1)
        row.addWidget(self.follow)
        row.addWidget(self.speed)
        row.addWidget(self.fullscreen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.timeline)
        column.addLayout(row)
        self.setMinimumWidth(28 * theme.base_size())
        self.set_source(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room, what can be done without goes."""
        super().resizeEvent(event)
        roomy = self.width() >= 34 * theme.base_size()
        self.length.setVisible(roomy)
        self.hint.setVisible(self.width() >= 46 * theme.base_size())
        self.follow.setText("Follow" if roomy else "")

    def _add_speeds(self) -> None:
        menu = QMenu(self.speed)
        group = QActionGroup(menu)
        for value in SPEEDS:
            action = QAction(f"{value:g}×", group, checkable=True)
            action.setData(value)
            action.setChecked(value == 1.0)
            menu.addAction(action)
        group.triggered.connect(self._speed_picked)
        self.speed.setMenu(menu)

    @Slot(QAction)
    def _speed_picked(self, action: QAction) -> None:
        self.speed.setText(action.text())
        self.speed_chosen.emit(action.data())

    def nudge_speed(self, by: int) -> None:
        """The next faster (1) or slower (-1) speed."""
        actions = self.speed.menu().actions()
        current = next(index for index, action in enumerate(actions) if action.isChecked())
        actions[min(max(current + by, 0), len(actions) - 1)].trigger()

    @Slot()
    def _step_back(self) -> None:
        self.stepped.emit(-1)

    @Slot()
    def _step_forward(self) -> None:
        self.stepped.emit(1)

    def set_source(self, info: SourceInfo | None) -> None:
        """The source that plays; None = none."""
        self._pictures = info is not None and info.kind is SourceKind.IMAGES
        self._total = info.frames if info is not None else 0
        self._duration = 0.0
        if info is not None:
            self._duration = float(max(info.frames - 1, 0)) if self._pictures else info.duration or 0.0
        self.timeline.set_duration(self._duration, self._pictures)
        self.length.setText(
            "" if info is None else f"/ {self._total if self._pictures else formats.clock(self._duration, tenths=self._duration < 10)}"
        )
        for widget in (self.back, self.play, self.forward, self.follow, self.speed, self.fullscreen):
            widget.setEnabled(info is not None)
        self.set_position(0.0)

    def set_position(self, pts: float) -> None:
        """Pts of the picture that is on."""
        self.timeline.set_position(pts)
        if not self._total and not self._duration:
            self.time.setText("")
        else:
            self.time.setText(f"{round(pts) + 1}" if self._pictures else formats.clock(pts, tenths=True))

    def set_playback(self, state: Playback) -> None:
        """Whether it plays."""
        self.play.setIcon(icon("pause" if state.playing else "play"))
        self.play.setToolTip("Pause (Space)" if state.playing else "Play (Space)")
        self.play.setAccessibleName("Pause" if state.playing else "Play")
        self.hint.setText("Waiting for detection" if state.waiting else "")

    def set_detected(self, fraction: float) -> None:
        """How much is analysed, 0..1."""
        self.timeline.set_detected(fraction)

    def set_activity(self, counts: NDArray[np.int64] | None) -> None:
        """How many objects were seen when."""
        self.timeline.set_activity(counts)
