"""Dialogs that choose files to open and targets of exports; runs the exports."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, QSettings, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.window.queue.intake import SESSION
from app.window.queue.item import QueueItem
from app.window.results import export as exports
from app.window.session.background import Background
from app.window.viewer.filter import ViewFilter
from app.window.widgets import formats
from app.window.widgets.banner import BannerArea, Severity
from engine.errors import ExportError
from engine.media.sources import PICTURE_SUFFIXES, VIDEO_SUFFIXES
from engine.store.exporters import EXPORTERS


class FileDialogs(QObject):
    """Opens dialogs without blocking the window, and exports in the background. chosen: list of Path to open."""

    chosen = Signal(object)
    _progressed = Signal(object, int, int)

    def __init__(self, window: QWidget, store: QSettings, background: Background, banners: BannerArea) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._background = background
        self._banners = banners
        self._cancelled: dict[Path, Event] = {}
        self._progressed.connect(self._show_progress)

    def choose_files(self) -> None:
        """Ask for files."""
        media = " ".join(f"*{suffix}" for suffix in sorted(VIDEO_SUFFIXES | PICTURE_SUFFIXES))
        brief = QFileDialog.Option.HideNameFilterDetails  # sixty suffixes would fill the line
        self._choose("Open videos and pictures", QFileDialog.FileMode.ExistingFiles, f"Videos and pictures ({media});;All files (*)", brief)

    def choose_folder(self) -> None:
        """Ask for a folder."""
        self._choose("Open a folder of videos or pictures", QFileDialog.FileMode.Directory, option=QFileDialog.Option.ShowDirsOnly)

    def choose_results(self, folder: Path) -> None:
        """Ask for session databases; the dialog starts in this folder, which is created if it does not exist."""
        folder.mkdir(parents=True, exist_ok=True)
        self._choose(
            "Open stored results", QFileDialog.FileMode.ExistingFiles, f"Stored results (*{SESSION});;All files (*)", folder=folder
        )

    def _choose(
        self, title: str, mode: QFileDialog.FileMode, kinds: str = "", option: QFileDialog.Option | None = None, folder: Path | None = None
    ) -> None:
        """Open a dialog. folder: where it starts; None = in the last folder, which the choice replaces."""
        dialog = self._dialog(title, kinds)
        dialog.setFileMode(mode)
        if option is not None:
            dialog.setOption(option)
        if folder is not None:
            dialog.setDirectory(str(folder))
        else:
            dialog.filesSelected.connect(lambda names: self._store.setValue("window/folder", str(Path(names[0]).parent)))
        dialog.filesSelected.connect(lambda names: self.chosen.emit([Path(name) for name in names]))
        dialog.open()

    def choose_target(self, item: QueueItem, name: str, done: Callable[[Path], None]) -> None:
        """Ask where to export a file's detections. name: of the exporter. done: called with the path.

        A path without a suffix gets that of the exporter.
        """
        dialog = self._dialog(f"Export {EXPORTERS[name].title}", place="window/exports")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        default = exports.default_name(item.path, name)
        dialog.setDefaultSuffix(Path(default).suffix)
        dialog.selectFile(default)
        dialog.fileSelected.connect(lambda target: self._store.setValue("window/exports", str(Path(target).parent)))
        dialog.fileSelected.connect(lambda target: done(Path(target)))
        dialog.open()

    def export(self, item: QueueItem, target: Path, name: str, shown: ViewFilter) -> None:
        """Export the shown detections of a file in the background, and show the outcome. name: of the exporter."""
        if item.results is None:
            return
        subject, total = f"export {target}", item.progress.frames
        cancelled = self._cancelled[target] = Event()
        what = f"confidence from {formats.percent(shown.confidence)}, {'all' if shown.classes is None else len(shown.classes)} classes"

        def progress(frames: int) -> None:
            if cancelled.is_set():
                raise ExportError(f"Export to {target} was cancelled.")
            self._progressed.emit(target, frames, total)

        def done(frames: int) -> None:
            self._cancelled.pop(target, None)
            text = f"Exported {formats.plural(frames, 'frame')} to {target} ({what})."
            self._show_done(subject, text, target)

        def failed(message: str) -> None:
            self._cancelled.pop(target, None)
            self._banners.show_message(subject, Severity.INFO if cancelled.is_set() else Severity.ERROR, message)

        if EXPORTERS[name].slow:
            self._banners.show_banner(subject, Severity.INFO, f"Writing {target.name}…", ("Cancel", cancelled.set))
        self._background.start(partial(exports.export_item, item.results, target, name, shown, progress), done, failed)

    def show_saved(self, target: Path) -> None:
        """Show that a picture was saved."""
        self._show_done("picture", f"Saved {target}.", target)

    def _show_done(self, subject: str, text: str, target: Path) -> None:
        reveal = partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(target.parent)))
        self._banners.show_banner(subject, Severity.INFO, text, ("Show in folder", reveal))

    def stop(self) -> None:
        """Cancel all exports."""
        for cancelled in self._cancelled.values():
            cancelled.set()

    @Slot(object, int, int)
    def _show_progress(self, target: Path, frames: int, total: int) -> None:
        share = formats.percent(frames / max(total, 1))
        self._banners.update_text(f"export {target}", f"Writing {target.name}: {share}")

    def _dialog(self, title: str, kinds: str = "", place: str = "window/folder") -> QFileDialog:
        """A dialog that starts in the last folder. place: the key of the stored folder."""
        folder = self._store.value(place) or self._store.value("window/folder", str(Path.home()))
        dialog = QFileDialog(self._window, title, str(folder), kinds)
        dialog.finished.connect(dialog.deleteLater)
        return dialog
