"""Connects the parts of the main window with each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from framefleet.app.window.queue.file_drops import DropOverlay
from framefleet.app.window.queue.intake import listed
from framefleet.app.window.queue.item import ItemState, Part, QueueItem
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.questions import show_folder
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.topology.search import find_topology
from framefleet.engine.model.check import ModelSummary

if TYPE_CHECKING:
    from framefleet.app.window.main_window import MainWindow


def connect(window: MainWindow) -> None:
    """Connect all parts."""
    _connect_files(window)
    _connect_model(window)
    _connect_picture(window)
    _connect_results(window)
    _connect_detection(window)
    _connect_devices(window)


def _connect_files(window: MainWindow) -> None:
    """Opening files, and the queue."""
    actions, queue, opening, shown = window.actions_, window.queue, window.opening, window.shown
    actions.open_files.triggered.connect(window.files.choose_files)
    actions.open_folder.triggered.connect(window.files.choose_folder)
    actions.open_results.triggered.connect(lambda: window.files.choose_results(window.controller.folder))
    for paths in (window.files.chosen, window.overlay.dropped, window.recent.chosen):
        paths.connect(opening.take)
        paths.connect(window.recent.add)
    for panel in window.arrangement.floating:
        panel.opened.connect(lambda own: DropOverlay(own).dropped.connect(window.overlay.dropped))
    opening.model_taken.connect(window.setup.take)
    opening.queued.connect(shown.begin)
    for there in (opening.restored, opening.unfinished):
        there.connect(shown.show_first)
    window.interrupted.queued.connect(shown.begin)
    queue.chosen.connect(shown.show)
    for chosen in (window.demo.begun, window.grid.chosen):
        chosen.connect(queue.show_item)
    queue.remove_requested.connect(window.removal.remove)
    line = window.exports.line
    opening.repeated.connect(line.show_done)
    window.removal.removed.connect(lambda text: line.show_done(text, actions.undo.trigger, translate("window", "Undo")))
    actions.undo.triggered.connect(line.hide)

    def reveal(key: int) -> None:
        if (item := window.items.get(key)) is not None:
            show_folder(item.path.parent)

    def rows_changed() -> None:
        pages = window.arrangement.pages
        pages.setCurrentWidget(window.arrangement.middle if len(window.items) else window.start)
        actions.fullscreen.setEnabled(len(window.items) > 0)  # else it would show the start page without a way back
        window.summing.start()
        show_model()

    def show_model() -> None:
        """Name the demo's model while the demo is all that is in the queue."""
        window.top.set_model(window.setup.summary, demo=len(window.items) == 1 and window.demo.item is not None)

    window.demo.begun.connect(show_model)
    window.setup.model_changed.connect(show_model)
    queue.reveal_requested.connect(reveal)
    window.items.rowsRemoved.connect(rows_changed)
    window.items.rowsInserted.connect(rows_changed)
    window.summing.timeout.connect(lambda: window.status.show_queue(window.items))
    actions.fullscreen.setEnabled(False)


def _connect_model(window: MainWindow) -> None:
    """The model, and the settings."""
    actions, setup = window.actions_, window.setup
    actions.settings.triggered.connect(setup.open_dialog)
    actions.demo.triggered.connect(window.demo.watch)
    for asked in (window.start.choose_model.clicked, window.demo.card.choose.clicked, window.top.model.clicked):
        asked.connect(setup.open_models)
    setup.confidence_changed.connect(window.filter.set_confidence)
    setup.floor_changed.connect(window.filter.set_floor)
    setup.language_changed.connect(window.change_language)
    setup.example = lambda: window.queue.current
    window.notices.settings_requested.connect(setup.open_dialog)

    def model_changed(summary: ModelSummary | None) -> None:
        window.start.set_model(summary)
        if window.shown.key is None:
            window.filter.set_labels(setup.labels)

    setup.model_changed.connect(model_changed)


