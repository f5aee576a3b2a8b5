"""The queue at the left: the files, their progress, a menu for each, and what the user can do with them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QRect, Qt, QTimer, Signal, SignalInstance
from PySide6.QtGui import QDropEvent, QKeyEvent, QMouseEvent, QResizeEvent, QUndoCommand
from PySide6.QtWidgets import QListView, QMenu, QStackedWidget

from framefleet.app.window.context import Context, Feature, Place, Placed
from framefleet.app.window.queue import open_files
from framefleet.app.window.queue.heading import Found, QueueHeading, kind_of
from framefleet.app.window.queue.item import ItemState, Part, QueueItem
from framefleet.app.window.queue.model import ITEM_ROLE, QueueDelegate, QueueModel, Thumbnails
from framefleet.app.window.run import controller
from framefleet.app.window.run.continuing import ask_to_continue, begun_files
from framefleet.app.window.run.files import Removed
from framefleet.app.window.selection import Target
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets import painting, questions, theme
from framefleet.app.window.widgets.banner import Message, Severity
from framefleet.app.window.widgets.build import Panel, column, label, row
from framefleet.app.window.widgets.translation import translate

LONGEST = 18
"""The longest name that fits into the queue, characters."""


class ProblemCard(Message):
    """Shown for a file that failed, or of which frames are missing. retry, remove, reveal: what its buttons do."""

    def __init__(self, retry: Callable[[], None], remove: Callable[[], None], reveal: Callable[[], None]) -> None:
        choices = (
            (translate("queue", "Retry"), retry),
            (translate("queue", "Remove"), remove),
            (translate("queue", "Show in folder"), reveal),
        )
        super().__init__(Severity.ERROR, choices, narrow=True)
        self.setProperty("role", "card")
        self.hide()

    def show_item(self, item: QueueItem | None) -> None:
        """Explain what is wrong with this file; hide if nothing is."""
        failed = item is not None and item.state is ItemState.FAILED
        lost = item.progress.failed if item is not None and item.state is ItemState.DONE else 0
        if item is not None and (failed or lost):
            title, why = translate("queue", "{name} failed"), item.explanation
            if lost:
                title = translate("queue", "{name} is incomplete")
                why = translate("queue", "%Ln frames have no detections, because they could not be read or detected.", None, lost)
            self.symbol.show_icon("warning" if lost else "error", "WARNING" if lost else "DANGER")
            self.show_text(title.format(name=item.path.name), why, LONGEST)
            self.setToolTip(f"{item.path}\n{why}")
        self.setVisible(failed or bool(lost))


class RemoveFiles(QUndoCommand):
    """The user removed these files."""

    def __init__(self, run: controller.DetectionController, keys: Sequence[int], name: str) -> None:
        one = translate("queue", "Remove {name}").format(name=name)
        super().__init__(one if len(keys) == 1 else translate("queue", "Remove %Ln files", None, len(keys)))
        self._run, self._keys = run, keys
        self._removed: list[Removed] = []

    def redo(self) -> None:
        """Remove the files."""
        self._removed = [removed for key in reversed(self._keys) if (removed := self._run.remove(key)) is not None]

    def undo(self) -> None:
        """Put the files back into their rows."""
        for removed in reversed(self._removed):
            self._run.put_back(removed)


CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
REFRESH_MS = 50
"""Changes within this time cause one update, because a thousand files may be added at once."""


class QueueView(QListView):
    """A list whose files can be moved. It leaves the keys of the player (space, left, right) to the window.

    picked: the user selected files, by the mouse or by keys. moved: a file's row, and the row before which it was dropped.
    """

    picked = Signal()
    moved = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.setUniformItemSizes(True)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QListView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)

    def dropEvent(self, event: QDropEvent) -> None:
        """Move the dragged file to where it was dropped."""
        where = event.position().toPoint()
        target = self.indexAt(where)
        below = target.isValid() and where.y() > self.visualRect(target).center().y()
        self.moved.emit(self.currentIndex().row(), target.row() + below if target.isValid() else self.model().rowCount())
        event.setDropAction(Qt.DropAction.CopyAction)  # the model has moved the file: the view shall not remove it
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit ``moved`` at Ctrl+Shift with an arrow; leave the player's keys to the window."""
        row, steps = self.currentIndex().row(), {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 2}
        if event.modifiers() == CTRL_SHIFT and event.key() in steps and row >= 0:
            self.moved.emit(row, max(row + steps[Qt.Key(event.key())], 0))
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right) or (event.text().isalpha() and not event.modifiers()):
            event.ignore()
        else:
            super().keyPressEvent(event)
            if event.isAccepted() and self.selectedIndexes():
                self.picked.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the current file visible: the card that explains its failure appears below the list."""
        seen = self.visualRect(self.currentIndex()).intersects(QRect(QPoint(), event.oldSize()))
        super().resizeEvent(event)
        if seen:
            self.scrollTo(self.currentIndex())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Emit ``picked`` if the press selects files."""
        super().mousePressEvent(event)
        if self.selectedIndexes():
            self.picked.emit()


