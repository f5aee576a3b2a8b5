"""Exports results: asks how, writes in the background, and shows the progress in one line."""

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, QSettings, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from framefleet.app.window.queue.item import Part, QueueItem
from framefleet.app.window.results.export_dialog import ExportChoice, ExportDialog
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.build import ElidedLabel, push_button, row, tool_button
from framefleet.app.window.widgets.questions import show_folder
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import ExportError
from framefleet.engine.store.export.run import Exported, export_session
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.session import SessionReader
from framefleet.engine.zones.shapes import ZoneSet
from framefleet.resources import DEMO

BAR = 90
"""Width of the progress bar, logical pixels."""


class ExportLine(QWidget):
    """One line for what was done last. It is hidden at first, and never changes the height of its place.

    cancel: cancels what runs. reveal: opens the folder with what was written, or takes back what was done.
    """

    def __init__(self) -> None:
        super().__init__()
        self._act: Callable[[], object] = lambda: None
        self.text = ElidedLabel("small", Qt.TextElideMode.ElideMiddle)  # names may be long
        self.text.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.bar = QProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.bar.setFixedSize(BAR, 6)
        self.bar.setAccessibleName(translate("results", "Progress of the export"))
        self.cancel = push_button(translate("results", "Cancel"), self._clicked, role="link")
        self.reveal = push_button(translate("results", "Show in folder"), self._clicked, role="link")
        self.dismiss = tool_button("close", translate("results", "Dismiss"), clicked=self.hide)
        for button in (self.cancel, self.reveal, self.dismiss):
            button.setStyleSheet(f"min-height: 0; padding: 0 4px; border: none; font-size: {theme.base_size() - 1}px;")
            button.setFixedHeight(self.text.sizeHint().height())
        self.dismiss.setIconSize(QSize(12, 12))
        # as far from the text before it as the other parts of the line at the bottom
        row(self.text, self.bar, self.cancel, self.reveal, self.dismiss, spacing=8, margins=(20, 0, 0, 0), of=self)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Ignored)
        self.hide()

    def show_progress(self, text: str, share: float, cancel: Callable[[], object]) -> None:
        """Show how far an export is. share: 0 to 1."""
        self._show(text, cancel, running=True)
        self.bar.setValue(round(1000 * share))

    def show_done(self, text: str, act: Callable[[], object] | None = None, title: str = "") -> None:
        """Show what was done or cancelled, several lines in one. act: what a click does. title: of its button, "" = "Show in folder"."""
        self._show(text, act or (lambda: None), running=False)
        self.reveal.setText(title or translate("results", "Show in folder"))
        self.reveal.setVisible(act is not None)

    def _show(self, text: str, act: Callable[[], object], running: bool) -> None:
        self._act = act
        self.text.setText(" · ".join(text.splitlines()))
        self.text.setToolTip(text)
        self.bar.setVisible(running)
        self.cancel.setVisible(running)
        self.reveal.setVisible(not running)
        self.dismiss.setVisible(not running)
        self.show()

    def _clicked(self) -> None:
        self._act()


FORM = "window/export_format"
"""The key of the stored preference: names of formats, with commas between them."""


class Exports(QObject):
    """Runs exports without blocking the window. ``line`` shows their progress and outcome; banners show problems."""

    _progressed = Signal(int, str, int, int)

    def __init__(self, window: QWidget, store: QSettings, background: Background, banners: BannerArea) -> None:
        super().__init__(window)
        self._window, self._store = window, store
        self._background, self._banners = background, banners
        self.line = ExportLine()
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
            self._banners.show_message(
                "export", Severity.INFO, translate("results", "There is nothing to export yet: open a file or stored results first.")
            )
            return
        try:
            with SessionReader(item.results.database, created=item.results.created) as reader:
                sources = reader.sources()
        except ExportError as error:
            self._banners.show_message("export", Severity.ERROR, str(error))
            return
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
                raise ExportError(translate("results", "The export as {title} was cancelled.").format(title=title))
            self._progressed.emit(number, path.name, frames, total)

        def done(written: list[Exported]) -> None:
            self._cancelled.pop(number, None)
            notes = {note: None for item in written for note in item.notes}
            self._show_done(translate("results", "Exported {written}").format(written=_what(written)), choice.folder)
            if notes:
                self._banners.show_banner(subject, Severity.WARNING, "\n".join(notes))

        def failed(message: str) -> None:
            self._cancelled.pop(number, None)
            if cancelled.is_set():
                self.line.show_done(message)
            else:
                self.line.hide()
                self._banners.show_message(subject, Severity.ERROR, message)

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
    problems: list[str] = []

    def failed(error: ExportError) -> None:
        if cancelled.is_set():
            raise error
        problems.append(str(error))

    with SessionReader.of(choice.view) as reader:
        written = export_session(reader, choice.folder, choice.forms, progress, failed, choice.options, choice.only, whole=False)
    if problems:
        raise ExportError("\n".join(problems))
    if not written:
        raise ExportError(translate("results", "there is nothing to export yet: wait until detection has begun"))
    return written


def _what(written: list[Exported]) -> str:
    if len(written) > 1:
        return formats.plural(len(written), "file")
    return f"{written[0].path.name} ({formats.plural(written[0].frames, 'frame')})"
