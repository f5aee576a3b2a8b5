"""The parts of the settings dialog that the engine's table does not describe: devices, model files, the window itself, and folders."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from platformdirs import user_log_path
from PySide6.QtCore import QSettings, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QGridLayout, QPushButton, QWidget

from framefleet.app.window.models.files import ModelParts
from framefleet.app.window.models.questions import ModelQuestions
from framefleet.app.window.queue.opening import ONNX, Intake
from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import formats, painting, questions, theme
from framefleet.app.window.widgets.appearance import KEY, Theme, apply_theme, current_theme, stored_theme
from framefleet.app.window.widgets.build import ElidedLabel, column, label, push_button, row, say, set_role, wrapped
from framefleet.app.window.widgets.fields import TITLE_WIDTH, PathField, combo_box, form_grid
from framefleet.app.window.widgets.translation import LANGUAGE, LANGUAGES, marked, of_engine, translate
from framefleet.engine.devices.discovery import DeviceDescription, default_devices
from framefleet.engine.model.files import find_weights
from framefleet.engine.model.load import ModelSummary, check_model
from framefleet.engine.notices import DeviceError, ExportError, Notice, UsageError, literal
from framefleet.engine.settings import ModelFiles
from framefleet.engine.settings.folders import Folder, choose, stored
from framefleet.engine.types import DeviceId

FEW = 3
_AUTOMATIC = marked("settings", "Automatic: the best available")


class DeviceForm(QWidget):
    """A check box for "automatic" and one for each device. changed: a tick has changed, or devices were found."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.automatic = QCheckBox(translate("settings", _AUTOMATIC))
        self.automatic.setChecked(True)
        self.automatic.toggled.connect(self._enable)
        self.hint = label("small", translate("settings", "Looking for devices…"), wrap=True)
        self.problem = wrapped("error")
        self.boxes: dict[DeviceId, QCheckBox] = {}
        self.found: tuple[DeviceDescription, ...] | None = None
        self._wanted: tuple[DeviceId, ...] = ()
        self._grid = QGridLayout()
        self._grid.setContentsMargins(22, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        column(self.automatic, self.hint, self._grid, self.problem, spacing=6, of=self)
        self.setFocusProxy(self.automatic)
        self.search_words = translate("settings", "GPU graphics card CUDA NVIDIA OpenVINO CPU processor")

    @property
    def devices(self) -> tuple[DeviceId, ...]:
        """The chosen devices; empty = automatic."""
        if self.automatic.isChecked():
            return ()
        return tuple(device for device, box in self.boxes.items() if box.isChecked()) if self.boxes else self._wanted

    @property
    def none_ticked(self) -> bool:
        """Whether the choice is not automatic although no device is ticked."""
        return not self.automatic.isChecked() and not self.devices

    @property
    def default(self) -> tuple[DeviceId, ...]:
        """The devices that the automatic choice uses; empty while unknown."""
        try:
            return default_devices(self.found) if self.found else ()
        except DeviceError:
            return ()

    @property
    def offered(self) -> dict[DeviceId, tuple[str, ...]]:
        """The precisions of the available devices."""
        return {known.id: known.precisions for known in self.found or () if known.available}

    def set_devices(self, devices: Sequence[DeviceId]) -> None:
        """Tick these devices; none = automatic."""
        self._wanted = tuple(devices)
        self.automatic.setChecked(not devices)
        for device, box in self.boxes.items():
            box.setChecked(device in devices)
        self._enable()

    def offer(self, found: Sequence[DeviceDescription]) -> None:
        """List the devices that were found. A chosen device that was not found stays listed, with a note."""
        self.found = tuple(found)
        for description in found:
            self._add(description.id, _described(description), description.problem)
        for device in self._wanted:
            if device not in self.boxes and device.kind == "cpu":
                self._add(device, translate("settings", "Shares the processor with the other CPU devices"), None)
            elif device not in self.boxes:
                self._add(device, "", literal(translate("settings", "It was not found on this machine.")), usable=True)
        used = self.default
        names = ", ".join(map(str, used)) if len(used) <= FEW else formats.plural(len(used), "device")
        automatic = translate("settings", _AUTOMATIC)
        self.automatic.setText(f"{automatic} ({names})" if used else automatic)
        self.hint.hide()
        self._enable()

    def _add(self, device: DeviceId, detail: str, problem: Notice | None, usable: bool = False) -> None:
        box = QCheckBox(str(device))
        box.setAccessibleName(", ".join(filter(None, (str(device), detail, of_engine(problem)))))
        box.setChecked(device in self._wanted)
        box.setProperty("usable", usable or problem is None)
        box.toggled.connect(self.changed)
        row = self._grid.rowCount()
        self._grid.addWidget(box, row, 0)
        line = ElidedLabel("small")
        line.setToolTip(detail)
        self._grid.addWidget(line, row, 1)
        say(line, detail)
        if problem is not None:
            why = wrapped("notice")
            self._grid.addWidget(why, row + 1 if detail else row, 1)
            say(why, of_engine(problem, capital=True))
        self.boxes[device] = box

    def fail(self, message: Notice) -> None:
        """Show why the search for devices failed."""
        self.hint.setText(of_engine(message, capital=True))

    def _enable(self) -> None:
        automatic, used = self.automatic.isChecked(), self.default
        for device, box in self.boxes.items():
            if automatic:
                with QSignalBlocker(box):
                    box.setChecked(device in used)  # so that the user sees what is used
            box.setEnabled(not automatic and (box.property("usable") or box.isChecked()))
        self.changed.emit()


def _described(known: DeviceDescription) -> str:
    """``NVIDIA H200 · 140.4 GiB · fp32, fp16 · TensorRT``."""
    memory = formats.gib(known.memory) if known.memory else ""
    return " · ".join(filter(None, (known.name, memory, ", ".join(known.precisions), known.backend)))


CHECK_AFTER_MS = 200
"""Time without typing after which the files are checked."""


class ModelForm(QWidget):
    """Fields for cfg, weights and labels. checked: the ModelSummary, None without a usable model.

    list_requested: the user wants to download a model.
    """

    checked = Signal(object)
    list_requested = Signal()

    def __init__(self, background: Background) -> None:
        super().__init__()
        self._background = background
        self.questions = ModelQuestions(background, self)
        self._turn = 0
        self.summary: ModelSummary | None = None
        self.cfg = PathField(translate("settings", "network description"), translate("settings", "Networks (*.cfg *.onnx)"), "yolov4.cfg")
        self.weights = PathField(translate("settings", "weights"), translate("settings", "Darknet weights (*.weights)"), "yolov4.weights")
        self.labels = PathField(
            translate("settings", "labels"),
            translate("settings", "Labels (*.names *.txt *.yaml)"),
            translate("settings", "Found beside the network, or COCO's for 80 classes"),
        )
        self.icon, self.verdict = painting.Symbol(), label("muted", wrap=True)
        self.verdict.setMinimumHeight(2 * self.verdict.fontMetrics().height())
        self.from_list = push_button(translate("settings", "Download a model…"), self.list_requested)
        form = form_grid(
            (
                (translate("settings", "Network (.cfg or .onnx)"), self.cfg),
                (translate("settings", "Weights"), self.weights),
                (translate("settings", "Labels"), self.labels),
            )
        )
        below = row(self.icon, (self.verdict, 1), (self.from_list, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        column(form, below, spacing=10, of=self)
        self._timer = QTimer(self, singleShot=True, interval=CHECK_AFTER_MS)
        self._timer.timeout.connect(self.check)
        self.cfg.changed.connect(self._cfg_changed)
        for field in (self.weights, self.labels):
            field.changed.connect(self._schedule)
        self._show_verdict("info", "MUTED", ModelParts().missing)

    @property
    def parts(self) -> ModelParts:
        """The files that the fields name."""
        weights = self.weights.text if self.weights.text.startswith("random:") else self.weights.path
        return ModelParts(self.cfg.path, weights, self.labels.path)

    @property
    def files(self) -> ModelFiles | None:
        """The model, None without cfg or weights."""
        return self.parts.files

    def set_parts(self, parts: ModelParts) -> None:
        """Fill the fields."""
        for field, value in ((self.cfg, parts.cfg), (self.weights, parts.weights), (self.labels, parts.labels)):
            field.set_path(value)

    def take(self, intake: Intake) -> None:
        """Take dropped files."""
        self.set_parts(self.parts.updated(intake))

    def _cfg_changed(self) -> None:
        cfg = self.cfg.path
        with suppress(OSError):  # the check says why the file cannot be examined
            if cfg is not None and cfg.suffix.lower() == ONNX:
                self.weights.set_path(cfg)
            elif cfg is not None and not self.weights.text and cfg.is_file() and (found := find_weights(cfg)) is not None:
                self.weights.set_path(found)
        self._schedule()

    def _schedule(self) -> None:
        self._turn += 1
        self._set_summary(None)
        self._timer.start()

    def check(self) -> None:
        """Check the files in the background, and say whether they fit."""
        files = self.files
        if files is None:
            self._show_verdict("info", "MUTED", self.parts.missing)
            return
        self._show_verdict("info", "MUTED", translate("settings", "Checking…"))
        self._background.start(
            self, partial(check_model, files), self._for_turn(self._fits), self._for_turn(partial(self._ask_or_say, files))
        )

    def _ask_or_say(self, files: ModelFiles, problem: Notice) -> None:
        self._show_verdict("error", "DANGER", problem)
        self.questions.ask(files, problem, self, self._answered)

    def _answered(self, files: ModelFiles) -> None:
        self.set_parts(ModelParts.of(files))
        self._schedule()

    def _for_turn(self, show: Callable[..., None]) -> Callable[..., None]:
        """A callback that ignores the answer if the fields have changed since."""
        turn = self._turn

        def deliver(answer: object) -> None:
            if turn == self._turn:
                show(answer)

        return deliver

    def _fits(self, summary: ModelSummary) -> None:
        labels = ", ".join(summary.labels[:3]) + (", …" if len(summary.labels) > 3 else "")
        self._show_verdict(
            "check", "GOOD", translate("settings", "{summary}\nLabels: {labels}").format(summary=formats.model_line(summary), labels=labels)
        )
        if summary.licence is not None:
            licence = translate("settings", "Licence, as the file says: {licence}").format(licence=summary.licence)
            self.verdict.setText(f"{self.verdict.text()}\n{licence}")
        self._set_summary(summary)

    def _set_summary(self, summary: ModelSummary | None) -> None:
        self.summary = summary
        self.checked.emit(summary)

    def _show_verdict(self, symbol: str, colour: str, text: Notice | str) -> None:
        self.icon.show_icon(symbol, colour)
        self.verdict.setText(formats.shortened(of_engine(text) if isinstance(text, Notice) else text))
        set_role(self.verdict, "error" if symbol == "error" else "muted")


class WindowForm(QWidget):
    """Fields for theme and language. The theme shows at once; ``keep`` stores both, ``restore`` takes the theme back."""

    def __init__(self, store: QSettings) -> None:
        super().__init__()
        self._store, self._before = store, current_theme()
        system = translate("settings", "As the system")
        themes = {Theme.SYSTEM: system, Theme.DARK: translate("settings", "Dark"), Theme.LIGHT: translate("settings", "Light")}
        self.theme = combo_box(translate("settings", "Theme"), themes)
        self.language = combo_box(translate("settings", "Language"), {"": system} | LANGUAGES)
        self.values = {"theme": str(self._before), "language": str(store.value(LANGUAGE) or "")}
        self._shown = self.values["language"]
        self.theme.currentIndexChanged.connect(lambda: _apply(stored_theme(self.theme.currentData())))
        rows = ((translate("settings", "Theme"), self.theme), (translate("settings", "Language"), self.language))
        column(form_grid(rows), spacing=6, of=self)

    @property
    def values(self) -> dict[str, str]:
        """The chosen theme and language, "" = the system's language."""
        return {"theme": str(self.theme.currentData()), "language": str(self.language.currentData())}

    @values.setter
    def values(self, values: Mapping[str, str]) -> None:
        _pick(self.theme, stored_theme(values.get("theme")))
        _pick(self.language, values.get("language", ""))

    @property
    def language_changed(self) -> bool:
        """Whether another language is chosen than the one that is shown."""
        return self.values["language"] != self._shown

    def keep(self) -> None:
        """Store both choices."""
        self._store.setValue(KEY, self.values["theme"])
        self._store.setValue(LANGUAGE, self.values["language"])

    def restore(self) -> None:
        """Show the theme of before."""
        _apply(self._before)


def _pick(combo: QComboBox, value: str) -> None:
    combo.setCurrentIndex(max(combo.findData(value), 0))


def _apply(choice: Theme) -> None:
    application = QApplication.instance()
    if isinstance(application, QApplication) and choice is not current_theme():
        apply_theme(application, choice)


MOVABLE = {
    marked("settings", "Sessions"): Folder.SESSIONS,
    marked("settings", "Models"): Folder.MODELS,
    marked("settings", "Cache"): Folder.CACHE,
}


def own_folders() -> dict[str, Path]:
    """The folders of this user, by what they hold."""
    chosen = stored()
    return {title: chosen.get(folder, folder.path) for title, folder in MOVABLE.items()} | {
        marked("settings", "Logs"): user_log_path("framefleet", appauthor=False)
    }


def sizes_of(folders: Sequence[Path]) -> list[int]:
    """The size of the files in each folder, bytes; 0 if it does not exist."""
    sizes = []
    for folder in folders:
        size = 0
        for path in folder.rglob("*"):
            with suppress(OSError):  # deleted meanwhile
                size += path.lstat().st_size if path.is_file() else 0
        sizes.append(size)
    return sizes


def empty_folder(folder: Path) -> None:
    """Delete what a folder holds, but not the folder. Raises ExportError if something cannot be deleted."""
    try:
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExportError(
            literal(
                translate("settings", "{filename} cannot be deleted: {strerror}").format(filename=error.filename, strerror=error.strerror)
            )
        ) from error


class FoldersForm(QWidget):
    """A row for each folder: its path, its size, and buttons that move, show and clean it.

    sessions_requested, models_requested: the user wants to clean up there.
    """

    sessions_requested = Signal()
    models_requested = Signal()

    def __init__(self, background: Background, folders: Mapping[str, Path] | None = None) -> None:
        super().__init__()
        self._background, self._folders = background, dict(own_folders() if folders is None else folders)
        self.sizes = {name: label("small", formats.size(0)) for name in self._folders}
        self.paths = {name: ElidedLabel("small", Qt.TextElideMode.ElideMiddle) for name in self._folders}
        self.problem, self.note = wrapped("error"), wrapped("small")
        clean_up = translate("settings", "Clean up…")
        kept = translate("settings", "Built engines and other files that are made again when needed")
        cleaning = {
            Folder.SESSIONS: (clean_up, self.sessions_requested, translate("settings", "Delete old or large sessions")),
            Folder.MODELS: (clean_up, self.models_requested, translate("settings", "Remove downloaded models")),
            Folder.CACHE: (translate("settings", "Empty"), self._empty, kept),
        }
        self.clean: dict[str, QPushButton] = {}
        self.default: dict[str, QPushButton] = {}
        grid = QGridLayout()
        grid.setColumnMinimumWidth(0, TITLE_WIDTH * theme.base_size())
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(8)
        for line, name in enumerate(self._folders):
            title = translate("settings", name)
            show = push_button(translate("settings", "Show"), partial(self._reveal, name), role="link")
            parts: list[QWidget] = [label("", title), self.paths[name], self.sizes[name], show]
            if name in MOVABLE:
                text, act, tip = cleaning[MOVABLE[name]]
                clean = self.clean[name] = push_button(text, act, role="link", tip=tip)
                move = push_button(translate("settings", "Change…"), partial(self._ask, name), role="link")
                default = self.default[name] = push_button(translate("settings", "Default"), role="link")
                default.clicked.connect(partial(self.move_to, name, MOVABLE[name].default))
                parts += [move, clean, default]
            for place, part in enumerate(parts):
                grid.addWidget(part, line, place)
                if isinstance(part, QPushButton):
                    part.setAccessibleName(f"{part.text()} {title}")
                    grid.setAlignment(part, Qt.AlignmentFlag.AlignLeft)
            grid.setAlignment(self.sizes[name], Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        column(grid, self.note, self.problem, spacing=6, of=self)
        self._show_paths()
        self._measure()

    def _show_paths(self) -> None:
        for name, folder in self._folders.items():
            say(self.paths[name], str(folder))
            self.paths[name].setToolTip(str(folder))
            if name in self.default:
                self.default[name].setVisible(folder != MOVABLE[name].default)

    def _ask(self, name: str) -> None:
        title = translate("settings", "Choose a folder")
        questions.choose_path(
            self, title, lambda path: self.move_to(name, Path(path)), at=str(self._folders[name]), mode=questions.Mode.Directory
        )

    def move_to(self, name: str, path: Path, _checked: bool = False) -> None:
        """Use another folder from the next start on."""
        folder = MOVABLE[name]
        try:
            choose(folder, None if path == folder.default else path)
        except UsageError as error:
            say(self.problem, of_engine(error.notice, capital=True))
            return
        say(self.problem, "")
        self._folders[name] = path
        self._show_paths()
        self._measure()
        say(self.note, translate("settings", "The new folder is used from the next start. Files in the old folder stay there."))

    def _measure(self) -> None:
        self._background.start(self, partial(sizes_of, list(self._folders.values())), self._show_sizes, self._fail)

    def _show_sizes(self, sizes: Sequence[int]) -> None:
        for line, size in zip(self.sizes.values(), sizes, strict=True):
            line.setText(formats.size(size))

    def _reveal(self, name: str) -> None:
        folder = self._folders[name]
        folder.mkdir(parents=True, exist_ok=True)
        questions.show_folder(folder)

    def _empty(self) -> None:
        say(self.problem, "")
        self._background.start(self, partial(empty_folder, self._folders["Cache"]), lambda _: self._measure(), self._fail)

    def _fail(self, message: Notice) -> None:
        say(self.problem, of_engine(message, capital=True))
