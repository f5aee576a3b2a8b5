"""Collects the files of a model, which may arrive one after another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from framefleet.app.window.queue.intake import Intake
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.files import find_cfg, find_weights
from framefleet.engine.settings import ModelFiles


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
            return translate("models", "Choose the model's .cfg and .weights files.")
        if self.cfg is None:
            return translate("models", "Choose the .cfg file that belongs to {weights}.").format(weights=self.weights)
        return (
            translate("models", "There are no weights beside {name}: choose its .weights file, too.").format(name=self.cfg.name)
            if self.weights is None
            else ""
        )
