"""The file that the window shows: chosen in the queue, and kept up to date in the viewer, the grid and the zones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from framefleet.app.window.queue.item import ItemState, Part, QueueItem
from framefleet.app.window.queue.memory import Left

if TYPE_CHECKING:
    from framefleet.app.window.main_window import MainWindow


class ShownFile(QObject):
    """Shows one file of the queue. key: of this file, None without a file."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.key: int | None = None
        self._left: dict[int, Left] = {}
        self._part: Part | None = None  # to choose when the file is open
        window.memory.left_of = self.left
        window.viewer.player.opened.connect(self._opened)
        window.viewer.transport.timeline.part_chosen.connect(window.memory.save_soon)

    @property
    def item(self) -> QueueItem | None:
        """The file in the queue, None if it is not there."""
        return self._window.items.get(self.key) if self.key is not None else None

    def left(self, item: QueueItem) -> Left:
        """How the user left a file, in this run or in the last one."""
        viewer = self._window.viewer
        if item.key == self.key and viewer.player.current is not None:
            return Left(viewer.player.position, viewer.transport.timeline.part)
        return self._left.get(item.key, self._window.memory.left_before(item))

    def show(self, key: int | None) -> None:
        """Show another file, None = none."""
        window, before = self._window, self.item
        if before is not None:
            self._left[before.key] = self.left(before)
        self.key = key
        item = self.item
        if item is None:
            self.key = None
            window.setWindowTitle("Framefleet")
            window.viewer.clear()
            window.grid.set_main(None)
            window.zones.show_item(None)
            window.status.show_stored("")
            return
        window.setWindowTitle(f"{item.path.name} — Framefleet")
        left = self._left.get(item.key, window.memory.left_before(item))
        at = window.grid.position_of(item.key)
        at = left.at if at is None else at
        play = window.viewer.player.playing or (at is None and not item.ended)
        window.arrangement.pages.setCurrentWidget(window.arrangement.middle)
        window.filter.set_labels(item.results.labels if item.results else window.setup.labels)
        window.viewer.show_item(item, window.controller.tally(item.key), play, at or 0.0)
        window.viewer.transport.timeline.set_part(left.part)
        self._part = left.part if item.progress.info is None else None
        window.grid.set_main(key)
        window.zones.show_item(item)
        window.status.show_stored(item.results.model if item.results is not None else "")

    def _opened(self) -> None:
        if self._part is not None:  # the length is known now
            self._window.viewer.transport.timeline.set_part(self._part)
            self._part = None

    def update(self, key: int) -> None:
        """Show the progress of a file, if it is the one that is shown."""
        window, item = self._window, self.item
        if item is None or key != self.key:
            return
        if item.results is not None:
            window.filter.set_labels(item.results.labels)
        busy = any(other.state is ItemState.RUNNING for other in window.items if other.key != key)
        window.viewer.update_item(item, window.controller.tally(key), busy)
        window.zones.show_item(item)

    def begin(self, keys: Sequence[int]) -> None:
        """Show the first of these new files, unless another one is shown."""
        window, shown = self._window, self.item
        window.queue.reveal_item(keys[0])
        if shown is None or (shown.ended and window.viewer.player.info is None):  # the file cannot be shown
            window.queue.show_item(keys[0])
        if window.setup.summary is None:
            window.setup.ask_for_model()

    def show_first(self, keys: Sequence[int]) -> None:
        """Show the first of these files, which are in the queue."""
        self._window.queue.reveal_item(keys[0])
        self._window.queue.show_item(keys[0])

    def show_moment(self, key: int, pts: float) -> None:
        """Show a moment of a file, seconds, and pause there."""
        self._window.queue.show_item(key)
        self._window.viewer.player.pause()
        self._window.viewer.player.seek(pts)
