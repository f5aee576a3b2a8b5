"""A dialog with a form above its buttons."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QScrollArea, QWidget

from framefleet.app.window.widgets.build import Item, column, show_inside, within_screen

LOWEST = 100
"""Least height of the visible part of a form, logical pixels."""


class FormDialog(QDialog):
    """Is as high as its form needs. On a screen that is too low for this, the form scrolls and the buttons stay visible.

    width: least width, logical pixels. buttons: cancel, and those that a subclass adds.
    """

    def __init__(self, title: str, width: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._inside, self._area = QWidget(), QScrollArea()
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setMinimumHeight(LOWEST)
        self._area.setAccessibleName(title)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.buttons.setContentsMargins(24, 0, 24, 16)
        self.setMinimumWidth(width)

    def lay_out(self, *items: Item) -> None:
        """Place the parts of the form from top to bottom, and the buttons below them."""
        column(*items, None, spacing=14, margins=(24, 20, 24, 14), of=self._inside)
        show_inside(self._area, self._inside)
        column((self._area, 1), self.buttons, spacing=0, of=self)
        self._inside.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Fit the height when the form has changed."""
        if event.type() is QEvent.Type.LayoutRequest:
            QTimer.singleShot(0, self, self._fit)
        return super().eventFilter(watched, event)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the height now that the style, which sets the sizes of fonts, is known; Qt then places the dialog."""
        self._fit()
        super().showEvent(event)

    def _fit(self) -> None:
        """Take the height of the form and the buttons. ``adjustSize`` would take no more than two thirds of the screen's height."""
        form = self._inside.layout()
        assert form is not None
        form.activate()
        height = form.totalHeightForWidth(self.width()) + self.buttons.sizeHint().height()
        self.resize(within_screen(self, self.width(), height))
        below = self.frameGeometry().bottom() - self.screen().availableGeometry().bottom()
        if self.isVisible() and below > 0:
            self.move(self.x(), self.y() - below)
