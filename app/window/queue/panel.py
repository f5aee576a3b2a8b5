"""The queue at the left: the files, their progress, and a menu for each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListView, QMenu, QStackedWidget

from app.window.actions import Actions
from app.window.queue.delegate import QueueDelegate
from app.window.queue.item import ItemState, QueueItem
from app.window.queue.model import ITEM_ROLE, QueueModel
from app.window.widgets import formats, theme
from app.window.widgets.build import Panel, column, label, row, tool_button
from app.window.widgets.icons import icon

REFRESH_MS = 50
"""Changes within this time cause one update, because a thousand files may be added at once."""


class QueueView(QListView):
    """A list that leaves the keys of the player (space, left, right) to the window."""

    remove_pressed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit ``remove_pressed`` at Delete; leave the player's keys to the window."""
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_pressed.emit()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right) or (event.text().isalpha() and not event.modifiers()):
            event.ignore()
        else:
            super().keyPressEvent(event)


def summary_of(items: Sequence[QueueItem]) -> str:
    """The queue in one line: ``2 of 5``, ``4 done, 1 failed``."""
    failed = sum(item.state is ItemState.FAILED for item in items)
    ended = sum(item.ended for item in items)
    if not items:
        return ""
    parts = [f"{formats.count(ended - failed)} done"] if ended == len(items) else [f"{formats.count(ended)} of {formats.count(len(items))}"]
    return ", ".join(parts + ([f"{failed} failed"] if failed else []))


class QueuePanel(Panel):
    """Shows the queue. The signals carry a file's key. chosen: the file to show, None = none."""

    chosen = Signal(object)
    cancel_requested = Signal(int)
    remove_requested = Signal(int)
    retry_requested = Signal(int)
    reveal_requested = Signal(int)
    export_requested = Signal(int)
    clear_requested = Signal()

    def __init__(self, model: QueueModel, actions: Actions) -> None:
        super().__init__()
        self._model = model
        self.summary = label("small")
        add = tool_button("add", "Add files", "Ctrl+O", actions.open_files.trigger)
        self.view = QueueView(uniformItemSizes=True)
        self.view.setMouseTracking(True)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.setAccessibleName("Queue")
        self.view.setModel(model)
        self.view.setItemDelegate(QueueDelegate(self.view))
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self.view.remove_pressed.connect(self._remove_current)
        hint = label("small", "Files you add appear here.")
        hint.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        hint.setContentsMargins(16, 24, 16, 0)
        self._stack = QStackedWidget()
        self._stack.addWidget(hint)
        self._stack.addWidget(self.view)
        head = row(label("section", "Queue"), 6, (self.summary, 1), add, margins=(16, 10, 8, 6))
        column(head, (self._stack, 1), spacing=0, margins=(0, 0, 0, 8), of=self)
        self._soon = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._soon.timeout.connect(self.refresh)
        for signal in (model.rowsInserted, model.rowsRemoved, model.dataChanged):
            signal.connect(self._refresh_soon)
        self.refresh()

    def _refresh_soon(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def refresh(self) -> None:
        """Show the number of completed files in the heading."""
        items = list(self._model)
        self._stack.setCurrentIndex(1 if items else 0)
        self.summary.setText(summary_of(items))

    def show_item(self, key: int) -> None:
        """Select a file."""
        row = self._model.row_of(key)
        if row >= 0:
            self.view.setCurrentIndex(self._model.index(row))

    def reveal_item(self, key: int) -> None:
        """Scroll to a file, with the files after it below."""
        row = self._model.row_of(key)
        if row >= 0:
            self.view.scrollTo(self._model.index(row), QListView.ScrollHint.PositionAtTop)

    @property
    def current(self) -> QueueItem | None:
        """The selected file."""
        item: QueueItem | None = self.view.currentIndex().data(ITEM_ROLE)
        return item

    def _current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        item = current.data(ITEM_ROLE)
        self.chosen.emit(item.key if item is not None else None)

    def _remove_current(self) -> None:
        if (item := self.current) is not None:
            self.remove_requested.emit(item.key)

    def _open_menu(self, position: QPoint) -> None:
        item = self.view.indexAt(position).data(ITEM_ROLE)
        if item is not None:
            self.menu_for(item).popup(self.view.viewport().mapToGlobal(position))

    def menu_for(self, item: QueueItem) -> QMenu:
        """The menu of a file."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        stored = item.results is not None and item.progress.frames > 0

        def add(title: str, emit: object, enabled: bool = True, name: str | None = None) -> None:
            action = menu.addAction(title, emit)  # type: ignore[call-overload]
            action.setEnabled(enabled)
            if name is not None:
                action.setIcon(icon(name, theme.MUTED))

        add("Show", partial(self.show_item, item.key), name="play")
        add("Show in folder", partial(self.reveal_requested.emit, item.key), name="folder")
        menu.addSeparator()
        add("Export…", partial(self.export_requested.emit, item.key), stored, "export")
        menu.addSeparator()
        if item.ended:
            add("Detect again", partial(self.retry_requested.emit, item.key), name="play")
        else:
            add("Cancel", partial(self.cancel_requested.emit, item.key), name="stop")
        add("Remove from queue", partial(self.remove_requested.emit, item.key), name="close")
        add("Remove all finished", self.clear_requested.emit, any(other.ended for other in self._model))
        return menu
