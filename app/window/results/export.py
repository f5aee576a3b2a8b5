"""Exports of the detections that the window shows: the dialog that asks what to write, and writing it in the background."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialogButtonBox, QLineEdit, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.item import Part, QueueItem
from framefleet.app.window.results.export_options import FilterForm, OptionsForm, PickList
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import fields, formats, questions
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.build import label, push_button, row, say, wrapped
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, FramefleetError, Notice, literal
from framefleet.engine.store.export import Exported, Planned, export_session, first_number, plan_export
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.options import DEFAULTS, NONE, Every, ExportOptions, view_options
from framefleet.engine.store.session import SessionReader, StoredSource, View
from framefleet.engine.zones.shapes import ZoneSet
from framefleet.resources import DEMO

ZONES = "ZONES.json"
"""Stands for a file with the lines and zones, which the panel of lines and zones exports."""


def command_of(view: View, sources: Sequence[str], forms: Sequence[str], folder: Path, options: ExportOptions) -> str:
    """Return ``framefleet results …`` as text for a shell. sources: their names, none = all.

    Raises ExportError if the session cannot be read.
    """
    with SessionReader(view.path, created=view.created) as reader:
        labels, stored = reader.labels, reader.shown_confidence
        used = {name for form in forms for name in EXPORTERS[form].options}
        usual = replace(DEFAULTS, **{name: value for name, value in view_options(reader.facts).items() if name in used})
    words = ["framefleet", "results", str(view.path), "--format", ",".join(forms), "--out", str(folder)]
    for name in sources:
        words += ["--source", name]
    if view.span is not None:
        words += [word for flag, moment in (("--from", view.span.begin), ("--to", view.span.end)) if moment for word in (flag, str(moment))]
    if view.confidence != stored:
        words += ["--confidence", f"{view.confidence:g}"]
    if view.classes is not None:
        words += ["--classes", ",".join(labels[number] if labels[number].isprintable() else str(number) for number in sorted(view.classes))]
    if view.tracks is not None:
        words += ["--tracks", ",".join(map(str, sorted(view.tracks))) or "any"]
    return shlex.join([*words, *_options(options, usual)])


def _options(options: ExportOptions, usual: ExportOptions) -> Iterator[str]:
    """The options of formats that differ from what the command takes without them."""
    if options.interval != usual.interval:
        yield from ("--interval", f"{options.interval:g}s")
    for name in ("bom", "one_table", "coco_ids"):
        if (value := getattr(options, name)) != getattr(usual, name):
            yield f"--{'' if value else 'no-'}{name.replace('_', '-')}"
    if options.pictures != usual.pictures:
        yield from ("--pictures", options.pictures or NONE)
    if options.every != Every():
        yield from ("--every", str(options.every))
    if options.least_seen != usual.least_seen:
        yield from ("--least-seen", str(options.least_seen))
    if options.between != usual.between:
        yield from ("--between", ",".join(f"{share:g}" for share in options.between or ()) or NONE)
    if options.category_map and options.category_map != usual.category_map:
        yield from ("--category-map", ",".join(f"{label}={category}" for label, category in options.category_map.items()))
    if options.draw != usual.draw:
        yield from ("--draw", ",".join(sorted(options.draw)))
    if options.zones is not None:
        yield from ("--zones", ZONES)


WIDTH = 600
ALL, WITH_ZONES = -1, -2
"""What the field for files holds in place of a source's number."""
FEW = 3
"""Most file names that are listed."""


@dataclass(frozen=True)
class ExportChoice:
    """What to export. view: which results. only: numbers of the sources in the session, None = all. forms: names of exporters."""

    view: View
    only: tuple[int, ...] | None
    forms: tuple[str, ...]
    folder: Path
    options: ExportOptions


