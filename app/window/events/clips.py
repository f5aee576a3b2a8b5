"""Cuts clips and stills around appearances: asks how, and writes in the background."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.queue.item import Part, QueueItem, Results
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import formats, questions
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.build import label, say, wrapped
from framefleet.app.window.widgets.fields import PathField, combo_box, form_grid, number
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, literal
from framefleet.engine.settings.kinds import Number
from framefleet.engine.store.appearances import By
from framefleet.engine.store.clips import ClipPlan, plan_clips, write_clips
from framefleet.engine.store.session import SessionReader
from framefleet.resources import DEMO

MAX_CLIPS = 1000
"""More clips than this are refused: they are too many to look at, and they may fill the disk."""
WIDTH = 560
PADDING = 2.0
WAIT_MS = 250
_BY = {By.CLASS: marked("events", "Each time a class appears"), By.TRACK: marked("events", "Each track")}
_EXACT = {
    False: marked("events", "Fast: copied from the keyframe before"),
    True: marked("events", "Exact: encoded again, which takes longer"),
}


@dataclass(frozen=True)
class ClipsWish:
    """Clips to write. exact: encode them. stills: also the frame of each appearance's highest confidence."""

    results: Results
    shown: ViewFilter
    clips: tuple[ClipPlan, ...]
    folder: Path
    exact: bool
    stills: bool


