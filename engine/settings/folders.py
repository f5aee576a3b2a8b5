"""Where sessions, models and the cache lie: for the command line, the window and every worker process the same.

A folder is that of its environment variable, else the one chosen in the settings dialog, else in the user's own folders. Worker processes
inherit the variables, so ``apply`` puts the stored choices there once, at the start of a program.
"""

import json
import os
import tempfile
from enum import StrEnum
from pathlib import Path

from platformdirs import user_cache_path, user_config_path, user_data_path

from framefleet.engine.notices import Notice, UsageError
from framefleet.plugins.cache import FOLDER_VARIABLE

_NAME = "framefleet"


class Folder(StrEnum):
    """A folder that the user can move. The value is its name in the file of choices."""

    SESSIONS = "sessions"
    MODELS = "models"
    CACHE = "cache"

    @property
    def variable(self) -> str:
        """The environment variable that names this folder."""
        return FOLDER_VARIABLE if self is Folder.CACHE else f"FRAMEFLEET_{self.upper()}"

    @property
    def default(self) -> Path:
        """The folder among the user's own."""
        return user_cache_path(_NAME, appauthor=False) if self is Folder.CACHE else user_data_path(_NAME, appauthor=False) / self.value

    @property
    def path(self) -> Path:
        """The folder in use."""
        return Path(os.environ[self.variable]) if os.environ.get(self.variable) else self.default


def stored() -> dict[Folder, Path]:
    """The folders that the user chose. A file that cannot be read counts as no choice."""
    try:
        content = json.loads(_file().read_text("utf-8"))
        return {Folder(name): Path(path) for name, path in content.items() if name in [*Folder] and Path(path).is_absolute()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def apply() -> None:
    """Use the stored choices in this process and in those that it starts, where no environment variable says otherwise."""
    for folder, path in stored().items():
        os.environ.setdefault(folder.variable, str(path))


def choose(folder: Folder, path: Path | None) -> None:
    """Store a choice for the next start; None = the default.

    The folder is created; its files are not moved.

    Raises
    ------
    UsageError
        The folder cannot be created or written to, or the choice cannot be stored.
    """
    choices = {each.value: str(chosen) for each, chosen in stored().items() if each is not folder}
    where = path or _file()
    try:
        if path is not None:
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                choices[folder.value] = str(path.resolve())
        where = _file()
        where.parent.mkdir(parents=True, exist_ok=True)
        part = where.with_suffix(".part")
        part.write_text(json.dumps(choices, indent=2), "utf-8")
        part.replace(where)
    except OSError as error:
        raise UsageError(Notice("settings.folder_not_writable", folder=where, error=error.strerror or str(error))) from error


def _file() -> Path:
    return user_config_path(_NAME, appauthor=False) / "folders.json"
