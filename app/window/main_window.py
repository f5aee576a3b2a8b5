"""The main window: its parts and the connections between them."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QMainWindow

from framefleet.app.window.actions import Actions
from framefleet.app.window.arrangement import Arrangement
from framefleet.app.window.cluster.control import ClusterControl
from framefleet.app.window.corrections.corrector import Corrector
from framefleet.app.window.corrections.recount import Recount
from framefleet.app.window.demo.demo import Demo
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.events.clips import Clips
from framefleet.app.window.file_dialogs import FileDialogs
from framefleet.app.window.grid.grid import Grid
from framefleet.app.window.keys.bindings import Bindings
from framefleet.app.window.messages.run_messages import QuitQuestion, RunMessages
from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.queue.file_drops import DropOverlay
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.queue.memory import QueueMemory
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.queue.opening import Opening
from framefleet.app.window.queue.panel import REFRESH_MS, QueuePanel
from framefleet.app.window.queue.recent import RecentFiles
from framefleet.app.window.queue.removal import Removal
from framefleet.app.window.queue.thumbnails import Thumbnails
from framefleet.app.window.results.export import Exports
from framefleet.app.window.results.interrupted import InterruptedRun, ReplacedResults
from framefleet.app.window.results.stored import read_stored
from framefleet.app.window.results.worst_frames import WorstFrames
from framefleet.app.window.session.background import Background
from framefleet.app.window.session.controller import DetectionController
from framefleet.app.window.sessions.dialog import SessionsDialog
from framefleet.app.window.settings.choices import RunChoices
from framefleet.app.window.shown_file import ShownFile
from framefleet.app.window.start_page import StartPage
from framefleet.app.window.status_line import StatusLine
from framefleet.app.window.top_bar import TopBar
from framefleet.app.window.topology.panel import DeviceTabs, TopologyPanel
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.viewer.viewer import Viewer
from framefleet.app.window.widgets.banner import BannerArea, Severity
from framefleet.app.window.widgets.build import within_screen
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.wiring import connect
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.settings import ModelFiles


class MainWindow(QMainWindow):
    """The application's window. store: keeps the user's choices. folder: for session databases. model: replaces the stored one.

    data: folder for zones, None = that around ``folder``.
    """

    def __init__(self, store: QSettings, folder: Path, model: ModelFiles | None = None, data: Path | None = None) -> None:
        super().__init__()
        self.setWindowTitle("Framefleet")
        self.resize(within_screen(self, 1360, 840))
        self._store = store
        self.background = Background(self)
        self.client = PreviewClient(self)
        self.items = QueueModel(self)
        self.controller = DetectionController(self.items, folder, self)
        self.bindings = Bindings(store, self)
        self.actions_ = Actions(self, self.bindings)
        self.banners = BannerArea()
        self.notices = RunMessages(self.banners, self)
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
        self.device_tabs = DeviceTabs(self.devices, self.topology, store)
        self.status = StatusLine()
        self.top = TopBar(self.actions_)
        self.overlay = DropOverlay(self)
        self.files = FileDialogs(self, store)
        self.exports = Exports(self, store, self.background, self.banners)
        self.clips = Clips(self, store, self.background, self.banners)
        self.setup = RunChoices(self, store, self.background, self.controller, self.banners)
        self.opening = Opening(self.items, self.controller, self.background, self.banners, self)
        self.memory = QueueMemory(self.items, folder, self)
        self.interrupted = InterruptedRun(self.controller, self.opening, self.memory, store, self.background, self.banners, self)
        self.removal = Removal(self.controller, self.actions_.undo, self)
        self.recent = RecentFiles(store, self.actions_.recent, self)
        self.thumbnails = Thumbnails(self.items, self.client, self)
        self.quitting = QuitQuestion(self, self.items, self.close)
        self.worst = WorstFrames(self, self.items, self.opening, self.background, self.banners)
        self.replaced = ReplacedResults(self.viewer, self.items, self.controller, self.opening, self.background, self.banners, self)
        self.grid = Grid(self.viewer, self.items, self.background, self.actions_.videos, self)
        self.cluster = ClusterControl(self, store, self.background, self.controller, self.banners)
        self.again = False
        """Whether the window shall open again when it has closed, in another language for example."""
        self.summing = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self.shown = ShownFile(self)
        self.arrangement = Arrangement(self, store)
        connect(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFocus()
        self.setup.begin(model)
        self.filter.remember(store)

    def change_language(self) -> None:
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

    def open_sessions(self) -> None:
        """Show the stored sessions."""
        used = {item.results.database for item in self.items if item.results is not None}
        dialog = SessionsDialog(self.controller.folder, self.background, lambda: used, self.setup.dialog or self)
        dialog.opened.connect(lambda path: self.opening.take([path]))
        dialog.opened.connect(dialog.accept)
        dialog.export_requested.connect(partial(self._export_session, dialog))
        dialog.open()

    def _export_session(self, dialog: SessionsDialog, path: Path) -> None:
        def ask(found: list[QueueItem]) -> None:
            self.exports.ask(found[0], self.filter.filter)

        self.background.start(dialog, partial(read_stored, path), ask, dialog.show_problem)

    def export(self, item: QueueItem | None, form: str = "") -> None:
        """Ask how to export the results of a file, None = there is none. form: the format to choose at first, "" = the last one."""
        if item is None:
            self.exports.ask(None, self.filter.filter)
            return
        shown = not form and item.key == self.shown.key
        part = self.viewer.transport.timeline.part if shown else None
        has_zones = partial(self.zones.set.is_shared, item.path)
        self.exports.ask(item, self.filter.filter, self.zones.set.set_for(item), form, part, has_zones)

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
        for panel in self.arrangement.floating:
            panel.end()
        self.hide()
        self.memory.stop()
        self.viewer.player.close_file()
        self.viewer.sound.stop()
        self.grid.stop()
        self.client.stop()
        self.controller.stop()
        self.cluster.link.stop()
        self.setup.library.downloads.stop()
        self.zones.set.stop()
        self.background.stop()
        event.accept()
