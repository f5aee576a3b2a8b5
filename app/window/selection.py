"""The file that the window shows: chosen in the queue, and kept up to date in the viewer."""

from collections.abc import Callable, Sequence
from enum import Enum, auto

from PySide6.QtCore import QObject, Signal

from framefleet.app.window.queue.item import ItemState, Part, QueueItem
from framefleet.app.window.queue.memory import QueueMemory, ViewState
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.run.controller import DetectionController
from framefleet.app.window.settings.choices import RunChoices
from framefleet.app.window.viewer.filter import Filter
from framefleet.app.window.viewer.viewer import Viewer


class Target(Enum):
    """What the user selected last, which Delete deletes: files of the queue, a line or zone, or an object in the picture."""

    FILES = auto()
    SHAPE = auto()
    OBJECT = auto()


class Selection(QObject):
    """Shows one file of the queue, and knows what the user selected last.

    Signals
    -------
    file_changed : QueueItem or None, another file is shown.
    item_changed : the shown QueueItem in another state.
    revealed : key of a file that the list of the queue shall show.
    target_changed : Target or None.

    Attributes
    ----------
    key : of the shown file, None without one.
    object : index of the selected object among the visible detections, None without one.
    target : what Delete deletes, None = nothing.
    position_of : returns the pts at which a file is shown already beside the main one, seconds; None = it is not shown.
    """

    file_changed = Signal(object)
    item_changed = Signal(object)
    revealed = Signal(int)
    target_changed = Signal(object)

    def __init__(
        self,
        queue: QueueModel,
        run: DetectionController,
        viewer: Viewer,
        shown: Filter,
        settings: RunChoices,
        memory: QueueMemory,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._queue, self._run, self._viewer, self._filter = queue, run, viewer, shown
        self._settings, self._memory = settings, memory
        self.key: int | None = None
        self.object: int | None = None
        self.target: Target | None = None
        self.position_of: Callable[[int], float | None] = lambda _key: None
        self._views: dict[int, ViewState] = {}
        self._part: Part | None = None  # to choose when the file is open
        memory.view_of = self.view
        run.item_changed.connect(self._update)
        settings.model_changed.connect(lambda _: self._show_model_labels())
        viewer.player.opened.connect(self._opened)
        viewer.player.detection_wanted.connect(run.seek)
        viewer.transport.timeline.part_chosen.connect(memory.save_soon)

    @property
    def item(self) -> QueueItem | None:
        """The shown file, None without one."""
        return self._queue.get(self.key) if self.key is not None else None

    def view(self, item: QueueItem) -> ViewState:
        """What is or was shown of a file, in this run or in the last one."""
        viewer = self._viewer
        if item.key == self.key and viewer.player.current is not None:
            return ViewState(viewer.player.position, viewer.transport.timeline.part)
        return self._views.get(item.key, self._memory.view_before(item))

    def aim(self, target: Target, selected: bool = True) -> None:
        """Let Delete delete what is selected of this kind, and nothing of another kind. selected: False = nothing of this kind is now."""
        if selected is not (self.target is target):
            self.target = target if selected else None
            self.target_changed.emit(self.target)

    def select_object(self, index: int | None) -> None:
        """Select one of the visible detections, None = none."""
        self.object = index
        self._viewer.canvas.select(index)
        self.aim(Target.OBJECT, index is not None)

    def show(self, key: int | None) -> None:
        """Show another file, None = none. A key that is not in the queue changes nothing."""
        item, before = (None if key is None else self._queue.get(key)), self.item
        if key == self.key or (key is not None and item is None):
            return
        if before is not None:
            self._views[before.key] = self.view(before)
        self.key = key
        if key is not None:
            self._memory.viewed.add(key)
        if self.target is not None:
            self.aim(self.target, selected=False)  # what is shown now was not selected by the user yet
        if item is None:
            self._viewer.clear()
        else:
            self._open(item)
        self.file_changed.emit(item)

    def _open(self, item: QueueItem) -> None:
        viewer, view, at = self._viewer, self._views.get(item.key, self._memory.view_before(item)), self.position_of(item.key)
        at = view.at if at is None else at
        play = viewer.player.playing or (at is None and not item.ended)
        self._filter.set_labels(item.results.labels if item.results else self._settings.labels)
        viewer.show_item(item, self._run.tally(item.key), play, at or 0.0)
        viewer.transport.timeline.set_part(view.part)
        self._part = view.part if item.progress.info is None else None

    def _opened(self) -> None:
        if self._part is not None:  # the length is known now
            self._viewer.transport.timeline.set_part(self._part)
            self._part = None

    def _show_model_labels(self) -> None:
        if self.key is None:
            self._filter.set_labels(self._settings.labels)

    def _update(self, key: int) -> None:
        """Show the progress of a file, if it is the one that is shown."""
        item = self.item
        if item is None or key != self.key:
            return
        if item.results is not None:
            self._filter.set_labels(item.results.labels)
        busy = any(other.state is ItemState.RUNNING for other in self._queue if other.key != key)
        self._viewer.update_item(item, self._run.tally(key), busy)
        self.item_changed.emit(item)

    def begin(self, keys: Sequence[int]) -> None:
        """Show the first of these new files, unless another one is shown. Ask for a model if there is none."""
        shown = self.item
        self.revealed.emit(keys[0])
        if shown is None or (shown.ended and self._viewer.player.info is None):  # the file cannot be shown
            self.show(keys[0])
        if self._settings.summary is None:
            self._settings.ask_for_model()

    def show_first(self, keys: Sequence[int]) -> None:
        """Show the first of these files, which are in the queue."""
        self.revealed.emit(keys[0])
        self.show(keys[0])

    def show_moment(self, key: int, pts: float) -> None:
        """Show a moment of a file, seconds, and pause there."""
        self.show(key)
        self._viewer.player.pause()
        self._viewer.player.seek(pts)
