"""The user's own models, which the list of models keeps."""

import json
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSettings

from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.engine.errors import FramefleetError
from framefleet.engine.model.check import ModelSummary, check_model
from framefleet.engine.model.registry.installed import models_folder
from framefleet.engine.settings import ModelFiles
from framefleet.resources import DEMO

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
            found.append((files, of_engine(str(error))))
    return found
