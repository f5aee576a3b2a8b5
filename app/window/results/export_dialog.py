"""The dialog that asks what to export: files, format, part, detections, options and folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.window.queue.item import Part, QueueItem
from app.window.results.command import command_of
from app.window.results.export_filter import FilterForm
from app.window.results.export_options import OptionsForm
from app.window.viewer.filter import ViewFilter
from app.window.widgets.build import column, label, push_button, row, say, wrapped
from app.window.widgets.fields import PathField, combo_box, form_grid
from app.window.widgets.formats import capitalised
from app.window.widgets.translation import marked, translate
from engine.errors import FramefleetError
from engine.media.types import SourceKind
from engine.store.export.planning import Planned, plan_export
from engine.store.exporters import EXPORTERS
from engine.store.exporters.common.options import ExportOptions
from engine.store.session import SessionReader, StoredSource
from engine.store.view import View
from engine.zones.shapes import ZoneSet

WIDTH = 560
EXISTS = marked(
    "results", "{names} is there already: it is replaced if it is an earlier export of the same file; otherwise, the new one gets a number."
)
ALL, SOME = -1, -2
"""What the field for files holds in place of a source's number."""
LIST_HEIGHT = 110
"""Height of the list of files, logical pixels."""
FEW = 3
"""Most file names that are listed."""


@dataclass(frozen=True)
class ExportChoice:
    """What to export. view: which results. only: numbers of the sources in the session, None = all. form: name of the exporter."""

    view: View
    only: tuple[int, ...] | None
    form: str
    folder: Path
    options: ExportOptions


