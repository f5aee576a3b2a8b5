"""The main window: its parts and the connections between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings, Qt, QTimer, QUrl
from PySide6.QtGui import QCloseEvent, QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QWidget

from app.scaling_results import read_series
from app.window.actions import Actions
from app.window.arrangement import Arrangement
from app.window.cluster.control import ClusterControl
from app.window.corrections.corrector import Corrector
from app.window.corrections.recount import Recount
from app.window.demo.demo import Demo
from app.window.devices.panel import DevicePanel
from app.window.events.clips import Clips
from app.window.file_dialogs import FileDialogs
from app.window.floating import Floating
from app.window.grid.grid import Grid
from app.window.keys.bindings import Bindings
from app.window.messages.notices import Notices
from app.window.messages.quitting import QuitQuestion
from app.window.models.setup import ModelSetup
from app.window.queue.file_drops import DropOverlay
from app.window.queue.item import ItemState
from app.window.queue.memory import QueueMemory
from app.window.queue.model import QueueModel
from app.window.queue.opening import Opening
from app.window.queue.panel import REFRESH_MS, QueuePanel
from app.window.queue.recent import RecentFiles
from app.window.queue.removal import Removal
from app.window.queue.thumbnails import Thumbnails
from app.window.results.export import Exports
from app.window.results.interrupted import InterruptedRun
from app.window.results.stored import read_stored
from app.window.results.worst_frames import WorstFrames
from app.window.scaling.panel import ScalingPanel
from app.window.session.background import Background
from app.window.session.controller import DetectionController
from app.window.sessions.dialog import SessionsDialog
from app.window.sessions.reminder import SessionReminder
from app.window.start_page import StartPage
from app.window.status_line import StatusLine
from app.window.top_bar import TopBar
from app.window.topology.panel import TopologyPanel
from app.window.topology.tabs import DeviceTabs
from app.window.viewer.filter_panel import FilterPanel
from app.window.viewer.preview_client import PreviewClient
from app.window.viewer.viewer import Viewer
from app.window.widgets.banner import BannerArea, Severity
from app.window.widgets.build import column, within_screen
from app.window.widgets.translation import translate
from app.window.zones.workspace import Zones
from engine.devices.topology.search import find_topology
from engine.model.check import ModelSummary
from engine.settings import ModelFiles


class MainWindow(QMainWindow):
    """The application's window. store: keeps the user's choices. folder: for session databases. model: replaces the stored one.

    data: folder for zones and results of scaling, None = that around ``folder``.
    """

    def __init__(self, store: QSettings, folder: Path, model: ModelFiles | None = None, data: Path | None = None) -> None:
        super().__init__()
        self.setWindowTitle("Framefleet")
        self.resize(within_screen(self, 1360, 840))
        self._store = store
        self.shown_key: int | None = None
        self.background = Background(self)
        self.client = PreviewClient(self)
        self.items = QueueModel(self)
        self.controller = DetectionController(self.items, folder, self)
        self.bindings = Bindings(store, self)
        self.actions_ = Actions(self, self.bindings)
        self.banners = BannerArea()
        self.notices = Notices(self.banners, self)
        self.queue = QueuePanel(self.items, self.actions_)
        self.start = StartPage(self.actions_)
        self.viewer = Viewer(self.client, self.background, self.bindings)
        self.zones = Zones(self.viewer, self.items, self.background, store, (data or folder.parent) / "zones", self)
        self.corrector = Corrector(self.viewer, self.background, self)
        self.recount = Recount(self.items, self.controller, self.background, self)
        self.viewer.add_bar(self.corrector.bar)
        self.demo = Demo(self.items, self.controller, self.background, self)
        self.filter = FilterPanel()
        self.devices = DevicePanel()
        self.topology = TopologyPanel()
        self.scaling = ScalingPanel((data or folder.parent) / "scaling")
        self.device_tabs = DeviceTabs(self.devices, self.topology, self.scaling, store)
        self.status = StatusLine()
        self.top = TopBar(self.actions_)
        self.overlay = DropOverlay(self)
        self.files = FileDialogs(self, store)
        self.exports = Exports(self, store, self.background, self.banners)
        self.clips = Clips(self, store, self.background, self.banners)
        self.setup = ModelSetup(self, store, self.background, self.controller, self.banners)
        self.opening = Opening(self.items, self.controller, self.background, self.banners, self)
        self.memory = QueueMemory(self.items, folder, self)
        self.interrupted = InterruptedRun(self.controller, self.opening, self.memory, store, self.background, self.banners, self)
        self.removal = Removal(self.controller, self.actions_.undo, self)
        self.recent = RecentFiles(store, self.actions_.recent, self)
        self.thumbnails = Thumbnails(self.items, self.client, self)
        self.quitting = QuitQuestion(self, self.items, self.close)
        self.worst = WorstFrames(self, self.items, self.opening, self.background, self.banners)
        self.grid = Grid(self.viewer, self.items, self.background, self.actions_.videos, self)
        self.cluster = ClusterControl(self, store, self.background, self.controller, self.banners)
        self.reminder = SessionReminder(folder, store, self.actions_, self.background, self.banners, self)
        self.again = False
        """Whether the window shall open again when it has closed, in another language for example."""
        self._summing = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._arrange()
        self._connect()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFocus()
        self.setup.begin(model)

    def _arrange(self) -> None:
        self.pages = QStackedWidget()
        self.pages.addWidget(self.start)
        self.middle = QSplitter(Qt.Orientation.Vertical)
        self.middle.addWidget(self.viewer)
        self.middle.addWidget(self.zones.area)
        self.middle.setSizes([560, 260])
        self.middle.setCollapsible(0, False)
        self.pages.addWidget(self.middle)
        events = Floating(self.zones.list, translate("window", "Events"), "events", self._store)
        self.zones.list.detach.clicked.connect(events.toggle)
        self.actions_.zones.toggled.connect(events.set_shown)
        self.floating = (*self.device_tabs.floating, events)
        self.right = QSplitter(Qt.Orientation.Vertical)
        self.right.addWidget(self.filter)
        self.right.addWidget(self.device_tabs)
        self.right.setSizes([430, 340])  # ten classes
        self.left = QWidget()
        column((self.queue, 1), self.demo.card, spacing=2, of=self.left)
        self.columns = QSplitter(Qt.Orientation.Horizontal)
        for widget in (self.left, self.pages, self.right):
            self.columns.addWidget(widget)
        self.columns.setStretchFactor(1, 1)
        self.columns.setSizes([196, 896, 262])  # the video gets more than half of the window
        self.queue.setMinimumWidth(196)
        self.right.setMinimumWidth(max(262, self.device_tabs.head.minimumSize().width()))
        self.columns.setCollapsible(1, False)
        whole = QWidget()
        column(self.top, self.banners, (self.columns, 1), self.status, spacing=2, of=whole)
        self.status.add(self.exports.line)
        self.status.add(self.zones.spoken, share=10)
        self.setCentralWidget(whole)
        splitters = {"window/columns": self.columns, "window/right": self.right, "window/middle": self.middle}
        self.arrangement = Arrangement(
            self, self._store, self.actions_, (self.left, self.right), self.zones.area, splitters, (self.top, self.status), self.viewer
        )
        events.set_shown(self.actions_.zones.isChecked())
        for panel in self.floating:
            self.installEventFilter(panel)

    def _connect(self) -> None:
        actions, queue, controller = self.actions_, self.queue, self.controller
        actions.open_files.triggered.connect(self.files.choose_files)
        actions.open_folder.triggered.connect(self.files.choose_folder)
        actions.settings.triggered.connect(self.setup.open_dialog)
        for asked in (actions.sessions.triggered, self.setup.sessions_requested):
            asked.connect(self._open_sessions)
        actions.fullscreen.triggered.connect(self.arrangement.toggle_fullscreen)
        actions.open_results.triggered.connect(lambda: self.files.choose_results(controller.folder))
        for paths in (self.files.chosen, self.overlay.dropped, self.recent.chosen):
            paths.connect(self.opening.take)
            paths.connect(self.recent.add)
        self.opening.model_taken.connect(self.setup.take)
        self.opening.queued.connect(self._queued)
        self.opening.restored.connect(self._restored)
        self.interrupted.queued.connect(self._queued)
        self.worst.shown.connect(self._show_moment)
        queue.chosen.connect(self._show)
        queue.cancel_requested.connect(controller.cancel)
        queue.remove_requested.connect(lambda key: self.removal.remove([key]))
        queue.retry_requested.connect(controller.detect_again)
        queue.reveal_requested.connect(self._reveal)
        queue.export_requested.connect(self._export)
        actions.export.triggered.connect(self._export_current)
        queue.clear_requested.connect(self._clear_finished)
        actions.demo.triggered.connect(self.demo.watch)
        for asked in (self.start.model_requested, self.demo.card.model_requested):
            asked.connect(self.setup.open_models)
        self.demo.begun.connect(queue.show_item)
        self.setup.model_changed.connect(self._model_changed)
        self.setup.confidence_changed.connect(self.filter.set_confidence)
        self.setup.floor_changed.connect(self.filter.set_floor)
        self.filter.changed.connect(self.viewer.set_filter)
        self.filter.changed.connect(self.grid.set_filter)
        self.grid.chosen.connect(queue.show_item)
        actions.more_videos.triggered.connect(self.grid.next_side)
        actions.zones.toggled.connect(self.zones.set_shown)
        self.zones.set_shown(actions.zones.isChecked())
        actions.add_parts(list(self.zones.parts.actions.values()))
        self.filter.changed.connect(self.zones.detections.set_filter)
        actions.correct.toggled.connect(self.corrector.set_shown)
        self.corrector.corrected.connect(self.recount.ask)
        self.corrector.corrected.connect(self.zones.reread)
        self.zones.list.clips_requested.connect(lambda: self.clips.ask(self.queue.current, self.filter.filter))
        self.zones.list.save_requested.connect(self._export_events)
        self.viewer.saver.saved.connect(self.exports.show_saved)
        self.viewer.part_detection_requested.connect(controller.detect_again)
        self.viewer.counted.connect(self.filter.set_counts)
        self.viewer.fullscreen_requested.connect(self.arrangement.toggle_fullscreen)
        self.items.rowsRemoved.connect(self._rows_changed)
        self.items.rowsInserted.connect(self._rows_changed)
        self.client.crashed.connect(self.notices.preview_crashed)
        self._summing.timeout.connect(lambda: self.status.show_queue(self.items))
        controller.item_changed.connect(self._item_changed)
        controller.devices_changed.connect(self.devices.show_devices)
        controller.figures_changed.connect(self.devices.show_figures)
        controller.devices_changed.connect(self.status.show_devices)
        controller.devices_changed.connect(self.notices.devices_changed)
        controller.devices_changed.connect(self.setup.last_run.show_devices)
        controller.rate_changed.connect(self.status.show_rate)
        controller.strategy_changed.connect(self.status.show_strategy)
        controller.strategy_changed.connect(self.setup.last_run.show_strategy)
        controller.strategy_changed.connect(self.devices.show_strategy)
        self.devices.bottleneck_changed.connect(self.status.show_bottleneck)
        self.devices.join_requested.connect(controller.add_device)
        self.devices.leave_requested.connect(controller.remove_device)
        controller.refused.connect(self.notices.refused)
        controller.device_failed.connect(self.notices.device_failed)
        controller.failed.connect(self.notices.session_failed)
        self.setup.devices_found.connect(self.notices.devices_found)
        self.setup.devices_found.connect(self.devices.know_devices)
        self.cluster.show_in(self.devices, self.topology)
        actions.cluster.triggered.connect(self.cluster.open_dialog)
        self.device_tabs.cluster.clicked.connect(actions.cluster.trigger)
        self.topology.wanted.connect(self._find_topology)
        self.scaling.wanted.connect(self._read_scaling)
        self.notices.settings_requested.connect(self.setup.open_dialog)
        self.setup.language_changed.connect(self._change_language)

    def _change_language(self) -> None:
        """Open the window again in the new language: at once, or when the user says so while files are not finished."""
        if all(item.ended for item in self.items):
            self._restart()
        else:
            text = translate("window", "The language changes at the next start. A restart now continues where detection stops.")
            self.banners.show_banner("language", Severity.INFO, text, (translate("window", "Restart now"), self._restart))

    def _restart(self) -> None:
        self.again, self.quitting.ask = True, False
        QTimer.singleShot(0, self, self.close)

    def open_paths(self, paths: Iterable[Path]) -> None:
        """Open files and folders: use a model's parts as the model, show stored results, queue everything else."""
        self.opening.take(paths)

    def _queued(self, keys: Sequence[int]) -> None:
        self.queue.reveal_item(keys[0])
        shown = self.items.get(self.shown_key) if self.shown_key is not None else None
        if shown is None or (shown.ended and self.viewer.player.info is None):  # the file cannot be shown
            self.queue.show_item(keys[0])
        if self.setup.summary is None:
            self.setup.ask_for_model()

    def _restored(self, keys: Sequence[int]) -> None:
        self.queue.reveal_item(keys[0])
        self.queue.show_item(keys[0])

    def _show_moment(self, key: int, pts: float) -> None:
        self.queue.show_item(key)
        self.viewer.player.pause()
        self.viewer.player.seek(pts)

    def _show(self, key: int | None) -> None:
        item = self.items.get(key) if key is not None else None
        self.shown_key = key if item is not None else None
        self.setWindowTitle(f"{item.path.name} – Framefleet" if item else "Framefleet")
        if item is None:
            self.viewer.clear()
            self.grid.set_main(None)
            self.zones.show_item(None)
            return
        at = self.grid.position_of(item.key)
        play = self.viewer.player.playing or (at is None and not item.ended)
        self.pages.setCurrentWidget(self.middle)
        self.filter.set_labels(item.results.labels if item.results else self.setup.labels)
        self.viewer.show_item(item, self.controller.tally(item.key), play, at or 0.0)
        self.grid.set_main(key)
        self.zones.show_item(item)

    def _item_changed(self, key: int) -> None:
        if not self._summing.isActive():
            self._summing.start()
        self.grid.update_item(key)
        item = self.items.get(key)
        if item is not None and item.state is ItemState.DONE:
            self.setup.last_run.show_item(item)
        if item is None or key != self.shown_key:
            return
        if item.results is not None:
            self.filter.set_labels(item.results.labels)
        busy = any(other.state is ItemState.RUNNING for other in self.items if other.key != key)
        self.viewer.update_item(item, self.controller.tally(key), busy)
        self.zones.show_item(item)

    def _rows_changed(self) -> None:
        self.pages.setCurrentWidget(self.middle if len(self.items) else self.start)
        self._summing.start()

    def _find_topology(self) -> None:
        self.background.start(find_topology, self.topology.show_topology, self.topology.show_problem)

    def _read_scaling(self) -> None:
        read = partial(read_series, self.scaling.results, self.controller.folder)
        self.background.start(read, self.scaling.show_series, self.scaling.show_problem)

    def _model_changed(self, summary: ModelSummary | None) -> None:
        self.start.set_model(summary)
        self.top.set_model(summary)
        if self.shown_key is None:
            self.filter.set_labels(self.setup.labels)

    def _reveal(self, key: int) -> None:
        if (item := self.items.get(key)) is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(item.path.parent)))

    def _clear_finished(self) -> None:
        self.removal.remove([item.key for item in self.items if item.ended])

    def _open_sessions(self) -> None:
        used = {item.results.database for item in self.items if item.results is not None}
        dialog = SessionsDialog(self.controller.folder, self.background, lambda: used, self.setup.dialog or self)
        dialog.opened.connect(lambda path: self.opening.take([path]))
        dialog.opened.connect(dialog.accept)
        dialog.export_requested.connect(lambda path: self.exports.ask(read_stored(path)[0], self.filter.filter))
        dialog.open()

    def _export(self, key: int) -> None:
        if (item := self.items.get(key)) is not None:
            shown = key == self.shown_key
            part = self.viewer.transport.timeline.part if shown else None
            self.exports.ask(item, self.filter.filter, self.zones.set.set_for(item), part=part)

    def _export_events(self) -> None:
        item = self.queue.current
        self.exports.ask(item, self.filter.filter, self.zones.set.set_for(item) if item is not None else None, "events")

    def _export_current(self) -> None:
        current = self.queue.current
        if current is None:
            self.exports.ask(None, self.filter.filter)
        else:
            self._export(current.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the player's keys if no other widget does."""
        if event.key() == Qt.Key.Key_Escape and self.isFullScreen():
            self.arrangement.toggle_fullscreen()
        elif not self.viewer.keys.press(event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask if files are not finished. Then hide the window, and stop the player, detection and threads."""
        if not self.quitting.may_close():
            event.ignore()
            return
        self.arrangement.keep()
        for panel in self.floating:
            panel.end()
        self.hide()
        self.memory.stop()
        self.viewer.player.close_file()
        self.viewer.sound.stop()
        self.grid.stop()
        self.client.stop()
        self.controller.stop()
        self.cluster.stop()
        self.setup.stop()
        self.exports.stop()
        self.clips.stop()
        self.zones.stop()
        self.background.stop()
        event.accept()
