"""Files that are dragged over the window and dropped on it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from app.window.queue.intake import sort_paths
from app.window.widgets.drop_overlay import DropOverlay


class FileDrops(QObject):
    """Shows the overlay while files are over a window. dropped: their paths."""

    dropped = Signal(object)

    def __init__(self, window: QWidget, overlay: DropOverlay) -> None:
        super().__init__(window)
        self._window, self._overlay = window, overlay
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look at what is dragged; everything else goes on to the window."""
        if event.type() is QEvent.Type.DragEnter and isinstance(event, QDropEvent):
            if paths := local_paths(event):
                event.acceptProposedAction()
                self._overlay.show_for(sort_paths(paths))
            return True
        if event.type() is QEvent.Type.DragLeave:
            self._overlay.hide()
        if event.type() is QEvent.Type.Drop and isinstance(event, QDropEvent):
            self._overlay.hide()
            event.acceptProposedAction()
            self._window.activateWindow()
            self.dropped.emit(local_paths(event))
            return True
        return super().eventFilter(watched, event)


def local_paths(event: QDropEvent) -> list[Path]:
    """The files and folders of this machine that are dragged."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
