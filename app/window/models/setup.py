"""Loads, checks, changes and stores the model and the settings, and passes them to the controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QSettings, Signal, Slot
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from app.scaling_results import Speed, read_speeds
from app.window.models.comparison import Comparison
from app.window.models.downloads import ModelDownloads
from app.window.models.list import ModelList
from app.window.models.own import OwnModels, check_all
from app.window.models.parts import ModelParts
from app.window.queue.intake import Intake
from app.window.session.background import Background
from app.window.session.controller import DetectionController
from app.window.settings import preferences as stored
from app.window.settings.dialog import SettingsDialog
from app.window.settings.last_run import LastRun
from app.window.settings.preferences import Preferences
from app.window.widgets.banner import BannerArea, Severity
from app.window.widgets.translation import translate
from engine.devices.description import DeviceDescription
from engine.devices.discovery import discover
from engine.model.check import ModelSummary, check_model
from engine.settings import ModelFiles


class ModelSetup(QObject):
    """Owns the preferences, the settings dialog and the list of models.

    model_changed: ModelSummary or None. confidence_changed: start value of the slider. floor_changed: its lowest value.
    devices_found: tuple of DeviceDescription. sessions_requested: the user wants to clean up sessions.
    language_changed: another language is stored.
    """

    model_changed = Signal(object)
    confidence_changed = Signal(float)
    floor_changed = Signal(float)
    devices_found = Signal(object)
    sessions_requested = Signal()
    language_changed = Signal()

    def __init__(
        self, window: QWidget, store: QSettings, background: Background, controller: DetectionController, banners: BannerArea
    ) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._background = background
        self._controller = controller
        self._banners = banners
        self._parts = ModelParts()
        self.dialog: SettingsDialog | None = None
        self.last_run = LastRun(store, self)
        self.models: ModelList | None = None
        self.own = OwnModels(store)
        self.downloads = ModelDownloads(background, parent=self)
        self.downloads.ended.connect(self._download_ended)
        self._question: QMessageBox | None = None
        self._found: tuple[DeviceDescription, ...] | None = None
        self.preferences = Preferences()
        self.summary: ModelSummary | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes of the model."""
        return self.summary.labels if self.summary is not None else ()

    def begin(self, model: ModelFiles | None) -> None:
        """Load the stored preferences, and start to check the model and to discover devices. model: replaces the stored one."""
        self.preferences = stored.load(self._store)
        if model is not None:
            self.preferences = replace(self.preferences, model=model)
        self.confidence_changed.emit(self.preferences.confidence)
        self.floor_changed.emit(self.preferences.floor)
        self._parts = ModelParts.of(self.preferences.model)
        if self.preferences.model is not None:
            self._check(self.preferences)
        self._background.start(discover, self._devices_found, self._no_devices)

    def take(self, intake: Intake) -> None:
        """Use dropped files of a model: in the settings dialog if it is open, else at once."""
        self._close_models()
        if self.dialog is not None:
            self.dialog.model.take(intake)
            return
        self._parts = self._parts.updated(intake)
        files = self._parts.files
        if files is None:
            self._banners.show_banner("model", Severity.INFO, self._parts.missing, (translate("models", "Settings…"), self.open_dialog))
        else:
            self._check(replace(self.preferences, model=files))

    def ask_for_model(self) -> None:
        """Show a banner that asks for a model if there is none."""
        if self.preferences.model is None:
            text = translate(
                "models", "Choose a model to start detecting: download one with a click, or drop a .cfg and its .weights here."
            )
            self._banners.show_banner("model", Severity.INFO, text, (translate("models", "Choose model…"), self.open_models))

    @Slot()
    def open_dialog(self) -> None:
        """Show the settings."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        self.dialog = SettingsDialog(
            replace(self.preferences, model=self._parts.files), self._background, self._store, self.last_run.sentences, self._window
        )
        self.dialog.model.set_parts(self._parts)
        if self._found is not None:
            self.dialog.devices.offer(self._found)
        self.dialog.model.list_requested.connect(self.open_models)
        self.dialog.folders.sessions_requested.connect(self.sessions_requested)
        self.dialog.finished.connect(self._dialog_closed)
        self.dialog.open()

    @Slot(int)
    def _dialog_closed(self, outcome: int) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is None:
            return
        if outcome == QDialog.DialogCode.Accepted.value:
            self._parts = ModelParts.of(dialog.preferences.model)
            self._apply(dialog.preferences, dialog.model.summary)
            if dialog.window_.language_changed:
                self.language_changed.emit()
        dialog.deleteLater()

    @Slot()
    def open_models(self) -> None:
        """Show the models that can be downloaded."""
        if self.models is not None:
            self.models.raise_()
            return
        self._banners.remove("download")
        self.models = ModelList(self.downloads, self.preferences.model.cfg if self.preferences.model else None, self.dialog or self._window)
        self.models.chosen.connect(self._use)
        self.models.own_requested.connect(self._own)
        self.models.dropped.connect(self._add)
        self.models.removed.connect(self._forget)
        self.models.comparison_requested.connect(self._compare)
        self.models.finished.connect(self._models_closed)
        self.models.open()
        self._show_own()
        folder = self._controller.folder
        self._background.start(partial(read_speeds, folder), self._show_speeds, self._show_note)

    def _show_own(self) -> None:
        self._background.start(partial(check_all, self.own.read()), self._own_checked, self._show_note)

    def _own_checked(self, models: list[tuple[ModelFiles, ModelSummary | str]]) -> None:
        if self.models is not None:
            self.models.show_own(models)

    def _show_speeds(self, speeds: dict[str, Speed]) -> None:
        if self.models is not None:
            self.models.chart.show_speeds(speeds)

    def _show_note(self, text: str) -> None:
        if self.models is not None:
            self.models.show_note(text)

    def _add(self, intake: Intake) -> None:
        """Add a dropped model to the list."""
        parts = ModelParts().updated(intake)
        files = parts.files
        if files is None:
            self._show_note(parts.missing)
        else:
            self._background.start(partial(check_model, files), lambda _: self._added(files), self._show_note)

    def _added(self, files: ModelFiles) -> None:
        self.own.add(files)
        self._show_note("")
        self._show_own()

    def _forget(self, files: ModelFiles) -> None:
        self.own.remove(files)
        self._show_own()

    def _compare(self) -> None:
        Comparison(self.models or self._window, self._background).ask(self._show_note)

    def stop(self) -> None:
        """Stop all downloads, when the window closes."""
        self.downloads.stop()

    def _close_models(self) -> None:
        if self.models is not None:
            self.models.reject()

    @Slot(int)
    def _models_closed(self, _outcome: int) -> None:
        models, self.models = self.models, None
        if models is not None:
            models.deleteLater()
        if self.downloads.names:
            text = translate("models", "{names}: being downloaded.").format(names=", ".join(self.downloads.names))
            self._banners.show_banner("download", Severity.INFO, text, (translate("models", "Show"), self.open_models))

    @Slot(str, object)
    def _download_ended(self, name: str, files: ModelFiles | None) -> None:
        if self.models is not None:
            return  # the list shows it
        if files is not None:
            self._banners.show_banner(
                "download",
                Severity.INFO,
                translate("models", "The model {name} is downloaded.").format(name=name),
                (translate("models", "Use it"), partial(self._use, files)),
            )
        elif name in self.downloads.errors:
            self._banners.show_banner(
                "download", Severity.ERROR, self.downloads.errors[name], (translate("models", "Models…"), self.open_models)
            )

    @Slot(object)
    def _use(self, files: ModelFiles) -> None:
        self._close_models()
        self._banners.remove("download")
        if self.dialog is not None:
            self.dialog.model.set_parts(ModelParts.of(files))
            return
        self._parts = ModelParts.of(files)
        self._check(replace(self.preferences, model=files))

    @Slot()
    def _own(self) -> None:
        self._close_models()
        self.open_dialog()

    def _check(self, preferences: Preferences) -> None:
        files = preferences.model
        assert files is not None
        self._background.start(partial(check_model, files), partial(self._apply, preferences), self._unusable)

    def _unusable(self, message: str) -> None:
        self._banners.show_message("model", Severity.ERROR, message, (translate("models", "Settings…"), self.open_dialog))

    def _apply(self, preferences: Preferences, summary: ModelSummary | None) -> None:
        before, self.preferences, self.summary = self.preferences, preferences, summary
        stored.save(preferences, self._store)
        self._banners.remove("model")
        self.model_changed.emit(summary)
        self.floor_changed.emit(preferences.floor)
        if preferences.confidence != before.confidence:
            self.confidence_changed.emit(preferences.confidence)
        if summary is None or preferences.model is None:
            return
        self.own.add(preferences.model)
        settings = preferences.run_settings()
        apply = partial(self._controller.set_settings, settings, summary.labels)
        if self._controller.running and self._controller.would_change(settings, summary.labels):
            self._ask(apply)
        else:
            apply(restart=False)

    def _ask(self, apply: Callable[..., None]) -> None:
        """Ask whether files that are being detected with the old settings start again."""
        box = QMessageBox(self._window)
        box.setWindowTitle(translate("models", "New settings"))
        box.setText(translate("models", "Detection is running with the old settings."))
        box.setInformativeText(translate("models", "Queued files will use the new settings either way."))
        restart = box.addButton(translate("models", "Restart them"), QMessageBox.ButtonRole.DestructiveRole)
        finish = box.addButton(translate("models", "Finish them first"), QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(finish)
        box.setEscapeButton(finish)
        box.finished.connect(lambda: apply(restart=box.clickedButton() is restart))
        box.finished.connect(box.deleteLater)
        self._question = box
        box.open()

    def _devices_found(self, found: tuple[DeviceDescription, ...]) -> None:
        self._found = found
        self.devices_found.emit(found)
        if self.dialog is not None:
            self.dialog.devices.offer(found)

    def _no_devices(self, message: str) -> None:
        self._banners.show_message("devices", Severity.WARNING, message)
        if self.dialog is not None:
            self.dialog.devices.fail(message)
