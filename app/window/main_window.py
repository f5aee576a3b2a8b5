"""The main window: its parts and the connections between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QSettings, Qt, QTimer, QUrl
from PySide6.QtGui import QAction, QCloseEvent, QDesktopServices, QImage, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QWidget

from app.window.actions import Actions
from app.window.demo.demo import Demo
from app.window.devices.panel import DevicePanel
from app.window.file_dialogs import FileDialogs
from app.window.messages.notices import Notices
from app.window.models.setup import ModelSetup
from app.window.queue.delegate import THUMBNAIL, thumbnail
from app.window.queue.file_drops import DropOverlay
from app.window.queue.item import ItemState
from app.window.queue.model import QueueModel
from app.window.queue.opening import Opening
from app.window.queue.panel import REFRESH_MS, QueuePanel
from app.window.results.export import Exports
from app.window.results.interrupted import InterruptedRun
from app.window.session.background import Background
from app.window.session.controller import DetectionController
from app.window.start_page import StartPage
from app.window.status_line import StatusLine
from app.window.top_bar import TopBar
from app.window.topology.panel import TopologyPanel
from app.window.topology.tabs import DeviceTabs
from app.window.viewer.filter_panel import FilterPanel
from app.window.viewer.preview_client import PreviewClient
from app.window.viewer.viewer import Viewer
from app.window.widgets.banner import BannerArea
from app.window.widgets.build import column, within_screen
from app.window.zones.workspace import Zones
from engine.devices.topology.search import find_topology
from engine.model.check import ModelSummary
from engine.settings import ModelFiles


class MainWindow(QMainWindow):
    """The application's window. store: keeps the user's choices. folder: for session databases. model: replaces the stored one."""

    def __init__(self, store: QSettings, folder: Path, model: ModelFiles | None = None) -> None:
        super().__init__()
        self.setWindowTitle("Framefleet")
        self.resize(within_screen(self, 1360, 840))
        self._store = store
        self.shown_key: int | None = None
        self.background = Background(self)
        self.client = PreviewClient(self)
        self.items = QueueModel(self)
        self.controller = DetectionController(self.items, folder, self)
        self.actions_ = Actions(self)
        self.banners = BannerArea()
        self.notices = Notices(self.banners, self)
        self.queue = QueuePanel(self.items, self.actions_)
        self.start = StartPage(self.actions_)
        self.viewer = Viewer(self.client, self.background)
        self.zones = Zones(self.viewer, self.items, self.background, store, folder.parent / "zones", self)
        self.demo = Demo(self.items, self.controller, self.background, self)
        self.filter = FilterPanel()
        self.devices = DevicePanel()
        self.topology = TopologyPanel()
        self.device_tabs = DeviceTabs(self.devices, self.topology)
        self.status = StatusLine()
        self.top = TopBar(self.actions_)
        self.overlay = DropOverlay(self)
        self.files = FileDialogs(self, store)
        self.exports = Exports(self, store, self.background, self.banners)
        self.setup = ModelSetup(self, store, self.background, self.controller, self.banners)
        self.opening = Opening(self.items, self.controller, self.background, self.banners, self)
        self.interrupted = InterruptedRun(self.controller, self.opening, store, self.background, self.banners, self)
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
        self.columns.setSizes([222, 870, 262])  # the video gets more than half of the window
        self.queue.setMinimumWidth(196)
        self.right.setMinimumWidth(262)
        self.columns.setCollapsible(1, False)
        self._splitters = {"window/columns": self.columns, "window/right": self.right, "window/middle": self.middle}
        whole = QWidget()
        column(self.top, self.banners, (self.columns, 1), self.status, spacing=2, of=whole)
        self.setCentralWidget(whole)
        if (geometry := self._store.value("window/geometry")) is not None:
            self.restoreGeometry(geometry)
        for name, splitter in self._splitters.items():
            splitter.setHandleWidth(3)
            if (state := self._store.value(name)) is not None:
                splitter.restoreState(state)
        for action, panel, name in self._panels:
            action.setChecked(self._store.value(name, "yes") == "yes")
            panel.setVisible(action.isChecked())
            action.toggled.connect(panel.setVisible)

    @property
    def _panels(self) -> tuple[tuple[QAction, QWidget, str], ...]:
        """The panels that the user can hide: the action, the panel, and the key of the stored choice."""
        return (self.actions_.left, self.left, "window/left_shown"), (self.actions_.right, self.right, "window/right_shown")

    def _connect(self) -> None:
        actions, queue, controller = self.actions_, self.queue, self.controller
        actions.open_files.triggered.connect(self.files.choose_files)
        actions.open_folder.triggered.connect(self.files.choose_folder)
        actions.settings.triggered.connect(self.setup.open_dialog)
        actions.fullscreen.triggered.connect(self.toggle_fullscreen)
        actions.open_results.triggered.connect(lambda: self.files.choose_results(controller.folder))
        for paths in (self.files.chosen, self.overlay.dropped):
            paths.connect(self.opening.take)
        self.opening.model_taken.connect(self.setup.take)
        self.opening.queued.connect(self._queued)
        self.opening.restored.connect(self._restored)
        self.interrupted.queued.connect(self._queued)
        queue.chosen.connect(self._show)
        queue.cancel_requested.connect(controller.cancel)
        queue.remove_requested.connect(controller.remove)
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
        actions.zones.toggled.connect(self.zones.set_shown)
        self.zones.list.save_requested.connect(self._export_events)
        self.viewer.saver.saved.connect(self.exports.show_saved)
        self.viewer.part_detection_requested.connect(controller.detect_again)
        self.viewer.counted.connect(self.filter.set_counts)
        self.viewer.fullscreen_requested.connect(self.toggle_fullscreen)
        self.items.thumbnail_wanted.connect(self._fetch_thumbnail)
        self.items.rowsRemoved.connect(self._rows_changed)
        self.items.rowsInserted.connect(self._rows_changed)
        self.client.still.connect(self._thumbnail)
        self.client.crashed.connect(self.notices.preview_crashed)
        self._summing.timeout.connect(lambda: self.status.show_queue(self.items))
        controller.item_changed.connect(self._item_changed)
        controller.devices_changed.connect(self.devices.show_devices)
        controller.devices_changed.connect(self.status.show_devices)
        controller.devices_changed.connect(self.notices.devices_changed)
        controller.strategy_changed.connect(self.status.show_strategy)
        controller.strategy_changed.connect(self.devices.show_strategy)
        self.devices.join_requested.connect(controller.add_device)
        self.devices.leave_requested.connect(controller.remove_device)
        controller.refused.connect(self.notices.refused)
        controller.device_failed.connect(self.notices.device_failed)
        controller.failed.connect(self.notices.session_failed)
        self.setup.devices_found.connect(self.notices.devices_found)
        self.setup.devices_found.connect(self.devices.know_devices)
        self.topology.wanted.connect(self._find_topology)
        self.notices.settings_requested.connect(self.setup.open_dialog)

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

    def _show(self, key: int | None) -> None:
        item = self.items.get(key) if key is not None else None
        self.shown_key = key if item is not None else None
        self.setWindowTitle(f"{item.path.name} – Framefleet" if item else "Framefleet")
        if item is None:
            self.viewer.clear()
            self.zones.show_item(None)
            return
        play = self.viewer.player.playing or not item.ended
        self.pages.setCurrentWidget(self.middle)
        self.filter.set_labels(item.results.labels if item.results else self.setup.labels)
        self.viewer.show_item(item, self.controller.tally(item.key), play)
        self.zones.show_item(item)

    def _item_changed(self, key: int) -> None:
        if not self._summing.isActive():
            self._summing.start()
        item = self.items.get(key)
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

    def _model_changed(self, summary: ModelSummary | None) -> None:
        self.start.set_model(summary)
        self.top.set_model(summary)
        if self.shown_key is None:
            self.filter.set_labels(self.setup.labels)

    def _fetch_thumbnail(self, key: int) -> None:
        if (item := self.items.get(key)) is not None:
            size = THUMBNAIL * self.devicePixelRatio() * 1.4  # the picture fills the row's place, whatever its shape
            self.client.fetch_still(str(item.path), (size.width(), size.height()))

    def _thumbnail(self, path: str, image: QImage | None) -> None:
        if image is not None:
            picture = thumbnail(image, self.devicePixelRatio())
            for item in self.items:
                if str(item.path) == path:
                    self.items.set_thumbnail(item.key, picture)

    def _reveal(self, key: int) -> None:
        if (item := self.items.get(key)) is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(item.path.parent)))

    def _clear_finished(self) -> None:
        for item in self.items:
            if item.ended:
                self.controller.remove(item.key)

    def _export(self, key: int) -> None:
        if (item := self.items.get(key)) is not None:
            self.exports.ask(item, self.filter.filter, self.zones.current if key == self.shown_key else None)

    def _export_events(self) -> None:
        self.exports.ask(self.queue.current, self.filter.filter, self.zones.current, "events")

    def _export_current(self) -> None:
        self.exports.ask(self.queue.current, self.filter.filter, self.zones.current)

    def toggle_fullscreen(self) -> None:
        """Fill the screen with the picture, or restore the window."""
        self._keep_geometry()
        full = not self.isFullScreen()
        for widget in (self.top, self.status):
            widget.setVisible(not full)
        for action, panel, _ in self._panels:
            panel.setVisible(action.isChecked() and not full)
        self.viewer.set_fullscreen(full)
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)  # keeps it maximized

    def _keep_geometry(self) -> None:
        if not self.isFullScreen():  # the next start shall not begin in full screen
            self._store.setValue("window/geometry", self.saveGeometry())
            for name, splitter in self._splitters.items():
                self._store.setValue(name, splitter.saveState())
            for action, _, name in self._panels:
                self._store.setValue(name, "yes" if action.isChecked() else "no")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the player's keys if no other widget does."""
        if event.key() == Qt.Key.Key_Escape and self.isFullScreen():
            self.toggle_fullscreen()
        elif not self.viewer.keys.press(event):
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide the window, then stop the player, detection and threads."""
        self._keep_geometry()
        self.hide()
        self.viewer.player.close_file()
        self.client.stop()
        self.controller.stop()
        self.setup.stop()
        self.exports.stop()
        self.zones.stop()
        self.background.stop()
        event.accept()
