"""What the features of one window share, and what a feature gives to the window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QMainWindow, QWidget

from framefleet.app.window.actions import Actions
from framefleet.app.window.cluster.link import ClusterLink
from framefleet.app.window.floating import Floating
from framefleet.app.window.keys.bindings import Bindings
from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.queue.memory import QueueMemory
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.queue.opening import Opening
from framefleet.app.window.results.export_line import ExportLine
from framefleet.app.window.results.moments import Moments
from framefleet.app.window.run.background import Background
from framefleet.app.window.run.controller import DetectionController
from framefleet.app.window.selection import Selection
from framefleet.app.window.settings.choices import RunChoices
from framefleet.app.window.viewer.filter import Filter
from framefleet.app.window.viewer.viewer import Viewer
from framefleet.app.window.widgets.banner import BannerArea
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.app.window.zones.sets import ShownSet, ZoneLibrary
from framefleet.engine.devices.recording import Recording
from framefleet.engine.settings import ModelFiles, RunSettings

UNDO_LIMIT = 200
"""The largest number of steps that can be undone."""


class Requests(QObject):
    """What one feature asks of another one.

    open_paths: list of Path that the user chose. open_stream: an address that the user dropped. live_canvas: the key of a live item,
    and a VideoCanvas that shows it from now on. export: QueueItem or None, and the format to choose at first ("" = the last one).
    clips: QueueItem or None, and the Part to save, or None. count: at lines and zones of the shown file. compare: its results with
    others. comparing: whether they are compared now. draw: Line or Zone, the type of what to draw. drop_area: a further window on which
    files can be dropped. bottleneck: Bottleneck or None, whenever it has changed. progress: the finished part of the files that run,
    0..1, or None, and their number.
    """

    open_paths = Signal(object)
    open_stream = Signal(str)
    live_canvas = Signal(int, object)
    export = Signal(object, str)
    clips = Signal(object, object)
    count = Signal()
    compare = Signal()
    comparing = Signal(bool)
    draw = Signal(object)
    drop_area = Signal(QWidget)
    bottleneck = Signal(object)
    progress = Signal(object, int)


class Context:
    """The parts that several features of a window use.

    Parameters
    ----------
    window : QMainWindow
        The parent of dialogs, actions and objects.
    store : QSettings
        Keeps the user's choices.
    folder : Path
        For session databases.
    data : Path
        For sets of zones.
    recording : Recording, optional
        A machine to show beside this one.

    Attributes
    ----------
    queue, run : the files, and detection in them.
    viewer, preview : the picture with its player and controls, and the client of the preview process.
    selection, filter, zones : the shown file, the detections that are shown, and the lines and zones of the shown file.
    settings : the model and the preferences.
    opening, moments, memory : opens paths; shows moments of stored results; remembers the queue.
    cluster : the connection to a cluster.
    actions, bindings : the window's actions and their keys.
    undo : what the user did to the queue, the filter, zones and corrections.
    banners, activity : messages at the top; what was done last, in the line at the bottom.
    background : runs functions in threads.
    requests : what one feature asks of another one.
    """

    def __init__(self, window: QMainWindow, store: QSettings, folder: Path, data: Path, recording: Recording | None = None) -> None:
        self.window, self.store, self.folder, self.data, self.recording = window, store, folder, data, recording
        self.requests = Requests(window)
        self.background = Background(window)
        self.banners = BannerArea()
        self.activity = ExportLine()
        self.bindings = Bindings(store, window)
        self.undo = QUndoStack(window)
        self.undo.setUndoLimit(UNDO_LIMIT)
        window.destroyed.connect(partial(self.undo.blockSignals, True))  # its destructor would report each command that it removes
        self.actions = Actions(window, self.bindings, self.undo, self.activity)
        self.preview = PreviewClient(window)
        self.queue = QueueModel(window)
        self.memory = QueueMemory(self.queue, folder, self.background, window)
        self.run = DetectionController(self.queue, folder, window)
        self.settings = RunChoices(window, store, self.background, self.run, self.banners, recording)
        self.opening = Opening(self.queue, self.run, self.memory, self.background, self.banners, window)
        self.cluster = ClusterLink(store, self.background, self.run, window)
        self.filter = Filter(window, self.undo)
        self.viewer = Viewer(self.preview, self.background, self.bindings)
        self.zones = ShownSet(ZoneLibrary(data / "zones", store), ZoneEditor(window, self.undo), self.queue, window)
        self.selection = Selection(self.queue, self.run, self.viewer, self.filter, self.settings, self.memory, window)
        self.moments = Moments(self.queue, self.opening, self.selection, self.banners, window)
        self.zones.show = self.selection.show
        self.actions.delete.setEnabled(False)
        self.selection.target_changed.connect(lambda target: self.actions.delete.setEnabled(target is not None))
        self.settings.example = lambda: self.selection.item
        self.actions.settings.triggered.connect(self.settings.open_dialog)
        self.filter.changed.connect(self.viewer.set_filter)

    def begin(self, model: ModelFiles | None) -> None:
        """Load the stored choices, when all features are attached. model: replaces the stored one."""
        self.settings.begin(model)
        self.filter.remember(self.store)

    def stop(self) -> None:
        """Stop the player, detection and all threads."""
        self.undo.blockSignals(True)
        self.undo.clear()
        self.viewer.stop()
        self.preview.stop()
        self.run.stop()
        self.cluster.stop()
        self.settings.library.downloads.stop()
        self.zones.stop()
        self.background.stop()


class Place(Enum):
    """Where the window shows a widget. BELOW: under the picture. STATUS: in the line at the bottom."""

    LEFT = auto()
    BELOW = auto()
    RIGHT = auto()
    STATUS = auto()


@dataclass(frozen=True)
class Placed:
    """A widget for a place of the window.

    size: its first height or width beside the other widgets of a splitter, logical pixels; its stretch in a column or line. focus: what Tab
    visits before the picture, None = nothing.
    """

    widget: QWidget
    place: Place
    size: int = 0
    focus: QWidget | None = None


@dataclass(frozen=True)
class Start:
    """With what the program starts. again: the window was open before, in another language. demo: settings for the demo's clip."""

    again: bool = False
    demo: RunSettings | None = None


@dataclass(frozen=True)
class Feature:
    """What ``attach`` of a feature returns.

    floating: panels that can have their own windows. begin: called when the window is shown first. stop: called when it
    closes.
    """

    panels: Sequence[Placed] = ()
    floating: Sequence[Floating] = ()
    begin: Callable[[Start], object] | None = None
    stop: Callable[[], object] | None = None
