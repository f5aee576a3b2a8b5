"""Shows up to nine files of the queue at once, in step with the main one."""

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from framefleet.app.window.context import Context, Feature
from framefleet.app.window.grid.cell import Cell
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.viewer import Viewer
from framefleet.app.window.widgets.translation import translate

SIDES = (1, 2, 3)


class Grid(QObject):
    """Fills the viewer's pictures with the files beside the shown one in the queue. chosen: the key of a file that was clicked.

    ``cells``: the videos beside the main one, by their keys.
    """

    chosen = Signal(int)

    def __init__(self, viewer: Viewer, items: QueueModel, background: Background, menu: QMenu, parent: QWidget) -> None:
        super().__init__(parent)
        self._viewer, self._items, self._background = viewer, items, background
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
        canvases = [self._viewer.canvas if key == self._main else self.cells[key].canvas for key in wanted]
        names = [item.path.name for key in wanted if (item := self._items.get(key)) is not None]
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
    grid = Grid(context.viewer, context.queue, context.background, context.actions.videos, context.window)
    context.selection.position_of = grid.position_of
    context.selection.file_changed.connect(lambda item: grid.set_main(None if item is None else item.key))
    context.filter.changed.connect(grid.set_filter)
    context.run.item_changed.connect(grid.update_item)
    context.actions.more_videos.triggered.connect(grid.next_side)
    grid.chosen.connect(context.selection.show)
    return Feature(stop=grid.stop)
