"""A model of the user's own in the list of models."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.window.models.card import button_box
from app.window.models.figures import of_summary
from app.window.widgets.build import column, label, push_button, row
from app.window.widgets.translation import translate
from engine.model.check import ModelSummary
from engine.settings import ModelFiles


class OwnCard(QFrame):
    """Shows a model's figures, or why it cannot be used. The signals carry its ModelFiles."""

    use_requested = Signal(object)
    remove_requested = Signal(object)

    def __init__(self, files: ModelFiles, found: ModelSummary | str, in_use: bool) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.files = files
        usable = isinstance(found, ModelSummary)
        title = found.name if isinstance(found, ModelSummary) else files.cfg.stem
        weights = files.weights.name if isinstance(files.weights, Path) else str(files.weights)
        note = label("small", f"{files.cfg.parent}\n{weights}", wrap=True)
        self.use = push_button(translate("models", "In use") if in_use else translate("models", "Use"), role="primary")
        self.remove = push_button(translate("models", "Remove"), role="flat")
        self.use.setEnabled(usable and not in_use)
        self.remove.setEnabled(not in_use)
        self.remove.setToolTip(translate("models", "Remove it from this list. Its files are kept."))
        self.use.clicked.connect(lambda: self.use_requested.emit(files))
        self.remove.clicked.connect(lambda: self.remove_requested.emit(files))
        for button in (self.use, self.remove):
            button.setAccessibleName(f"{button.text()} {title}")
        buttons = button_box(self.use, self.remove)
        words = column(None, label("section", title), note, None, spacing=3)
        if isinstance(found, ModelSummary):
            across = row((words, 1), of_summary(found), buttons, spacing=16)
        else:
            across = row((words, 1), (label("error", found, wrap=True), 1), buttons, spacing=16)
        column(across, margins=(16, 10, 14, 10), of=self)
        self.setAccessibleName(f"{title}, {found}" if isinstance(found, str) else title)
