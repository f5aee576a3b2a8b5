"""The dialog with the models that can be downloaded and used."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QScrollArea, QWidget

from framefleet.app.window.models.card import ModelCard, OwnCard
from framefleet.app.window.models.chart import ModelChart
from framefleet.app.window.models.downloads import ModelDownloads
from framefleet.app.window.queue.file_drops import local_paths
from framefleet.app.window.queue.intake import sort_paths
from framefleet.app.window.widgets.build import column, label, push_button, row, say, show_inside, within_screen, wrapped
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.questions import show_folder
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import FramefleetError
from framefleet.engine.model.check import ModelSummary
from framefleet.engine.model.registry.catalogue import FAMILY, ModelEntry
from framefleet.engine.model.registry.installed import files_of, remove_model
from framefleet.engine.settings import ModelFiles


class ModelList(QDialog):
    """Shows a card for each model. in_use: the cfg of the current model. entries: of the catalogue, None = all.

    Below them are the user's own models. chosen: ModelFiles to use. dropped: Intake of model files to add. removed: ModelFiles that leave
    the list.
    """

    chosen = Signal(object)
    dropped = Signal(object)
    removed = Signal(object)

    def __init__(
        self, downloads: ModelDownloads, in_use: Path | None, parent: QWidget | None = None, entries: Sequence[ModelEntry] | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("models", "Models"))
        self.setModal(True)
        self.setAcceptDrops(True)
        self._downloads = downloads
        self._in_use = in_use
        self.cards = {entry.name: ModelCard(entry) for entry in entries or FAMILY}
        self.own_cards: list[OwnCard] = []
        self.chart = ModelChart([card.entry for card in self.cards.values()])
        self._arrange()
        for card in self.cards.values():
            card.download_requested.connect(downloads.start)
            card.cancel_requested.connect(lambda entry: downloads.cancel(entry.name))
            card.use_requested.connect(lambda entry: self.chosen.emit(files_of(entry, downloads.folder)))
            card.remove_requested.connect(self._remove)
        downloads.progressed.connect(self._refresh_some)
        downloads.ended.connect(self._refresh_one)
        self._refresh_some(tuple(self.cards))

    def _arrange(self) -> None:
        about = translate(
            "models", "The official YOLOv4 family. All find the 80 classes of COCO: people, vehicles, animals, everyday things."
        )
        inside, scroll = QWidget(), QScrollArea()
        self.own_heading = label("heading", translate("models", "Your own models"))
        self.own_heading.hide()
        parts = (self.chart, *self.cards.values(), self.own_heading, None)
        self._column = column(*parts, spacing=8, margins=(24, 2, 24, 16), of=inside)
        show_inside(scroll, inside)
        files_tip = translate("models", "Any Darknet .cfg and .weights; they can also be dropped here")
        self.own = push_button(translate("models", "Use your own files…"), tip=files_tip)
        self.open_folder = push_button(translate("models", "Show folder"), self._show_folder, tip=str(self._downloads.folder))
        self.close_button = push_button(translate("models", "Close"), self.reject)
        self.compare = push_button(translate("models", "Compare two models…"))
        self.note = wrapped("error")
        self.note.setContentsMargins(24, 6, 24, 0)
        below = row(self.own, self.open_folder, self.compare, None, self.close_button, spacing=8, margins=(24, 12, 24, 14))
        head = column(label("title", translate("models", "Choose a model")), label("muted", about), spacing=4, margins=(24, 18, 24, 12))
        outer = column(head, (scroll, 1), self.note, below, spacing=0, of=self)
        self.resize(within_screen(self, 1120, min(outer.sizeHint().height() + inside.sizeHint().height(), 780)))

    def show_own(self, models: Sequence[tuple[ModelFiles, ModelSummary | str]]) -> None:
        """Show these models of the user's own, each with its properties or why it cannot be used."""
        for card in self.own_cards:
            self._column.removeWidget(card)
            card.deleteLater()
        self.own_heading.setVisible(bool(models))
        self.own_cards = [OwnCard(files, found, files.cfg == self._in_use) for files, found in models]
        for card in self.own_cards:
            card.use_requested.connect(self.chosen)
            card.remove_requested.connect(self.removed)
            self._column.insertWidget(self._column.count() - 1, card)

    def show_note(self, text: str) -> None:
        """Show what is wrong with a dropped file, "" = nothing."""
        say(self.note, text)

    def _remove(self, entry: ModelEntry) -> None:
        self._downloads.errors.pop(entry.name, None)
        try:
            remove_model(entry, self._downloads.folder)
        except FramefleetError as error:
            self._downloads.errors[entry.name] = of_engine(str(error))
        self._refresh_one(entry.name)

    def _refresh_some(self, names: Sequence[str]) -> None:
        for name in names:
            self._refresh_one(name)

    def _refresh_one(self, name: str, _files: object = None) -> None:
        if (card := self.cards.get(name)) is not None:
            card.refresh(self._downloads, files_of(card.entry, self._downloads.folder).cfg == self._in_use)

    def _show_folder(self) -> None:
        self._downloads.folder.mkdir(parents=True, exist_ok=True)
        show_folder(self._downloads.folder)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept model files anywhere on the dialog."""
        if sort_paths(local_paths(event)).has_model:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Pass dropped files on."""
        event.acceptProposedAction()
        self.dropped.emit(sort_paths(local_paths(event)))