class ExportDialog(questions.FormDialog):
    """Asks for the files, the formats, their options and the folder; after the dialog is accepted, ``choice`` has them.

    sources: of the item's session. shown, forms, folder, part: what the fields show first. zones: of the file. has_zones: whether another
    file has the same ones. with_zones: the numbers of the sources that have them.
    """

    def __init__(
        self,
        item: QueueItem,
        sources: Sequence[StoredSource],
        shown: ViewFilter,
        forms: Sequence[str],
        folder: Path,
        parent: QWidget | None = None,
        zones: ZoneSet | None = None,
        part: Part | None = None,
        has_zones: Callable[[Path], bool] = lambda _: True,
    ) -> None:
        super().__init__(translate("results", "Export"), WIDTH, parent)
        if item.results is None:
            raise ValueError("the file has no results")
        self._results, self._sources = item.results, sources
        files = [(item.path.name or str(item.path), item.results.source)]
        if len(sources) > 1:
            files.append((translate("results", "All %Ln files of this run", None, len(sources)), ALL))
        self.with_zones = tuple(source.number for source in sources if zones is not None and has_zones(source.file))
        if 1 < len(self.with_zones) < len(sources):
            files.append((translate("results", "The %Ln files with these lines and zones", None, len(self.with_zones)), WITH_ZONES))
        all_files = [(source.name, source.number) for source in sources]
        self.files = PickList(translate("results", "Files"), files, all_files, translate("results", "Some files of this run"))
        opened = any(source.kind for source in sources if source.number == item.results.source)
        self.files.choose((item.results.source if opened or len(sources) == 1 else ALL,))
        titles = [(translate("exporters", exporter.title), name) for name, exporter in EXPORTERS.items()]
        self.forms = PickList(translate("results", "Format"), titles, titles, translate("results", "Several formats"))
        self.forms.choose([form for form in forms if form in EXPORTERS] or ["csv"])
        self.purpose = label("small", wrap=True)
        self._zones = zones
        self.options = OptionsForm(item.results.labels, zones)
        self.folder = fields.PathField(translate("results", "Folder"), "", translate("results", "Where to write the files"), folders=True)
        self.folder.set_path(folder)
        pictures = any(source.kind is SourceKind.IMAGES for source in sources if source.number == item.results.source)
        self.filter = FilterForm(item.results.labels, shown, part, pictures)
        self.command = QLineEdit(readOnly=True)
        self.command.setAccessibleName(translate("results", "The same as a command"))
        self.command.setToolTip(translate("results", "This command writes the same files"))
        self.copy = push_button(translate("results", "Copy"), tip=translate("results", "Copy the command"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.command.text()))
        command = QWidget()
        row((self.command, 1), self.copy, spacing=8, of=command)
        self.writes, self.problem, self.replaces = label("small", wrap=True), wrapped("error"), wrapped("notice")
        lines = (self.writes, self.replaces, self.problem)
        self.start = self.buttons.addButton(translate("results", "Export"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.lay_out(
            fields.form_grid(
                (
                    *self.files.rows,
                    *self.forms.rows,
                    ("", self.purpose),
                )
            ),
            self.options,
            self.filter,
            fields.form_grid(
                (
                    (translate("results", "Folder"), self.folder),
                    *(("", line) for line in lines),
                    (translate("results", "Command"), command),
                )
            ),
        )
        self.files.changed.connect(lambda: self.filter.use_part(self._only == (self._results.source,)))  # it is that of one file
        for field in (self.files, self.forms, self.folder, self.options, self.filter):
            field.changed.connect(self._update)
        self._update()

    @property
    def _only(self) -> tuple[int, ...] | None:
        """The numbers of the chosen sources, None = all."""
        return {(ALL,): None, (WITH_ZONES,): self.with_zones}.get(self.files.values, self.files.values)

    @property
    def _options(self) -> set[str]:
        """The names of the options that one of the chosen formats has."""
        return {name for form in self.forms.values for name in EXPORTERS[form].options}

    @property
    def _without_zones(self) -> list[str]:
        """The names of chosen files that are counted at the lines and zones but have others or none."""
        chosen = [source for source in self._sources if self._only is None or source.number in self._only]
        counted = self._zones is not None and "zones" in self._options
        return [source.name for source in chosen if counted and source.number not in self.with_zones]

    @property
    def choice(self) -> ExportChoice:
        """What the fields say. Raises UsageError: they have a problem."""
        view = View(self._results.database, **self.filter.view(), created=self._results.created)
        return ExportChoice(view, self._only, self.forms.values, self.folder.path or Path(), self.options.options(self._options))

    def _problem(self) -> str:
        """What is wrong with the fields, "" = nothing."""
        only, forms = self._only, self.forms.values
        kinds = {source.kind for source in self._sources if only is None or source.number in only}
        if not kinds:
            return translate("results", "Choose at least one file.")
        if kinds == {None}:
            return translate("results", "There are no results of this file, because it was not opened: choose other files.")
        if not forms:
            return translate("results", "Choose at least one format.")
        for exporter in (EXPORTERS[form] for form in forms if not kinds & EXPORTERS[form].kinds):
            return translate("results", "{title} is for videos only: choose another format.").format(
                title=translate("exporters", exporter.title)
            )
        if self.folder.path is None or not self.folder.path.is_absolute():
            return translate("results", "Choose a folder.")
        if "zones" in forms and self._zones is None:
            return translate("results", "This file has no lines and zones: draw some first (Ctrl + 3).")
        return self.options.problem(self._options) or self.filter.problem

    def _update(self) -> None:
        alone = "" if self.forms.several else f"{translate('exporters', EXPORTERS[self.forms.values[0]].purpose)}."
        say(self.purpose, alone)
        self.options.show_options(self._options)
        names: list[Planned] = []
        replaced: list[Planned] = []
        kept: list[Planned] = []
        number = 1
        command, problem = "", self._problem()
        if not problem:
            choice = self.choice
            try:
                with SessionReader.of(choice.view) as reader:
                    names = plan_export(reader, choice.forms, choice.options, choice.only, whole=False)
                    number = first_number(reader, names, choice.folder, len(self._sources))
                    kept = [each for each in names if number > 1 and (choice.folder / each.name).exists()]
                    replaced = [each for each in names if (choice.folder / each.numbered(number)).exists()]
                sources = [source.name for source in self._sources if choice.only is not None and source.number in choice.only]
                command = command_of(choice.view, sources, choice.forms, choice.folder, choice.options)
            except FramefleetError as error:
                problem = of_engine(error.notice, capital=True)
            except OSError as error:  # the folder cannot be examined
                problem = f"{error.filename}: {error.strerror}."
        say(self.writes, translate("results", "Writes {names}.").format(names=_listed(names, number)) if names else "")
        sentences = [translate("results", "Replaces your earlier export: {names}.").format(names=_listed(replaced, number))] * bool(
            replaced
        )
        sentences += [translate("results", "Keeps what is there already: {names}.").format(names=_listed(kept))] * bool(kept)
        if others := self._without_zones:
            text = translate("results", "Counts at these lines and zones also in files without them: {names}.")
            sentences.append(text.format(names=", ".join(others[:FEW]) + " …" * (len(others) > FEW)))
        say(self.replaces, "\n".join(sentences))
        say(self.problem, problem)
        self.command.setText(command)
        self.command.setCursorPosition(0)
        self.copy.setEnabled(bool(command))
        self.start.setEnabled(not problem and bool(names))


def _listed(planned: Sequence[Planned], number: int = 1) -> str:
    """The first names, and the number of further ones. number: the files have it."""
    written = [(each.output.folder, each.numbered(number)) for each in planned]
    names = [translate("results", "the folder {name}").format(name=name) if is_folder else name for is_folder, name in written]
    return (
        ", ".join(names)
        if len(names) <= FEW + 1
        else translate("results", "{names} and {count} more").format(names=", ".join(names[:FEW]), count=len(names) - FEW)
    )


FORM = "window/export_format"
"""The key of the stored preference: names of formats, with commas between them."""


class Exports(QObject):
    """Runs exports without blocking the window. The line at the bottom shows progress and outcome, banners show problems."""

    _progressed = Signal(int, str, int, int)

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._window, self._store = context.window, context.store
        self._background, self._banners = context.background, context.banners
        self.line = context.activity
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
            title = translate("results", "The results cannot be read")
            self._banners.show_banner("export", Severity.ERROR, title, details=error.notice)
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
                details = "\n".join(of_engine(note, capital=True) for note in notes)
                self._banners.show_banner(subject, Severity.WARNING, translate("results", "About the exported files"), details=details)

        def failed(message: Notice) -> None:
            self._cancelled.pop(number, None)
            if cancelled.is_set():
                self.line.show_done(of_engine(message, capital=True))
            else:
                self.line.hide()
                self._banners.show_banner(subject, Severity.ERROR, translate("results", "The export failed"), details=message)

        self.line.show_progress(translate("results", "Exporting as {title}…").format(title=title), 0.0, cancelled.set)
        self._background.start(self, partial(_export, choice, cancelled, progress), done, failed, cancelled)

    def show_saved(self, picture: Path) -> None:
        """Show that a picture was saved."""
        self._show_done(translate("results", "Saved {picture}").format(picture=picture.name), picture.parent)

    def _show_done(self, text: str, folder: Path) -> None:
        self.line.show_done(text, partial(questions.show_folder, folder))
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
    exports = Exports(context)

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