class QueuePanel(Panel):
    """Shows the queue. The signals carry a file's key, or the keys of several files. chosen: the file to show, None = none."""

    chosen = Signal(object)
    cancel_requested = Signal(object)
    remove_requested = Signal(object)
    continue_requested = Signal(object)
    retry_requested = Signal(object)
    reveal_requested = Signal(int)
    export_requested = Signal(int)
    count_requested = Signal()
    compare_requested = Signal()
    correct_requested = Signal()

    def __init__(self, model: QueueModel) -> None:
        super().__init__()
        self._model = model
        self._kind: Found | None = None
        self.heading = QueueHeading(model)
        self.heading.stop.clicked.connect(self._cancel_all)
        self.heading.kind_changed.connect(self.refresh)
        self.view = QueueView()
        self.view.setMouseTracking(True)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.setAccessibleName(translate("queue", "Queue"))
        self.view.setModel(model)
        self.view.setItemDelegate(QueueDelegate(self.view))
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        hint = label("small", translate("queue", "Files you add appear here."), wrap=True)
        hint.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        hint.setContentsMargins(16, 24, 16, 0)
        self._stack = QStackedWidget()
        self._stack.addWidget(hint)
        self._stack.addWidget(self.view)
        self.problem = ProblemCard(
            retry=lambda: _emit(self.retry_requested, [self.current]),
            remove=lambda: _emit(self.remove_requested, [self.current]),
            reveal=lambda: self.reveal_requested.emit(self.current.key) if self.current else None,
        )
        self.view.moved.connect(self._move)
        below = row(self.problem, margins=(8, 4, 8, 0))
        column(self.heading, (self._stack, 1), below, spacing=0, margins=(0, 0, 0, 8), of=self)
        self._soon = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._soon.timeout.connect(self.refresh)
        for signal in (model.rowsInserted, model.rowsRemoved, model.dataChanged):
            signal.connect(self._refresh_soon)
        model.rowsRemoved.connect(self._select_current)
        self.refresh()

    def _refresh_soon(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _select_current(self) -> None:
        """Select the file that Qt made the current one after a removal, so that Delete works again."""
        if not self.view.selectedIndexes():
            self.view.selectionModel().select(self.view.currentIndex(), QItemSelectionModel.SelectionFlag.Select)

    def refresh(self) -> None:
        """Show the number of completed files in the heading, and the files that it has chosen."""
        self._stack.setCurrentIndex(1 if len(self._model) else 0)
        self.heading.refresh()
        kind = self.heading.kind
        if kind is not None or self._kind is not None:
            for number, item in enumerate(self._model):
                self.view.setRowHidden(number, kind is not None and kind_of(self._model, item) is not kind)
        self._kind = kind
        self.problem.show_item(self.current)

    def leave(self, keys: Collection[int]) -> None:
        """Select the nearest file that is not one of these, which are about to be removed, so that none of them is shown meanwhile."""
        row, items = self.view.currentIndex().row(), list(self._model)
        if row < 0 or items[row].key not in keys:
            return
        following = next((item for item in items[row:] if item.key not in keys), None)
        stays = following or next((item for item in reversed(items[:row]) if item.key not in keys), None)
        if stays is not None:
            self.show_item(stays.key)
        else:
            self.view.setCurrentIndex(QModelIndex())

    def show_found(self) -> None:
        """Show what was found again, after the filter has changed."""
        self.view.viewport().update()
        self._refresh_soon()

    def show_item(self, key: int) -> None:
        """Select a file."""
        row = self._model.row_of(key)
        if row >= 0:  # without a command, Qt would select or deselect as the held keys say: Ctrl of Ctrl+Z, for example
            self.view.selectionModel().setCurrentIndex(self._model.index(row), QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def reveal_item(self, key: int) -> None:
        """Scroll to a file, with the files after it below."""
        row = self._model.row_of(key)
        if row >= 0:
            self.view.scrollTo(self._model.index(row), QListView.ScrollHint.PositionAtTop)

    @property
    def current(self) -> QueueItem | None:
        """The selected file."""
        item: QueueItem | None = self.view.currentIndex().data(ITEM_ROLE)
        return item

    def _current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        item = current.data(ITEM_ROLE)
        self.problem.show_item(item)
        self.chosen.emit(item.key if item is not None else None)

    @property
    def selected(self) -> list[QueueItem]:
        """The selected files, in the order of the queue."""
        return [index.data(ITEM_ROLE) for index in sorted(self.view.selectedIndexes())]

    def _cancel_all(self) -> None:
        _emit(self.cancel_requested, [item for item in self._model if not item.ended])

    def _move(self, row: int, before: int) -> None:
        item = self._model.index(row).data(ITEM_ROLE)
        if item is not None:
            self._model.move(item.key, before)
            self.show_item(item.key)

    def _open_menu(self, position: QPoint) -> None:
        item = self.view.indexAt(position).data(ITEM_ROLE)
        if item is not None:
            self.menu_for(item).popup(self.view.viewport().mapToGlobal(position))

    def menu_for(self, item: QueueItem) -> QMenu:
        """The menu of a file. Some of its actions apply to all selected files, if this one is among them."""
        chosen = self.selected if item in self.selected else [item]
        ended = [each.key for each in chosen if each.ended and (each.stream is not None or not each.live)]
        cancelled = [each.key for each in chosen if each.state is ItemState.CANCELLED and not each.replaced]
        running = [each.key for each in chosen if not each.ended]
        finished = [other.key for other in self._model if other.ended]
        stored = item.results is not None and item.progress.frames > 0
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def add(title: str, emit: object, enabled: bool = True, name: str | None = None) -> None:
            action = menu.addAction(title, emit)  # type: ignore[call-overload]
            action.setEnabled(enabled)
            if name is not None:
                action.setIcon(painting.icon(name, theme.MUTED))

        add(translate("queue", "Show"), partial(self.show_item, item.key), name="play")
        if not item.live:
            add(translate("queue", "Show in folder"), partial(self.reveal_requested.emit, item.key), name="folder")
        menu.addSeparator()
        add(translate("queue", "Export…"), partial(self.export_requested.emit, item.key), stored, "export")
        for title, wanted in (
            (translate("queue", "Count…"), self.count_requested),
            (translate("queue", "Correct…"), self.correct_requested),
            (translate("queue", "Compare…"), self.compare_requested),
        ):
            add(title, partial(self._show_and, wanted, item.key), stored)
        menu.addSeparator()
        if cancelled:
            add(translate("queue", "Continue"), partial(self.continue_requested.emit, cancelled), name="play")
        if ended:
            failed = item.state is ItemState.FAILED and len(ended) == 1
            title = translate("queue", "Retry") if failed else translate("queue", "Detect again")
            add(title, partial(self.retry_requested.emit, ended), name="undo" if cancelled else "play")
        if running:
            streams = all(each.live for each in chosen if not each.ended)
            title = translate("queue", "Stop") if streams else translate("queue", "Cancel")
            add(title, partial(self.cancel_requested.emit, running), name="stop")
        add(translate("queue", "Remove from queue"), partial(self.remove_requested.emit, [each.key for each in chosen]), name="close")
        add(translate("queue", "Remove all finished"), partial(self.remove_requested.emit, finished), bool(finished))
        return menu

    def _show_and(self, wanted: SignalInstance, key: int) -> None:
        self.show_item(key)
        wanted.emit()


def _emit(signal: SignalInstance, items: Sequence[QueueItem | None]) -> None:
    """Emit the keys of these files, if there are any."""
    if keys := [item.key for item in items if item is not None]:
        signal.emit(keys)


def attach(context: Context) -> Feature:
    """Add the list of files, and the ways to open files."""
    queue, run, actions, window, requests = context.queue, context.run, context.actions, context.window, context.requests
    panel = QueuePanel(queue)
    open_files.connect(context)
    _connect_selection(context, panel)
    Thumbnails(queue, context.preview, window)
    panel.remove_requested.connect(partial(_remove, context, panel))
    run.item_changed.connect(panel.show_found)

    def reveal(key: int) -> None:
        if (item := queue.get(key)) is not None:
            questions.show_folder(item.path.parent)

    def cancel(keys: Sequence[int]) -> None:
        for key in reversed(keys):  # the waiting files first, so that none of them starts meanwhile
            run.cancel(key)

    def ask(items: Iterable[QueueItem | None], go_on: Callable[[], object]) -> None:
        ask_to_continue(window, context.background, begun_files(items), go_on)

    def continue_files(keys: Sequence[int]) -> None:
        ask(map(queue.get, keys), lambda: run.continue_files(keys))

    def pause(paused: bool) -> None:
        go_on = (item for item in queue if not paused and not item.ended and item.begun is not None)
        ask(go_on, lambda: run.set_paused(paused))

    def retry(keys: Sequence[int]) -> None:
        ask((item for key in keys if (item := queue.get(key)) and run.goes_on(item)), lambda: [*map(run.retry, keys)])

    def detect_part(part: Part) -> None:
        if (key := context.selection.key) is not None:
            run.detect_again(key, part)

    shown = context.filter.value

    def use(value: ViewFilter) -> None:
        nonlocal shown
        shown = value

    def found(item: QueueItem) -> dict[int, int] | None:
        tally = run.tally(item.key)
        if tally is None or not tally.complete:
            return None
        counts = tally.counts(shown.confidence)
        return {number: count for number, count in counts.items() if count and (shown.classes is None or number in shown.classes)}

    queue.found = found
    for changed in (use, lambda _: panel.show_found()):
        context.filter.changed.connect(changed)
    panel.reveal_requested.connect(reveal)
    panel.cancel_requested.connect(cancel)
    panel.continue_requested.connect(continue_files)
    panel.retry_requested.connect(retry)
    panel.export_requested.connect(lambda key: requests.export.emit(queue.get(key), ""))
    panel.count_requested.connect(requests.count)
    panel.compare_requested.connect(requests.compare)
    panel.correct_requested.connect(lambda: actions.correct.setChecked(True))
    panel.heading.pause_requested.connect(pause)
    run.pause_changed.connect(panel.heading.set_paused)
    context.viewer.transport.part.detection_requested.connect(detect_part)
    return Feature([Placed(panel, Place.LEFT, 1, focus=panel.view)], stop=context.memory.stop)


def _connect_selection(context: Context, panel: QueuePanel) -> None:
    """Show the current file of the list, and make the shown file the current one."""

    def select(item: QueueItem | None) -> None:
        if item is not None and (panel.current is None or panel.current.key != item.key):
            panel.show_item(item.key)

    def delete() -> None:
        if context.selection.target is Target.FILES:
            _remove(context, panel, [item.key for item in panel.selected])
            if panel.selected:  # Qt selects the next file: the key removes this one, too
                context.selection.aim(Target.FILES)

    panel.chosen.connect(context.selection.show)
    panel.view.picked.connect(lambda: context.selection.aim(Target.FILES))
    context.actions.delete.triggered.connect(delete)
    context.selection.file_changed.connect(select)
    context.selection.revealed.connect(panel.reveal_item)


def _remove(context: Context, panel: QueuePanel, keys: Sequence[int]) -> None:
    """Remove files. The line at the bottom offers to undo that until something else is done."""
    files = [item for key in keys if (item := context.queue.get(key)) is not None]
    if not files:
        return
    name = files[0].path.name
    panel.leave(set(keys))
    context.undo.push(RemoveFiles(context.run, [item.key for item in files], name))
    one = translate("queue", "Removed {name}").format(name=name)
    context.actions.offer_undo(one if len(files) == 1 else translate("queue", "Removed %Ln files", None, len(files)))
