"""The bar at the top: adding files, the model in use, the settings."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QWidget

from app.window.start_page import model_line
from app.window.viewer.transport import tool_button
from app.window.widgets import theme
from app.window.widgets.icons import icon, pixmap
from engine.model.check import ModelSummary

MOST_NAME = 240
"""The room for a model's name, logical pixels: the window must not grow with it."""


class TopBar(QWidget):
    """Says what the user wants; the window does it."""

    settings_requested = Signal()

    def __init__(self, open_files: QAction, open_folder: QAction, menu: QMenu, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        logo = QLabel()
        logo.setPixmap(pixmap("framefleet", 24))
        name = QLabel("Framefleet")
        name.setProperty("role", "wordmark")
        self.open, self.open_folder, self.model = QPushButton(), QPushButton(), QPushButton()
        for button, action in ((self.open, open_files), (self.open_folder, open_folder)):
            button.setText(action.text())
            button.setIcon(action.icon())
            button.setToolTip(action.toolTip())
            button.clicked.connect(action.trigger)
        for button in (self.open, self.open_folder, self.model):
            button.setIconSize(QSize(18, 18))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.model.clicked.connect(self.settings_requested)
        self.settings = tool_button("settings", "Settings", "Ctrl+,")
        self.settings.clicked.connect(self.settings_requested)
        self.more = tool_button("more", "More")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 10, 8)
        row.setSpacing(theme.SPACE)
        row.addWidget(logo)
        row.addWidget(name)
        row.addSpacing(16)
        row.addWidget(self.open)
        row.addWidget(self.open_folder)
        row.addStretch()
        row.addWidget(self.model)
        row.addWidget(self.settings)
        row.addWidget(self.more)
        self.set_model(None)

    def set_model(self, summary: ModelSummary | None) -> None:
        """The model in use."""
        self.model.setIcon(icon("model", theme.MUTED if summary else theme.WARNING))
        if summary is None:
            text, tip = "Choose a model…", "Choose a model"
        else:
            name = self.model.fontMetrics().elidedText(summary.name, Qt.TextElideMode.ElideMiddle, MOST_NAME)
            text, tip = f"{name} · {summary.width}×{summary.height}", f"{summary.name}\n{model_line(summary)}\nClick to change"
        self.model.setText(text)
        self.model.setToolTip(tip)
        self.model.setAccessibleName(f"Model: {summary.name if summary else text}")
