"""Writes clips in the background, with progress and cancel in a banner."""

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, QSettings, Signal, Slot
from PySide6.QtWidgets import QWidget

from framefleet.app.window.events.clips_dialog import ClipsDialog, ClipsWish
from framefleet.app.window.queue.item import Part, QueueItem
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.questions import show_folder
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import ExportError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.clips.write import write_clips
from framefleet.engine.store.session import SessionReader
from framefleet.resources import DEMO

FOLDER = "window/clips"
"""The key of the stored folder."""


class Clips(QObject):
    """Asks which clips to write, and writes them."""

    _progressed = Signal(int, int, int)

    def __init__(self, window: QWidget, store: QSettings, background: Background, banners: BannerArea) -> None:
        super().__init__(window)
        self._window, self._store, self._background, self._banners = window, store, background, banners
        self._cancelled: dict[int, Event] = {}
        self._numbers = count()
        self._progressed.connect(self._show_progress)

    def ask(self, item: QueueItem | None, shown: ViewFilter, part: Part | None = None) -> ClipsDialog | None:
        """Open the dialog for a file, None = no file is chosen. part: to save. Returns the dialog, None if there is nothing to cut."""
        info = item.progress.info if item is not None else None
        if item is None or item.results is None or item.results.source < 0 or info is None:
            self._refuse(translate("events", "Clips are cut out of analysed videos: open one first."))
            return None
        if info.kind is not SourceKind.VIDEO:
            self._refuse(translate("events", "Clips are cut out of videos, and this is a folder of pictures."))
            return None
        beside = Path.home() if item.path == DEMO.clip else item.path.absolute().parent  # the demo lies in the program
        folder = Path(str(self._store.value(FOLDER) or beside / "clips"))
        dialog = ClipsDialog(item.results, shown, folder, self._background, self._window, part)
        dialog.accepted.connect(lambda: self.start(dialog.wish))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _refuse(self, reason: str) -> None:
        self._banners.show_banner("clips", Severity.INFO, reason)

    def start(self, wish: ClipsWish) -> None:
        """Write the clips in the background, and show the outcome."""
        self._store.setValue(FOLDER, str(wish.folder))
        number = next(self._numbers)
        cancelled = self._cancelled[number] = Event()
        total = len(wish.clips) + (sum(len(set(clip.best)) for clip in wish.clips) if wish.stills else 0)

        def progress(written: int) -> None:
            if cancelled.is_set():
                raise ExportError(translate("events", "Writing clips was cancelled: no file was written."))
            self._progressed.emit(number, written, total)

        self._banners.show_banner(
            f"clips {number}", Severity.INFO, translate("events", "Writing clips…"), (translate("events", "Cancel"), cancelled.set)
        )
        done, failed = partial(self._done, number, wish.folder), partial(self._failed, number)
        self._background.start(self, partial(_write, wish, progress), done, failed, cancelled)

    def _done(self, number: int, folder: Path, written: list[Path]) -> None:
        del self._cancelled[number]
        text = translate("events", "Wrote %Ln files to {folder}.", None, len(written)).format(folder=folder)
        action = translate("events", "Show in folder"), partial(show_folder, folder)
        self._banners.show_banner(f"clips {number}", Severity.INFO, text, action)

    def _failed(self, number: int, message: str) -> None:
        severity = Severity.INFO if self._cancelled.pop(number).is_set() else Severity.ERROR
        self._banners.show_message(f"clips {number}", severity, message)

    @Slot(int, int, int)
    def _show_progress(self, number: int, written: int, total: int) -> None:
        text = translate("events", "Writing clips: {written} of {total} files").format(written=written, total=total)
        self._banners.update_text(f"clips {number}", text)


def _write(wish: ClipsWish, progress: Callable[[int], None]) -> list[Path]:
    with SessionReader(wish.results.database, wish.shown.confidence, wish.shown.classes, created=wish.results.created) as reader:
        source = reader.source(wish.results.source)
        return write_clips(reader, source, wish.clips, wish.folder, exact=wish.exact, stills=wish.stills, progress=progress)
