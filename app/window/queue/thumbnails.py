"""Fetches the small pictures of the queue's files."""

from PySide6.QtCore import QObject
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.queue.delegate import THUMBNAIL, thumbnail
from framefleet.app.window.queue.model import QueueModel


class Thumbnails(QObject):
    """Requests a picture for each file that is drawn for the first time. window: whose screen shows them."""

    def __init__(self, items: QueueModel, client: PreviewClient, window: QWidget) -> None:
        super().__init__(window)
        self._items, self._client, self._window = items, client, window
        items.thumbnail_wanted.connect(self._fetch)
        client.still.connect(self._arrived)

    def _fetch(self, key: int) -> None:
        if (item := self._items.get(key)) is not None:
            size = THUMBNAIL * self._window.devicePixelRatio() * 1.4  # the picture fills the row's place, whatever its shape
            self._client.fetch_still(str(item.path), (size.width(), size.height()))

    def _arrived(self, path: str, image: QImage | None) -> None:
        if image is not None:
            picture = thumbnail(image, self._window.devicePixelRatio())
            for item in self._items:
                if str(item.path) == path:
                    self._items.set_thumbnail(item.key, picture)
