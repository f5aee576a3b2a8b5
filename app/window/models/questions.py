"""What only the user can say about an ONNX file: how its outputs are read, and the names of its classes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QWidget

from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import questions, theme
from framefleet.app.window.widgets.build import column, label, push_button, row, say, wrapped
from framefleet.app.window.widgets.painting import painting
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.bench.readings import ReadingPreview, preview_readings
from framefleet.engine.model import load
from framefleet.engine.model.files import coco_labels
from framefleet.engine.model.onnx.network import Reading
from framefleet.engine.model.onnx.recognise import remember_reading
from framefleet.engine.notices import ExportError, Notice, literal
from framefleet.engine.settings import ModelFiles
from framefleet.engine.settings.folders import Folder
from framefleet.engine.types import Image
from framefleet.resources import DEMO

PREVIEW_WIDTH = 420
"""Width of the picture for each reading, logical pixels."""


class ModelQuestions(QObject):
    """Asks what a file does not say, and goes on with the answer. source: returns a file of the user's to show boxes on.

    ``dialog``: the open question, None if there is none.
    """

    def __init__(self, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._background = background
        self.source: Callable[[], Path] = lambda: Path(DEMO.clip)
        self.dialog: ReadingDialog | LabelsDialog | None = None

    def ask(self, files: ModelFiles, problem: Notice, window: QWidget, done: Callable[[ModelFiles], object]) -> bool:
        """Ask the user if a model cannot be used only because an answer is missing.

        Parameters
        ----------
        files : ModelFiles
            The model.
        problem : Notice
            Why it cannot be used.
        window : QWidget
            The dialog's parent.
        done : callable
            Called with the model, whose question is answered.

        Returns
        -------
        bool
            Whether there is a question.
        """
        if problem.code == "model.onnx_ambiguous":
            readings = [Reading(candidate.fields["name"]) for candidate in problem.fields["candidates"]]
            self._open(ReadingDialog(files, readings, self.source(), self._background, window), done)
        elif problem.code == "model.onnx_labels_needed":
            self.edit_labels(files, (), window, done)
        else:
            return False
        return True

    def edit_labels(self, files: ModelFiles, labels: Sequence[str], window: QWidget, done: Callable[[ModelFiles], object]) -> None:
        """Let the user change the names of a model's classes. labels: the present ones. done: called with the changed model."""
        self._open(LabelsDialog(files, labels, self._background, window), done)

    def _open(self, dialog: ReadingDialog | LabelsDialog, done: Callable[[ModelFiles], object]) -> None:
        def closed() -> None:
            self.dialog = None
            dialog.deleteLater()

        self.dialog = dialog
        dialog.answered.connect(done)
        dialog.finished.connect(closed)
        dialog.open()


class ReadingDialog(questions.FormDialog):
    """Shows what each reading finds in a frame. The answer is kept for this file. answered: ModelFiles."""

    answered = Signal(object)

    def __init__(
        self, files: ModelFiles, readings: Sequence[Reading], source: Path, background: Background, parent: QWidget | None = None
    ) -> None:
        super().__init__(translate("models", "How is {name} read?").format(name=files.cfg.name), 2 * PREVIEW_WIDTH + 80, parent)
        self._files, self._background = files, background
        self.pictures = {reading: label("muted", translate("models", "Detecting…")) for reading in readings}
        self.choices = {
            reading: push_button(translate("models", "Use this reading"), partial(self._choose, reading), role="primary")
            for reading in readings
        }
        about = translate(
            "models",
            "The file does not say what its outputs mean, and more than one reading fits. Choose the one whose boxes fit the objects.",
        )
        self.note = wrapped("error")
        cards = []
        for reading in readings:
            self.pictures[reading].setFixedWidth(PREVIEW_WIDTH)
            self.choices[reading].setAccessibleName(f"{self.choices[reading].text()}: {reading.value}")
            words = column(
                label("section", reading.value),
                label("muted", of_engine(reading.notice, capital=True), wrap=True),
                self.choices[reading],
                None,
                spacing=8,
            )
            cards.append(row(self.pictures[reading], (words, 1), spacing=16))
        self.lay_out(label("muted", about, wrap=True), self.note, *cards)
        work = partial(preview_readings, files, readings, source)
        background.start(self, work, self._show, self._failed)

    def _show(self, answer: tuple[Image, list[ReadingPreview]]) -> None:
        frame, previews = answer
        for preview in previews:
            shown = self.pictures[preview.reading]
            if preview.problem is not None:
                shown.setWordWrap(True)
                shown.setText(of_engine(preview.problem, capital=True))
                continue
            shown.setPixmap(_drawn(frame, preview))
            shown.setAccessibleName(translate("models", "%Ln boxes", None, len(preview.found)))

    def _failed(self, problem: Notice) -> None:
        for shown in self.pictures.values():
            shown.setText("")
        say(self.note, of_engine(problem, capital=True))

    def _choose(self, reading: Reading) -> None:
        def kept(_: None) -> None:
            self.answered.emit(self._files)
            self.accept()

        self._background.start(self, partial(remember_reading, self._files.cfg, reading), kept, self._failed)


