"""Shows where Framefleet keeps its files and how much they take; moves folders and cleans them."""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from platformdirs import user_log_path
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import ElidedLabel, column, label, push_button, say, wrapped
from framefleet.app.window.widgets.fields import TITLE_WIDTH
from framefleet.app.window.widgets.questions import Mode, choose_path, show_folder
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.notices import ExportError, Notice, UsageError, literal
from framefleet.engine.settings.folders import Folder, choose, stored

MOVABLE = {
    marked("settings", "Sessions"): Folder.SESSIONS,
    marked("settings", "Models"): Folder.MODELS,
    marked("settings", "Cache"): Folder.CACHE,
}


def own_folders() -> dict[str, Path]:
    """The folders of this user, by what they hold."""
    chosen = stored()
    return {title: chosen.get(folder, folder.path) for title, folder in MOVABLE.items()} | {
        marked("settings", "Logs"): user_log_path("framefleet", appauthor=False)
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
    """Delete what a folder holds, but not the folder. Raises ExportError if something cannot be deleted."""
    try:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExportError(
            literal(
                translate("settings", "{filename} cannot be deleted: {strerror}").format(filename=error.filename, strerror=error.strerror)
            )
        ) from error


class FoldersForm(QWidget):
    """A row for each folder: its path, its size, and buttons that move, show and clean it.

    sessions_requested, models_requested: the user wants to clean up there.
    """

    sessions_requested = Signal()
    models_requested = Signal()

    def __init__(self, background: Background, folders: Mapping[str, Path] | None = None) -> None:
        super().__init__()
        self._background, self._folders = background, dict(own_folders() if folders is None else folders)
        self.sizes = {name: label("small", formats.size(0)) for name in self._folders}
        self.paths = {name: ElidedLabel("small", Qt.TextElideMode.ElideMiddle) for name in self._folders}
        self.problem, self.note = wrapped("error"), wrapped("small")
        clean_up = translate("settings", "Clean up…")
        kept = translate("settings", "Built engines and other files that are made again when needed")
        cleaning = {
            Folder.SESSIONS: (clean_up, self.sessions_requested, translate("settings", "Delete old or large sessions")),
            Folder.MODELS: (clean_up, self.models_requested, translate("settings", "Remove downloaded models")),
            Folder.CACHE: (translate("settings", "Empty"), self._empty, kept),
        }
        self.clean: dict[str, QPushButton] = {}
        self.default: dict[str, QPushButton] = {}
        grid = QGridLayout()
        grid.setColumnMinimumWidth(0, TITLE_WIDTH * theme.base_size())
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(8)
        for line, name in enumerate(self._folders):
            title = translate("settings", name)
            show = push_button(translate("settings", "Show"), partial(self._reveal, name), role="link")
            parts: list[QWidget] = [label("", title), self.paths[name], self.sizes[name], show]
            if name in MOVABLE:
                text, act, tip = cleaning[MOVABLE[name]]
                clean = self.clean[name] = push_button(text, act, role="link", tip=tip)
                move = push_button(translate("settings", "Change…"), partial(self._ask, name), role="link")
                default = self.default[name] = push_button(translate("settings", "Default"), role="link")
                default.clicked.connect(partial(self.move_to, name, MOVABLE[name].default))
                parts += [move, clean, default]
            for place, part in enumerate(parts):
                grid.addWidget(part, line, place)
                if isinstance(part, QPushButton):
                    part.setAccessibleName(f"{part.text()} {title}")
                    grid.setAlignment(part, Qt.AlignmentFlag.AlignLeft)
            grid.setAlignment(self.sizes[name], Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        column(grid, self.note, self.problem, spacing=6, of=self)
        self._show_paths()
        self._measure()

    def _show_paths(self) -> None:
        for name, folder in self._folders.items():
            say(self.paths[name], str(folder))
            self.paths[name].setToolTip(str(folder))
            if name in self.default:
                self.default[name].setVisible(folder != MOVABLE[name].default)

    def _ask(self, name: str) -> None:
        title = translate("settings", "Choose a folder")
        choose_path(self, title, lambda path: self.move_to(name, Path(path)), at=str(self._folders[name]), mode=Mode.Directory)

    def move_to(self, name: str, path: Path, _checked: bool = False) -> None:
        """Use another folder from the next start on."""
        folder = MOVABLE[name]
        try:
            choose(folder, None if path == folder.default else path)
        except UsageError as error:
            say(self.problem, formats.capitalised(error.notice))
            return
        say(self.problem, "")
        self._folders[name] = path
        self._show_paths()
        self._measure()
        say(self.note, translate("settings", "The new folder is used from the next start. Files in the old folder stay there."))

    def _measure(self) -> None:
        self._background.start(self, partial(sizes_of, list(self._folders.values())), self._show_sizes, self._fail)

    def _show_sizes(self, sizes: Sequence[int]) -> None:
        for line, size in zip(self.sizes.values(), sizes, strict=True):
            line.setText(formats.size(size))

    def _reveal(self, name: str) -> None:
        folder = self._folders[name]
        folder.mkdir(parents=True, exist_ok=True)
        show_folder(folder)

    def _empty(self) -> None:
        say(self.problem, "")
        self._background.start(self, partial(empty_folder, self._folders["Cache"]), lambda _: self._measure(), self._fail)

    def _fail(self, message: Notice) -> None:
        say(self.problem, formats.capitalised(message))
