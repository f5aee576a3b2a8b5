"""Ways to open files: dialogs, a menu with the last files, and files that are dropped on a window."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QRectF, QSettings, QStandardPaths, Qt, Signal
from PySide6.QtGui import QColor, QDropEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from framefleet.app.window.context import Context
from framefleet.app.window.queue import item, opening
from framefleet.app.window.widgets import formats, questions, theme
from framefleet.app.window.widgets.painting import CENTRE, draw_box, painting, pixmap
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.live.address import LiveAddress, hide
from framefleet.engine.media.sources import PICTURE_SUFFIXES, VIDEO_SUFFIXES
from framefleet.engine.notices import UsageError

MARGIN = 12
"""The smallest room beside the title, logical pixels."""


class DropOverlay(QWidget):
    """Covers a window while files are dragged over it, and shows what dropping them does. dropped: their paths.

    address_dropped: the address of a stream. refused: why nothing is opened. It leaves mouse events to the window.
    """

    dropped = Signal(object)
    address_dropped = Signal(str)
    refused = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = ""
        self._window = window
        window.setAcceptDrops(True)
        window.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the window's drag and drop events."""
        if event.type() is QEvent.Type.DragEnter and isinstance(event, QDropEvent):
            paths = opening.local_paths(event)
            if paths or _address(event):
                event.acceptProposedAction()
                stream = translate("queue", "Drop to open this stream")
                other = stream if is_stream(_address(event)) else translate("queue", "This address cannot be opened")
                self._cover(drop_title(opening.sort_paths(paths)) if paths else other)
            return True
        if event.type() is QEvent.Type.DragLeave:
            self.hide()
        if event.type() is QEvent.Type.Drop and isinstance(event, QDropEvent):
            self.hide()
            event.acceptProposedAction()
            self._window.activateWindow()
            address = _address(event)
            if paths := opening.local_paths(event):
                self.dropped.emit(paths)
            if is_stream(address):
                self.address_dropped.emit(address)
            elif address or not paths:
                why = translate("queue", "{address} is not an address of a stream: streams begin with rtsp:// or http://.")
                self.refused.emit(why.format(address=hide(address)))
            return True
        return super().eventFilter(watched, event)

    def _cover(self, title: str) -> None:
        self.title = title
        self.setAccessibleName(self.title)
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Darken the window; draw a dashed frame, an arrow and the title."""
        with painting(self) as painter:
            painter.fillRect(self.rect(), QColor(14, 16, 20, 236))
            frame = QRectF(self.rect()).adjusted(20, 20, -20, -20)
            ground = QColor(theme.ACCENT)
            ground.setAlpha(20)
            draw_box(painter, frame, 14, ground, QPen(QColor(theme.ON_STAGE), 2, Qt.PenStyle.DashLine))
            middle = frame.center()
            painter.drawPixmap(round(middle.x() - 24), round(middle.y() - 64), pixmap("drop", 48, theme.ON_STAGE))
            painter.setPen(QColor(theme.ON_STAGE))
            painter.setFont(theme.font(6, bold=True))
            line = QRectF(frame.x() + MARGIN, middle.y(), frame.width() - 2 * MARGIN, 40)
            painter.drawText(line, CENTRE, painter.fontMetrics().elidedText(self.title, Qt.TextElideMode.ElideMiddle, int(line.width())))


def drop_title(intake: opening.Intake) -> str:
    """What dropping these files does: ``Drop to add 3 items``."""
    if intake.sessions and not (intake.sources or intake.has_model):
        return translate("queue", "Drop to open these results")
    sources = formats.plural(len(intake.sources), "item")
    if intake.lists and not (intake.sources or intake.has_model):
        return translate("queue", "Drop to open {name}").format(name=intake.lists[-1].name)
    if intake.has_model:
        return (
            translate("queue", "Drop to set the model and add {sources}").format(sources=sources)
            if intake.sources
            else translate("queue", "Drop to use this model")
        )
    return translate("queue", "Drop to add {name}").format(name=intake.sources[0].name if len(intake.sources) == 1 else sources)


def _address(event: QDropEvent) -> str:
    """The first address of a drag that names no local file, "" = none."""
    return next((url.toEncoded().toStdString() for url in event.mimeData().urls() if not url.isLocalFile()), "")


def is_stream(text: str) -> bool:
    """Whether a text is an address that can be opened as a stream."""
    try:
        return LiveAddress.read(text) is not None
    except UsageError:
        return False


KEY, MAX_RECENT = "window/recent", 10


class RecentFiles(QObject):
    """Keeps the last files in the stored preferences. menu: lists them. chosen: list with the Path to open."""

    chosen = Signal(object)

    def __init__(self, store: QSettings, menu: QMenu, parent: QObject) -> None:
        super().__init__(parent)
        self._store, self.menu = store, menu
        menu.aboutToShow.connect(self._fill)
        menu.setEnabled(bool(self.paths))

    @property
    def paths(self) -> list[Path]:
        """The files, the last one first."""
        stored = self._store.value(KEY) or []
        return [Path(path) for path in ([stored] if isinstance(stored, str) else stored)]  # of one text Qt makes no list

    def add(self, paths: Iterable[Path]) -> None:
        """Put files at the top of the list."""
        new = [path.absolute() for path in paths]
        kept = dict.fromkeys([*reversed(new), *self.paths])
        self._store.setValue(KEY, [str(path) for path in kept][:MAX_RECENT])
        self.menu.setEnabled(bool(kept))

    def _fill(self) -> None:
        self.menu.clear()
        for path in self.paths:
            action = self.menu.addAction(formats.verbatim(path.name or str(path)), partial(self.chosen.emit, [path]))
            action.setToolTip(str(path))
            action.setEnabled(_is_there(path))
        self.menu.addSeparator()
        self.menu.addAction(translate("queue", "Clear this list"), self._clear)

    def _clear(self) -> None:
        self._store.remove(KEY)
        self.menu.setEnabled(False)


def _is_there(path: Path) -> bool:
    """Whether a path exists. False if it cannot be examined, without permission for example."""
    try:
        return path.exists()
    except OSError:
        return False


WORST_FRAMES = "worst-frames*.json"
"""Names of lists of worst frames. Other JSON files are beside sessions, too."""


class FileDialogs(QObject):
    """Opens dialogs without blocking the window. chosen: list of Path to open."""

    chosen = Signal(object)

    def __init__(self, window: QWidget, store: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._store = store

    def choose_files(self) -> None:
        """Ask for files."""
        media = " ".join(f"*{suffix}" for suffix in sorted(VIDEO_SUFFIXES | PICTURE_SUFFIXES))
        brief = QFileDialog.Option.HideNameFilterDetails  # sixty suffixes would fill the line
        self._choose(
            translate("window", "Open videos and pictures"),
            QFileDialog.FileMode.ExistingFiles,
            translate("window", "Videos and pictures ({media});;All files (*)").format(media=media),
            brief,
        )

    def choose_folder(self) -> None:
        """Ask for a folder."""
        self._choose(
            translate("window", "Open a folder of videos or pictures"),
            QFileDialog.FileMode.Directory,
            option=QFileDialog.Option.ShowDirsOnly,
        )

    def choose_results(self, folder: Path) -> None:
        """Ask for session databases and lists of worst frames; the dialog starts in this folder, which is created if it does not exist."""
        folder.mkdir(parents=True, exist_ok=True)
        self._choose(
            translate("window", "Open stored results"),
            QFileDialog.FileMode.ExistingFiles,
            translate("window", "Stored results (*{session} *{list});;All files (*)").format(session=item.SESSION, list=WORST_FRAMES),
            folder=folder,
        )

    def _choose(
        self, title: str, mode: QFileDialog.FileMode, kinds: str = "", option: QFileDialog.Option | None = None, folder: Path | None = None
    ) -> None:
        """Open a dialog. folder: where it starts; None = in the last folder, which the choice replaces."""
        dialog = questions.file_dialog(self._window, title, "", kinds)
        dialog.setFileMode(mode)
        if option is not None:
            dialog.setOption(option)
        if folder is not None:
            dialog.setDirectory(str(folder))
        else:
            videos = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.MoviesLocation))
            questions.begin_in_last_folder(dialog, self._store, "window/folder", videos if videos.is_dir() else Path.home())
        dialog.filesSelected.connect(lambda names: self.chosen.emit([Path(name) for name in names]))
        dialog.open()


def connect(context: Context) -> None:
    """Open files that the user chooses in dialogs and menus, or drops."""
    actions, window, opening, requests = context.actions, context.window, context.opening, context.requests
    files, overlay = FileDialogs(window, context.store), DropOverlay(window)
    recent = RecentFiles(context.store, actions.recent, window)
    actions.open_files.triggered.connect(files.choose_files)
    actions.open_folder.triggered.connect(files.choose_folder)
    actions.open_results.triggered.connect(lambda: files.choose_results(context.folder))

    def take(paths: Sequence[Path], show: bool = False) -> None:
        opening.take(paths, show)
        recent.add(paths)

    def take_dropped(overlay: DropOverlay) -> None:
        overlay.dropped.connect(take)
        overlay.refused.connect(opening.refuse)
        overlay.address_dropped.connect(requests.open_stream)

    for chosen in (files.chosen, recent.chosen):
        chosen.connect(take)
    requests.open_paths.connect(partial(take, show=True))
    take_dropped(overlay)
    requests.drop_area.connect(lambda area: take_dropped(DropOverlay(area)))
    opening.model_taken.connect(context.settings.take)
    opening.queued.connect(context.selection.begin)
    for there in (opening.restored, opening.unfinished, opening.named):
        there.connect(context.selection.show_first)
    opening.remembered.connect(lambda keys: context.selection.show_first(keys) if context.selection.key is None else None)
    said: list[str] = []

    def say(text: str) -> None:
        said[:] = [text]
        context.activity.show_done(text)

    opening.repeated.connect(say)
    context.run.file_done.connect(lambda _: context.activity.forget(said) if all(item.ended for item in context.queue) else None)
