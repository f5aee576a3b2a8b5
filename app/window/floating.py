"""Shows a panel in a window of its own, for another screen for example, and puts it back."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSettings, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from framefleet.app.window.widgets.build import column, label, push_button, within_screen
from framefleet.app.window.widgets.translation import translate

SIZE = QSize(900, 640)
MARGIN = 8
"""Room around a panel in its own window, logical pixels."""


class FloatingWindow(QWidget):
    """The window that holds a panel. closed: the user closed it."""

    closed = Signal()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Report that the panel must be put back."""
        super().closeEvent(event)
        self.closed.emit()


class Floating(QObject):
    """Moves one panel between its place in the main window and a window of its own. A note stands in for it meanwhile.

    panel: inside a QStackedWidget or QSplitter. title: of the panel. name: under which its place on the screen is kept. size: of the
    window at first.
    changed: whether the panel is in its own window. opened: this window, before it is shown.
    """

    changed = Signal(bool)
    opened = Signal(QWidget)

    def __init__(self, panel: QWidget, title: str, name: str, store: QSettings, size: Callable[[], QSize]) -> None:
        super().__init__(panel)
        self._panel, self._title, self._store, self._size = panel, title, store, size
        self._name = f"window/floating/{name}"
        self._window: FloatingWindow | None = None
        self._shown = True
        self.note = QWidget()
        self.back = push_button(translate("window", "Put it back"), self.put_back)
        text = label("muted", translate("window", "{panel}: shown in its own window").format(panel=title), wrap=True)
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column(None, text, (self.back, 0, Qt.AlignmentFlag.AlignCenter), None, spacing=10, margins=(16, 16, 16, 16), of=self.note)
        self.note.hide()

    @property
    def floats(self) -> bool:
        """Whether the panel is in its own window."""
        return self._window is not None

    def toggle(self) -> None:
        """Move the panel to its own window, or put it back."""
        if self.floats:
            self.put_back()
        else:
            self.float_()

    def float_(self) -> None:
        """Move the panel to its own window, where it was the last time."""
        if self._window is not None:
            self._window.raise_()
            return
        main = self._panel.window()
        # shortcuts of the main window work in a window of this type, too
        window = self._window = FloatingWindow(main, Qt.WindowType.Tool | Qt.WindowType.WindowMaximizeButtonHint)
        window.setWindowTitle(f"{self._title} — Framefleet")
        window.resize(within_screen(main, *self._size().toTuple()))
        if (geometry := self._store.value(f"{self._name}/geometry")) is not None:
            window.restoreGeometry(geometry)
        self._exchange(self._panel, self.note)
        column(self._panel, margins=(MARGIN,) * 4, of=window)
        self._panel.show()
        window.closed.connect(self.put_back)
        self.opened.emit(window)
        window.setVisible(self._shown)
        self._store.setValue(f"{self._name}/shown", "yes")
        self.changed.emit(True)

    def put_back(self) -> None:
        """Put the panel back into the main window."""
        window, self._window = self._window, None
        if window is None:
            return
        self._store.setValue(f"{self._name}/geometry", window.saveGeometry())
        self._store.setValue(f"{self._name}/shown", "no")
        self._exchange(self.note, self._panel)
        self._panel.show()
        self.note.hide()
        window.hide()
        window.deleteLater()
        self.changed.emit(False)

    def set_shown(self, shown: bool) -> None:
        """Hide or show the panel's own window, if it has one now or later."""
        self._shown = shown
        if self._window is not None:
            self._window.setVisible(shown)

    def restore(self) -> None:
        """Show the panel in its own window if it was there at the end of the last run."""
        if self._store.value(f"{self._name}/shown", "no") == "yes" and self._panel.window().isVisible():
            self.float_()

    def end(self) -> None:
        """Close the panel's own window together with the main window. It opens again at the next start."""
        if self._window is not None:
            self._store.setValue(f"{self._name}/geometry", self._window.saveGeometry())
            self._window.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Restore the panel's window when the main window is shown for the first time."""
        if event.type() == QEvent.Type.Show:
            watched.removeEventFilter(self)  # a filter in Python costs time at each event of a playing video
            QTimer.singleShot(0, self, self.restore)  # window managers keep it above the main window only if that is there first
        return super().eventFilter(watched, event)

    def _exchange(self, old: QWidget, new: QWidget) -> None:
        """Put one widget in the place of another."""
        place = old.parentWidget()
        if isinstance(place, QSplitter):
            sizes = place.sizes()
            place.replaceWidget(place.indexOf(old), new)
            new.show()
            place.setSizes(sizes)
        else:
            assert isinstance(place, QStackedWidget)
            number, current = place.indexOf(old), place.currentIndex()
            place.removeWidget(old)
            place.insertWidget(number, new)
            place.setCurrentIndex(current)
