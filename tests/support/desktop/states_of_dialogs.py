"""States of the window before it has results: dialogs that choose files, questions, menus, models and clusters."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QScrollArea

from framefleet.app.window.cluster.control import ClusterControl
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.status import DeviceStatus, Phase, Sample
from framefleet.app.window.keys.bindings import KeysDialog
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.models.library import ModelList
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.memory import NAME, Remembered
from framefleet.app.window.queue.open_files import FileDialogs, RecentFiles
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.interrupted import InterruptedRun
from framefleet.app.window.widgets.questions import ask
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.types import DeviceId
from tests.support.desktop.made_up import (
    clip_info,
    cluster_machines,
    model_summary,
    own_models,
    recorded_gpus,
    store_models,
    store_videos,
)
from tests.support.desktop.settling import Screens, settle, shown_dialog, shown_files, shown_menu
from tests.support.notices import words
from tests.support.window import engine_info, feature, queue_item

ADDRESS = "10.0.0.1:6379"


def file_dialogs(window: MainWindow) -> Screens:
    """The dialogs that choose files and folders, each in the same folder."""
    videos = store_videos(Path("videos"))
    feature(window, FileDialogs).choose_files()
    yield from shown_files("open", window, videos)
    feature(window, FileDialogs).choose_folder()
    yield from shown_files("open.folder", window, videos)
    feature(window, FileDialogs).choose_results(videos / "results")
    yield from shown_files("open.results", window, videos / "results")
    feature(window, RecentFiles).add([videos / "bridge.mp4", videos / "crossing.mp4"])
    over = next(menu for menu in window.findChildren(QMenu) if menu.actions() == [*feature(window, Zones).parts.actions.values()])
    for name, menu in (("recent", window.context.actions.recent), ("videos", window.context.actions.videos), ("over", over)):
        yield from shown_menu(f"menu.{name}", menu, window)


def questions(window: MainWindow) -> Screens:
    """A question, the first start with a model and with files of the last run, and a key that has a meaning."""
    texts = "Add 214 files to the queue?", "They are in /videos and in the folders below it."
    yield from shown_dialog("question", ask(window, "Open folder", texts, ("Add", "Cancel"), lambda _: None, harmless=True))
    keys = KeysDialog(window.context.bindings, window)
    keys.change.click()
    keys.edit.setKeySequence(QKeySequence("Ctrl+E"))
    yield from shown_dialog("keys.change", keys)
    folder = window.context.run.folder
    folder.mkdir(parents=True, exist_ok=True)
    files = [asdict(Remembered(Path(f"/videos/camera {number}.mp4"))) for number in range(3)]
    (folder / NAME).write_text(json.dumps(files, default=str))
    summary = model_summary()
    window.start.set_model(summary)
    window.top.set_model(summary)
    feature(window, InterruptedRun).look()
    yield "start", window
    window.context.banners.remove("interrupted")
    window.context.memory.decide()
    window.start.set_model(None)
    window.top.set_model(None)


def models(window: MainWindow) -> Screens:
    """The list of models: one is in use, one is partly downloaded, one could not be downloaded, two are the user's own."""
    downloads = window.context.settings.library.downloads
    before, downloads.folder = downloads.folder, window.context.run.folder / "models"
    in_use = store_models(downloads.folder)
    downloads.errors["yolov4"] = "yolov4.weights cannot be downloaded, the server answers 'Service Unavailable': try again later"
    listed = ModelList(downloads, in_use, window)
    listed.show_own(own_models())
    listed.show()
    settle()
    yield "models.states", listed
    listed.findChild(QScrollArea).ensureWidgetVisible(listed.own_cards[-1])
    yield from shown_dialog("models.own", listed)
    downloads.folder = before
    downloads.errors.clear()


def cluster(window: MainWindow) -> Screens:
    """The dialog of the cluster and the topology of its machines, while the window is connected."""
    link, found, machines = window.context.cluster, *cluster_machines()
    feature(window, ClusterControl).open_dialog()
    dialog = feature(window, ClusterControl).dialog
    assert dialog is not None
    dialog.address.setText(ADDRESS)
    link.refused.emit(f"nothing answers at {ADDRESS}: check the address, and whether Ray runs there")
    yield from shown_dialog("cluster.refused", dialog)
    link.cluster = cast("Any", SimpleNamespace(address=ADDRESS))  # what the dialog shows of a connection
    link.connected.emit()
    link.described.emit(tuple(found), {machine.state.name: recorded_gpus().topology for machine in machines[:1]})
    link.machines_changed.emit(machines)
    yield from shown_dialog("cluster.connected", dialog)
    link.cluster = None
    link.machines_changed.emit(())
    link.described.emit((), {})
    link.disconnected.emit()


def running(window: MainWindow) -> Screens:
    """Files in each state, two devices at work, what limits them, and the menus of both."""
    info = clip_info(9000)
    files: tuple[dict[str, Any], ...] = (
        {"state": ItemState.RUNNING, "info": info, "frames": 3870, "rate": 812.0, "head": 154.8},
        {"state": ItemState.PAUSED, "info": info, "frames": 1200},
        {"state": ItemState.CANCELLED, "info": info, "frames": 450},
        {"state": ItemState.DONE, "info": info, "frames": 9000, "failed": 12, "seconds": 11.0},
        {"state": ItemState.FAILED, "reason": "Invalid data found when processing input"},
    )
    items = [queue_item(Path(f"/videos/camera {number}.mp4"), key=400 + number, **more) for number, more in enumerate(files)]
    window.context.queue.extend(items)
    devices = [_working(number, rate) for number, rate in enumerate((417.0, 395.0))]
    controller = window.context.run
    controller.strategy_changed.emit(StrategyChosen("segments", words("one file, two devices: each takes segments of it")))
    controller.devices_changed.emit(devices)
    controller.rate_changed.emit(812.0)
    settle(lambda: "812" in window.status.queue.text() and " · " in window.status.queue.text())
    settle(lambda: bool(feature(window, QueuePanel).heading.summary.accessibleName()) and bool(window.status.bottleneck.text()))
    yield "running", window
    yield from shown_menu("menu.file", feature(window, QueuePanel).menu_for(items[3]), window)
    yield from shown_menu("menu.device", feature(window, DevicePanel).cards[0].menu(), window)
    controller.devices_changed.emit([])
    controller.rate_changed.emit(0.0)
    for item in items:
        window.context.queue.remove(item.key)


def _working(number: int, rate: float) -> DeviceStatus:
    device, samples = DeviceId("cuda", str(number)), (Sample(0.0, rate, 9.5, 14.0, "deliver"),)
    return DeviceStatus(
        device, Phase.READY, engine=engine_info(device), frames=round(9 * rate), bottleneck="deliver", samples=samples, rate=rate
    )
