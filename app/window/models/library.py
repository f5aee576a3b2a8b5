"""The list of models: the catalogue with its downloads, and the user's own models."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QScrollArea, QWidget

from framefleet.app.window.models.card import ModelCard, OwnCard
from framefleet.app.window.models.chart import ModelChart, Speed, read_speeds
from framefleet.app.window.models.comparison import ask_for_comparison
from framefleet.app.window.models.files import ModelDownloads, ModelParts, OwnModels, check_all
from framefleet.app.window.queue.open_files import local_paths
from framefleet.app.window.queue.opening import Intake, sort_paths
from framefleet.app.window.session.background import Background
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.build import column, label, push_button, row, say, show_inside, within_screen, wrapped
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.questions import ask, show_folder
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import FramefleetError
from framefleet.engine.model.load import ModelSummary, check_model
from framefleet.engine.model.registry.catalogue import FAMILY, ModelEntry, files_of, remove_model
from framefleet.engine.notices import Notice
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
            card.download_requested.connect(self._download)
            card.cancel_requested.connect(lambda entry: downloads.cancel(entry.name))
            card.use_requested.connect(lambda entry: self.chosen.emit(files_of(entry, downloads.folder)))
            card.remove_requested.connect(self._remove)
        downloads.progressed.connect(self._refresh_some)
        downloads.ended.connect(self._refresh_one)
        self._refresh_some(tuple(self.cards))

    def _download(self, entry: ModelEntry) -> None:
        """Start a download. Ask first if some of its files cannot be checked."""
        if not entry.unverified:
            self._downloads.start(entry)
            return
        question = translate("models", "Nobody publishes a SHA-256 of {files}.").format(files=", ".join(entry.unverified))
        details = translate("models", "Only size and structure can be checked, not who made the files. Download {name} all the same?")
        answers = translate("models", "Download"), translate("models", "Cancel")
        texts = question, details.format(name=entry.title)
        ask(self, translate("models", "Models"), texts, answers, lambda yes: self._downloads.start(entry) if yes else None)

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
            self._downloads.errors[entry.name] = of_engine(error.notice)
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


class ModelLibrary(QObject):
    """Owns the list and the downloads. sessions: their folder. chosen: ModelFiles to use. own_requested: the user wants to use other files.

    wanted: the list shall be opened. ``dialog``: the open list, None while it is closed.
    """

    chosen = Signal(object)
    own_requested = Signal()
    wanted = Signal()

    def __init__(self, store: QSettings, background: Background, sessions: Path, banners: BannerArea, parent: QObject) -> None:
        super().__init__(parent)
        self._background, self._sessions, self._banners = background, sessions, banners
        self.own = OwnModels(store)
        self.downloads = ModelDownloads(background, parent=self)
        self.downloads.ended.connect(self._download_ended)
        self.dialog: ModelList | None = None

    def open(self, in_use: Path | None, window: QWidget) -> None:
        """Show the list. in_use: the cfg of the current model. window: the dialog's parent."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        self._banners.remove("download")
        dialog = self.dialog = ModelList(self.downloads, in_use, window)
        dialog.chosen.connect(self._choose)
        dialog.own.clicked.connect(self.close)
        dialog.own.clicked.connect(self.own_requested)
        dialog.dropped.connect(self._add)
        dialog.removed.connect(self._forget)
        dialog.compare.clicked.connect(lambda: ask_for_comparison(dialog, self._background, self._show_note))
        dialog.finished.connect(self._closed)
        dialog.open()
        self._show_own()
        self._background.start(self, partial(read_speeds, self._sessions), self._show_speeds, self._show_note)

    def close(self) -> None:
        """Close the list."""
        if self.dialog is not None:
            self.dialog.reject()

    def _closed(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()
        if self.downloads.names:
            text = translate("models", "Downloading {names}.").format(names=", ".join(self.downloads.names))
            self._banners.show_banner("download", Severity.INFO, text, (translate("models", "Show"), self.wanted.emit))

    def _choose(self, files: ModelFiles) -> None:
        self.close()
        self._banners.remove("download")
        self.chosen.emit(files)

    def _show_speeds(self, speeds: dict[str, Speed]) -> None:
        if self.dialog is not None:
            self.dialog.chart.show_speeds(speeds)

    def _show_note(self, said: Notice | str) -> None:
        if self.dialog is not None:
            self.dialog.show_note(of_engine(said, capital=True) if isinstance(said, Notice) else said)

    def _show_own(self) -> None:
        def checked(models: list[tuple[ModelFiles, ModelSummary | str]]) -> None:
            if self.dialog is not None:
                self.dialog.show_own(models)

        self._background.start(self, partial(check_all, self.own.read()), checked, self._show_note)

    def _add(self, intake: Intake) -> None:
        """Add a dropped model to the list."""
        parts = ModelParts().updated(intake)
        files = parts.files
        if files is None:
            self._show_note(parts.missing)
            return

        def added(_: ModelSummary) -> None:
            self.own.add(files)
            self._show_note("")
            self._show_own()

        self._background.start(self, partial(check_model, files), added, self._show_note)

    def _forget(self, files: ModelFiles) -> None:
        self.own.remove(files)
        self._show_own()

    def _download_ended(self, name: str, files: ModelFiles | None) -> None:
        if self.dialog is not None:
            return  # the list shows it
        if files is not None:
            text = translate("models", "The model {name} is downloaded.").format(name=name)
            self._banners.show_banner("download", Severity.INFO, text, (translate("models", "Use it"), partial(self._choose, files)))
        elif name in self.downloads.errors:
            action = translate("models", "Models…"), self.wanted.emit
            self._banners.show_banner("download", Severity.ERROR, self.downloads.errors[name], action)
