"""Dialogs that choose files to open."""

from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from framefleet.app.window.queue.intake import SESSION
from framefleet.app.window.widgets.questions import file_dialog
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.sources import PICTURE_SUFFIXES, VIDEO_SUFFIXES

WORST_FRAMES = "worst-frames*.json"
"""Names of lists of worst frames. Other JSON files are beside sessions, too."""


class FileDialogs(QObject):
    """Opens dialogs without blocking the window. chosen: list of Path to open."""

    chosen = Signal(object)

    def __init__(self, window: QWidget, store: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._store = store

    def choose_files(self) -> None:
        """Ask for files."""
        media = " ".join(f"*{suffix}" for suffix in sorted(VIDEO_SUFFIXES | PICTURE_SUFFIXES))
        brief = QFileDialog.Option.HideNameFilterDetails  # sixty suffixes would fill the line
        self._choose(
            translate("window", "Open videos and pictures"),
            QFileDialog.FileMode.ExistingFiles,
            translate("window", "Videos and pictures ({media});;All files (*)").format(media=media),
            brief,
        )

    def choose_folder(self) -> None:
        """Ask for a folder."""
        self._choose(
            translate("window", "Open a folder of videos or pictures"),
            QFileDialog.FileMode.Directory,
            option=QFileDialog.Option.ShowDirsOnly,
        )

    def choose_results(self, folder: Path) -> None:
        """Ask for session databases and lists of worst frames; the dialog starts in this folder, which is created if it does not exist."""
        folder.mkdir(parents=True, exist_ok=True)
        self._choose(
            translate("window", "Open stored results"),
            QFileDialog.FileMode.ExistingFiles,
            translate("window", "Stored results (*{session} *{list});;All files (*)").format(session=SESSION, list=WORST_FRAMES),
            folder=folder,
        )

    def _choose(
        self, title: str, mode: QFileDialog.FileMode, kinds: str = "", option: QFileDialog.Option | None = None, folder: Path | None = None
    ) -> None:
        """Open a dialog. folder: where it starts; None = in the last folder, which the choice replaces."""
        last = str(self._store.value("window/folder", str(Path.home())))
        dialog = file_dialog(self._window, title, last, kinds)
        dialog.setFileMode(mode)
        if option is not None:
            dialog.setOption(option)
        if folder is not None:
            dialog.setDirectory(str(folder))
        else:
            dialog.filesSelected.connect(lambda names: self._store.setValue("window/folder", str(Path(names[0]).parent)))
        dialog.filesSelected.connect(lambda names: self.chosen.emit([Path(name) for name in names]))
        dialog.open()
