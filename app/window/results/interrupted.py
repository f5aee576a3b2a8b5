"""Offers at the start to go on with a run that a crash interrupted."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, QSettings, Signal

from app.window.queue.item import QueueItem
from app.window.queue.opening import Opening
from app.window.results.stored import read_stored
from app.window.session.background import Background
from app.window.session.controller import DetectionController
from app.window.widgets.banner import BannerArea, Severity
from engine.store.file.interrupted import Interrupted, find_interrupted

OFFERED = "window/offered"
"""Key of the stored preference: the last session that was offered. No session is offered twice."""
_SUBJECT = "interrupted"
_log = logging.getLogger(__name__)


class InterruptedRun(QObject):
    """Looks for an interrupted run, and goes on with it if the user wants. queued: keys of its unfinished files."""

    queued = Signal(object)

    def __init__(
        self,
        controller: DetectionController,
        opening: Opening,
        store: QSettings,
        background: Background,
        banners: BannerArea,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._controller, self._opening, self._store = controller, opening, store
        self._background, self._banners = background, banners

    def look(self) -> None:
        """Search the window's sessions in the background, and show a banner if one was interrupted."""
        self._background.start(partial(find_interrupted, self._controller.folder), self._offer, _log.warning)

    def _offer(self, found: Sequence[Interrupted]) -> None:
        if not found or self._store.value(OFFERED) == str(found[0].database):
            return
        run = found[0]
        self._store.setValue(OFFERED, str(run.database))
        text = f"The last detection was interrupted: {len(run.unfinished)} of {run.sources} files are not finished."
        self._banners.show_banner(_SUBJECT, Severity.INFO, text, ("Continue", partial(self._read, run)))

    def _read(self, run: Interrupted) -> None:
        self._background.start(partial(read_stored, run.database), partial(self._go_on, run), self._failed)

    def _go_on(self, run: Interrupted, stored: Sequence[QueueItem]) -> None:
        self._banners.remove(_SUBJECT)
        self._opening.show_stored(item for item in stored if item.path not in run.unfinished)
        self.queued.emit(self._controller.go_on(run.database, run.unfinished))

    def _failed(self, message: str) -> None:
        self._banners.show_message(_SUBJECT, Severity.WARNING, message)
