"""One model of the list: what it is good for, its figures, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app.window.models.downloads import ModelDownloads, Running
from app.window.widgets import formats, theme
from engine.model.registry.catalogue import ModelEntry, Purpose
from engine.model.registry.installed import is_installed, partial_bytes

_COLOURS = {
    Purpose.FAST: (theme.GOOD, "#18302a"),
    Purpose.BALANCED: (theme.ACCENT_HOVER, theme.ACCENT_QUIET),
    Purpose.ACCURATE: (theme.WARNING, "#322a19"),
}
_FIGURE_WIDTH, _BUTTON_WIDTH = 94, 92


def _label(role: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setProperty("role", role)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def _chip(purpose: Purpose) -> QLabel:
    colour, ground = _COLOURS[purpose]
    chip = QLabel(purpose.value.capitalize())
    size = theme.base_size() - 2
    chip.setStyleSheet(
        f"color: {colour}; background: {ground}; border-radius: 4px; padding: 1px 7px; font-size: {size}px; font-weight: 600;"
    )
    return chip


def _figures(entry: ModelEntry) -> QGridLayout:
    figures = (
        (f"{entry.ap:.1f} %", "COCO AP", f"Average precision on COCO at IoU 0.50–0.95; {entry.ap50:.1f} % at IoU 0.50"),
        (f"{entry.gflops:.3g}", "GFLOP / picture", "Work for one picture: half of it takes about half the time"),
        (f"{entry.side} × {entry.side}", "pixels", "The size of picture the network sees"),
        (f"{entry.parameters / 1e6:.1f} M", "parameters", f"{entry.parameters:,} parameters"),
        (f"{entry.download_bytes / 1e6:.0f} MB", "download", f"The weight file has exactly {entry.weights_bytes:,} bytes"),
    )
    table = QGridLayout()
    table.setVerticalSpacing(1)
    table.setRowStretch(0, 1)
    table.setRowStretch(3, 1)
    table.setHorizontalSpacing(4)
    for column, (value, caption, tip) in enumerate(figures):
        for row, label in enumerate((_label("section", value), _label("small", caption)), 1):
            label.setToolTip(tip)
            table.addWidget(label, row, column, Qt.AlignmentFlag.AlignRight)
        table.setColumnMinimumWidth(column, _FIGURE_WIDTH)
    return table


class ModelCard(QFrame):
    """Shows one entry. The signals carry it."""

    download_requested = Signal(object)
    cancel_requested = Signal(object)
    use_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, entry: ModelEntry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.entry = entry
        self.message = _label("small")
        self.message.setWordWrap(True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.bar.setFixedHeight(4)
        self.bar.setStyleSheet(
            f"QProgressBar {{ background: {theme.HOVER}; border: none; border-radius: 2px; }}"
            f"QProgressBar::chunk {{ background: {theme.ACCENT}; border-radius: 2px; }}"
        )
        self.download = self._button("Download", self.download_requested)
        self.cancel = self._button("Cancel", self.cancel_requested)
        self.use = self._button("Use", self.use_requested)
        self.use.setProperty("role", "primary")
        self.remove = self._button("Remove", self.remove_requested)
        self.remove.setProperty("role", "flat")
        self._arrange()

    def _button(self, title: str, signal: object) -> QPushButton:
        button = QPushButton(title)
        button.setAutoDefault(False)
        button.setFixedWidth(_BUTTON_WIDTH)
        button.setAccessibleName(f"{title} {self.entry.title}")
        button.clicked.connect(lambda: signal.emit(self.entry))  # type: ignore[attr-defined]
        return button

    def _arrange(self) -> None:
        entry = self.entry
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(_label("section", entry.title))
        head.addWidget(_chip(entry.purpose))
        head.addStretch()
        note = _label("small", entry.note)
        note.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(3)
        words.addStretch()
        words.addLayout(head)
        words.addWidget(note)
        words.addStretch()
        buttons = QHBoxLayout()
        buttons.setSpacing(6)
        buttons.addStretch()
        for button in (self.remove, self.download, self.cancel, self.use):
            buttons.addWidget(button)
        place = QWidget()  # as wide in every card, so that the figures stand below each other
        place.setLayout(buttons)
        buttons.setContentsMargins(0, 0, 0, 0)
        place.setFixedWidth(2 * _BUTTON_WIDTH + 6)
        across = QHBoxLayout()
        across.setSpacing(16)
        across.addLayout(words, 1)
        across.addLayout(_figures(entry))
        across.addWidget(place)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(16, 10, 14, 10)
        whole.setSpacing(8)
        whole.addLayout(across)
        whole.addWidget(self.bar)
        whole.addWidget(self.message)

    def refresh(self, downloads: ModelDownloads, in_use: bool) -> None:
        """Show how it stands with this model."""
        running = downloads.running(self.entry.name)
        installed = running is None and is_installed(self.entry, downloads.folder)
        there = 0 if installed or running else partial_bytes(self.entry, downloads.folder)
        error = downloads.errors.get(self.entry.name, "")
        self.download.setText("Retry" if error else "Continue" if there else "Download")
        self.use.setText("In use" if in_use else "Use")
        self.use.setEnabled(not in_use)
        self.remove.setText("Remove" if installed else "Discard")
        self.remove.setEnabled(not in_use)
        self.remove.setToolTip("It is in use: choose another model first" if in_use else f"Delete it from {downloads.folder}")
        for widget, shown in (
            (self.download, running is None and not installed),
            (self.cancel, running is not None),
            (self.use, installed),
            (self.remove, installed or (running is None and there > 0)),
            (self.bar, running is not None or there > 0),
            (self.message, running is not None or there > 0 or bool(error)),
        ):
            widget.setVisible(shown)
        self.cancel.setEnabled(running is None or not running.cancellation.asked)
        self._say(self._state(running, there, error), "error" if error else "small")
        self.bar.setValue(int(1000 * (running.done if running else there) / self.entry.weights_bytes))
        self.setAccessibleName(
            f"{self.entry.title}, {self._state(running, there, error) or ('installed' if installed else 'not downloaded')}"
        )

    def _state(self, running: Running | None, there: int, error: str) -> str:
        total = self.entry.weights_bytes
        if running is None:
            part = f"{formats.percent(there / total)} is downloaded" if there else ""
            return "\n".join(filter(None, (error, part)))
        if running.cancellation.asked:
            return "Cancelling…"
        if not running.done:
            return "Connecting…"
        if running.done >= total:
            return "Checking…"
        text = f"{formats.percent(running.done / total)} · {running.done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        if running.speed:
            text += f" · {running.speed / 1e6:.3g} MB/s · {formats.remaining((total - running.done) / running.speed)} left"
        return text

    def _say(self, text: str, role: str) -> None:
        self.message.setText(text)
        if self.message.property("role") != role:
            self.message.setProperty("role", role)
            self.message.style().unpolish(self.message)
            self.message.style().polish(self.message)
