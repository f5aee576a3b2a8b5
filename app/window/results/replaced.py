"""Says when another run has replaced the session of results, and opens the new session if the user wants."""

from functools import partial

from PySide6.QtCore import QObject, QTimer

from framefleet.app.window.player.preview_client import Shown
from framefleet.app.window.queue.item import Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.queue.opening import Opening
from framefleet.app.window.session.background import Background
from framefleet.app.window.session.controller import DetectionController
from framefleet.app.window.viewer.viewer import Viewer
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.store.facts import CREATED
from framefleet.engine.store.session import SessionReader

LOOK_MS = 300
"""Time between a picture without detections and the look at its session, so that a video that plays does not ask for each picture."""


class ReplacedResults(QObject):
    """Looks at the session of the results when a picture of the shown file has no detections."""

    def __init__(
        self,
        viewer: Viewer,
        items: QueueModel,
        controller: DetectionController,
        opening: Opening,
        background: Background,
        banners: BannerArea,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._viewer, self._items, self._controller = viewer, items, controller
        self._opening, self._background, self._banners = opening, background, banners
        self._soon = QTimer(self, singleShot=True, interval=LOOK_MS)
        self._soon.timeout.connect(self._look)
        viewer.player.shown.connect(self._shown)

    def _shown(self, shown: Shown) -> None:
        if shown.result is None and self._stored is not None and not self._soon.isActive():
            self._soon.start()

    @property
    def _stored(self) -> Results | None:
        """The results of the shown file if their session has begun and is not known to be replaced."""
        item = self._viewer.item
        return item.results if item is not None and item.results is not None and item.results.created and not item.replaced else None

    def _look(self) -> None:
        if (results := self._stored) is not None:
            self._background.start(self, partial(_is_replaced, results), partial(self._found, results), lambda _: None)

    def _found(self, results: Results, replaced: bool) -> None:
        if replaced:
            self._controller.mark_replaced(results)
            text = translate("results", "Another run has replaced the results in {name}: they are no longer shown.")
            actions = (translate("results", "Open the new results"), partial(self._open, results))
            self._banners.show_banner(_subject(results), Severity.WARNING, text.format(name=results.database.name), actions)

    def _open(self, results: Results) -> None:
        self._banners.remove(_subject(results))
        for item in self._items:
            if item.replaced and item.results is not None and item.results.database == results.database:
                self._controller.remove(item.key)
        self._opening.take([results.database])


def _subject(results: Results) -> str:
    return f"replaced {results.database}"


def _is_replaced(results: Results) -> bool:
    """Whether another run has created the session that is now at the same place. Raises ExportError if there is none."""
    with SessionReader(results.database) as reader:
        return reader.facts.get(CREATED) != results.created
