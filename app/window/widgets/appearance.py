"""Applies the theme to the application: dark, light, or that of the system. It can change at any time."""

import re
from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.style_sheet import style_sheet

KEY = "window/theme"
"""The key of the stored theme."""
_ROLES = QPalette.ColorRole
_PALETTE = {
    _ROLES.Window: "SURFACE",
    _ROLES.WindowText: "TEXT",
    _ROLES.Base: "RAISED",
    _ROLES.AlternateBase: "SURFACE",
    _ROLES.Text: "TEXT",
    _ROLES.PlaceholderText: "MUTED",
    _ROLES.Button: "RAISED",
    _ROLES.ButtonText: "TEXT",
    _ROLES.BrightText: "TEXT",
    _ROLES.ToolTipBase: "RAISED",
    _ROLES.ToolTipText: "TEXT",
    _ROLES.Highlight: "ACCENT",
    _ROLES.HighlightedText: "ON_ACCENT",
    _ROLES.Accent: "ACCENT",
    _ROLES.Link: "ACCENT",
    _ROLES.Light: "HOVER",
    _ROLES.Mid: "BORDER",
    _ROLES.Dark: "BACKGROUND",
    _ROLES.Shadow: "BACKGROUND",
}
"""The colours that Qt's own style uses where the style sheet says nothing."""


class Theme(StrEnum):
    """What the user chose."""

    SYSTEM = "system"
    DARK = "dark"
    LIGHT = "light"


_SCHEMES = {Theme.SYSTEM: Qt.ColorScheme.Unknown, Theme.DARK: Qt.ColorScheme.Dark, Theme.LIGHT: Qt.ColorScheme.Light}


_choice = Theme.SYSTEM
"""The current choice."""


def stored_theme(text: object) -> Theme:
    """The theme that is stored as this text; that of the system if there is none."""
    return next((choice for choice in Theme if choice == text), Theme.SYSTEM)


def current_theme() -> Theme:
    """The user's choice."""
    return _choice


def apply_theme(application: QApplication, choice: Theme = Theme.SYSTEM) -> None:
    """Show the whole application in a theme, now and, with ``SYSTEM``, whenever the system's changes."""
    global _choice
    first, _choice = not application.property("themed"), choice
    hints = application.styleHints()
    if first:
        application.setProperty("themed", True)
        application.setStyle("Fusion")
        application.setFont(theme.font())
        hints.colorSchemeChanged.connect(lambda _: _show(application))
    hints.setColorScheme(_SCHEMES[choice])
    _show(application)


def system_scheme() -> Qt.ColorScheme:
    """The system's choice; many systems state none."""
    return QGuiApplication.styleHints().colorScheme()


def _show(application: QApplication) -> None:
    scheme = system_scheme() if _choice is Theme.SYSTEM else _SCHEMES[_choice]
    theme.use(dark=scheme is not Qt.ColorScheme.Light)
    application.setPalette(palette())
    application.setStyleSheet(style_sheet())
    for widget in application.allWidgets():
        sheet = widget.styleSheet()
        if sheet and (now := current(sheet)) != sheet:
            widget.setStyleSheet(now)
        if (use_theme := getattr(widget, "use_theme", None)) is not None:
            use_theme()  # colours that no style sheet has
        widget.update()


def current(sheet: str) -> str:
    """A style sheet with the colours of the current theme in place of another's."""

    def replaced(found: re.Match[str]) -> str:
        name = theme.name_of(found[0])
        return theme.colour(name) if name is not None else found[0]

    return re.sub(r"#[0-9a-f]{6}\b", replaced, sheet)


def palette() -> QPalette:
    """The palette of the current theme."""
    made = QPalette()
    for role, name in _PALETTE.items():
        made.setColor(role, QColor(theme.colour(name)))
    for role in (_ROLES.WindowText, _ROLES.Text, _ROLES.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(theme.DISABLED))
    return made
