"""The user's model and settings, stored between starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings

from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import UsageError
from framefleet.engine.settings import ModelFiles, RunSettings
from framefleet.engine.settings.kinds import write
from framefleet.engine.settings.table import DEFAULTS, TABLE

FLOOR = 0.05
"""Detection stores detections from this confidence on, so that the window's slider can be lowered to it without another run."""
VERSION = 2
"""The version of the stored keys and values. Version 1 has no number, decode threads as "lanes", and tiles in one value."""
STORED = [name for name, setting in TABLE.items() if setting.field is not None]


@dataclass(frozen=True)
class Preferences:
    """The model and the values of all settings, by name. The confidence is the start value of the slider."""

    model: ModelFiles | None = None
    values: Mapping[str, Any] = field(default_factory=lambda: dict(DEFAULTS))

    @classmethod
    def of(cls, model: ModelFiles | None = None, **changed: Any) -> Preferences:
        """The defaults with these changes."""
        return cls(model, DEFAULTS | changed)

    @property
    def confidence(self) -> float:
        """The start value of the window's slider."""
        confidence: float = self.values["confidence"]
        return confidence

    @property
    def floor(self) -> float:
        """The lowest confidence that detection stores."""
        return min(FLOOR, self.confidence)

    def run_settings(self) -> RunSettings:
        """The settings of a run. Raises UsageError if there is no model."""
        if self.model is None:
            raise UsageError(
                translate("settings", "no model is chosen: choose one in the settings, or drop its .cfg and .weights on the window")
            )
        return RunSettings.of(self.model, {**self.values, "confidence": self.floor})


def load(store: QSettings) -> Preferences:
    """Read the preferences. A missing or unusable value gets its default."""
    texts = _texts(store)
    values = dict(DEFAULTS)
    for name in STORED:
        try:
            values[name] = TABLE[name].kind.read(texts[name])
        except (KeyError, UsageError):
            continue
    cfg, weights, labels = (texts.get(name) for name in ("cfg", "weights", "labels"))
    if not (cfg and weights):
        return Preferences(None, values)
    files = ModelFiles(Path(cfg), weights if weights.startswith("random:") else Path(weights), Path(labels) if labels else None)
    return Preferences(files, values)


def save(preferences: Preferences, store: QSettings) -> None:
    """Write the model and the values that differ from the defaults, as text."""
    model = preferences.model
    texts = {name: write(preferences.values[name]) for name in STORED if preferences.values[name] != DEFAULTS[name]}
    if model is not None:
        texts |= {"cfg": str(model.cfg), "weights": str(model.weights), "labels": str(model.labels or "")}
    store.remove("detection")
    for name, text in texts.items():
        store.setValue(f"detection/{name}", text)
    store.setValue("detection/version", str(VERSION))


def _texts(store: QSettings) -> dict[str, str]:
    """The stored texts by name, converted from version 1 to 2 if necessary."""
    store.beginGroup("detection")
    texts = {name: text for name in store.childKeys() if isinstance(text := store.value(name), str) and text}
    store.endGroup()
    if "version" in texts:
        return texts
    if "lanes" in texts:
        texts["decode_threads"] = texts["lanes"]
    if "devices" in texts:
        texts["devices"] = texts["devices"].replace(";", ",")
    tiles = texts.get("tiles", "").split(";")
    if len(tiles) == 4:
        texts.update(zip(("columns", "rows", "overlap"), tiles, strict=False))
        texts["full_frame"] = "yes" if tiles[3] else "no"
    return texts
