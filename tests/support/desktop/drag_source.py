"""Shows a small window from which files can be dragged, for tests with a real X server: ``python drag_source.py X Y FILE…``."""

from __future__ import annotations

import sys

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDrag, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel


class Source(QLabel):
    """A label that starts a real X drag of the files when the mouse moves with a button pressed."""

    def __init__(self, files: list[str]) -> None:
        super().__init__("drag me")
        self._files = files
        self.setWindowFlags(Qt.WindowType.X11BypassWindowManagerHint | Qt.WindowType.FramelessWindowHint)

    def mouseMoveEvent(self, _event: QMouseEvent) -> None:  # noqa: N802
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(name) for name in self._files])
        drag = QDrag(self)
        drag.setMimeData(data)
        print("dragging", flush=True)
        action = drag.exec(Qt.DropAction.CopyAction)
        print("dropped" if action is Qt.DropAction.CopyAction else "refused", flush=True)


if __name__ == "__main__":
    application = QApplication(sys.argv[:1])
    source = Source(sys.argv[3:])
    source.setGeometry(int(sys.argv[1]), int(sys.argv[2]), 120, 120)
    source.show()
    print("ready", flush=True)
    application.exec()
