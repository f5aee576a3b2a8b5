"""Opens the list of models: the catalogue with its downloads, and the user's own models."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QWidget

from framefleet.app.window.models.chart import Speed, read_speeds
from framefleet.app.window.models.comparison import ask_for_comparison
from framefleet.app.window.models.downloads import ModelDownloads
from framefleet.app.window.models.list import ModelList
from framefleet.app.window.models.own import OwnModels, check_all
from framefleet.app.window.models.parts import ModelParts
from framefleet.app.window.queue.intake import Intake
from framefleet.app.window.session.background import Background
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.check import ModelSummary, check_model
from framefleet.engine.settings import ModelFiles


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

    def _show_note(self, text: str) -> None:
        if self.dialog is not None:
            self.dialog.show_note(text)

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
