"""The list of worst frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QTreeWidgetItem, QWidget

from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import column, label, say, wrapped
from framefleet.app.window.widgets.fields import align, combo_box, plain_tree
from framefleet.app.window.widgets.translation import marked, translate

if TYPE_CHECKING:
    from framefleet.app.window.results.worst_frames import WorstFrame

COLUMNS = (
    marked("results", "File"),
    marked("results", "Time"),
    marked("results", "Frame"),
    marked("results", "Objects"),
    marked("results", "Missed"),
    marked("results", "Wrong"),
)
NUMBERS = range(1, len(COLUMNS))
SIZE = 520, 460


class WorstFramesDialog(QDialog):
    """Lists the worst frames of one session at a time, beside the main window. chosen: the WorstFrame to show."""

    chosen = Signal(object)

    def __init__(self, path: Path, sessions: Mapping[str, Sequence[WorstFrame]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("results", "Worst frames: {name}").format(name=path.parent.name or path.name))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._sessions = sessions
        self.session = combo_box(translate("results", "Session"))
        self.session.addItems([*sessions])
        self.session.setVisible(len(sessions) > 1)
        self.table = plain_tree(translate("results", "Worst frames"), [translate("results", title) for title in COLUMNS], NUMBERS)
        hint = label(
            "small",
            translate(
                "results", "The arrow keys show the next or previous frame. Missed: objects without a box. Wrong: boxes without an object."
            ),
            wrap=True,
        )
        self.remark = wrapped("notice")
        column(self.session, (self.table, 1), self.remark, hint, spacing=10, margins=(16, 16, 16, 12), of=self)
        self.session.currentTextChanged.connect(self._list)
        self.session.currentTextChanged.connect(self.show_worst)
        self.table.currentItemChanged.connect(self._choose)
        self.resize(*SIZE)
        self._list(self.session.currentText())

    def showEvent(self, event: QShowEvent) -> None:
        """Stand beside the main window, or at the edge of the screen, so that the picture can be seen."""
        super().showEvent(event)
        parent = self.parentWidget()
        if parent is not None and not event.spontaneous():
            window, edge = parent.frameGeometry(), parent.screen().availableGeometry().right() + 1
            self.move(min(window.right() + 1, edge - self.frameSize().width()), window.top())

    def show_worst(self) -> None:
        """Choose the first frame."""
        if (first := self.table.topLevelItem(0)) is not None:
            self.table.setCurrentItem(first)

    def _list(self, session: str) -> None:
        self.table.clear()
        frames = self._sessions.get(session, ())
        corrected = translate(
            "results",
            "This session was corrected by hand. Missed and wrong count the model's own detections; the picture shows the corrected ones.",
        )
        say(self.remark, corrected if any(frame.corrected for frame in frames) else "")
        for frame in frames:
            counts = (frame.frame, frame.objects, frame.missed, frame.wrong)
            row = QTreeWidgetItem(self.table, [Path(frame.name).name, frame.moment, *map(formats.count, counts)])
            row.setToolTip(0, str(frame.file))
            row.setData(0, Qt.ItemDataRole.UserRole, frame)
            align(row, NUMBERS)

    def _choose(self, row: QTreeWidgetItem | None, _: QTreeWidgetItem | None) -> None:
        if row is not None:
            self.chosen.emit(row.data(0, Qt.ItemDataRole.UserRole))