class ExportDialog(QDialog):
    """Asks for the files, the format, its options and the folder; after the dialog is accepted, ``choice`` has them.

    sources: of the item's session. shown, form, folder, part: what the fields show first. zones: of the file.
    """

    def __init__(
        self,
        item: QueueItem,
        sources: Sequence[StoredSource],
        shown: ViewFilter,
        form: str,
        folder: Path,
        parent: QWidget | None = None,
        zones: ZoneSet | None = None,
        part: Part | None = None,
    ) -> None:
        super().__init__(parent)
        if item.results is None:
            raise ValueError("the file has no results")
        self.setWindowTitle(translate("results", "Export"))
        self._results, self._sources = item.results, sources
        self.files = combo_box(translate("results", "Files"))
        self.files.addItem(item.path.name or str(item.path), item.results.source)
        if len(sources) > 1:
            self.files.addItem(translate("results", "All %Ln files of this run", None, len(sources)), ALL)
            self.files.addItem(translate("results", "Some files of this run"), SOME)
        self.chosen = QListWidget()
        self.chosen.setAccessibleName(translate("results", "Files of this run"))
        self.chosen.setFixedHeight(LIST_HEIGHT)
        for source in sources:
            line = QListWidgetItem(source.name, self.chosen)
            line.setData(Qt.ItemDataRole.UserRole, source.number)
            line.setCheckState(Qt.CheckState.Checked if source.number == item.results.source else Qt.CheckState.Unchecked)
        self.form = combo_box(translate("results", "Format"))
        for name, exporter in EXPORTERS.items():
            self.form.addItem(translate("exporters", exporter.title), name)
        self.purpose = label("small", wrap=True)
        self._zones = zones
        self.options = OptionsForm(item.results.labels, zones)
        self.folder = PathField(translate("results", "Folder"), "", translate("results", "Where to write the files"), folders=True)
        self.folder.set_path(folder)
        pictures = any(source.kind is SourceKind.IMAGES for source in sources if source.number == item.results.source)
        self.filter = FilterForm(item.results.labels, shown, part, pictures)
        self.command = QLineEdit(readOnly=True)
        self.command.setAccessibleName(translate("results", "The same as a command"))
        self.command.setToolTip(translate("results", "This command writes the same files"))
        self.copy = push_button(translate("results", "Copy"), self._copy, tip=translate("results", "Copy the command"))
        command = QWidget()
        row((self.command, 1), self.copy, spacing=8, of=command)
        self.writes, self.problem, self.replaces = label("small", wrap=True), wrapped("error"), wrapped("notice")
        lines = (self.writes, self.replaces, self.problem)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start = self.buttons.addButton(translate("results", "Export"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        column(
            form_grid(
                (
                    (translate("results", "Files"), self.files),
                    ("", self.chosen),
                    (translate("results", "Format"), self.form),
                    ("", self.purpose),
                )
            ),
            self.options,
            self.filter,
            form_grid(
                (
                    (translate("results", "Folder"), self.folder),
                    *(("", line) for line in lines),
                    (translate("results", "Command"), command),
                )
            ),
            None,
            self.buttons,
            spacing=14,
            margins=(24, 20, 24, 16),
            of=self,
        )
        self.form.setCurrentIndex(max(0, self.form.findData(form)))
        combos = (self.files.currentIndexChanged, self.form.currentIndexChanged, self.chosen.itemChanged)
        for changed in (*combos, self.folder.changed, self.options.changed, self.filter.changed):
            changed.connect(self._update)
        self.setMinimumWidth(WIDTH)
        self._update()

    @property
    def _only(self) -> tuple[int, ...] | None:
        """The numbers of the chosen sources, None = all."""
        files = self.files.currentData()
        if files == SOME:
            lines = [self.chosen.item(place) for place in range(self.chosen.count())]
            return tuple(line.data(Qt.ItemDataRole.UserRole) for line in lines if line.checkState() == Qt.CheckState.Checked)
        return None if files == ALL else (files,)

    @property
    def choice(self) -> ExportChoice:
        """What the fields say. Raises UsageError: they have a problem."""
        form = self.form.currentData()
        options = self.options.options(EXPORTERS[form].options)
        view = View(self._results.database, **self.filter.view())
        return ExportChoice(view, self._only, form, self.folder.path or Path(), options)

    def _problem(self) -> str:
        """What is wrong with the fields, "" = nothing."""
        exporter, only = EXPORTERS[self.form.currentData()], self._only
        kinds = {source.kind for source in self._sources if only is None or source.number in only}
        if not kinds:
            return translate("results", "Choose at least one file.")
        if not kinds & exporter.kinds:
            return translate("results", "{title} is for videos only: choose another format.").format(
                title=translate("exporters", exporter.title)
            )
        if self.folder.path is None or not self.folder.path.is_absolute():
            return translate("results", "Choose a folder.")
        if self.form.currentData() == "zones" and self._zones is None:
            return translate("results", "This file has no lines and zones: draw some first (Ctrl + 3).")
        return self.options.problem(exporter.options) or self.filter.problem

    @Slot()
    def _update(self) -> None:
        exporter = EXPORTERS[self.form.currentData()]
        self.purpose.setText(f"{translate('exporters', exporter.purpose)}.")
        self.options.show_options(exporter.options)
        self.chosen.setVisible(self.files.currentData() == SOME)
        names: list[Planned] = []
        existing: list[Planned] = []
        command, problem = "", self._problem()
        if not problem:
            choice = self.choice
            try:
                with SessionReader.of(choice.view) as reader:
                    names = plan_export(reader, [choice.form], choice.options, choice.only, whole=False)
                sources = [source.name for source in self._sources if choice.only is not None and source.number in choice.only]
                command = command_of(choice.view, sources, choice.form, choice.folder, choice.options)
            except FramefleetError as error:
                problem = capitalised(str(error))
            existing = [planned for planned in names if (choice.folder / planned.name).exists()]
        say(self.writes, translate("results", "Writes {names}.").format(names=_listed(names)) if names else "")
        say(self.replaces, translate("results", EXISTS).format(names=_listed(existing)) if existing else "")
        say(self.problem, problem)
        self.command.setText(command)
        self.command.setCursorPosition(0)
        self.copy.setEnabled(bool(command))
        self.start.setEnabled(not problem and bool(names))
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the height when the style, which sets the sizes of fonts, is known."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Give the dialog the height that its fields need. ``adjustSize`` would take no more than two thirds of the screen's height."""

        def fit() -> None:
            layout = self.layout()
            assert layout is not None
            layout.activate()
            self.resize(self.width(), layout.totalHeightForWidth(self.width()))

        QTimer.singleShot(0, self, fit)  # when the forms inside know their new heights

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.command.text())


def _listed(planned: Sequence[Planned]) -> str:
    """The first names, and the number of further ones."""
    names = [translate("results", "the folder {name}").format(name=each.name) if each.output.folder else each.name for each in planned]
    return (
        ", ".join(names)
        if len(names) <= FEW + 1
        else translate("results", "{names} and {count} more").format(names=", ".join(names[:FEW]), count=len(names) - FEW)
    )
