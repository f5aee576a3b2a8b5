"""The settings that the window stores, and their export to a file and import from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings

from framefleet.app.window.widgets.translation import translate
from framefleet.engine.notices import ExportError, UsageError, literal
from framefleet.engine.run.resume import stored_confidence
from framefleet.engine.settings import ModelFiles, RunSettings
from framefleet.engine.settings.kinds import write
from framefleet.engine.settings.table import DEFAULTS, TABLE

NAME, VERSION = "framefleet-settings.json", 1
"""Name and version of the file with exported settings."""
_KIND = "framefleet settings"
MAX_BYTES = 1 << 20
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
    def stored_confidence(self) -> float:
        """The confidence from which on a run stores detections."""
        return stored_confidence(self.confidence, self.values["track"], adjustable=True)

    def run_settings(self) -> RunSettings:
        """The settings of a run. Raises UsageError if there is no model."""
        if self.model is None:
            raise UsageError(
                literal(
                    translate("settings", "no model is chosen: choose one in the settings, or drop its .cfg and .weights on the window")
                )
            )
        return RunSettings.of(self.model, {**self.values, "confidence": self.stored_confidence})


def load(store: QSettings) -> Preferences:
    """Read the preferences. A missing or unusable value gets its default."""
    store.beginGroup("detection")
    texts = {name: text for name in store.childKeys() if isinstance(text := store.value(name), str) and text}
    store.endGroup()
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


def write_settings(path: Path, values: Mapping[str, Any], window: Mapping[str, str]) -> None:
    """Write the values of all settings, and those of the window, as text by name. Raises ExportError if the file cannot be written."""
    texts = {name: "" if values[name] is None else write(values[name]) for name in STORED}
    made = {"file": _KIND, "version": VERSION, "settings": texts, "window": dict(window)}
    try:
        path.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise ExportError(
            literal(translate("settings", "cannot write {path}: {reason}").format(path=path, reason=error.strerror))
        ) from error


def read_settings(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the values of all settings, and those of the window. A setting that the file does not have gets its default.

    Raises UsageError if the file cannot be read, does not contain settings, comes from a later version, or has an invalid value.
    """
    made = _load(path)
    if made.get("version") != VERSION:
        raise UsageError(
            literal(
                translate(
                    "settings", "{path} has version {version}, and this Framefleet reads version {own}: export the settings again"
                ).format(path=path, version=made.get("version"), own=VERSION)
            )
        )
    texts, window = (_table(made.get(name), path) for name in ("settings", "window"))
    values = dict(DEFAULTS)
    for name, text in texts.items():
        if name not in STORED:
            raise UsageError(literal(translate("settings", "{path} has the unknown setting '{name}'").format(path=path, name=name)))
        if not text:
            continue
        try:
            values[name] = TABLE[name].kind.read(text)
        except UsageError as error:
            raise UsageError(
                literal(translate("settings", "{path}, setting '{name}': {error}").format(path=path, name=name, error=error))
            ) from error
    return values, window


def _load(path: Path) -> dict[str, Any]:
    not_settings = translate("settings", "{path} has no settings of Framefleet: choose a file that Framefleet has exported").format(
        path=path
    )
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(literal(not_settings))
        made = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(literal(translate("settings", "cannot read {path}: {reason}").format(path=path, reason=error.strerror))) from error
    except ValueError as error:
        raise UsageError(literal(not_settings)) from error
    if not isinstance(made, dict) or made.get("file") != _KIND:
        raise UsageError(literal(not_settings))
    return made


def _table(value: object, path: Path) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(part, str) for part in value.values()):
        raise UsageError(literal(translate("settings", "{path} is damaged: export the settings again").format(path=path)))
    return value
