"""Files of models: the parts that the user has chosen, the user's own models, and downloads."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, QTimer, Signal

from framefleet.app.window.queue.opening import CFG, Intake
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.model.files import find_cfg, find_weights
from framefleet.engine.model.load import ModelSummary, check_model
from framefleet.engine.model.registry.catalogue import Cancellation, ModelEntry, models_folder
from framefleet.engine.notices import FramefleetError, Notice
from framefleet.engine.settings import ModelFiles
from framefleet.resources import DEMO


@dataclass(frozen=True)
class ModelParts:
    """Some or all files of a model. weights: a path, or ``random:SEED``."""

    cfg: Path | None = None
    weights: Path | str | None = None
    labels: Path | None = None

    @classmethod
    def of(cls, files: ModelFiles | None) -> ModelParts:
        """The parts of a whole model."""
        return cls(files.cfg, files.weights, files.labels) if files is not None else cls()

    def updated(self, intake: Intake) -> ModelParts:
        """These parts with the dropped files. A new cfg replaces all parts; its weights are searched beside it if they were not dropped."""
        if intake.cfg is not None and intake.cfg.suffix.lower() != CFG:
            return ModelParts(intake.cfg, intake.cfg, intake.labels)
        if intake.cfg is not None:
            return ModelParts(intake.cfg, intake.weights or find_weights(intake.cfg), intake.labels)
        parts = self
        if intake.weights is not None:
            beside = find_cfg(intake.weights)
            parts = ModelParts(beside, intake.weights, None) if beside is not None else replace(parts, weights=intake.weights)
        return replace(parts, labels=intake.labels) if intake.labels is not None else parts

    @property
    def files(self) -> ModelFiles | None:
        """The model; None without cfg or weights."""
        return ModelFiles(self.cfg, self.weights, self.labels) if self.cfg is not None and self.weights is not None else None

    @property
    def missing(self) -> str:
        """A sentence that names the missing files, "" if none is missing."""
        if self.cfg is None and self.weights is None:
            return translate("models", "Choose the model's .onnx file, or its .cfg and .weights files.")
        if self.cfg is None:
            return translate("models", "Choose the .cfg file that belongs to {weights}.").format(weights=self.weights)
        return (
            translate("models", "There are no weights beside {name}: choose its .weights file, too.").format(name=self.cfg.name)
            if self.weights is None
            else ""
        )


_KEY = "models/own"
MAX_MODELS = 50
"""The number of models that are kept, the newest first."""


class OwnModels:
    """The files of the user's own models, the newest first, kept between starts."""

    def __init__(self, store: QSettings) -> None:
        self._store = store

    def read(self) -> list[ModelFiles]:
        """The kept models, whether or not their files still exist."""
        try:
            entries = json.loads(str(self._store.value(_KEY, "[]")))
            return [_files(entry) for entry in entries]
        except (ValueError, KeyError, TypeError, AttributeError):
            return []

    def add(self, files: ModelFiles) -> None:
        """Keep a model, unless it is one of the catalogue or the demo's."""
        folder = models_folder().resolve()
        if folder not in files.cfg.resolve().parents and files.cfg.resolve() != Path(DEMO.cfg).resolve():
            files = ModelFiles(files.cfg.absolute(), files.weights, files.labels)
            self._write([files, *(other for other in self.read() if other.cfg != files.cfg)][:MAX_MODELS])

    def remove(self, files: ModelFiles) -> None:
        """Forget a model. Its files stay."""
        self._write([other for other in self.read() if other != files])

    def _write(self, models: Sequence[ModelFiles]) -> None:
        entries = [{"cfg": str(one.cfg), "weights": str(one.weights), "labels": str(one.labels or "")} for one in models]
        self._store.setValue(_KEY, json.dumps(entries))


