"""What the middle of the window shows while the queue is empty: the two steps there are, and which one is next."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.window.widgets import formats, theme
from app.window.widgets.icons import icon, pixmap
from engine.model.check import ModelSummary

MARGIN, GAP = 16, 16


class Step(QFrame):
    """One step: an icon, what to do, how, and its buttons."""

    def __init__(self, symbol: str, title: str, text: str) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setMaximumWidth(312)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._symbol = symbol
        self.icon = QLabel()
        self.title = QLabel(title)
        self.title.setProperty("role", "section")
        self.text = QLabel(text)
        self.text.setProperty("role", "muted")
        self.text.setWordWrap(True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(theme.SPACE)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self.icon)
        head.addWidget(self.title, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(10)
        column.addLayout(head)
        column.addWidget(self.text, 1)
        column.addSpacing(4)
        column.addLayout(self.buttons)
        self.set_done(False)

    def set_done(self, done: bool) -> None:
        """Tick it off."""
        name, colour = ("check", theme.GOOD) if done else (self._symbol, theme.ACCENT)
        self.icon.setPixmap(pixmap(name, 22, colour))


class StartPage(QScrollArea):
    """Choose a model, add videos: side by side, or below each other where there is little room."""

    model_requested = Signal()
    files_requested = Signal()
    folder_requested = Signal()
    demo_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = QLabel("Detect objects in your videos")
        title.setProperty("role", "title")
        subtitle = QLabel("Everything runs on this machine, on every device you let it use.")
        subtitle.setProperty("role", "muted")
        for line in (title, subtitle):
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            line.setWordWrap(True)
        self.model_step = Step("model", "", "")
        self.choose_model = QPushButton()
        self.choose_model.clicked.connect(self.model_requested)
        self.model_step.buttons.addWidget(self.choose_model)
        self.model_step.buttons.addStretch()
        self.video_step = Step("film", "Add videos", "Drop videos, pictures or folders anywhere on this window, or open them.")
        self.open_files = QPushButton("Open files…")
        self.open_files.setToolTip("Open files (Ctrl+O)")
        self.open_files.clicked.connect(self.files_requested)
        self.open_folder = QPushButton("Open folder…")
        self.open_folder.setToolTip("Open a folder (Ctrl+Shift+O)")
        self.open_folder.clicked.connect(self.folder_requested)
        for button in (self.open_files, self.open_folder):
            self.video_step.buttons.addWidget(button)
        self.video_step.buttons.addStretch()
        self.steps = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.steps.setSpacing(GAP)
        self.steps.addWidget(self.model_step)
        self.steps.addWidget(self.video_step)
        across = QHBoxLayout()
        across.addStretch(1)
        across.addLayout(self.steps, 200)  # as wide as they may be, before the margins grow
        across.addStretch(1)
        self.watch = QPushButton(icon("play"), "Watch the demo")
        self.watch.clicked.connect(self.demo_requested)
        self.about = QLabel("Nothing at hand? A street and a model are built in.")
        self.about.setProperty("role", "muted")
        self.about.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.demo = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.demo.setSpacing(12)
        self.demo.addStretch()
        self.demo.addWidget(self.about)
        self.demo.addWidget(self.watch, 0, Qt.AlignmentFlag.AlignHCenter)
        self.demo.addStretch()
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(MARGIN, 24, MARGIN, 24)
        column.setSpacing(6)
        column.addStretch(4)
        column.addWidget(title)
        column.addWidget(subtitle)
        column.addSpacing(24)
        column.addLayout(across)
        column.addSpacing(20)
        column.addLayout(self.demo)
        column.addStretch(5)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside.setObjectName("inside")
        inside.setStyleSheet("#inside { background: transparent; }")
        self.setWidget(inside)
        self.set_model(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side if there is room."""
        super().resizeEvent(event)
        needed = sum(step.minimumSizeHint().width() for step in (self.model_step, self.video_step)) + GAP + 2 * MARGIN
        wide = self.viewport().width() >= needed
        for row in (self.steps, self.demo):
            row.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)
        self.about.setWordWrap(not wide)

    def set_model(self, summary: ModelSummary | None) -> None:
        """Which model is chosen; the step that is next gets the accent."""
        step = self.model_step
        step.set_done(summary is not None)
        if summary is None:
            step.title.setText("Choose a model")
            step.text.setText("Download one with a click, or drop a Darknet .cfg and its .weights anywhere on this window.")
            self.choose_model.setText("Choose model…")
        else:
            step.title.setText(formats.shortened(summary.name, 24))
            step.text.setText(model_line(summary))
            self.choose_model.setText("Change…")
        for button, primary in ((self.choose_model, summary is None), (self.open_files, summary is not None)):
            button.setProperty("role", "primary" if primary else "")
            button.style().unpolish(button)
            button.style().polish(button)


def model_line(summary: ModelSummary) -> str:
    """A model in one line: ``320 × 320 pixels, 80 classes, 0.36 million parameters, 0.25 GFLOP a picture``."""
    return (
        f"{summary.width} × {summary.height} pixels, {summary.classes} classes, "
        f"{summary.parameters / 1e6:.3g} million parameters, {summary.gflops:.3g} GFLOP a picture"
    )
