"""Compares models by the results of ``framefleet evaluate``, which compares their detections with true objects."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHeaderView, QLineEdit, QTreeWidgetItem, QWidget

from framefleet.app.window.run.background import Background
from framefleet.app.window.widgets import formats, questions, theme
from framefleet.app.window.widgets.build import column, label, push_button, row
from framefleet.app.window.widgets.fields import align, combo_box, plain_tree
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.notices import Notice, UsageError, literal
from framefleet.engine.store.schema import explained

COMMAND = " ".join(("framefleet", "evaluate", "SESSION", "SESSION", "--truth", "truth.json", "--out", "report"))
MINUS = "\N{MINUS SIGN}"
NUMBERS = 1, 2, 3
"""The columns of figures."""
_SUMMARIES = 4
"""The number of rows over all classes, which stand first."""


@dataclass(frozen=True)
class Evaluated:
    """The results of one model. confidence: at which precision and recall count. classes: AP at IoU 0.50 by label. Fractions are 0..1."""

    name: str
    map50: float
    map50_95: float
    precision: float
    recall: float
    confidence: float
    classes: Mapping[str, float]


def read_evaluation(path: Path) -> list[Evaluated]:
    """Read the results of each session of an evaluation.json.

    Raises UsageError: the file is not such a report, or it holds one session only. Raises ExportError: the file cannot be read.
    """
    with explained(path, "read"):
        content = path.read_bytes()
    try:
        report = json.loads(content)
        found = [_session(entry, float(report["confidence"])) for entry in report["sessions"]]
    except (ValueError, TypeError, KeyError, AttributeError):
        text = translate("models", "{path} is not an evaluation: open an evaluation.json that 'framefleet evaluate --out' wrote")
        raise UsageError(literal(text.format(path=path))) from None
    if len(found) < 2:
        text = translate("models", "{path} has one model only: evaluate the sessions of two models together, on the same videos")
        raise UsageError(literal(text.format(path=path)))
    return found


def _session(entry: Mapping[str, Any], confidence: float) -> Evaluated:
    map50, map50_95, precision, recall = (float(entry[name]) for name in ("map50", "map50_95", "precision", "recall"))
    classes = {str(each["label"]): float(each["ap50"]) for each in entry["classes"]}
    return Evaluated(str(entry["name"]), map50, map50_95, precision, recall, confidence, classes)


def compared(one: Evaluated, other: Evaluated) -> list[tuple[str, float, float]]:
    """Rows of a comparison: what, and its value for each. First the results over all classes, then the classes that differ most."""
    at = formats.share(one.confidence)
    rows = [
        ("mAP@0.5", one.map50, other.map50),
        ("mAP@0.5:0.95", one.map50_95, other.map50_95),
        (translate("models", "Precision at confidence {confidence}").format(confidence=at), one.precision, other.precision),
        (translate("models", "Recall at confidence {confidence}").format(confidence=at), one.recall, other.recall),
    ]
    labels = sorted(one.classes.keys() & other.classes.keys(), key=lambda name: (-abs(other.classes[name] - one.classes[name]), name))
    return rows + [(name, one.classes[name], other.classes[name]) for name in labels]


class ExplanationDialog(QDialog):
    """Explains how models are compared."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("models", "Comparison of models"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        first = (
            translate("models", "See in a video where two models differ: detect in it with both, then show both results over the picture."),
            translate("models", "To measure which of them finds more of the true objects:"),
        )
        steps = (
            translate("models", "1. Detect in the same videos with both models. Each run is stored as a session."),
            translate("models", "2. Mark the true objects in a tool such as CVAT, and export them as COCO, CVAT or YOLO."),
            translate("models", "3. Run this command in a terminal, with the folders of both sessions and your true objects:"),
        )
        self.results_button = push_button(translate("models", "Compare two results of the shown video…"), role="primary")
        self.command = QLineEdit(COMMAND, readOnly=True)
        self.command.setAccessibleName(translate("models", "Command"))
        self.copy = push_button(translate("models", "Copy"), self._copy)
        last = label("", translate("models", "4. Open the evaluation.json that it writes."))
        self.open_button = push_button(translate("models", "Open an evaluation…"))
        self.close_button = push_button(translate("models", "Close"), self.reject)
        buttons = row(None, self.open_button, self.close_button, spacing=8)
        words = [label("", step, wrap=True) for step in steps]
        titles = [label("", step, wrap=True) for step in first]
        begin = (titles[0], row(self.results_button, None), 10, titles[1])
        box = column(
            *begin, *words, row((self.command, 1), self.copy, spacing=8), last, 8, buttons, spacing=8, margins=(16, 16, 16, 12), of=self
        )
        self.resize(640, box.heightForWidth(640))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(COMMAND)
        self.copy.setText(translate("models", "Copied"))


