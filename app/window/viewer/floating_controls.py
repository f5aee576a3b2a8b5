"""In full screen, the controls float over the picture and hide while the mouse rests."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QBoxLayout, QWidget

from framefleet.app.window.viewer.canvas import VideoCanvas

REST_MS = 2500
"""Time without a movement of the mouse after which the controls hide."""


class FloatingControls(QObject):
    """Places the controls of a viewer: in its layout, or at the lower edge over the picture."""

    def __init__(self, viewer: QWidget, layout: QBoxLayout, canvas: VideoCanvas, controls: QWidget) -> None:
        super().__init__(viewer)
        self._viewer, self._layout, self._canvas, self._controls = viewer, layout, canvas, controls
        self._float = False
        self._resting = QTimer(self, interval=REST_MS, singleShot=True)
        self._resting.timeout.connect(self._rest)
        canvas.mouse_moved.connect(self._show)

    def set_floating(self, floating: bool) -> None:
        """Let the controls float, or put them back into the layout."""
        self._float = floating
        if floating:
            self._layout.removeWidget(self._controls)
            self._viewer.installEventFilter(self)
        else:
            self._layout.addWidget(self._controls)
            self._viewer.removeEventFilter(self)
            self._resting.stop()
        self._show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep floating controls at the lower edge."""
        if event.type() is QEvent.Type.Resize:
            self._show()
        return super().eventFilter(watched, event)

    def _show(self) -> None:
        self._controls.show()
        self._canvas.unsetCursor()
        if self._float:
            height = self._controls.sizeHint().height()
            self._controls.setGeometry(0, self._viewer.height() - height, self._viewer.width(), height)
            self._controls.raise_()
            self._resting.start()

    def _rest(self) -> None:
        if self._float and not self._controls.underMouse():
            self._controls.hide()
            self._canvas.setCursor(Qt.CursorShape.BlankCursor)
