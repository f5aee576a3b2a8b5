"""Asks from time to time whether old or large sessions shall stay, so that none are kept for ever unasked."""

import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings

from framefleet.app.window.actions import Actions
from framefleet.app.window.queue.intake import SESSION
from framefleet.app.window.session.background import Background
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.translation import translate

MOST_BYTES = 2 << 30
MOST_DAYS = 90.0
AGAIN_DAYS = 30.0
"""Time after an answer in which the user is not asked again."""
DAY = 86_400.0
_SUBJECT, _ASKED = "kept-sessions", "sessions/asked"


class SessionReminder(QObject):
    """Shows a banner if the sessions of a folder take much room or are old."""

    def __init__(
        self, folder: Path, store: QSettings, actions: Actions, background: Background, banners: BannerArea, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._folder, self._store, self._actions, self._background, self._banners = folder, store, actions, background, banners

    def look(self) -> None:
        """Look at the sessions in the background, unless the user answered lately."""
        try:
            asked = float(str(self._store.value(_ASKED, 0)))
        except ValueError:
            asked = 0.0
        if time.time() - asked > AGAIN_DAYS * DAY:
            self._background.start(self, partial(_measure, self._folder), self._ask, lambda _: None)

    def _ask(self, found: tuple[int, int, float]) -> None:
        count, size, oldest = found
        if not count or (size <= MOST_BYTES and time.time() - oldest <= MOST_DAYS * DAY):
            return
        text = translate("sessions", "Stored sessions take {size}, the oldest is of {date}. They stay until you delete them.").format(
            size=formats.size(size), date=datetime.fromtimestamp(oldest, UTC).astimezone().strftime("%Y-%m-%d")
        )
        keep, clean = translate("sessions", "Keep them"), translate("sessions", "Sessions…")
        self._banners.show_banner(_SUBJECT, Severity.INFO, text, (keep, self._answer), (clean, self._open))

    def _answer(self) -> None:
        self._store.setValue(_ASKED, time.time())
        self._banners.remove(_SUBJECT)

    def _open(self) -> None:
        self._answer()
        self._actions.sessions.trigger()


def _measure(folder: Path) -> tuple[int, int, float]:
    """Number and size of the sessions in bytes, and when the oldest was written last, seconds since 1970."""
    stats = []
    for path in folder.glob(f"*{SESSION}"):
        with suppress(OSError):  # another program has just removed it
            stats.append(path.stat())
    return len(stats), sum(one.st_size for one in stats), min((one.st_mtime for one in stats), default=0.0)