class ComparisonDialog(QDialog):
    """Shows two models side by side, and the difference in percentage points."""

    def __init__(self, models: Sequence[Evaluated], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("models", "Comparison of models"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._models = tuple(models)
        self.first, self.second = combo_box(translate("models", "First model")), combo_box(translate("models", "Second model"))
        for box, chosen in ((self.first, 0), (self.second, 1)):
            box.addItems([model.name for model in models])
            box.setCurrentIndex(chosen)
            box.currentIndexChanged.connect(self._show)
        self.table = plain_tree(translate("models", "Results of both models"), [""] * 4, NUMBERS)
        header, modes = self.table.header(), QHeaderView.ResizeMode
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for position, mode in ((0, modes.ResizeToContents), (1, modes.Stretch), (2, modes.Stretch)):  # the names of sessions can be long
            header.setSectionResizeMode(position, mode)
        hint = label(
            "small", translate("models", "Below the four bold rows: average precision of each class, the largest difference first.")
        )
        self.close_button = push_button(translate("models", "Close"), self.reject)
        column(
            row((self.first, 1), (self.second, 1), spacing=10),
            (self.table, 1),
            hint,
            row(None, self.close_button),
            spacing=10,
            margins=(16, 16, 16, 12),
            of=self,
        )
        self.resize(640, 520)
        self._show()

    def _show(self) -> None:
        one, other = self._models[self.first.currentIndex()], self._models[self.second.currentIndex()]
        self.table.clear()
        self.table.setHeaderLabels(["", one.name, other.name, translate("models", "Difference")])
        for position, tip in ((1, one.name), (2, other.name), (3, translate("models", "Percentage points"))):
            self.table.headerItem().setToolTip(position, tip)
        for number, (title, before, after) in enumerate(compared(one, other)):
            change = round(100 * after, 1) - round(100 * before, 1)  # of the shown figures
            points = formats.decimal(round(change, 1) + 0.0)
            line = QTreeWidgetItem(
                self.table, [title, formats.share(before), formats.share(after), f"+{points}" if change > 0 else points.replace("-", MINUS)]
            )
            if number < _SUMMARIES:
                line.setFont(0, theme.font(bold=True))
            align(line, NUMBERS)


def ask_for_comparison(window: QWidget, background: Background, results: Callable[[], object], failed: Callable[[Notice], None]) -> None:
    """Explain how models are compared, and let the user choose stored results or an evaluation.

    results: called for stored results. failed: takes the reason if an evaluation cannot be read.
    """

    def choose() -> None:
        kinds = translate("models", "Evaluations (evaluation.json *.json)")
        chosen = partial(open_comparison, window, background, failed)
        questions.choose_path(window, translate("models", "Open an evaluation"), lambda name: chosen(Path(name)), kinds)

    dialog = ExplanationDialog(window)
    dialog.results_button.clicked.connect(dialog.accept)
    dialog.results_button.clicked.connect(results)
    dialog.open_button.clicked.connect(dialog.accept)
    dialog.open_button.clicked.connect(choose)
    dialog.open()


def open_comparison(window: QWidget, background: Background, failed: Callable[[Notice], None], path: Path) -> None:
    """Read an evaluation in the background, and show it."""
    background.start(window, partial(read_evaluation, path), lambda models: ComparisonDialog(models, window).show(), failed)