def _drawn(frame: Image, preview: ReadingPreview) -> QPixmap:
    """The frame with a reading's boxes and their labels."""
    height, width = frame.shape[:2]
    image = QImage(frame.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()
    scale = PREVIEW_WIDTH / width
    picture = QPixmap.fromImage(image.scaledToWidth(PREVIEW_WIDTH, Qt.TransformationMode.SmoothTransformation))
    with painting(picture) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.colour("ACCENT")), 2))
        for (left, top, right, bottom), class_id in zip(preview.found.boxes.tolist(), preview.found.class_ids.tolist(), strict=True):
            area = QRectF(left * scale, top * scale, (right - left) * scale, (bottom - top) * scale)
            painter.drawRect(area)
            painter.drawText(area.topLeft() + QPointF(3, 12), preview.labels[class_id])
    return picture


class LabelsDialog(questions.FormDialog):
    """Lets the user write the names of the classes, one a line. They are stored among the models. answered: ModelFiles."""

    answered = Signal(object)

    def __init__(self, files: ModelFiles, labels: Sequence[str], background: Background, parent: QWidget | None = None) -> None:
        super().__init__(translate("models", "Classes of {name}").format(name=files.cfg.name), 420, parent)
        self._files, self._background = files, background
        about = translate("models", "The name of each class, one a line, in the order of the class ids.")
        self.text = QPlainTextEdit("\n".join(labels))
        self.text.setAccessibleName(translate("models", "Names of the classes"))
        self.text.setMinimumHeight(260)
        self.coco = push_button(translate("models", "Use COCO's 80"), self._fill)
        self.note = wrapped("error")
        self.save = self.buttons.addButton(QDialogButtonBox.StandardButton.Save)
        self.buttons.accepted.disconnect(self.accept)
        self.buttons.accepted.connect(self._save)
        self.lay_out(label("muted", about, wrap=True), self.text, row(self.coco, None), self.note)

    def _fill(self) -> None:
        self.text.setPlainText("\n".join(coco_labels()))

    def _save(self) -> None:
        text = self.text.toPlainText().strip()

        def store() -> ModelFiles:
            files = replace(self._files, labels=_write(self._files.cfg, text))
            load.check_model(files)
            return files

        def stored(files: ModelFiles) -> None:
            self.answered.emit(files)
            self.accept()

        self._background.start(self, store, stored, self._refused)

    def _refused(self, problem: Notice) -> None:
        say(self.note, of_engine(problem, capital=True))


def _write(cfg: Path, text: str) -> Path:
    """Write labels into the folder of models. The name is that of the model with a number for its place."""
    number = hashlib.sha256(str(cfg.absolute()).encode()).hexdigest()[:8]
    path = Folder.MODELS.path / "labels" / f"{cfg.stem}-{number}.names"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise ExportError(literal(f"{path}: {error.strerror}")) from error
    return path
