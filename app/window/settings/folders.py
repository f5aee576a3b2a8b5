"""Shows where Framefleet keeps its files and how much they take, and empties the cache."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from platformdirs import user_cache_path, user_data_path, user_log_path
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.window.session.background import Background
from app.window.widgets import formats
from app.window.widgets.build import column, label, push_button, row, say, wrapped
from app.window.widgets.fields import form_grid
from app.window.widgets.translation import marked, translate
from engine.errors import ExportError
from engine.model.registry.installed import models_folder


def own_folders() -> dict[str, Path]:
    """The folders of this user, by what they hold."""
    return {
        marked("settings", "Sessions"): user_data_path("framefleet", appauthor=False) / "sessions",
        marked("settings", "Models"): models_folder(),
        marked("settings", "Cache"): user_cache_path("framefleet", appauthor=False),
        marked("settings", "Logs"): user_log_path("framefleet", appauthor=False),
    }


def sizes_of(folders: Sequence[Path]) -> list[int]:
    """The size of the files in each folder, bytes; 0 if it does not exist."""
    sizes = []
    for folder in folders:
        size = 0
        for path in folder.rglob("*"):
            with suppress(OSError):  # deleted meanwhile
                size += path.lstat().st_size if path.is_file() else 0
        sizes.append(size)
    return sizes


def empty_folder(folder: Path) -> None:
    """Delete what a folder holds, but not the folder.

    Raises:
        ExportError: something cannot be deleted.
    """
    try:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExportError(
            translate("settings", "{filename} cannot be deleted: {strerror}").format(filename=error.filename, strerror=error.strerror)
        ) from error


class FoldersForm(QWidget):
    """A row for each folder: its path, its size, a button that shows it, and one that empties the cache."""

    def __init__(self, background: Background, folders: Mapping[str, Path] | None = None) -> None:
        super().__init__()
        self._background, self._folders = background, dict(own_folders() if folders is None else folders)
        self.sizes = {name: label("small", formats.size(0)) for name in self._folders}
        self.problem = wrapped("error")
        self.empty = push_button(
            translate("settings", "Empty"),
            self._empty,
            role="link",
            tip=translate("settings", "Built engines and other files that are made again when needed"),
        )
        rows = []
        for name, folder in self._folders.items():
            path = label("small", formats.shortened(str(folder), 40), tip=str(folder))
            show = push_button(
                translate("settings", "Show"),
                partial(self._reveal, folder),
                role="link",
                tip=translate("settings", "Open {folder}").format(folder=folder),
            )
            show.setAccessibleName(translate("settings", "Show the folder: {name}").format(name=translate("settings", name)))
            line = QWidget()
            buttons = [show, self.empty] if name == "Cache" else [show]
            row((path, 1), self.sizes[name], *buttons, spacing=10, of=line)
            rows.append((translate("settings", name), line))
        note = label(
            "small",
            translate(
                "settings", "The variable XDG_DATA_HOME or XDG_CACHE_HOME moves these folders. Sessions (Ctrl+Shift+R) cleans them up."
            ),
        )
        note.setWordWrap(True)
        column(form_grid(rows), note, self.problem, spacing=6, of=self)
        self._measure()

    def _measure(self) -> None:
        self._background.start(partial(sizes_of, list(self._folders.values())), self._show_sizes, self._fail)

    def _show_sizes(self, sizes: Sequence[int]) -> None:
        if not isValid(self):
            return  # the dialog was closed meanwhile
        for line, size in zip(self.sizes.values(), sizes, strict=True):
            line.setText(formats.size(size))

    def _reveal(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _empty(self) -> None:
        say(self.problem, "")
        self._background.start(partial(empty_folder, self._folders["Cache"]), lambda _: self._emptied(), self._fail)

    def _emptied(self) -> None:
        if isValid(self):
            self._measure()

    def _fail(self, message: str) -> None:
        if isValid(self):
            say(self.problem, formats.capitalised(message))
