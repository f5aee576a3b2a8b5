"""Several videos beside each other, in step with the main one."""

from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.player.player import FollowingClock, PlaybackClock, Player
from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.results.stored import is_known, read_clock
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.store.clock import Clock

OUT_OF_STEP = 0.5
"""Distance from the wanted time at which a playing video jumps there, seconds of the clock."""
PATIENCE = 3.0
"""The same while it jumps already: each jump replaces the one before."""
CELL_NICE = 7
"""The niceness of what decodes the videos beside the main one, two more than that of detection: see benchmarks/results/window.md."""


class Cell(QObject):
    """Shows one item of the queue in step with another player. chosen: the user clicked it."""

    chosen = Signal(int)

    def __init__(self, item: QueueItem, leader: PlaybackClock, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self.item = item
        self.canvas: VideoCanvas = VideoCanvas()
        self.clock: Clock | None = None
        self._background = background
        self._clock_read = False
        self._following = FollowingClock(leader)
        self._client = PreviewClient(self, CELL_NICE)
        self.player = Player(self._client, self, self._following)
        self.player.set_wait(False)
        self._wanted: float | None = None
        self.canvas.resized.connect(self.player.set_viewport)
        self.canvas.pressed.connect(lambda: self.chosen.emit(self.item.key))
        self.player.shown.connect(self._shown)
        self.player.result.connect(self.canvas.show_result)
        self.player.failed.connect(self.canvas.show_message)
        self.canvas.show_message(translate("viewer", "Opening…"))
        self.update_item(item)
        self.player.set_viewport(self.canvas.device_size())
        if not item.live:  # its pictures come from the run
            self.player.open(item, play=False)

    @property
    def position(self) -> float:
        """The pts of the shown picture, seconds."""
        return self.player.position

    def update_item(self, item: QueueItem) -> None:
        """Use a changed state of the file."""
        self.item = item
        self.canvas.set_labels(item.results.labels if item.results else ())
        self.player.update_item(item, queue_busy=True)
        if not self._clock_read and is_known(item):
            self._clock_read = True
            self._background.start(self, partial(read_clock, item), self._set_clock, lambda _: None)

    def _set_clock(self, clock: Clock | None) -> None:
        self.clock = clock

    def follow(self, leader: Player, offset: float | None) -> None:
        """Show the picture that belongs to the leader's. offset: of its time since the first one, seconds; None = unknown."""
        if self.item.live:
            return
        if offset is None:
            self._leave(translate("viewer", "The clock time of this video is unknown"))
            return
        shift = offset + self.player.begin - leader.begin
        self._following.offset = shift
        target = leader.position + shift
        info, time = self.player.info, target - self.player.begin
        if offset and (time < 0 or (info is not None and info.duration is not None and time > info.duration)):
            self._leave(translate("viewer", "This video has no picture at this time"))
            return
        playing = leader.anchor is not None
        allowed = OUT_OF_STEP * max(leader.speed, 1.0) if playing else 0.5 / (info.rate if info is not None and info.rate else 25.0)
        expected = self.position if self._wanted is None else self._wanted
        if abs(expected - target) > (allowed if self._wanted is None or not playing else PATIENCE):
            self._wanted = target
            self.player.seek(target)
        if playing != self.player.playing:
            self.player.toggle()

    def _leave(self, note: str) -> None:
        self.player.pause()
        self.canvas.show_message(note)
        self._wanted = float("inf")  # the next time in the video is a jump

    def _shown(self, shown: Shown) -> None:
        info = self.player.info
        size = (info.width, info.height) if info is not None else (shown.image.width(), shown.image.height())
        self.canvas.show_picture(shown.image, size, shown.result)
        self._wanted = None

    def close(self) -> None:
        """Remove the canvas, and end the preview process in the background, which takes as long as decoding a picture."""
        self.player.close_file()
        self.canvas.hide()
        self.canvas.deleteLater()
        self._background.start(self, self._client.release(), lambda _: self.deleteLater(), lambda _: self.deleteLater())


SIDES = (1, 2, 3, 4)


class Grid(QObject):
    """Fills the viewer's pictures with the files beside the shown one in the queue. chosen: the key of a file that was clicked.

    live_canvas: the key of a live item, and the canvas that shows it from now on.

    ``cells``: the videos beside the main one, by their keys.
    """

    chosen = Signal(int)
    live_canvas = Signal(int, object)

    def __init__(self, context: Context) -> None:
        super().__init__(context.window)
        viewer, items, menu = context.viewer, context.queue, context.actions.videos
        self._viewer, self._items, self._background = viewer, items, context.background
        self._filter = ViewFilter()
        self._side = 1
        self._main: int | None = None
        self._keys: list[int] = []
        self.cells: dict[int, Cell] = {}
        self._soon = QTimer(self, singleShot=True)  # removing many files in one step would start a process for each of them
        self._soon.timeout.connect(self._fill)
        sides, steps = QActionGroup(self), QActionGroup(self)
        self.sides = [
            QAction(translate("viewer", "One video") if side == 1 else f"{side} × {side}", sides, checkable=True, checked=side == 1)
            for side in SIDES
        ]
        self.by_time = QAction(translate("viewer", "In step from their beginnings"), steps, checkable=True, checked=True)
        self.by_clock = QAction(translate("viewer", "In step by clock time"), steps, checkable=True)
        menu.addActions(sides.actions())
        menu.addSeparator()
        menu.addActions(steps.actions())
        sides.triggered.connect(lambda action: self.set_side(SIDES[self.sides.index(action)]))
        steps.triggered.connect(lambda _: self._follow())
        for changed in (items.rowsInserted, items.rowsRemoved, items.rowsMoved, items.modelReset):
            changed.connect(self._soon.start)
        viewer.player.shown.connect(self._follow)
        viewer.player.changed.connect(self._follow)

    def set_side(self, side: int) -> None:
        """Show side × side videos."""
        self._side = side
        self.sides[SIDES.index(side)].setChecked(True)
        self._keys = []
        self._fill()

    def next_side(self) -> None:
        """Show more videos, or one after the most."""
        self.set_side(SIDES[(SIDES.index(self._side) + 1) % len(SIDES)])

    def position_of(self, key: int) -> float | None:
        """The pts at which a file of the grid is now, seconds; None for other files."""
        return self.cells[key].position if key in self.cells else None

    def set_main(self, key: int | None) -> None:
        """Use another file as the main one."""
        self._main = key
        self._soon.start()

    def set_filter(self, view_filter: ViewFilter) -> None:
        """Draw only these detections."""
        self._filter = view_filter
        for cell in self.cells.values():
            cell.canvas.set_filter(view_filter)

    def update_item(self, key: int) -> None:
        """Show a changed state of a file."""
        item = self._items.get(key)
        if item is not None and key in self.cells:
            self.cells[key].update_item(item)
            if self.by_clock.isChecked():
                self._follow()

    def _fill(self) -> None:
        keys = [item.key for item in self._items]
        room = self._side**2
        if self._main not in keys or room == 1:
            wanted = []
        elif self._main in self._keys and all(key in keys for key in self._keys) and len(self._keys) == min(room, len(keys)):
            wanted = self._keys
        else:
            first = max(min(keys.index(self._main), len(keys) - room), 0)
            wanted = keys[first : first + room]
        self._keys = wanted
        for key in [key for key in self.cells if key not in wanted or key == self._main]:
            self.cells.pop(key).close()
        for key in wanted:
            if key != self._main and key not in self.cells and (item := self._items.get(key)) is not None:
                self.cells[key] = Cell(item, self._viewer.player.clock, self._background, self)
                self.cells[key].canvas.set_filter(self._filter)
                self.cells[key].chosen.connect(self.chosen)
                if item.live:
                    self.live_canvas.emit(key, self.cells[key].canvas)
        canvases = [self._viewer.canvas if key == self._main else self.cells[key].canvas for key in wanted]
        names = [item.name for key in wanted if (item := self._items.get(key)) is not None]
        side = self._side if len(wanted) > 1 else 1
        self._viewer.transport.timeline.keep_height(side > 1)
        self._viewer.pictures.arrange(canvases or [self._viewer.canvas], names or [""], side)
        self._follow()

    def _follow(self, *_: object) -> None:
        if self._viewer.player.current is None:
            return  # the main video is not open yet
        for cell in self.cells.values():
            cell.follow(self._viewer.player, self._offset(cell))

    def _offset(self, cell: Cell) -> float | None:
        """How much more time has passed since the beginning of a cell's video than since that of the main one, seconds; None: unknown."""
        if self.by_time.isChecked():
            return 0.0
        clocks = (self._viewer.transport.shown_clock, self._viewer.player), (cell.clock, cell.player)
        ours, theirs = (clock.at(player.begin) if clock is not None else None for clock, player in clocks)
        return None if ours is None or theirs is None else (ours - theirs).total_seconds()

    def stop(self) -> None:
        """End all preview processes."""
        self._side = 1
        self._fill()


def attach(context: Context) -> Feature:
    """Let the user show several videos at once."""
    grid = Grid(context)
    context.selection.position_of = grid.position_of
    context.selection.file_changed.connect(lambda item: grid.set_main(None if item is None else item.key))
    context.filter.changed.connect(grid.set_filter)
    context.run.item_changed.connect(grid.update_item)
    context.actions.more_videos.triggered.connect(grid.next_side)
    grid.chosen.connect(context.selection.show)
    grid.live_canvas.connect(context.requests.live_canvas)
    return Feature(stop=grid.stop)
