"""The list of models: the catalogue with its downloads, and the user's own models."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QScrollArea, QWidget

from framefleet.app.window.models import comparison, questions
from framefleet.app.window.models.card import ModelCard, OwnCard, heading
from framefleet.app.window.models.chart import ModelChart, Speed, read_speeds
from framefleet.app.window.models.files import ModelDownloads, ModelParts, OwnModels, check_all
from framefleet.app.window.queue.opening import Intake, local_paths, sort_paths
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import painting, theme
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.build import column, label, push_button, row, say, show_inside, within_screen, wrapped
from framefleet.app.window.widgets.questions import Mode, ask, begin_in_last_folder, file_dialog, show_folder
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.model.load import ModelSummary, check_model
from framefleet.engine.model.registry.catalogue import FAMILY, ModelEntry, files_of, remove_model
from framefleet.engine.notices import FramefleetError, Notice
from framefleet.engine.settings import ModelFiles

FOR_GPU, FOR_CPU = "yolov4-csp", "yolov4-tiny"
"""The models that are recommended for machines with and without a GPU."""


class ModelList(QDialog):
    """Shows the model in use, the one that suits this machine, and a table of the others, the user's own ones last.

    in_use: the cfg of the current model. entries: of the catalogue, None = all. gpu: whether this machine has one. chosen: ModelFiles to
    use. dropped: Intake of model files to add. removed: ModelFiles that leave the list. labels_requested: ModelFiles whose labels the user
    wants to change.
    """

    chosen = Signal(object)
    dropped = Signal(object)
    removed = Signal(object)
    labels_requested = Signal(object)

    def __init__(
        self,
        downloads: ModelDownloads,
        in_use: Path | None,
        parent: QWidget | None = None,
        entries: Sequence[ModelEntry] | None = None,
        gpu: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("models", "Models"))
        self.setModal(True)
        self.setAcceptDrops(True)
        self._downloads = downloads
        self.in_use = in_use
        self.cards = {entry.name: ModelCard(entry) for entry in entries or FAMILY}
        self.own_cards: list[OwnCard] = []
        self._speeds: Mapping[str, Speed] = {}
        wanted = FOR_GPU if gpu else FOR_CPU
        self.recommended = next((card for card in self.cards.values() if card.entry.name == wanted), None)
        self.why = translate("models", "It has a GPU.") if gpu else translate("models", "It has no GPU.")
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
        first = self.used = next((card for card in self.cards.values() if self._uses(card.entry)), None)
        second = self.recommended if self.recommended is not first else None
        self.used_heading = label("heading", translate("models", "In use"))
        self.used_heading.setVisible(first is not None)
        suits = label("heading", f"{translate('models', 'Recommended for this machine')} — {self.why}")
        others = [card for card in self.cards.values() if card not in (first, second)]
        self.own_heading = label("heading", translate("models", "Your own models"))
        self.own_heading.hide()
        self.fold = push_button(translate("models", "Accuracy against speed"), role="fold")
        self.fold.setCheckable(True)
        self.fold.toggled.connect(self._show_chart)
        self._show_chart(False)
        parts = [self.used_heading, *([first] if first is not None else [])]
        parts += [suits, second] if second is not None else []
        parts += [label("heading", translate("models", "All other models")), *others] if others else []
        self._column = column(
            heading(), *parts, self.own_heading, 1.0, self.fold, self.chart, spacing=6, margins=(24, 2, 24, 16), of=inside
        )
        show_inside(scroll, inside)
        files_tip = translate("models", "Any .onnx file, or Darknet .cfg and .weights; they can also be dropped here")
        self.own = push_button(translate("models", "Use your own files…"), tip=files_tip)
        self.open_folder = push_button(translate("models", "Show folder"), self._show_folder, tip=str(self._downloads.folder))
        self.close_button = push_button(translate("models", "Close"), self.reject)
        self.compare = push_button(translate("models", "Compare two models…"))
        self.note = wrapped("error")
        self.note.setContentsMargins(24, 6, 24, 0)
        below = row(self.own, self.open_folder, self.compare, None, self.close_button, spacing=8, margins=(24, 12, 24, 14))
        head = column(label("title", translate("models", "Choose a model")), label("muted", about), spacing=4, margins=(24, 18, 24, 8))
        outer = column(head, (scroll, 1), self.note, below, spacing=0, of=self)
        self.resize(within_screen(self, 1120, min(outer.sizeHint().height() + inside.sizeHint().height(), 780)))

    def _uses(self, entry: ModelEntry) -> bool:
        """Whether a model of the catalogue is in use."""
        return files_of(entry, self._downloads.folder).cfg == self.in_use

    def _show_chart(self, shown: bool) -> None:
        self.chart.setVisible(shown)
        self.fold.setIcon(painting.icon("chevron-up" if shown else "chevron-down", theme.MUTED))

    def show_speeds(self, speeds: Mapping[str, Speed]) -> None:
        """Show what was measured on this machine, by the model's name."""
        self._speeds = speeds
        self.chart.show_speeds(speeds)
        for name, card in self.cards.items():
            card.figures.show_speed(speeds.get(name))
        for own in self.own_cards:
            if own.figures is not None:
                own.figures.show_speed(speeds.get(own.name))

    def show_own(self, models: Sequence[tuple[ModelFiles, ModelSummary | str]]) -> None:
        """Show these models of the user's own, each with its properties or why it cannot be used. That in use comes first of all."""
        for card in self.own_cards:
            self._column.removeWidget(card)
            card.deleteLater()
        self.own_cards = [OwnCard(files, found, files.cfg == self.in_use) for files, found in models]
        used = [card for card in self.own_cards if card.files.cfg == self.in_use]
        self.own_heading.setVisible(len(self.own_cards) > len(used))
        self.used_heading.setVisible(bool(used) or self.used is not None)
        for card in self.own_cards:
            card.use_requested.connect(self.chosen)
            card.remove_requested.connect(self.removed)
            card.labels_requested.connect(self.labels_requested)
            place = self._column.indexOf(self.used_heading) + 1 if card in used else self._column.indexOf(self.fold) - 1
            self._column.insertWidget(place, card)
        self.show_speeds(self._speeds)

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
            card.refresh(self._downloads, self._uses(card.entry))

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
    """Owns the list and the downloads. sessions: their folder. chosen: ModelFiles to use. wanted: the list shall be opened.

    results_wanted: two stored results of the shown file shall be compared.

    ``dialog``: the open list, None while it is closed.
    """

    chosen = Signal(object)
    wanted = Signal()
    results_wanted = Signal()

    def __init__(self, store: QSettings, background: Background, sessions: Path, banners: BannerArea, parent: QObject) -> None:
        super().__init__(parent)
        self._store, self._background, self._sessions, self._banners = store, background, sessions, banners
        self.own = OwnModels(store)
        self.questions = questions.ModelQuestions(background, self)
        self.downloads = ModelDownloads(background, parent=self)
        self.downloads.ended.connect(self._download_ended)
        self.dialog: ModelList | None = None

    def open(self, in_use: Path | None, window: QWidget, gpu: bool = False) -> None:
        """Show the list. in_use: the cfg of the current model. window: the dialog's parent. gpu: whether this machine has one."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        self._banners.remove("download")
        dialog = self.dialog = ModelList(self.downloads, in_use, window, gpu=gpu)
        dialog.chosen.connect(self._choose)
        dialog.dropped.connect(self._add)
        dialog.own.clicked.connect(self._choose_files)
        dialog.removed.connect(self._forget)
        dialog.labels_requested.connect(self._edit_labels)
        dialog.compare.clicked.connect(
            lambda: comparison.ask_for_comparison(dialog, self._background, self._compare_results, self._show_note)
        )
        dialog.finished.connect(self._closed)
        dialog.open()
        self._show_own()
        self._background.start(self, partial(read_speeds, self._sessions), self._show_speeds, self._show_note)

    def close(self) -> None:
        """Close the list."""
        if self.dialog is not None:
            self.dialog.reject()

    def _choose_files(self) -> None:
        """Let the user choose the files of a model in a file dialog, and use it."""
        if self.dialog is not None:
            kinds = translate("models", "Models (*.onnx *.cfg *.weights *.names *.yaml)")
            files = file_dialog(self.dialog, translate("models", "Use your own files"), "", kinds)
            files.setFileMode(Mode.ExistingFiles)
            begin_in_last_folder(files, self._store, "models/folder", Path.home())
            files.filesSelected.connect(lambda names: self._add(sort_paths(map(Path, names)), use=True))
            files.open()

    def _compare_results(self) -> None:
        if self.dialog is not None:
            self.dialog.reject()
        self.results_wanted.emit()

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
            self.dialog.show_speeds(speeds)

    def _show_note(self, said: Notice | str) -> None:
        if self.dialog is not None:
            self.dialog.show_note(of_engine(said, capital=True) if isinstance(said, Notice) else said)

    def _show_own(self) -> None:
        def checked(models: list[tuple[ModelFiles, ModelSummary | str]]) -> None:
            if self.dialog is not None:
                self.dialog.show_own(models)

        self._background.start(self, partial(check_all, self.own.read()), checked, self._show_note)

    def _add(self, intake: Intake, use: bool = False) -> None:
        """Add a model to the list. use: also use it."""
        parts = ModelParts().updated(intake)
        if parts.files is None:
            self._show_note(parts.missing)
        else:
            self._add_files(parts.files, use)

    def _add_files(self, files: ModelFiles, use: bool) -> None:
        def added(_: ModelSummary) -> None:
            self.own.add(files)
            self._show_note("")
            if use:
                self._choose(files)
            else:
                self._show_own()

        def refused(problem: Notice) -> None:
            window = self.dialog
            if window is None or not self.questions.ask(files, problem, window, partial(self._add_files, use=use)):
                self._show_note(problem)

        self._background.start(self, partial(check_model, files), added, refused)

    def _edit_labels(self, files: ModelFiles) -> None:
        def changed(files: ModelFiles) -> None:
            if self.dialog is not None and self.dialog.in_use == files.cfg:
                self.own.add(files)
                self._choose(files)
            else:
                self._add_files(files, use=False)

        def checked(summary: ModelSummary) -> None:
            if self.dialog is not None:
                self.questions.edit_labels(files, summary.labels, self.dialog, changed)

        self._background.start(self, partial(check_model, files), checked, self._show_note)

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
            title = translate("models", "{name} was not downloaded").format(name=name)
            action = translate("models", "Models…"), self.wanted.emit
            self._banners.show_banner("download", Severity.ERROR, title, action, details=self.downloads.errors[name])
