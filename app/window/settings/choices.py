"""Loads, checks, changes and stores the model and the settings, and passes them to the controller."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, QTimer, Signal
from PySide6.QtWidgets import QDialog, QWidget

from framefleet.app.window.models.files import ModelParts
from framefleet.app.window.models.library import ModelLibrary
from framefleet.app.window.queue import opening
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.run.background import Background
from framefleet.app.window.run.controller import DetectionController
from framefleet.app.window.settings import form
from framefleet.app.window.settings import preferences as stored
from framefleet.app.window.settings.dialog import SettingsDialog
from framefleet.app.window.settings.preferences import Preferences
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.questions import ask
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.discovery import DeviceDescription, default_devices, discover
from framefleet.engine.devices.recording import Recording
from framefleet.engine.model.load import ModelSummary, check_model
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.settings import ModelFiles
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO


class RunChoices(QObject):
    """Owns the preferences, the settings dialog and, in ``library``, the list of models.

    model_changed: ModelSummary or None. confidence_changed: start value of the slider. floor_changed: its lowest value.
    devices_found: tuple of DeviceDescription. used_changed: the devices that a run will use, tuple of DeviceId.
    sessions_requested: the user wants to clean up sessions. language_changed: another language is stored.

    recording: a recorded machine. Its devices can be chosen, too, to see how that looks; runs and the next start do not use them.
    """

    model_changed = Signal(object)
    confidence_changed = Signal(float)
    floor_changed = Signal(float)
    devices_found = Signal(object)
    used_changed = Signal(object)
    sessions_requested = Signal()
    language_changed = Signal()

    def __init__(
        self,
        window: QWidget,
        store: QSettings,
        background: Background,
        controller: DetectionController,
        banners: BannerArea,
        recording: Recording | None = None,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._background = background
        self._controller = controller
        self._banners = banners
        self._parts = ModelParts()
        self.dialog: SettingsDialog | None = None
        self.last_run = form.LastRun(store, self)
        controller.strategy_changed.connect(self.last_run.show_strategy)
        controller.devices_changed.connect(self.last_run.show_devices)
        controller.file_done.connect(self.last_run.show_item)
        self.library = ModelLibrary(store, background, controller.folder, banners, self)
        self.library.chosen.connect(self._use)
        self.library.wanted.connect(self.open_models)
        self.library.questions.source = self._shown
        self._found: tuple[DeviceDescription, ...] | None = None
        self._recorded = recording.devices if recording is not None else ()
        self.preferences = Preferences()
        self.summary: ModelSummary | None = None
        self.example: Callable[[], QueueItem | None] = lambda: None
        """Returns the file for which the settings show the clock time."""

    def _shown(self) -> Path:
        """A file of the user's, else the demo's clip."""
        item = self.example()
        return Path(DEMO.clip) if item is None else item.path

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes of the model."""
        return self.summary.labels if self.summary is not None else ()

    @property
    def _offered(self) -> tuple[DeviceDescription, ...] | None:
        """The devices that can be chosen, None before they are found: of this machine, and recorded ones."""
        if self._found is None:
            return None
        here = {known.id for known in self._found}
        return *self._found, *(known for known in self._recorded if known.id not in here)

    @property
    def used(self) -> tuple[DeviceId, ...]:
        """The devices that a run will use; and, of a recorded machine, those that it would use there."""
        chosen: tuple[DeviceId, ...] = self.preferences.values["devices"]
        used: list[DeviceId] = []
        for machine in (self._found or (), self._recorded):
            wanted = [known.id for known in machine if known.id in chosen]
            with suppress(DeviceError):
                used += wanted or (default_devices(machine) if machine and (not chosen or self._recorded) else ())
        return tuple(dict.fromkeys([*used, *(chosen if not self._recorded else ())]))

    def _without_recorded(self, preferences: Preferences) -> Preferences:
        """The preferences without devices that only a recording has."""
        recorded = {known.id for known in self._recorded} - {known.id for known in self._found or ()}
        here = tuple(device for device in preferences.values["devices"] if device not in recorded)
        return replace(preferences, values={**preferences.values, "devices": here})

    def begin(self, model: ModelFiles | None) -> None:
        """Load the stored preferences, and start to check the model and to discover devices. model: replaces the stored one."""
        self.preferences = stored.load(self._store)
        if model is not None:
            self.preferences = replace(self.preferences, model=model)
        self.confidence_changed.emit(self.preferences.confidence)
        self.floor_changed.emit(self.preferences.stored_confidence)
        self._parts = ModelParts.of(self.preferences.model)
        if self.preferences.model is not None:
            self._check(self.preferences)
        self._background.start(self, discover, self._devices_found, self._no_devices)

    def take(self, intake: opening.Intake) -> None:
        """Use dropped files of a model: in the settings dialog if it is open, else at once."""
        self.library.close()
        if self.dialog is not None:
            self.dialog.model.take(intake)
            return
        self._parts = self._parts.updated(intake)
        files = self._parts.files
        if files is None:
            title, action = translate("models", "The model is not complete"), (translate("models", "Settings…"), self.open_dialog)
            self._banners.show_banner("model", Severity.INFO, title, action, details=self._parts.missing)
        else:
            self._check(replace(self.preferences, model=files))

    def ask_for_model(self) -> None:
        """Show a banner that asks for a model if there is none."""
        if self.preferences.model is None:
            title = translate("models", "Choose a model to start detecting")
            details = translate("models", "Download one with a click, or drop an .onnx file, or a .cfg and its .weights, here.")
            self._banners.show_banner(
                "model", Severity.INFO, title, (translate("models", "Choose model…"), self.open_models), details=details
            )

    def open_devices(self) -> None:
        """Show the choice of devices."""
        self.open_dialog()
        if self.dialog is not None:
            QTimer.singleShot(0, self.dialog, partial(self.dialog.pane.show_section, self.dialog.devices))  # after its layout

    def open_dialog(self) -> None:
        """Show the settings."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        self.dialog = SettingsDialog(
            replace(self.preferences, model=self._parts.files),
            self._background,
            self._store,
            self.last_run.sentences,
            self.example(),
            self._window,
        )
        self.dialog.model.set_parts(self._parts)
        if self._offered is not None:
            self.dialog.devices.offer(self._offered)
        self.dialog.model.list_requested.connect(self.open_models)
        self.dialog.folders.sessions_requested.connect(self.sessions_requested)
        self.dialog.finished.connect(self._dialog_closed)
        self.dialog.open()

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

    def open_models(self) -> None:
        """Show the models that can be downloaded."""
        model = self.preferences.model
        gpu = any(known.id.kind != "cpu" and known.available for known in self._offered or ())
        self.library.open(model.cfg if model is not None else None, self.dialog or self._window, gpu)

    def _use(self, files: ModelFiles) -> None:
        if self.dialog is not None:
            self.dialog.model.set_parts(ModelParts.of(files))
            return
        self._parts = ModelParts.of(files)
        self._check(replace(self.preferences, model=files))

    def _check(self, preferences: Preferences) -> None:
        files = preferences.model
        assert files is not None
        self._background.start(self, partial(check_model, files), partial(self._apply, preferences), partial(self._ask_or_say, preferences))

    def _ask_or_say(self, preferences: Preferences, problem: Notice) -> None:
        files = preferences.model
        assert files is not None
        if not self.library.questions.ask(files, problem, self._window, self._use):
            self._unusable(problem)

    def _unusable(self, message: Notice) -> None:
        title, action = translate("models", "The model cannot be used"), (translate("models", "Settings…"), self.open_dialog)
        self._banners.show_banner("model", Severity.ERROR, title, action, details=message)

    def _apply(self, preferences: Preferences, summary: ModelSummary | None) -> None:
        before, self.preferences, self.summary = self.preferences, preferences, summary
        here = self._without_recorded(preferences)
        stored.save(here, self._store)
        self.used_changed.emit(self.used)
        if preferences.model is not None or before.model is not None:  # else the banner still asks for one
            self._banners.remove("model")
        self.model_changed.emit(summary)
        self.floor_changed.emit(preferences.stored_confidence)
        if preferences.confidence != before.confidence:
            self.confidence_changed.emit(preferences.confidence)
        if summary is None or preferences.model is None:
            return
        self.library.own.add(preferences.model)
        settings = here.run_settings()
        apply = partial(self._controller.set_settings, settings, summary.labels)
        if self._controller.running and self._controller.would_change(settings, summary.labels) and self._controller.begun():
            self._ask(apply)
        else:
            apply(restart=False)

    def _ask(self, apply: Callable[..., None]) -> None:
        """Ask whether files that are being detected with the old settings start again."""
        begun = self._controller.begun()
        about = (
            translate("models", "Start again: these files are detected from the beginning with the new settings."),
            translate("models", "Finish first: they keep the old settings."),
            translate("models", "Files that wait get the new settings in either case."),
        )
        head = translate("models", "%Ln files are being detected with the old settings.", None, len(begun))
        texts = head, "\n".join((*opening.listed([item.finished_text for item in begun]), "", *about))
        answers = translate("models", "Start again"), translate("models", "Finish first")
        ask(self._window, translate("models", "New settings"), texts, answers, lambda restart: apply(restart=restart))

    def _devices_found(self, found: tuple[DeviceDescription, ...]) -> None:
        self._found = found
        self.devices_found.emit(found)
        self.used_changed.emit(self.used)
        if self.dialog is not None:
            self.dialog.devices.offer(self._offered or ())

    def _no_devices(self, message: Notice) -> None:
        self._banners.show_banner("devices", Severity.WARNING, translate("models", "The devices cannot be listed"), details=message)
        if self.dialog is not None:
            self.dialog.devices.fail(message)
