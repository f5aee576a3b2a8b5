"""The main window: lists the features, lays out what they show, and keeps the arrangement for the next start."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSettings, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QWidget

from framefleet.app.window import tuning
from framefleet.app.window.bars import make_status_line, make_top_bar
from framefleet.app.window.cluster import control as cluster
from framefleet.app.window.compare import comparison
from framefleet.app.window.context import Context, Place, Placed, Start
from framefleet.app.window.corrections import corrector
from framefleet.app.window.demo import demo
from framefleet.app.window.devices import panel as devices
from framefleet.app.window.events import clips
from framefleet.app.window.grid import grid
from framefleet.app.window.messages import progress, run_messages
from framefleet.app.window.messages.run_messages import QuitQuestion
from framefleet.app.window.queue import panel as queue
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.results import counts, export, interrupted, outcome, worst_frames
from framefleet.app.window.search import dialog as search
from framefleet.app.window.sessions import dialog as sessions
from framefleet.app.window.start_page import make_start_page
from framefleet.app.window.streams import streams
from framefleet.app.window.viewer import filter_panel
from framefleet.app.window.widgets import build, formats
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones import workspace as zones
from framefleet.engine.devices.recording import Recording
from framefleet.engine.settings import ModelFiles

FEATURES = (
    queue,
    demo,
    devices,
    filter_panel,
    zones,
    corrector,
    comparison,
    grid,
    streams,
    export,
    clips,
    worst_frames,
    outcome,
    counts,
    interrupted,
    sessions,
    search,
    cluster,
    tuning,
    run_messages,
    progress,
)
"""Modules with a function ``attach(context)``, in the order of their panels."""
SIZE = 1360, 840
QUEUE_WIDTH = 240
"""The width of the column of the queue at the first start, logical pixels."""
RIGHT_WIDTH, NARROW_RIGHT = 348, 300
"""The width of the column of the devices in a window of ``SIZE``, and the smallest one, logical pixels, until the user moves its edge."""
WIDEST_RIGHT = 440
"""The width from which that column leaves more room to the picture, logical pixels."""
CLASSES, HIGH = 186, 764
"""The height of the list of classes, and that of its column from which the list gets half of the rest, logical pixels."""
LOW = 200
"""Height of the panels below the picture while there is little room, logical pixels."""
PICTURE = 200
"""Height of the picture below which these panels give way to a bar under the picture, logical pixels."""
LOW_WINDOW = 760
"""Height of the window below which the timeline is low while there are panels below it, logical pixels."""


class RightColumn(QSplitter):
    """The devices above the classes. sized: the user has chosen their heights, else the classes get more room in a high window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent, handleWidth=3)
        self.sized = False
        self.splitterMoved.connect(self._keep)

    def _keep(self) -> None:
        self.sized = True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the heights of the panels for the present height of the window."""
        super().resizeEvent(event)
        if not self.sized and self.count():
            classes = CLASSES + max(self.height() - HIGH, 0) // 2
            self.setSizes((self.height() - classes, classes))


class MainWindow(QMainWindow):
    """The application's window.

    Parameters
    ----------
    store : QSettings
        Keeps the user's choices.
    folder : Path
        For session databases.
    model : ModelFiles, optional
        Replaces the stored model.
    data : Path, optional
        For zones; None = the folder around ``folder``.
    recording : Recording, optional
        A machine to show beside this one.

    Attributes
    ----------
    context : what the features share.
    quitting : asks before the window closes.
    again : whether the window shall open again when it has closed, in another language for example.
    left, pages, right : the columns; ``pages`` shows ``start`` or, with files, ``middle``: the picture and ``below`` the panels below it.
    """

    def __init__(
        self, store: QSettings, folder: Path, model: ModelFiles | None = None, data: Path | None = None, recording: Recording | None = None
    ) -> None:
        super().__init__()
        self.setWindowTitle("Framefleet")
        self.resize(build.within_screen(self, *SIZE))
        self.again = False
        self.context = context = Context(self, store, folder, data or folder.parent, recording)
        self.quitting = QuitQuestion(self, context.queue, self.close)
        self._features = [module.attach(context) for module in FEATURES]
        self._placed = [placed for feature in self._features for placed in feature.panels]
        self.top, self.status, self.start = make_top_bar(context), make_status_line(context), make_start_page(context)
        self._title: dict[str, str] = {}
        self._sized = False  # whether the user has chosen the widths of the columns
        self._before: list[int] = []  # sizes of the middle while its lower part gives room to the picture
        self._gives_way = False  # whether the lower part is hidden then if the window is small
        self._lay_out()
        self._connect()
        self._restore()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFocus()
        context.begin(model)

    def _at(self, place: Place) -> list[Placed]:
        return [placed for placed in self._placed if placed.place is place]

    def _lay_out(self) -> None:
        """Put all widgets into their places.

        From the outermost part to the innermost one, because all widgets inside a part compute their style again when it gets a parent.
        """
        context, whole = self.context, QWidget(self)
        self.columns = QSplitter(Qt.Orientation.Horizontal, handleWidth=3)
        build.column(self.top, context.banners, (self.columns, 1), self.status, spacing=2, of=whole)
        self.left, self.pages = QWidget(self.columns), QStackedWidget(self.columns)
        self.right = RightColumn(self.columns)
        build.column(*((placed.widget, placed.size) for placed in self._at(Place.LEFT)), spacing=2, of=self.left)
        self.middle = QSplitter(Qt.Orientation.Vertical, handleWidth=3)
        for page in (self.start, self.middle):
            self.pages.addWidget(page)
        self.below = QSplitter(Qt.Orientation.Horizontal)
        self.below.hide()
        _fill(self.middle, (context.viewer, self.below), (495, 325))  # three lines in the table of a window of 720 pixels
        below, right = self._at(Place.BELOW), self._at(Place.RIGHT)
        _fill(self.below, [placed.widget for placed in below], [placed.size for placed in below])
        self.middle.setCollapsible(0, False)
        self.floating = [panel for feature in self._features for panel in feature.floating]
        _fill(self.right, [placed.widget for placed in right], [placed.size for placed in right])
        self.right.setStretchFactor(0, 1)  # the devices are the headline; classes need little more than those found
        self.columns.setStretchFactor(1, 1)
        self.columns.setCollapsible(1, False)
        self.left.setMinimumWidth(196)
        self.right.setMinimumWidth(262)
        for placed in self._at(Place.STATUS):
            self.status.add(placed.widget, placed.size)
        self.setCentralWidget(whole)
        self._splitters = {"window/columns": self.columns, "window/right": self.right, "window/middle": self.middle}
        self._panels: tuple[tuple[QAction, QWidget, str], ...] = (
            (context.actions.left, self.left, "window/left_shown"),
            (context.actions.right, self.right, "window/right_shown"),
            (context.actions.zones, self.below, "window/zones_shown"),
        )

    def _connect(self) -> None:
        context, actions, viewer = self.context, self.context.actions, self.context.viewer
        for rows in (context.queue.rowsInserted, context.queue.rowsRemoved):
            rows.connect(self._rows_changed)
        actions.fullscreen.setEnabled(False)
        context.selection.file_changed.connect(self._file_changed)
        context.requests.progress.connect(self._show_progress)
        context.settings.language_changed.connect(self._language_changed)
        for wanted in (actions.fullscreen.triggered, viewer.transport.fullscreen.clicked, viewer.canvas.activated):
            wanted.connect(self.toggle_fullscreen)
        for action in (actions.zones, actions.correct):
            action.toggled.connect(partial(self._give_room, action))
        actions.zones.toggled.connect(self._order_tabs)
        self._order_tabs()
        self.middle.installEventFilter(self)
        self.columns.splitterMoved.connect(self._keep_widths)
        for panel in self.floating:
            panel.opened.connect(context.requests.drop_area)
            self.installEventFilter(panel)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the devices more room in a wide window, until the user moves the edge."""
        super().resizeEvent(event)
        self._fit_timeline()
        width = self.width()
        if not self._sized:
            right = min(max(RIGHT_WIDTH * width // SIZE[0], NARROW_RIGHT), WIDEST_RIGHT)
            self.columns.setSizes((QUEUE_WIDTH, max(width - QUEUE_WIDTH - right, 1), right))

    def _keep_widths(self) -> None:
        self._sized = True

    def _rows_changed(self) -> None:
        self.pages.setCurrentWidget(self.middle if len(self.context.queue) else self.start)
        self.context.actions.fullscreen.setEnabled(len(self.context.queue) > 0)  # else it would show the start page without a way back

    def _file_changed(self, item: QueueItem | None) -> None:
        self._show_title(name=item.name if item is not None else "")
        if item is not None:
            self.pages.setCurrentWidget(self.middle)

    def _show_progress(self, fraction: float | None, number: int) -> None:
        several = translate("window", "{percent} of %Ln files", None, number) if number > 1 else "{percent}"
        self._show_title(percent="" if fraction is None else several.format(percent=formats.percent(fraction)))

    def _show_title(self, **changed: str) -> None:
        """Name the progress and the file in the title."""
        self._title |= changed
        what = " · ".join(filter(None, (self._title.get("percent"), self._title.get("name"))))
        self.setWindowTitle(f"{what} — Framefleet" if what else "Framefleet")

    def _language_changed(self) -> None:
        """Open the window again in the new language: at once, or when the user says so while files are not finished."""
        if all(item.ended for item in self.context.queue):
            self._restart()
        else:
            title = translate("window", "The language changes at the next start")
            details = translate("window", "A restart now continues where detection stops.")
            restart = translate("window", "Restart now"), self._restart
            self.context.banners.show_banner("language", Severity.INFO, title, restart, details=details)

    def _restart(self) -> None:
        self.again, self.quitting.ask = True, False
        QTimer.singleShot(0, self, self.close)

    def begin(self, start: Start) -> None:
        """Let the features do what they do at the start of the program, when the window is shown."""
        for feature in self._features:
            if feature.begin is not None:
                feature.begin(start)

    def open_paths(self, paths: Iterable[Path], show: bool = False) -> None:
        """Open files and folders: use a model's parts as the model, show stored results, queue everything else.

        show: show the first of them also if another file is shown.
        """
        self.context.opening.take(paths, show)

    def take_over(self, paths: Sequence[Path]) -> None:
        """Open the files of another start of the program, and come to the front."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.raise_()
        self.activateWindow()
        self.context.requests.open_paths.emit(paths)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the player's keys if no other widget does."""
        if event.key() == Qt.Key.Key_Escape and self.isFullScreen():
            self.toggle_fullscreen()
        elif not self.context.viewer.keys.press(event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask if files are not finished. Then hide the window, and stop the player, detection and threads."""
        if not self.quitting.may_close():
            event.ignore()
            return
        self.keep_arrangement()
        for panel in self.floating:
            panel.end()
        self.hide()
        for feature in self._features:
            if feature.stop is not None:
                feature.stop()
        self.context.stop()
        event.accept()

    def _restore(self) -> None:
        store = self.context.store
        if (geometry := store.value("window/geometry")) is not None:
            self.restoreGeometry(geometry)
        for name, splitter in self._splitters.items():
            if (state := store.value(name)) is not None:
                splitter.restoreState(state)
        self._sized = store.contains("window/columns")
        self.right.sized = store.contains("window/right")
        for action, panel, name in self._panels:
            action.setChecked(store.value(name, "yes" if action.isChecked() else "no") == "yes")
            panel.setVisible(action.isChecked())
            action.toggled.connect(panel.setVisible)

    def keep_arrangement(self) -> None:
        """Keep the present arrangement for the next start."""
        if self._before:
            self.middle.setSizes(self._before)
        if not self.isFullScreen():  # the next start does not begin in full screen
            store = self.context.store
            store.setValue("window/geometry", self.saveGeometry())
            by_user = {"window/columns": self._sized, "window/right": self.right.sized}
            for name, splitter in self._splitters.items():
                if by_user.get(name, True):
                    store.setValue(name, splitter.saveState())
            for action, _, name in self._panels:
                store.setValue(name, "yes" if action.isChecked() else "no")

    def toggle_fullscreen(self) -> None:
        """Fill the screen with the picture, or restore the window."""
        self.keep_arrangement()
        full = not self.isFullScreen()
        for bar in (self.top, self.status):
            bar.setVisible(not full)
        for action, panel, _ in self._panels:
            panel.setVisible(action.isChecked() and not full)
        self.context.viewer.controls.set_floating(full)
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)  # keeps it maximized

    def _order_tabs(self) -> None:
        """Let Tab visit the queue, what lies over the picture, and what is below it, in this order."""
        parts = [*(placed.focus for placed in self._placed if placed.focus is not None), *self.context.viewer.rows]
        inside = [each for part in parts for each in (part, *part.findChildren(QWidget)) if each.window() is part.window()]
        for one, other in pairwise(each for each in inside if each.focusPolicy() is not Qt.FocusPolicy.NoFocus):
            QWidget.setTabOrder(one, other)

    def _give_room(self, changed: QAction, on: bool) -> None:
        """Make the timeline and the lower panels low while a bar under the picture is there, too."""
        actions = self.context.actions
        if changed is actions.zones and not on and self._before and not self._has_room:
            QTimer.singleShot(0, self, self._show_both)  # the panels were not visible, so the user asks for them
            return
        both = actions.zones.isChecked() and actions.correct.isChecked()
        self._fit_timeline()
        if both and not self._before:
            self._before, self._gives_way = self.middle.sizes(), changed is actions.correct
            QTimer.singleShot(0, self, self._lower)  # the height of the bar is known after its layout
        elif not both and self._before:
            self.below.setVisible(actions.zones.isChecked())
            if self._before[1]:  # else they were not laid out yet when both were shown
                self.middle.setSizes(self._before)
            self._before = []

    def _fit_timeline(self) -> None:
        """Show few lanes where the panels below the picture leave it little room."""
        actions = self.context.actions
        few = actions.zones.isChecked() and (actions.correct.isChecked() or self.height() < LOW_WINDOW)
        self.context.viewer.transport.timeline.show_few(few)

    def _show_both(self) -> None:
        self._gives_way = False
        self.context.actions.zones.setChecked(True)
        self._lower()

    def _lower(self) -> None:
        """Make the panels below the picture low. In a small window, hide them if the user asked for corrections after them."""
        if self._before:
            self.below.setVisible(self._has_room)
            whole = sum(self.middle.sizes())
            self.middle.setSizes([whole - LOW, LOW])

    @property
    def _has_room(self) -> bool:
        """Whether the panels below the picture are shown beside the bar under it."""
        viewer = self.context.viewer
        room = self.middle.height() - (viewer.height() - viewer.pictures.height()) - PICTURE
        return not self._gives_way or room >= self.below.minimumSizeHint().height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show or hide the panels below the picture when the height of the window has changed."""
        if event.type() is QEvent.Type.Resize and self._before:
            QTimer.singleShot(0, self, self._resized)  # the height of the picture is known after its layout
        return super().eventFilter(watched, event)

    def _resized(self) -> None:
        shown = self.below.isVisibleTo(self.middle)
        if shown != self._has_room and not self.isFullScreen():
            self._lower()


def _fill(splitter: QSplitter, parts: Iterable[QWidget], sizes: Iterable[int]) -> None:
    """Add these parts with their sizes, logical pixels."""
    for part in parts:
        splitter.addWidget(part)
    splitter.setSizes(list(sizes))
