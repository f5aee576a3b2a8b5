"""One model of the list, of the catalogue or the user's own: its figures and buttons."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QWidget

from framefleet.app.window.models import chart
from framefleet.app.window.models.files import Download, ModelDownloads
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import column, label, push_button, row, set_role
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.model.load import ModelSummary
from framefleet.engine.model.registry.catalogue import ModelEntry, Purpose, is_installed, partial_bytes
from framefleet.engine.settings import ModelFiles

COLUMNS = (
    (64, marked("models", "download"), marked("models", "The size of the download")),
    (86, marked("models", "frames/s here"), marked("models", "Measured on this machine, in the newest run with this model")),
    (74, marked("models", "accuracy"), marked("models", "Average precision on COCO at IoU 0.50–0.95, as the authors published it")),
    (86, marked("models", "input"), marked("models", "The size of the network's input, pixels")),
    (48, marked("models", "GFLOP"), marked("models", "Computation for one picture: half as much takes about half the time")),
    (74, marked("models", "parameters"), marked("models", "The number of values in the weight file")),
)
"""The columns of figures: their widths, logical pixels, their headings, and what they mean."""
GAP = 12


def heading() -> QWidget:
    """The headings of the figures of all models."""
    line = QWidget()
    made = [label("small", translate("models", name), tip=translate("models", tip)) for _, name, tip in COLUMNS]
    row(None, *_in_columns(made), _button_box(), spacing=GAP, margins=(16, 0, 15, 0), of=line)
    return line


def _in_columns(figures: Sequence[QLabel]) -> Sequence[QLabel]:
    """Give figures the widths of their columns."""
    for figure, (width, *_) in zip(figures, COLUMNS, strict=True):
        figure.setFixedWidth(width)
        figure.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return figures


class Figures:
    """The figures of one model, in the order of ``COLUMNS``. size: bytes of the download or of the weights. accuracy: percent."""

    def __init__(self, size: int, accuracy: float | None, side: tuple[int, int], gflops: float | None, parameters: int) -> None:
        self.speed = label("section", formats.DASH)
        values = (
            label("section", translate("models", "{megabytes} MB").format(megabytes=formats.count(round(size / 1e6)))),
            self.speed,
            label("section", formats.DASH if accuracy is None else formats.share(accuracy / 100)),
            label("muted", "{} × {}".format(*side)),
            label("muted", formats.DASH if gflops is None else formats.rate(gflops)),
            label("muted", translate("models", "{parameters} M").format(parameters=formats.decimal(parameters / 1e6)),
                  tip=translate("models", "{parameters} parameters").format(parameters=formats.count(parameters))),
        )  # fmt: skip
        self.labels = _in_columns(values)

    def show_speed(self, speed: chart.Speed | None) -> None:
        """Show the throughput that was measured here, None = it did not run yet."""
        self.speed.setText(formats.DASH if speed is None else formats.rate(speed.rate))
        self.speed.setToolTip("" if speed is None else speed.hardware)


_COLOURS = {
    Purpose.FAST: ("GOOD", "GOOD_GROUND"),
    Purpose.BALANCED: ("ACCENT_HOVER", "ACCENT_QUIET"),
    Purpose.ACCURATE: ("WARNING", "WARNING_GROUND"),
}


def _chip(purpose: Purpose) -> QLabel:
    colour, ground = _COLOURS[purpose]
    chip = QLabel(translate("models", purpose.value.capitalize()))
    size = theme.base_size() - 2
    chip.setStyleSheet(
        f"color: {theme.colour(colour)}; background: {theme.colour(ground)}; border-radius: 4px; padding: 1px 7px;"
        f" font-size: {size}px; font-weight: 600;"
    )
    return chip


def _button_box(*buttons: QPushButton) -> QWidget:
    """Buttons below each other, as wide in every card, so that the figures form columns."""
    metrics = QFontMetrics(theme.font(bold=True))
    shown = translate("models", "Download"), translate("models", "Continue"), translate("models", "In use")
    titles = *shown, translate("models", "Remove"), translate("models", "Discard")
    box = QWidget()
    box.setFixedWidth(max(map(metrics.horizontalAdvance, titles)) + 33)
    column(None, *buttons, None, spacing=4, of=box)
    return box


class ModelCard(QFrame):
    """Shows a model of the catalogue, and buttons to download, use and remove it. The signals carry its ModelEntry."""

    download_requested = Signal(object)
    cancel_requested = Signal(object)
    use_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, entry: ModelEntry) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.entry = entry
        self.message = label("small", wrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = QProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.bar.setFixedHeight(4)
        self.download = self._button(translate("models", "Download"), self.download_requested)
        self.cancel = self._button(translate("models", "Cancel"), self.cancel_requested)
        self.use = self._button(translate("models", "Use"), self.use_requested, "primary")
        self.remove = self._button(translate("models", "Remove"), self.remove_requested, "flat")
        unknown = translate("models", "not stated")
        facts = translate("models", "Licence: {licence} · Published by the authors: {speed}")
        facts = facts.format(licence=entry.licence or unknown, speed=translate("models", entry.published_speed) or unknown)
        source = translate("models", "Source: README of github.com/AlexeyAB/darknet. The speed is that of Darknet.")
        head = row(label("section", entry.title), _chip(entry.purpose), None, spacing=10)
        note = label("small", translate("models", entry.note), wrap=True, tip=f"{facts}\n{source}")
        words = column(None, head, note, None, spacing=2)
        self.figures = Figures(entry.download_bytes, entry.ap, (entry.side, entry.side), entry.gflops, entry.parameters)
        buttons = _button_box(self.download, self.cancel, self.use, self.remove)
        across = row((words, 1), *self.figures.labels, buttons, spacing=GAP)
        self.setToolTip(f"{facts}\n{source}")
        column(across, self.bar, self.message, spacing=6, margins=(16, 6, 14, 6), of=self)

    def _button(self, title: str, signal: Any, role: str = "") -> QPushButton:
        button = push_button(title, lambda: signal.emit(self.entry), role=role)
        button.setAccessibleName(f"{title} {self.entry.title}")
        return button

    def refresh(self, downloads: ModelDownloads, in_use: bool) -> None:
        """Show the state of the model."""
        running = downloads.running(self.entry.name)
        installed = running is None and is_installed(self.entry, downloads.folder)
        partial = 0 if installed or running else partial_bytes(self.entry, downloads.folder)
        error = downloads.errors.get(self.entry.name, "")
        self.download.setText(
            translate("models", "Retry") if error else translate("models", "Continue") if partial else translate("models", "Download")
        )
        self.use.setText(translate("models", "In use") if in_use else translate("models", "Use"))
        self.use.setEnabled(not in_use)
        self.remove.setText(translate("models", "Remove") if installed else translate("models", "Discard"))
        self.remove.setEnabled(not in_use)
        self.remove.setToolTip(
            translate("models", "It is in use: choose another model first")
            if in_use
            else translate("models", "Delete it from {folder}").format(folder=downloads.folder)
        )
        focused = next((button for button in (self.download, self.cancel, self.use, self.remove) if button.hasFocus()), None)
        for widget, shown in (
            (self.download, running is None and not installed),
            (self.cancel, running is not None),
            (self.use, installed),
            (self.remove, installed or (running is None and partial > 0)),
            (self.bar, running is not None or partial > 0),
            (self.message, running is not None or partial > 0 or bool(error)),
        ):
            widget.setVisible(shown)
        if focused is not None and focused.isHidden():  # the keyboard stays at this model
            next(button for button in (self.download, self.cancel, self.use) if not button.isHidden()).setFocus()
        self.cancel.setEnabled(running is None or not running.cancellation.asked)
        state = self._state(running, partial, error)
        self.message.setText(state)
        set_role(self.message, "error" if error else "small")
        self.bar.setValue(int(1000 * (running.done if running else partial) / self.entry.weights_bytes))
        self.setAccessibleName(
            f"{self.entry.title}, {state or translate('models', 'installed') if installed else translate('models', 'not downloaded')}"
        )

    def _state(self, running: Download | None, partial: int, error: str) -> str:
        total = self.entry.weights_bytes
        if running is None:
            part = translate("models", "{partial} is downloaded").format(partial=formats.percent(partial / total)) if partial else ""
            return "\n".join(filter(None, (error, part)))
        if running.cancellation.asked:
            return translate("models", "Cancelling…")
        if not running.done:
            return translate("models", "Connecting…")
        if running.done >= total:
            return translate("models", "Checking…")
        text = translate("models", "{percent} · {done} of {total} MB").format(
            percent=formats.percent(running.done / total),
            done=formats.count(round(running.done / 1e6)),
            total=formats.count(round(total / 1e6)),
        )
        if running.speed:
            text += translate("models", " · {speed} MB/s · {remaining} left").format(
                speed=formats.rate(running.speed / 1e6), remaining=formats.remaining((total - running.done) / running.speed)
            )
        return text


class OwnCard(QFrame):
    """Shows a model's figures, or why it cannot be used. The signals carry its ModelFiles."""

    use_requested = Signal(object)
    remove_requested = Signal(object)
    labels_requested = Signal(object)

    def __init__(self, files: ModelFiles, found: ModelSummary | str, in_use: bool) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.files = files
        usable = isinstance(found, ModelSummary)
        title = found.name if isinstance(found, ModelSummary) else files.cfg.stem
        weights = files.weights.name if isinstance(files.weights, Path) else str(files.weights)
        lines = [str(files.cfg.parent), *([weights] if not files.is_onnx else [])]
        if isinstance(found, ModelSummary) and found.reading is not None:
            lines.append(translate("models", "Read as {reading}").format(reading=found.reading.value))
            unknown = translate("models", "the file says nothing")
            lines.append(translate("models", "Licence: {licence}").format(licence=found.licence or unknown))
        note = label("small", "\n".join(lines), wrap=True)
        kept = translate("models", "Remove it from this list. Its files are kept.")
        self.use = push_button(translate("models", "In use") if in_use else translate("models", "Use"), role="primary")
        self.remove = push_button(translate("models", "Remove"), role="flat", tip=kept)
        self.use.setEnabled(usable and not in_use)
        self.remove.setEnabled(not in_use)
        self.use.clicked.connect(lambda: self.use_requested.emit(files))
        self.remove.clicked.connect(lambda: self.remove_requested.emit(files))
        self.labels = push_button(translate("models", "Classes…"), role="flat", tip=translate("models", "Change the names of the classes"))
        self.labels.setVisible(usable and files.is_onnx)
        self.labels.clicked.connect(lambda: self.labels_requested.emit(files))
        for button in (self.use, self.remove, self.labels):
            button.setAccessibleName(f"{button.text()} {title}")
        buttons = _button_box(self.use, self.remove)
        words = column(None, label("section", title), note, row(self.labels, None), None, spacing=2)
        self.name = title
        self.figures: Figures | None = None
        if isinstance(found, ModelSummary):
            labels = ", ".join(found.labels[:20]) + (" …" if found.classes > 20 else "")
            self.setToolTip(f"{formats.plural(found.classes, 'class')}: {labels}")
            self.figures = Figures(found.weights_bytes, None, (found.width, found.height), found.gflops, found.parameters)
            across = row((words, 1), *self.figures.labels, buttons, spacing=GAP)
        else:
            across = row((words, 1), (label("error", found, wrap=True), 1), buttons, spacing=GAP)
        column(across, margins=(16, 6, 14, 6), of=self)
        self.setAccessibleName(f"{title}, {found}" if isinstance(found, str) else title)
