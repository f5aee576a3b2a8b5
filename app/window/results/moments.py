"""Shows moments of stored results that other features list, and opens their sessions for that."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject

from framefleet.app.window.queue import model
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.queue.opening import Opening, same_file
from framefleet.app.window.selection import Selection
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.translation import translate


@dataclass(frozen=True)
class StoredMoment:
    """A moment of stored results.

    Parameters
    ----------
    database : Path
        The session.
    file : Path
        The source.
    name : str
        The source as the user named it.
    time : float
        The pts, seconds.
    """

    database: Path
    file: Path
    name: str
    time: float


class Moments(QObject):
    """Shows one stored moment at a time, paused."""

    def __init__(self, items: model.QueueModel, opening: Opening, selection: Selection, banners: BannerArea, parent: QObject) -> None:
        super().__init__(parent)
        self._items, self._opening, self._selection, self._banners = items, opening, selection, banners
        self._wanted: StoredMoment | None = None
        opening.restored.connect(self._restored)

    def show(self, moment: StoredMoment) -> None:
        """Show a moment. Its session is opened first if the queue does not hold it."""
        item = self._item_of(moment)
        if item is not None:
            self._selection.show_moment(item.key, moment.time)
        elif not moment.database.exists():
            words = translate("results", "{database} does not exist any more.")
            self._refuse(moment, words.format(database=moment.database))
        else:
            self._wanted = moment
            self._opening.take([moment.database])

    def _restored(self, keys: Sequence[int]) -> None:
        wanted = self._wanted
        opened = [item.results.database for key in keys if (item := self._items.get(key)) is not None and item.results is not None]
        if wanted is None or not any(same_file(database, wanted.database) for database in opened):
            return  # the session that was opened is another one
        self._wanted = None
        item = self._item_of(wanted)
        if item is not None:
            self._selection.show_moment(item.key, wanted.time)
        else:
            words = translate("results", "{name} is not in the queue any more: open {database} again.")
            self._refuse(wanted, words.format(name=wanted.name, database=wanted.database))

    def _item_of(self, moment: StoredMoment) -> QueueItem | None:
        """The item with the stored results of a moment, None if it is not in the queue."""
        stored = (item for item in self._items if item.results is not None and not item.replaced and item.path == moment.file)
        return next((item for item in stored if item.results and same_file(item.results.database, moment.database)), None)

    def _refuse(self, moment: StoredMoment, words: str) -> None:
        title = translate("results", "The frame cannot be shown")
        self._banners.show_banner(f"moment {moment.database}", Severity.WARNING, title, details=words)