def _connect_picture(window: MainWindow) -> None:
    """The video with its boxes, zones and corrections."""
    actions, viewer, zones = window.actions_, window.viewer, window.zones
    for filtered in (viewer.set_filter, window.grid.set_filter, zones.set_filter):
        window.filter.changed.connect(filtered)
    viewer.counted.connect(window.filter.set_counts)
    for wanted in (actions.fullscreen.triggered, viewer.transport.fullscreen.clicked, viewer.canvas.activated):
        wanted.connect(window.arrangement.toggle_fullscreen)
    actions.more_videos.triggered.connect(window.grid.next_side)
    actions.zones.toggled.connect(zones.set_shown)
    actions.zones.toggled.connect(window.arrangement.order_tabs)
    zones.set_shown(actions.zones.isChecked())
    actions.add_parts(list(zones.parts.actions.values()))
    actions.correct.toggled.connect(window.corrector.set_shown)
    for corrected in (window.recount.ask, zones.reread):
        window.corrector.corrected.connect(corrected)
    window.filter.changed.connect(window.queue.show_found)

    def detect_part(part: Part) -> None:
        if viewer.item is not None:
            window.controller.detect_again(viewer.item.key, part)

    viewer.transport.part.detection_requested.connect(detect_part)

    def found(item: QueueItem) -> dict[int, int] | None:
        tally, shown = window.controller.tally(item.key), window.filter.filter
        if tally is None or not tally.complete:
            return None
        counts = tally.counts(shown.confidence)
        return {number: count for number, count in counts.items() if count and (shown.classes is None or number in shown.classes)}

    window.items.found = found
    window.worst.shown.connect(window.shown.show_moment)
    window.client.crashed.connect(window.notices.preview_crashed)


def _connect_results(window: MainWindow) -> None:
    """Exports, clips and stored sessions."""
    actions, zones = window.actions_, window.zones
    for asked in (actions.sessions.triggered, window.setup.sessions_requested):
        asked.connect(window.open_sessions)
    window.queue.export_requested.connect(lambda key: window.export(window.items.get(key)))
    actions.export.triggered.connect(lambda: window.export(window.queue.current))
    zones.list.save.clicked.connect(lambda: window.export(window.queue.current, "events"))
    zones.list.clips.clicked.connect(lambda: window.clips.ask(window.queue.current, window.filter.filter))
    window.viewer.transport.part.save_requested.connect(lambda part: window.clips.ask(window.shown.item, window.filter.filter, part))
    window.viewer.saver.saved.connect(window.exports.show_saved)


def _connect_detection(window: MainWindow) -> None:
    """The run of a session."""
    controller, notices, last_run = window.controller, window.notices, window.setup.last_run

    def cancel(keys: Sequence[int]) -> None:
        for key in reversed(keys):  # the waiting files first, so that none of them starts meanwhile
            controller.cancel(key)

    def retry(keys: Sequence[int]) -> None:
        for key in keys:
            controller.detect_again(key)

    window.queue.cancel_requested.connect(cancel)
    window.queue.heading.pause_requested.connect(controller.set_paused)
    controller.pause_changed.connect(window.queue.heading.set_paused)
    window.queue.retry_requested.connect(retry)

    def item_changed(key: int) -> None:
        if not window.summing.isActive():
            window.summing.start()
        window.grid.update_item(key)
        item = window.items.get(key)
        if item is not None and item.state is ItemState.DONE:
            last_run.show_item(item)
        window.shown.update(key)

    controller.item_changed.connect(item_changed)
    for changed in (window.devices.show_devices, window.status.show_devices, notices.devices_changed, last_run.show_devices):
        controller.devices_changed.connect(changed)
    controller.figures_changed.connect(window.devices.show_figures)
    controller.rate_changed.connect(window.status.show_rate)
    for chosen in (window.status.show_strategy, last_run.show_strategy, window.devices.show_strategy):
        controller.strategy_changed.connect(chosen)
    controller.refused.connect(notices.refused)
    controller.device_failed.connect(notices.device_failed)
    controller.failed.connect(notices.session_failed)

    def show_notes(notes: Sequence[str]) -> None:
        lines = [re.sub(r" \(--.*\)$", "", formats.capitalised(note)) for note in notes]  # without options of the command line
        text = listed(lines)
        for path in {item.path for item in window.items}:
            text = text.replace(str(path), path.name)
        window.exports.line.show_done(text)

    controller.noted.connect(show_notes)


def _connect_devices(window: MainWindow) -> None:
    """The panels of the devices, and the cluster."""
    actions, devices, topology = window.actions_, window.devices, window.topology
    devices.bottleneck_changed.connect(window.status.show_bottleneck)
    devices.join_requested.connect(window.controller.add_device)
    devices.leave_requested.connect(window.controller.remove_device)
    for found in (window.notices.devices_found, devices.know_devices):
        window.setup.devices_found.connect(found)
    link = window.cluster.link
    for panel in (devices, topology.cluster):
        link.machines_changed.connect(panel.show_machines)
    link.described.connect(lambda found, _: devices.describe_cluster(found))
    link.described.connect(lambda _, topologies: topology.cluster.show_topologies(topologies))
    actions.cluster.triggered.connect(window.cluster.open_dialog)
    window.device_tabs.cluster.clicked.connect(actions.cluster.trigger)
    start = window.background.start
    topology.wanted.connect(lambda: start(topology, find_topology, topology.show_topology, topology.show_problem))