class ClipsDialog(questions.FormDialog):
    """Plans the clips in the background while the user chooses; after the dialog is accepted, ``wish`` has them.

    part: of the video, which can be saved as one clip; None: there is none.
    """

    def __init__(
        self,
        results: Results,
        shown: ViewFilter,
        folder: Path,
        background: Background,
        parent: QWidget | None = None,
        part: Part | None = None,
    ) -> None:
        super().__init__(translate("events", "Clips"), WIDTH, parent)
        self._results, self._shown, self._background = results, shown, background
        self._clips: tuple[ClipPlan, ...] = ()
        self._planned: tuple[By | Part, float] | None = None
        self.by = combo_box(translate("events", "A clip for"), {by: translate("events", title) for by, title in _BY.items()})
        if part is not None:
            self.by.addItem(translate("events", "The chosen part"), part)
            self.by.setCurrentIndex(self.by.count() - 1)
        self.exact = combo_box(translate("events", "Method"), {exact: translate("events", title) for exact, title in _EXACT.items()})
        self.padding = number(translate("events", "Seconds before and after"), Number(0, 600, unit="s"), PADDING if part is None else 0.0)
        self.stills = QCheckBox(translate("events", "Also save the best picture of each appearance"))
        self.stills.setToolTip(translate("events", "The picture in which the model is most confident"))
        self.folder = PathField(translate("events", "Folder"), "", translate("events", "Where to write the files"), folders=True)
        self.folder.set_path(folder)
        classes = "" if shown.classes is None else translate("events", "%Ln classes", None, len(shown.classes))
        filtered = translate("events", "Detections from {confidence} confidence, {classes}, as the window shows them.").format(
            confidence=formats.percent(shown.confidence), classes=classes or translate("events", "all classes")
        )
        self._filtered = label("small", filtered, wrap=True)
        self.plan, self.problem = label("small", wrap=True), wrapped("error")
        self.start = self.buttons.addButton(translate("events", "Write clips"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setMinimumWidth(self.start.sizeHint().width() + 20)  # the style counts no bold text
        fields = (
            (translate("events", "A clip for"), self.by),
            (translate("events", "Seconds around"), self.padding),
            (translate("events", "Method"), self.exact),
            ("", self.stills),
            (translate("events", "Folder"), self.folder),
            *(("", line) for line in (self._filtered, self.plan, self.problem)),
        )
        self.lay_out(form_grid(fields))
        self._wait = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._wait.timeout.connect(self._start_planning)
        for changed in (self.by.currentIndexChanged, self.padding.valueChanged, self.folder.changed):
            changed.connect(self._update)
        self._update()
        self._start_planning()

    @property
    def wish(self) -> ClipsWish:
        """What the fields say."""
        folder, exact = self.folder.path or Path(), self.exact.currentData()
        return ClipsWish(self._results, self._shown, self._clips, folder, exact, self.stills.isChecked())

    @property
    def _choice(self) -> tuple[By | Part, float]:
        by = self.by.currentData()
        return by if isinstance(by, Part) else By(by), float(self.padding.value())

    def _update(self) -> None:
        appearances = not isinstance(self._choice[0], Part)
        for widget in (self._filtered, self.stills):
            widget.setVisible(appearances)
        if self._planned != self._choice:
            self._wait.start()
            self.plan.setText(translate("events", "Looking for appearances…"))
        problem = ""
        if self.folder.path is None or not self.folder.path.is_absolute():
            problem = translate("events", "Choose a folder.")
        elif len(self._clips) > MAX_CLIPS:
            problem = translate(
                "events", "More than %Ln clips are not written: show fewer classes or a higher confidence.", None, MAX_CLIPS
            )
        say(self.problem, problem)
        self.start.setEnabled(not problem and bool(self._clips) and self._planned == self._choice)

    def _start_planning(self) -> None:
        by, padding = choice = self._choice
        plan = partial(_plan, self._results, self._shown, by, padding)
        self._background.start(self, plan, partial(self._show, choice), partial(self._show, choice, ()))

    def _show(self, choice: tuple[By | Part, float], clips: tuple[ClipPlan, ...], problem: str = "") -> None:
        if choice != self._choice:
            return  # the user has chosen something else
        self._planned, self._clips = choice, clips
        seconds = sum(clip.end - clip.start for clip in clips)
        length = formats.clock(seconds, int(seconds < 10))
        found = translate("events", "%Ln clips, {length} in all.", None, len(clips)).format(length=length)
        none = translate("events", "Nothing that is shown appears in this video.")
        self.plan.setText(problem or (found if clips else none))
        self._update()


def _plan(results: Results, shown: ViewFilter, by: By | Part, padding: float) -> tuple[ClipPlan, ...]:
    if isinstance(by, Part):
        return (ClipPlan(max(by.begin - padding, 0.0), by.end + padding, "part", ()),)
    with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
        source = reader.source(results.source)
        return tuple(plan_clips(reader, source, by, padding))


FOLDER = "window/clips"
"""The key of the stored folder."""


class Clips(QObject):
    """Asks which clips to write, and writes them."""

    _progressed = Signal(int, int, int)

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        self._window, self._store, self._background, self._banners = context.window, context.store, context.background, context.banners
        self._cancelled: dict[int, Event] = {}
        self._numbers = count()
        self._progressed.connect(self._show_progress)

    def ask(self, item: QueueItem | None, shown: ViewFilter, part: Part | None = None) -> ClipsDialog | None:
        """Open the dialog for a file, None = no file is chosen. part: to save. Returns the dialog, None if there is nothing to cut."""
        info = item.progress.info if item is not None else None
        if item is None or item.results is None or item.results.source < 0 or info is None:
            self._refuse(translate("events", "Clips are cut out of analysed videos. Open one first."))
            return None
        if info.kind not in (SourceKind.VIDEO, SourceKind.LIVE):
            self._refuse(translate("events", "Clips are cut out of videos, and this is a folder of pictures."))
            return None
        beside = Path.home() if item.live or item.path == DEMO.clip else item.path.absolute().parent  # the demo lies in the program
        folder = Path(str(self._store.value(FOLDER) or beside / "clips"))
        dialog = ClipsDialog(item.results, shown, folder, self._background, self._window, part)
        dialog.accepted.connect(lambda: self.start(dialog.wish))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _refuse(self, reason: str) -> None:
        self._banners.show_banner("clips", Severity.INFO, translate("events", "There is nothing to cut"), details=reason)

    def start(self, wish: ClipsWish) -> None:
        """Write the clips in the background, and show the outcome."""
        self._store.setValue(FOLDER, str(wish.folder))
        number = next(self._numbers)
        cancelled = self._cancelled[number] = Event()
        total = len(wish.clips) + (sum(len(set(clip.best)) for clip in wish.clips) if wish.stills else 0)

        def progress(written: int) -> None:
            if cancelled.is_set():
                raise ExportError(Notice("store.cancelled"))
            self._progressed.emit(number, written, total)

        self._banners.show_banner(
            f"clips {number}", Severity.INFO, translate("events", "Writing clips…"), (translate("events", "Cancel"), cancelled.set)
        )
        done, failed = partial(self._done, number, wish.folder), partial(self._failed, number)
        self._background.start(self, partial(_write, wish, progress), done, failed, cancelled)

    def _done(self, number: int, folder: Path, result: tuple[list[Path], list[Notice]]) -> None:
        del self._cancelled[number]
        written, notes = result
        text = translate("events", "Wrote %Ln files to {folder}.", None, len(written)).format(folder=folder)
        action = translate("events", "Show in folder"), partial(questions.show_folder, folder)
        details = "\n".join(map(of_engine, notes))
        self._banners.show_banner(f"clips {number}", Severity.INFO, text, action, details=details)

    def _failed(self, number: int, message: Notice) -> None:
        severity, title, details = Severity.ERROR, translate("events", "The clips were not written"), message
        if self._cancelled.pop(number).is_set():
            severity, title = Severity.INFO, translate("events", "Writing clips was cancelled")
            details = literal(translate("events", "No file was written."))
        self._banners.show_banner(f"clips {number}", severity, title, details=details)

    @Slot(int, int, int)
    def _show_progress(self, number: int, written: int, total: int) -> None:
        details = translate("events", "{written} of {total} files").format(written=written, total=total)
        self._banners.update_text(f"clips {number}", translate("events", "Writing clips…"), details)


def _write(wish: ClipsWish, progress: Callable[[int], None]) -> tuple[list[Path], list[Notice]]:
    notes: list[Notice] = []
    with SessionReader(wish.results.database, wish.shown.confidence, wish.shown.classes, created=wish.results.created) as reader:
        source = reader.source(wish.results.source)
        where = reader, source, wish.clips, wish.folder
        return write_clips(*where, exact=wish.exact, stills=wish.stills, progress=progress, notes=notes), notes


def attach(context: Context) -> Feature:
    """Let the user save clips. ``requests.clips`` asks for it."""
    clips = Clips(context)
    context.requests.clips.connect(lambda item, part: clips.ask(item, context.filter.value, part))
    saved = context.viewer.transport.part.save_requested
    saved.connect(lambda part: clips.ask(context.selection.item, context.filter.value, part))
    return Feature()
