"""Messages across the top of the window that stay until they are read: nothing goes wrong in silence."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.window.viewer.transport import tool_button
from app.window.widgets import formats, theme
from app.window.widgets.icons import pixmap

MOST = 3
"""Banners shown at once; older ones make room, the least serious first."""


class Kind(StrEnum):
    """How much a message matters; also the name of its icon."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_RANKS = list(Kind)
_COLOURS = {Kind.INFO: (theme.ACCENT, "#16202f"), Kind.WARNING: (theme.WARNING, "#2a2416"), Kind.ERROR: (theme.DANGER, "#2d1a1c")}


class Banner(QFrame):
    """One message, perhaps with something to do about it."""

    def __init__(self, kind: Kind, text: str, action: tuple[str, Callable[[], object]] | None) -> None:
        super().__init__()
        self.kind = kind
        colour, ground = _COLOURS[kind]
        self.setObjectName("banner")
        self.setStyleSheet(f"#banner {{ background: {ground}; border: none; border-left: 3px solid {colour}; }}")
        symbol = QLabel()
        symbol.setPixmap(pixmap(kind.value, 18, colour))
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.set_text(text)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 7, 8, 7)
        row.setSpacing(10)
        row.addWidget(symbol)
        row.addWidget(self.text, 1)
        self.button: QPushButton | None = None
        if action is not None:
            self.button = QPushButton(action[0])
            self.button.clicked.connect(action[1])
            row.addWidget(self.button)
        self.dismiss = tool_button("close", "Dismiss")
        row.addWidget(self.dismiss)

    def set_text(self, text: str) -> None:
        """Change what it says."""
        self.text.setText(formats.shortened(text))
        self.text.setToolTip("" if self.text.text() == text else text)
        self.setAccessibleName(f"{self.kind.value}: {text}")


class BannerArea(QWidget):
    """The banners that are up, the newest first; one per subject."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._banners: dict[str, Banner] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(1)
        self.hide()

    @property
    def texts(self) -> list[str]:
        """What is shown, the oldest first."""
        return [banner.text.text() for banner in self._banners.values()]

    def show_banner(self, subject: str, kind: Kind, text: str, action: tuple[str, Callable[[], object]] | None = None) -> Banner:
        """Put a message up, in place of the one about the same subject."""
        self.remove(subject)
        while len(self._banners) >= MOST:
            self.remove(min(self._banners, key=lambda up: _RANKS.index(self._banners[up].kind)))  # of equals the oldest
        banner = Banner(kind, text, action)
        banner.dismiss.clicked.connect(lambda: self.remove(subject))
        self._banners[subject] = banner
        self._column.insertWidget(0, banner)
        self.show()
        return banner

    def show_message(self, subject: str, kind: Kind, message: str, action: tuple[str, Callable[[], object]] | None = None) -> Banner:
        """Put up what the engine says, as sentences: on the command line it follows a colon."""
        return self.show_banner(subject, kind, formats.capitalised(message), action)

    def update_text(self, subject: str, text: str) -> None:
        """Change a message that is up; if it was dismissed, it stays away."""
        if (banner := self._banners.get(subject)) is not None:
            banner.set_text(text)

    def remove(self, subject: str) -> None:
        """Take a message down; harmless if it is not up."""
        banner = self._banners.pop(subject, None)
        if banner is not None:
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self.setVisible(bool(self._banners))
