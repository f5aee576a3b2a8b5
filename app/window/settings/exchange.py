"""Settings as a file that another machine can read: JSON with a version. The model is left out, because it is a place on this machine."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framefleet.app.window.settings.preferences import STORED
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import ExportError, UsageError
from framefleet.engine.settings.kinds import write
from framefleet.engine.settings.table import DEFAULTS, TABLE

NAME = "framefleet-settings.json"
VERSION = 1
_KIND = "framefleet settings"
MAX_BYTES = 1 << 20


def write_settings(path: Path, values: Mapping[str, Any], window: Mapping[str, str]) -> None:
    """Write the values of all settings, and those of the window, as text by name. Raises ExportError if the file cannot be written."""
    texts = {name: "" if values[name] is None else write(values[name]) for name in STORED}
    made = {"file": _KIND, "version": VERSION, "settings": texts, "window": dict(window)}
    try:
        path.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise ExportError(translate("settings", "cannot write {path}: {reason}").format(path=path, reason=error.strerror)) from error


def read_settings(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the values of all settings, and those of the window. A setting that the file does not have gets its default.

    Raises UsageError if the file cannot be read, does not contain settings, comes from a later version, or has an invalid value.
    """
    made = _load(path)
    if made.get("version") != VERSION:
        raise UsageError(
            translate(
                "settings", "{path} has version {version}, and this Framefleet reads version {own}: export the settings again"
            ).format(path=path, version=made.get("version"), own=VERSION)
        )
    texts, window = (_table(made.get(name), path) for name in ("settings", "window"))
    values = dict(DEFAULTS)
    for name, text in texts.items():
        if name not in STORED:
            raise UsageError(translate("settings", "{path} has the unknown setting '{name}'").format(path=path, name=name))
        if not text:
            continue
        try:
            values[name] = TABLE[name].kind.read(text)
        except UsageError as error:
            raise UsageError(
                translate("settings", "{path}, setting '{name}': {error}").format(path=path, name=name, error=error)
            ) from error
    return values, window


def _load(path: Path) -> dict[str, Any]:
    not_settings = translate("settings", "{path} has no settings of Framefleet: choose a file that Framefleet has exported").format(
        path=path
    )
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(not_settings)
        made = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(translate("settings", "cannot read {path}: {reason}").format(path=path, reason=error.strerror)) from error
    except ValueError as error:
        raise UsageError(not_settings) from error
    if not isinstance(made, dict) or made.get("file") != _KIND:
        raise UsageError(not_settings)
    return made


def _table(value: object, path: Path) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(part, str) for part in value.values()):
        raise UsageError(translate("settings", "{path} is damaged: export the settings again").format(path=path))
    return value
