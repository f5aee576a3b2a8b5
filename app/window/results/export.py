"""Exports of the detections that the window shows: asks what to write, and writes it in the background."""

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, QSettings, Signal, Slot
from PySide6.QtWidgets import QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.item import Part, QueueItem
from framefleet.app.window.results.export_dialog import ExportChoice, ExportDialog
from framefleet.app.window.results.export_line import ExportLine
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.questions import show_folder
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.notices import ExportError, Notice, literal
from framefleet.engine.store.export import Exported, export_session
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.session import SessionReader
from framefleet.engine.zones.shapes import ZoneSet
from framefleet.resources import DEMO

FORM = "window/export_format"
"""The key of the stored preference: names of formats, with commas between them."""


class Exports(QObject):
    """Runs exports without blocking the window. line: shows their progress and outcome. Banners show problems."""

    _progressed = Signal(int, str, int, int)

    def __init__(self, window: QWidget, store: QSettings, background: Background, banners: BannerArea, line: ExportLine) -> None:
        super().__init__(window)
        self._window, self._store = window, store
        self._background, self._banners = background, banners
        self.line = line
        self._cancelled: dict[int, Event] = {}
        self._numbers = count()
        self._progressed.connect(self._show_progress)

    def ask(
        self,
        item: QueueItem | None,
        shown: ViewFilter,
        zones: ZoneSet | None = None,
        form: str = "",
        part: Part | None = None,
        has_zones: Callable[[Path], bool] = lambda _: True,
    ) -> None:
        """Open the dialog for a file's results, and start the export when the dialog is accepted.

        item: None = no file is chosen. zones, part: of the file. form: the format that is chosen first, "" = the last ones.
        has_zones: whether another file has the same lines and zones.
        """
        if item is None or item.results is None:
            self._banners.show_banner(
                "export",
                Severity.INFO,
                translate("results", "There is nothing to export yet"),
                details=translate("results", "Open a file or stored results first."),
            )
            return
        try:
            with SessionReader(item.results.database, created=item.results.created) as reader:
                sources = reader.sources()
        except ExportError as error:
            self._banners.show_banner("export", Severity.ERROR, error.notice)
            return
        self._banners.remove("export")
        first = [form] if form else str(self._store.value(FORM, "csv")).split(",")
        dialog = ExportDialog(item, sources, shown, first, self._folder(item.path), self._window, zones, part, has_zones)
        dialog.accepted.connect(lambda: self.start(dialog.choice))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _folder(self, source: Path) -> Path:
        """The folder to write to at first: that of the source; for the demo, which lies in the program, that of the last opened file."""
        return Path(str(self._store.value("window/folder", Path.home()))) if source == DEMO.clip else source.absolute().parent

    def start(self, choice: ExportChoice) -> None:
        """Write the files in the background, and show the outcome."""
        self._store.setValue(FORM, ",".join(choice.forms))
        number = next(self._numbers)
        cancelled = self._cancelled[number] = Event()
        subject = f"export {number}"
        title = ", ".join(translate("exporters", EXPORTERS[form].title) for form in choice.forms)

        def progress(path: Path, frames: int, total: int) -> None:
            if cancelled.is_set():
                raise ExportError(literal(translate("results", "The export as {title} was cancelled.").format(title=title)))
            self._progressed.emit(number, path.name, frames, total)

        def done(written: list[Exported]) -> None:
            self._cancelled.pop(number, None)
            notes = {note: None for item in written for note in item.notes}
            self._show_done(translate("results", "Exported {written}").format(written=_what(written)), choice.folder)
            if notes:
                self._banners.show_banner(subject, Severity.WARNING, "\n".join(map(of_engine, notes)))

        def failed(message: Notice) -> None:
            self._cancelled.pop(number, None)
            if cancelled.is_set():
                self.line.show_done(of_engine(message, capital=True))
            else:
                self.line.hide()
                self._banners.show_banner(subject, Severity.ERROR, message)

        self.line.show_progress(translate("results", "Exporting as {title}…").format(title=title), 0.0, cancelled.set)
        self._background.start(self, partial(_export, choice, cancelled, progress), done, failed, cancelled)

    def show_saved(self, picture: Path) -> None:
        """Show that a picture was saved."""
        self._show_done(translate("results", "Saved {picture}").format(picture=picture.name), picture.parent)

    def _show_done(self, text: str, folder: Path) -> None:
        self.line.show_done(text, partial(show_folder, folder))
        self.line.text.setToolTip(str(folder))

    @Slot(int, str, int, int)
    def _show_progress(self, number: int, name: str, frames: int, total: int) -> None:
        if number not in self._cancelled:
            return  # it has ended meanwhile
        share = frames / max(total, 1)
        text = translate("results", "Writing {name}: {frames}").format(name=name, frames=formats.percent(share))
        if len(self._cancelled) > 1:
            text = translate("results", "{text} · {count} exports").format(text=text, count=len(self._cancelled))
        self.line.show_progress(text, share, self._cancelled[number].set)


def _export(choice: ExportChoice, cancelled: Event, progress: Callable[[Path, int, int], None]) -> list[Exported]:
    """Write the files. A file that fails does not stop the others.

    Raises ExportError if the session cannot be read, a file cannot be written, nothing can be exported, or the export was cancelled.
    """
    problems: list[Notice] = []

    def failed(error: ExportError) -> None:
        if cancelled.is_set():
            raise error
        problems.append(error.notice)

    with SessionReader.of(choice.view) as reader:
        written = export_session(
            reader, choice.folder, choice.forms, progress, failed, choice.options, choice.only, whole=False, together=True
        )
    if problems:
        raise ExportError(problems[0] if len(problems) == 1 else Notice("general.several", parts=tuple(problems)))
    if not written:
        raise ExportError(literal(translate("results", "there is nothing to export yet: wait until detection has begun")))
    return written


def _what(written: list[Exported]) -> str:
    if len(written) > 1:
        return formats.plural(len(written), "file")
    return f"{written[0].path.name} ({formats.plural(written[0].frames, 'frame')})"


def attach(context: Context) -> Feature:
    """Let the user export results. ``requests.export`` asks for it."""
    exports = Exports(context.window, context.store, context.background, context.banners, context.activity)

    def ask(item: QueueItem | None, form: str) -> None:
        if item is None or context.queue.get(item.key) is None:  # nothing, or a stored session
            exports.ask(item, context.filter.value)
            return
        shown = not form and item.key == context.selection.key
        part = context.viewer.transport.timeline.part if shown else None
        zones = context.zones
        exports.ask(item, context.filter.value, zones.set_for(item), form, part, partial(zones.is_shared, item.path))

    context.requests.export.connect(ask)
    context.actions.export.triggered.connect(lambda: ask(context.selection.item, ""))
    context.viewer.saver.saved.connect(exports.show_saved)
    return Feature()
