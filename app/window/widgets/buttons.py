"""Buttons, made in one call."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QToolButton

from app.window.widgets.icons import icon


def push_button(title: str, clicked: Any = None, *, symbol: str = "", role: str = "", tip: str = "") -> QPushButton:
    """A button with a title. clicked: the signal or function to call. symbol: its icon, "" = none. role: of the style sheet."""
    button = QPushButton(title)
    if symbol:
        button.setIcon(icon(symbol))
    if clicked is not None:
        button.clicked.connect(clicked)
    button.setProperty("role", role)
    button.setToolTip(tip)
    return button


def tool_button(name: str, title: str, keys: str = "") -> QToolButton:
    """A flat button with an icon ("" = none), a tooltip that names its key, and a name for screen readers."""
    button = QToolButton()
    button.setProperty("role", "flat")
    if name:
        button.setIcon(icon(name))
    button.setIconSize(QSize(18, 18))
    button.setToolTip(f"{title} ({keys})" if keys else title)
    button.setAccessibleName(title)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
