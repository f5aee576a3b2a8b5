"""The dialog that asks what to export: files, format, options and folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from app.window.queue.item import QueueItem
from app.window.results.export_options import OptionsForm
from app.window.viewer.filter import ViewFilter
from app.window.widgets import formats
from app.window.widgets.build import column, label, say, wrapped
from app.window.widgets.fields import PathField, combo_box, form_grid
from app.window.widgets.translation import marked, translate
from engine.errors import FramefleetError
from engine.store.export.planning import Planned, plan_export
from engine.store.exporters import EXPORTERS
from engine.store.exporters.common.options import ExportOptions
from engine.store.session import SessionReader, StoredSource
from engine.zones.shapes import ZoneSet

WIDTH = 560
EXISTS = marked(
    "results", "{names} is there already: it is replaced if it is an earlier export of the same file; otherwise, the new one gets a number."
)
FEW = 3
"""Most file names that are listed."""


@dataclass(frozen=True)
class ExportChoice:
    """What to export. only: number of the source in the session, None = all sources. form: name of the exporter."""

    database: Path
    only: int | None
    form: str
    folder: Path
    options: ExportOptions
    shown: ViewFilter


class ExportDialog(QDialog):
    """Asks for the files, the format, its options and the folder; after the dialog is accepted, ``choice`` has them.

    sources: of the item's session. form, folder: what the fields show first. zones: of the file.
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
    ) -> None:
        super().__init__(parent)
        if item.results is None:
            raise ValueError("the file has no results")
        self.setWindowTitle(translate("results", "Export"))
        self._results, self._shown, self._sources = item.results, shown, sources
        self.files = combo_box(translate("results", "Files"))
        self.files.addItem(item.path.name or str(item.path), item.results.source)
        if len(sources) > 1:
            self.files.addItem(translate("results", "All %Ln files of this run", None, len(sources)), None)
        self.form = combo_box(translate("results", "Format"))
        for name, exporter in EXPORTERS.items():
            self.form.addItem(translate("exporters", exporter.title), name)
        self.purpose = label("small", wrap=True)
        self._zones = zones
        self.options = OptionsForm(item.results.labels, zones)
        self.folder = PathField(translate("results", "Folder"), "", translate("results", "Where to write the files"), folders=True)
        self.folder.set_path(folder)
        classes = translate("results", "all classes") if shown.classes is None else formats.plural(len(shown.classes), "class")
        filtered = translate("results", "Detections from {confidence} confidence, {classes}, as the window shows them.").format(
            confidence=formats.percent(shown.confidence), classes=classes
        )
        self.writes, self.problem, self.replaces = label("small", wrap=True), wrapped("error"), wrapped("notice")
        lines = (label("small", filtered, wrap=True), self.writes, self.replaces, self.problem)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start = self.buttons.addButton(translate("results", "Export"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        for button in self.buttons.buttons():
            button.setIcon(type(button.icon())())  # without the style's own icons
        column(
            form_grid(((translate("results", "Files"), self.files), (translate("results", "Format"), self.form), ("", self.purpose))),
            self.options,
            form_grid(((translate("results", "Folder"), self.folder), *(("", line) for line in lines))),
            None,
            self.buttons,
            spacing=14,
            margins=(24, 20, 24, 16),
            of=self,
        )
        self.form.setCurrentIndex(max(0, self.form.findData(form)))
        for changed in (self.files.currentIndexChanged, self.form.currentIndexChanged, self.folder.changed, self.options.changed):
            changed.connect(self._update)
        self._update()
        self.setMinimumWidth(WIDTH)

    @property
    def choice(self) -> ExportChoice:
        """What the fields say."""
        form, only = self.form.currentData(), self.files.currentData()
        options = self.options.options(EXPORTERS[form].options)
        return ExportChoice(self._results.database, only, form, self.folder.path or Path(), options, self._shown)

    @Slot()
    def _update(self) -> None:
        exporter, only = EXPORTERS[self.form.currentData()], self.files.currentData()
        self.purpose.setText(f"{translate('exporters', exporter.purpose)}.")
        self.options.show_options(exporter.options)
        problem = self.options.problem(exporter.options)
        if self.form.currentData() == "zones" and self._zones is None:
            problem = translate("results", "This file has no lines and zones: draw some first (Ctrl + 3).")
        names: list[Planned] = []
        kinds = {source.kind for source in self._sources if only in (None, source.number)}
        if not kinds & exporter.kinds:
            problem = translate("results", "{title} is for videos only: choose another format.").format(
                title=translate("exporters", exporter.title)
            )
        elif self.folder.path is None or not self.folder.path.is_absolute():
            problem = problem or translate("results", "Choose a folder.")
        if not problem:
            choice = self.choice
            try:
                with SessionReader(choice.database) as reader:
                    names = plan_export(reader, [choice.form], choice.options, None if only is None else [only], whole=False)
            except FramefleetError as error:
                problem = str(error)
        existing = [planned for planned in names if (self.choice.folder / planned.name).exists()] if not problem else []
        say(self.writes, translate("results", "Writes {names}.").format(names=_listed(names)) if names else "")
        say(self.replaces, translate("results", EXISTS).format(names=_listed(existing)) if existing else "")
        say(self.problem, problem)
        self.start.setEnabled(not problem and bool(names))
        self.adjustSize()


def _listed(planned: Sequence[Planned]) -> str:
    """The first names, and the number of further ones."""
    names = [translate("results", "the folder {name}").format(name=each.name) if each.output.folder else each.name for each in planned]
    return (
        ", ".join(names)
        if len(names) <= FEW + 1
        else translate("results", "{names} and {count} more").format(names=", ".join(names[:FEW]), count=len(names) - FEW)
    )