def _files(entry: dict[str, str]) -> ModelFiles:
    weights = entry["weights"]
    return ModelFiles(
        Path(entry["cfg"]), weights if weights.startswith("random:") else Path(weights), Path(entry["labels"]) if entry["labels"] else None
    )


def check_all(models: Sequence[ModelFiles]) -> list[tuple[ModelFiles, ModelSummary | str]]:
    """The properties of each model, or why it cannot be used."""
    found: list[tuple[ModelFiles, ModelSummary | str]] = []
    for files in models:
        try:
            found.append((files, check_model(files)))
        except FramefleetError as error:
            found.append((files, of_engine(error.notice)))
    return found


PROGRESS_MS = 100
"""Time between two updates of the progress."""
SPEED_SECONDS = 3.0
"""The speed is the mean over this time."""


class Download:
    """A running download. done: number of received bytes; the download's thread writes it, the window's thread reads it."""

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self.done = 0
        self._samples: deque[tuple[float, int]] = deque()

    def advance(self, done: int) -> None:
        """Set the bytes so far; the download's thread calls this."""
        self.done = done

    def sample(self) -> None:
        """Record the progress for ``speed``."""
        now = time.monotonic()
        if self._samples and self.done < self._samples[-1][1]:
            self._samples.clear()  # the download started again
        if self.done:
            self._samples.append((now, self.done))
        while len(self._samples) > 2 and now - self._samples[0][0] > SPEED_SECONDS:
            self._samples.popleft()

    @property
    def speed(self) -> float | None:
        """Bytes per second, None while unknown."""
        if len(self._samples) < 2 or self._samples[-1][0] - self._samples[0][0] < 0.5:
            return None
        (start, before), (end, after) = self._samples[0], self._samples[-1]
        return (after - before) / (end - start)


class ModelDownloads(QObject):
    """Runs downloads; only the window's thread calls it.

    progressed: names of the running downloads, ten times a second. ended: a name, and ModelFiles, or None if it failed or was cancelled.
    """

    progressed = Signal(object)
    ended = Signal(str, object)

    def __init__(self, background: Background, folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.folder = folder or models_folder()
        self.errors: dict[str, str] = {}
        self._background = background
        self._running: dict[str, Download] = {}
        self._timer = QTimer(self, interval=PROGRESS_MS)
        self._timer.timeout.connect(self._show_progress)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models that are being downloaded."""
        return tuple(self._running)

    def running(self, name: str) -> Download | None:
        """The running download of this model, None if there is none."""
        return self._running.get(name)

    def start(self, entry: ModelEntry) -> None:
        """Start or continue a download, unless it runs already."""
        if entry.name in self._running:
            return
        self.errors.pop(entry.name, None)
        running = self._running[entry.name] = Download()
        self._background.start(
            self, partial(_download, entry, self.folder, running), partial(self._end, entry.name), partial(self._fail, entry.name)
        )
        self._timer.start()
        self.progressed.emit(self.names)

    def cancel(self, name: str) -> None:
        """Cancel a download; it can be continued later."""
        if (running := self._running.get(name)) is not None:
            running.cancellation.cancel()

    def stop(self) -> None:
        """Cancel all downloads."""
        self._timer.stop()
        for running in self._running.values():
            running.cancellation.cancel()

    def _show_progress(self) -> None:
        for running in self._running.values():
            running.sample()
        self.progressed.emit(self.names)

    def _fail(self, name: str, message: Notice) -> None:
        if not self._running[name].cancellation.asked:
            self.errors[name] = of_engine(message)
        self._end(name, None)

    def _end(self, name: str, files: ModelFiles | None) -> None:
        del self._running[name]
        if not self._running:
            self._timer.stop()
        self.ended.emit(name, files)


def _download(entry: ModelEntry, folder: Path, running: Download) -> ModelFiles:
    from framefleet.engine.model.registry.download import download  # its libraries take a tenth of a second to load

    return download(entry, folder, running.advance, running.cancellation, accept_unverified=True)  # the list of models has asked
