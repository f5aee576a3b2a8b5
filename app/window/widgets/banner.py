"""Messages at the top of the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.window.widgets import formats, theme
from app.window.widgets.build import column, label, push_button, row, tool_button
from app.window.widgets.icons import Symbol
from app.window.widgets.translation import translate

MOST = 3
"""The largest number of banners. A further one replaces the oldest one with the lowest severity."""
Action: TypeAlias = tuple[str, Callable[[], object]]
"""A button's title, and what a click calls."""


class Severity(StrEnum):
    """How serious a message is, in ascending order; also the name of its icon."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_RANKS = list(Severity)
_COLOURS = {
    Severity.INFO: ("ACCENT", "INFO_GROUND"),
    Severity.WARNING: ("WARNING", "WARNING_GROUND"),
    Severity.ERROR: ("DANGER", "DANGER_GROUND"),
}


class Banner(QFrame):
    """One message, with a button for each action, and a button to dismiss it. ``button``: of the first action, None without any."""

    def __init__(self, severity: Severity, text: str, actions: Sequence[Action]) -> None:
        super().__init__()
        self.severity = severity
        colour, ground = _COLOURS[severity]
        self.setObjectName("banner")
        self.setStyleSheet(
            f"#banner {{ background: {theme.colour(ground)}; border: none; border-left: 3px solid {theme.colour(colour)}; }}"
        )
        symbol = Symbol(severity.value, 18, colour)
        self.text = label("", wrap=True)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.set_text(text)
        buttons = [push_button(title, act) for title, act in actions]
        self.button = buttons[0] if buttons else None
        self.dismiss = tool_button("close", translate("widgets", "Dismiss"))
        row(symbol, (self.text, 1), *buttons, self.dismiss, spacing=10, margins=(12, 7, 8, 7), of=self)

    def set_text(self, text: str) -> None:
        """Change the message."""
        self.text.setText(formats.shortened(text))
        self.text.setToolTip("" if self.text.text() == text else text)
        self.setAccessibleName(f"{self.severity.value}: {text}")


class BannerArea(QWidget):
    """Shows at most one banner for each subject, the newest first. A banner stays until it is replaced, removed or dismissed."""

    def __init__(self) -> None:
        super().__init__()
        self._banners: dict[str, Banner] = {}
        self._column = column(spacing=1, of=self)
        self.hide()

    @property
    def texts(self) -> list[str]:
        """The current messages, the oldest first."""
        return [banner.text.text() for banner in self._banners.values()]

    def show_banner(self, subject: str, severity: Severity, text: str, *actions: Action) -> Banner:
        """Show a message; it replaces the one about the same subject."""
        self.remove(subject)
        while len(self._banners) >= MOST:
            self.remove(min(self._banners, key=lambda shown: _RANKS.index(self._banners[shown].severity)))  # the oldest of several
        banner = Banner(severity, text, actions)
        banner.dismiss.clicked.connect(lambda: self.remove(subject))
        self._banners[subject] = banner
        self._column.insertWidget(0, banner)
        self.show()
        return banner

    def show_message(self, subject: str, severity: Severity, message: str, *actions: Action) -> Banner:
        """Show a message of the engine, whose first letter becomes a capital."""
        return self.show_banner(subject, severity, formats.capitalised(message), *actions)

    def update_text(self, subject: str, text: str) -> None:
        """Change the message about a subject, unless the user has dismissed it."""
        if (banner := self._banners.get(subject)) is not None:
            banner.set_text(text)

    def remove(self, subject: str) -> None:
        """Remove the message about a subject, if there is one."""
        banner = self._banners.pop(subject, None)
        if banner is not None:
            self._column.removeWidget(banner)
            banner.hide()
            banner.deleteLater()
        self.setVisible(bool(self._banners))
