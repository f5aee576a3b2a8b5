"""The states of the window of which pictures are taken. Each builds on the one before."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from PySide6.QtWidgets import QDialog, QInputDialog, QMessageBox

from framefleet.app.window.cluster.control import ClusterControl
from framefleet.app.window.demo.demo import Demo
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.status import DeviceStatus, fold
from framefleet.app.window.events.clips import Clips, ClipsDialog
from framefleet.app.window.grid.grid import Grid
from framefleet.app.window.keys.bindings import KeysDialog
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.messages.unexpected import CrashReport
from framefleet.app.window.models.comparison import ComparisonDialog, ExplanationDialog
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.model import THUMBNAIL_ROLE
from framefleet.app.window.queue.open_files import DropOverlay
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.export import ExportDialog, Exports
from framefleet.app.window.results.worst_frames import WorstFramesDialog
from framefleet.app.window.sessions.dialog import SessionsDialog
from framefleet.app.window.viewer.filter import COUNT_ROLE, ViewFilter
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.pool.events import DeviceStarting
from tests.support.desktop.made_up import cluster_machines, demo_accuracy, evaluated_models, recorded_gpus, worst_frames
from tests.support.desktop.settling import Screens, child, has_settled, settle, shown_dialog, shown_menu, statistics_agree
from tests.support.desktop.states_of_dialogs import cluster, file_dialogs, models, questions, running
from tests.support.desktop.states_of_tracks import corrections, full_screen, tracks
from tests.support.window import CPU, drag_over, feature, queue_item, write_results

MOMENT = 0.4
"""The frame that is shown, seconds."""
SMALL = 1000, 650
"""The size of a small window, logical pixels."""


def all_screens(window: MainWindow) -> Screens:
    """Bring the window into one state after the other: the name of each, and the widget to look at."""
    before = (_start, file_dialogs, questions, models, cluster, running, _settings, _queue)
    results = (_results, _dialogs_of_results, _grid, tracks, corrections, full_screen, _machines, _messages)
    for part in (*before, *results):
        yield from part(window)


def _start(window: MainWindow) -> Screens:
    yield "empty", window
    yield from shown_menu("menu", window.context.actions.menu, window)
    yield from shown_dialog("keys", KeysDialog(window.context.bindings, window))
    window.context.settings.open_models()
    assert window.context.settings.library.dialog is not None
    yield from shown_dialog("models", window.context.settings.library.dialog)
    yield from shown_dialog("comparison.steps", ExplanationDialog(window))
    yield from shown_dialog("comparison", ComparisonDialog(evaluated_models(), window))
    window.context.actions.about.trigger()
    yield from shown_dialog("about", child(window, QMessageBox))
    feature(window, ClusterControl).open_dialog()
    assert feature(window, ClusterControl).dialog is not None
    yield from shown_dialog("cluster", feature(window, ClusterControl).dialog)


def _settings(window: MainWindow) -> Screens:
    window.context.settings.open_dialog()
    dialog = window.context.settings.dialog
    assert dialog is not None
    settle(lambda: bool(dialog.devices.boxes))
    yield "settings", dialog
    dialog.pane.fold.setChecked(True)
    settle(lambda: dialog.advanced.isVisible())
    dialog.pane.ensureWidgetVisible(dialog.advanced)
    yield "settings.advanced", dialog
    dialog.search.setText("de")
    settle()
    yield "settings.search", dialog
    dialog.search.setText("time")
    dialog.videos.fields["time_zone"].setText("Nowhere/Atlantis")
    settle()
    yield "settings.problem", dialog
    dialog.reject()


def _queue(window: MainWindow) -> Screens:
    videos = [queue_item(Path(f"/videos/camera {number}.mp4"), key=100 + number, reason="Needs a model") for number in range(4)]
    window.context.queue.extend(videos)
    settle(
        lambda: (
            "of 4" in feature(window, QueuePanel).heading.summary.accessibleName()
            or "von 4" in feature(window, QueuePanel).heading.summary.accessibleName()
        )
    )
    settle(lambda: bool(window.status.queue.text()))
    yield "queue", window
    window.quitting.ask = True
    assert not window.quitting.may_close()
    yield from shown_dialog("quit", child(window, QMessageBox))
    window.quitting.ask = False
    feature(window, QueuePanel).remove_requested.emit([videos[0].key])
    settle(lambda: window.context.activity.isVisible() and window.status.queue.text().startswith("3"))
    settle(lambda: any(text in feature(window, QueuePanel).heading.summary.accessibleName() for text in ("of 3", "von 3")))
    yield "removed", window
    window.context.activity.hide()
    for item in videos[1:]:
        window.context.queue.remove(item.key)


def _results(window: MainWindow) -> Screens:
    window.open_paths([Path("session.sqlite")])
    canvas, player, zones = window.context.viewer.canvas, window.context.viewer.player, feature(window, Zones)
    settle(lambda: player.info is not None and canvas.result is not None)
    player.pause()
    player.seek(MOMENT)
    settle(lambda: canvas.result is not None and abs(canvas.result.ref.pts - MOMENT) < 0.05)
    classes = feature(window, FilterPanel).classes
    settle(lambda: any(classes.index(row, 0).data(COUNT_ROLE) == 502 for row in range(classes.rowCount())))
    settle(lambda: window.context.queue.index(0).data(THUMBNAIL_ROLE) is not None)  # the folder of pictures does not exist
    yield "finished", window
    window.context.viewer.toggle_statistics()
    window.context.actions.zones.setChecked(True)
    settle(lambda: zones.tabs.height() > 0)
    window.context.actions.correct.setChecked(True)
    settle(lambda: statistics_agree(window.context.viewer) and zones.list.model.rowCount() > 0)
    yield "playing", window
    window.context.viewer.toggle_statistics()
    window.context.actions.correct.setChecked(False)
    settle(lambda: has_settled(window.context.viewer))
    for number, name in ((1, "detections"), (2, "counts")):
        zones.tabs.buttons.button(number).click()
        settle(lambda: zones.tabs.stack.currentWidget() is not zones.detections or zones.detections.table.model().rowCount() > 0)
        yield name, zones.tabs
    zones.tabs.buttons.button(0).click()
    size = window.size()
    window.resize(*SMALL)
    settle(lambda: has_settled(window.context.viewer))
    yield "small", window
    window.resize(size)
    window.context.actions.zones.setChecked(False)


def _dialogs_of_results(window: MainWindow) -> Screens:
    feature(window, Exports).ask(feature(window, QueuePanel).current, ViewFilter())
    export = child(window, ExportDialog)
    yield "export", export
    export.forms.choose(("jsonl", "coco", "video"))
    yield from shown_dialog("export.several", export)
    feature(window, Clips).ask(feature(window, QueuePanel).current, ViewFilter())
    clips = child(window, ClipsDialog)
    settle(clips.start.isEnabled)
    yield from shown_dialog("clips", clips)
    yield from shown_dialog("worst", WorstFramesDialog(Path("street-report/worst-frames.json"), worst_frames(), window))
    for number in range(3):
        database = Path(f"sessions/2026-11-0{number + 1} 12-00-00.sqlite")
        if not database.exists():
            write_results(database, Path(f"/videos/camera {number}.mp4"), 100 * (number + 1))
            with closing(sqlite3.connect(database)) as connection:
                connection.execute("UPDATE session SET value = ? WHERE key = 'created'", (f"2026-11-0{number + 1}T12:00:00+00:00",))
                connection.commit()
    sessions = SessionsDialog(Path("sessions"), window.context.background, lambda: set(), window)
    sessions.open()
    settle(lambda: sessions.table.topLevelItemCount() >= 3)
    yield "sessions", sessions
    sessions.table.setCurrentItem(sessions.table.topLevelItem(0))
    for name, button, kind in (("rename", sessions.rename, QInputDialog), ("delete", sessions.delete, QMessageBox)):
        button.click()
        yield from shown_dialog(f"sessions.{name}", child(sessions, kind))
    sessions.reject()


def _grid(window: MainWindow) -> Screens:
    """Four videos, first in a grid that they fill, then in a larger one."""
    copies = [queue_item(Path(f"camera {number}.mp4").absolute(), key=300 + number, reason="Needs a model") for number in range(3)]
    for item in copies:
        if not item.path.exists():
            item.path.hardlink_to("street.mp4")
    pictures = next(item for item in window.context.queue if item.path.name == "pictures")
    window.context.queue.remove(pictures.key)
    window.context.queue.extend(copies)
    for side in (2, 3):
        feature(window, Grid).set_side(side)
        settle(lambda: all(map(has_settled, (window.context.viewer, *feature(window, Grid).cells.values()))))
        settle(
            lambda: all(abs(cell.position - window.context.viewer.player.position) < 1e-3 for cell in feature(window, Grid).cells.values())
        )
        yield f"grid.{side}", window
    feature(window, Grid).set_side(1)
    for item in copies:
        window.context.queue.remove(item.key)


def _machines(window: MainWindow) -> Screens:
    devices = feature(window, DevicePanel)
    described, machines = cluster_machines()
    devices.describe_cluster(described)
    devices.show_machines(machines)
    settle(lambda: sum(bool(card.row.content.metrics) for card in devices.cards) == 4)  # two machines with two devices
    yield "machines", devices
    devices.show_machines(())
    devices.show_devices([fold(DeviceStatus(CPU), DeviceStarting(CPU, 1), 0.0)])
    settle(lambda: len(devices.cards) == 1)
    devices.cards[0].toggle()
    yield "starting", devices
    devices.show_devices([])
    devices.show_recording(recorded_gpus())
    settle(lambda: sum(bool(card.row.content.metrics) for card in devices.cards) == 8)  # the panel shows visible cards twice a second
    yield "devices", window
    devices.cards[0].toggle()
    yield "device", devices
    devices.cards[0].toggle()
    devices.detach.click()
    settle()
    yield "devices.window", devices.window()
    yield "detached", window.right
    window.floating[0].put_back()


def _messages(window: MainWindow) -> Screens:
    feature(window, Demo).card.show()
    feature(window, Demo).card.show_accuracy(demo_accuracy())
    yield "demo", window.left
    feature(window, Demo).card.hide()
    dragged = drag_over(window, [Path("/videos/camera 0.mp4")])
    yield "drop", window
    del dragged
    feature(window, DropOverlay).hide()
    reason = "/videos/broken.mp4 cannot be opened: Invalid data found when processing input"
    broken = queue_item(Path("/videos/broken.mp4"), ItemState.FAILED, key=200, reason=reason)
    window.context.queue.extend([broken])
    before = feature(window, QueuePanel).heading.summary.accessibleName()
    feature(window, QueuePanel).show_item(200)
    settle(lambda: feature(window, QueuePanel).heading.summary.accessibleName() != before)
    window.context.banners.show_banner("one", Severity.INFO, "The model YOLOv4-tiny is downloaded.", ("Use it", lambda: None))
    window.context.banners.show_banner("two", Severity.WARNING, "cuda:1 is being restarted: its process ended.")
    window.context.banners.show_banner("three", Severity.ERROR, "Detection stopped: the disk is full.", ("Settings…", lambda: None))
    yield "errors", window
    report = CrashReport(window, window.context.banners, Path("/home/user/window.log"))
    report.show_details('Traceback (most recent call last):\n  File "queue.py", line 12, in take\nValueError: nothing was taken')
    yield from shown_dialog("details", window.findChildren(QDialog)[-1])
