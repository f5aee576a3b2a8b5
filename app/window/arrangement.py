"""The arrangement of the main window: its columns, the panels that the user can hide, full screen, and their memory."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSettings, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from framefleet.app.window.floating import SIZE, Floating
from framefleet.app.window.widgets.build import column
from framefleet.app.window.widgets.translation import translate

if TYPE_CHECKING:
    from framefleet.app.window.main_window import MainWindow

LOW = 200
"""Height of the panels below the picture while there is little room, logical pixels."""
PICTURE = 200
"""Height of the picture below which these panels give way to the bar of corrections, logical pixels."""


QUEUE_WIDTH = 240
"""The width of the column of the queue at the first start, logical pixels."""


class Arrangement(QObject):
    """Arranges the parts of the window, restores its size, splitters and panels, and keeps them in ``store``."""

    def __init__(self, window: MainWindow, store: QSettings) -> None:
        super().__init__(window)
        self._window, self._store = window, store
        actions, zones = window.actions_, window.zones
        # From the outermost part to the innermost one, because all widgets inside a part compute their style again when it gets a parent.
        whole = QWidget(window)
        self.columns = QSplitter(Qt.Orientation.Horizontal, handleWidth=3)
        column(window.top, window.banners, (self.columns, 1), window.status, spacing=2, of=whole)
        self.left, self.pages = QWidget(self.columns), QStackedWidget(self.columns)
        self.right = QSplitter(Qt.Orientation.Vertical, self.columns, handleWidth=3)
        column((window.queue, 1), window.demo.card, spacing=2, of=self.left)
        self.middle = QSplitter(Qt.Orientation.Vertical, handleWidth=3)
        for page in (window.start, self.middle):
            self.pages.addWidget(page)
        _fill(self.middle, (window.viewer, zones.area), (495, 325))  # three lines in the table of a window of 720 pixels
        _fill(zones.area, (zones.panel, zones.tabs), (460, 540))
        self.middle.setCollapsible(0, False)
        events = Floating(zones.list, translate("window", "Events"), "events", store, lambda: SIZE)
        zones.list.detach.clicked.connect(events.toggle)
        actions.zones.toggled.connect(events.set_shown)
        self.floating = (*window.device_tabs.floating, events)
        _fill(self.right, (window.filter, window.device_tabs), (430, 340))  # ten classes
        self.columns.setSizes((QUEUE_WIDTH, 852, 262))  # the video gets more than half of the window
        self.columns.setStretchFactor(1, 1)
        self.columns.setCollapsible(1, False)
        window.queue.setMinimumWidth(196)
        self.right.setMinimumWidth(max(262, window.device_tabs.head.minimumSize().width()))
        window.status.add(window.exports.line)
        window.status.add(zones.spoken, share=10)
        window.setCentralWidget(whole)
        self._splitters = {"window/columns": self.columns, "window/right": self.right, "window/middle": self.middle}
        self._panels: tuple[tuple[QAction, QWidget, str], ...] = (
            (actions.left, self.left, "window/left_shown"),
            (actions.right, self.right, "window/right_shown"),
            (actions.zones, zones.area, "window/zones_shown"),
        )
        self._before: list[int] = []  # sizes of the middle while its lower part gives room to the picture
        self._gives_way = False  # whether the lower part is hidden then if the window is small
        for action in (actions.zones, actions.correct):
            action.toggled.connect(partial(self._give_room, action))
        self.middle.installEventFilter(self)
        self.order_tabs()
        self._restore()
        events.set_shown(actions.zones.isChecked())
        for panel in self.floating:
            window.installEventFilter(panel)

    def _restore(self) -> None:
        if (geometry := self._store.value("window/geometry")) is not None:
            self._window.restoreGeometry(geometry)
        for name, splitter in self._splitters.items():
            if (state := self._store.value(name)) is not None:
                splitter.restoreState(state)
        for action, panel, name in self._panels:
            action.setChecked(self._store.value(name, "yes" if action.isChecked() else "no") == "yes")
            panel.setVisible(action.isChecked())
            action.toggled.connect(panel.setVisible)

    def _give_room(self, changed: QAction, on: bool) -> None:
        """Make the timeline and the lower panels low while the bar of corrections is there, too."""
        actions = self._window.actions_
        if changed is actions.zones and not on and self._before and not self._has_room:
            QTimer.singleShot(0, self, self._show_both)  # the panels were not visible, so the user asks for them
            return
        both = actions.zones.isChecked() and actions.correct.isChecked()
        self._window.viewer.transport.timeline.show_few(both)
        if both and not self._before:
            self._before, self._gives_way = self.middle.sizes(), changed is actions.correct
            QTimer.singleShot(0, self, self._lower)  # the height of the bar is known after its layout
        elif not both and self._before:
            self._window.zones.area.setVisible(actions.zones.isChecked())
            if self._before[1]:  # else they were not laid out yet when both were shown
                self.middle.setSizes(self._before)
            self._before = []

    def _show_both(self) -> None:
        self._gives_way = False
        self._window.actions_.zones.setChecked(True)
        self._lower()

    def _lower(self) -> None:
        """Make the panels below the picture low. In a small window, hide them if the user asked for corrections after them."""
        if self._before:
            self._window.zones.area.setVisible(self._has_room)
            whole = sum(self.middle.sizes())
            self.middle.setSizes([whole - LOW, LOW])

    @property
    def _has_room(self) -> bool:
        """Whether the panels below the picture are shown beside the bar of corrections."""
        viewer, area = self._window.viewer, self._window.zones.area
        room = self.middle.height() - (viewer.height() - viewer.pictures.height()) - PICTURE
        return not self._gives_way or room >= area.minimumSizeHint().height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show or hide the panels below the picture when the height of the window has changed."""
        if event.type() is QEvent.Type.Resize and self._before:
            QTimer.singleShot(0, self, self._resized)  # the height of the picture is known after its layout
        return super().eventFilter(watched, event)

    def _resized(self) -> None:
        shown = self._window.zones.area.isVisibleTo(self.middle)
        if shown != self._has_room and not self._window.isFullScreen():
            self._lower()

    def order_tabs(self) -> None:
        """Let Tab visit the queue, what lies over the picture, and what is below it, in this order. Call it again when that changes."""
        parts = self._window.queue.view, self._window.zones.layer, self._window.corrector.bar, self._window.viewer.transport
        inside = [each for part in parts for each in (part, *part.findChildren(QWidget)) if each.window() is part.window()]
        for one, other in pairwise(each for each in inside if each.focusPolicy() is not Qt.FocusPolicy.NoFocus):
            QWidget.setTabOrder(one, other)

    def toggle_fullscreen(self) -> None:
        """Fill the screen with the picture, or restore the window."""
        window = self._window
        self.keep()
        full = not window.isFullScreen()
        for bar in (window.top, window.status):
            bar.setVisible(not full)
        for action, panel, _ in self._panels:
            panel.setVisible(action.isChecked() and not full)
        window.viewer.controls.set_floating(full)
        window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)  # keeps it maximized

    def keep(self) -> None:
        """Keep the present arrangement for the next start."""
        if self._before:
            self.middle.setSizes(self._before)
        if not self._window.isFullScreen():  # the next start does not begin in full screen
            self._store.setValue("window/geometry", self._window.saveGeometry())
            for name, splitter in self._splitters.items():
                self._store.setValue(name, splitter.saveState())
            for action, _, name in self._panels:
                self._store.setValue(name, "yes" if action.isChecked() else "no")


def _fill(splitter: QSplitter, parts: tuple[QWidget, ...], sizes: tuple[int, ...]) -> None:
    """Add these parts with their sizes, logical pixels."""
    for part in parts:
        splitter.addWidget(part)
    splitter.setSizes(sizes)
