"""The form for choosing a model: three files, checked after each change."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from framefleet.app.window.models.parts import ModelParts
from framefleet.app.window.queue.intake import Intake
from framefleet.app.window.session.background import Background
from framefleet.app.window.start_page import model_line
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import column, label, push_button, row, set_role
from framefleet.app.window.widgets.fields import PathField, form_grid
from framefleet.app.window.widgets.painting import Symbol
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.check import ModelSummary, check_model
from framefleet.engine.model.files import find_weights
from framefleet.engine.settings import ModelFiles

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
        self._turn = 0
        self.summary: ModelSummary | None = None
        self.cfg = PathField(translate("settings", "network description"), translate("settings", "Darknet network (*.cfg)"), "yolov4.cfg")
        self.weights = PathField(translate("settings", "weights"), translate("settings", "Darknet weights (*.weights)"), "yolov4.weights")
        self.labels = PathField(
            translate("settings", "labels"),
            translate("settings", "Labels (*.names *.txt)"),
            translate("settings", "Found beside the network, or COCO's for 80 classes"),
        )
        self.icon, self.verdict = Symbol(), label("muted", wrap=True)
        self.verdict.setMinimumHeight(2 * self.verdict.fontMetrics().height())
        self.from_list = push_button(translate("settings", "Download a model…"), self.list_requested)
        form = form_grid(
            (
                (translate("settings", "Network (.cfg)"), self.cfg),
                (translate("settings", "Weights"), self.weights),
                (translate("settings", "Labels"), self.labels),
            )
        )
        below = row(self.icon, (self.verdict, 1), (self.from_list, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        column(form, below, spacing=10, of=self)
        self._timer = QTimer(self, singleShot=True, interval=CHECK_AFTER_MS)
        self._timer.timeout.connect(self._check)
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
            if cfg is not None and not self.weights.text and cfg.is_file() and (found := find_weights(cfg)) is not None:
                self.weights.set_path(found)
        self._schedule()

    def _schedule(self) -> None:
        self._turn += 1
        self._set_summary(None)
        self._timer.start()

    def _check(self) -> None:
        files = self.files
        if files is None:
            self._show_verdict("info", "MUTED", self.parts.missing)
            return
        self._show_verdict("info", "MUTED", translate("settings", "Checking…"))
        self._background.start(
            self, partial(check_model, files), self._for_turn(self._fits), self._for_turn(partial(self._show_verdict, "error", "DANGER"))
        )

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
            "check", "GOOD", translate("settings", "{summary}\nLabels: {labels}").format(summary=model_line(summary), labels=labels)
        )
        self._set_summary(summary)

    def _set_summary(self, summary: ModelSummary | None) -> None:
        self.summary = summary
        self.checked.emit(summary)

    def _show_verdict(self, symbol: str, colour: str, text: str) -> None:
        self.icon.show_icon(symbol, colour)
        self.verdict.setText(formats.shortened(text))
        set_role(self.verdict, "error" if symbol == "error" else "muted")
