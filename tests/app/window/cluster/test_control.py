"""The window with a real cluster: connect, detect, see the machines, disconnect."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from framefleet.app.window.cluster.control import ClusterControl
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState
from framefleet.engine.notices import Notice
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import DeviceId
from tests.support.clusters.ray import ALPHA, NEEDS_RAY, Raylets
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.window import feature

pytestmark = [
    NEEDS_RAY,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.timeout(240),
]
PATIENCE = 90_000
FRAMES = 800


@pytest.fixture(scope="module")
def raylets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raylets]:
    with Raylets(tmp_path_factory.mktemp("nodes")) as raylets:
        yield raylets


def test_an_address_where_nothing_answers_is_said(window: MainWindow, qtbot: QtBot) -> None:
    window.context.actions.cluster.trigger()
    dialog = feature(window, ClusterControl).dialog
    assert dialog is not None
    assert not dialog.connect_.isEnabled()
    dialog.address.setText("host")
    dialog.connect_.click()
    qtbot.waitUntil(lambda: "'host' is not the address of a cluster" in dialog.problem.text(), timeout=PATIENCE)
    dialog.address.setText("127.0.0.1:1")
    dialog.connect_.click()
    qtbot.waitUntil(lambda: "Nothing answers at 127.0.0.1:1" in dialog.problem.text(), timeout=PATIENCE)
    assert dialog.connect_.isEnabled()
    assert window.context.cluster.address == "", "only an address that was connected is remembered"


@pytest.mark.slow
def test_files_are_detected_on_the_machines_and_go_on_here_when_the_window_leaves(
    window: MainWindow, qtbot: QtBot, raylets: Raylets, tmp_path: Path
) -> None:
    link, panel, here = window.context.cluster, feature(window, DevicePanel), DeviceId("cpu", "0")
    video = make_video(tmp_path / "long.mp4", FRAMES, (32, 32))
    window.context.settings.begin(tiny_files(1))
    qtbot.waitUntil(lambda: window.context.settings.summary is not None, timeout=PATIENCE)
    window.context.actions.cluster.trigger()
    dialog = feature(window, ClusterControl).dialog
    assert dialog is not None
    dialog.address.setText(raylets.address)
    dialog.connect_.click()
    qtbot.waitUntil(lambda: link.cluster is not None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: panel.machines.telemetry(ALPHA) is not None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: list(panel.device_cards) == [ALPHA], timeout=PATIENCE)
    assert "alpha (" in dialog.machines.text()
    assert panel.machines.folds.headings["alpha"].isVisible()
    measured = link.machines[0].state.measured
    assert measured is not None
    assert measured.devices[0].memory_used
    dialog.reject()
    (key,) = window.context.run.add([video])

    def frames() -> int:
        item = window.context.queue.get(key)
        return 0 if item is None else item.progress.frames

    qtbot.waitUntil(lambda: frames() > 0, timeout=PATIENCE)
    link.disconnect_()
    assert not panel.machines.folds.headings
    qtbot.waitUntil(lambda: (item := window.context.queue.get(key)) is not None and item.state is ItemState.DONE, timeout=PATIENCE)
    assert link.address == raylets.address
    item = window.context.queue.get(key)
    assert item is not None
    assert item.results is not None
    with SessionReader(item.results.database) as reader:
        found = list(reader.frames(item.results.source))
    assert [frame.ref.index for frame in found] == list(range(FRAMES))
    assert {frame.device for frame in found} == {ALPHA, here}, "the run went on where it was interrupted"


def test_a_connection_that_ends_is_said_and_detection_goes_on_here(
    window: MainWindow, qtbot: QtBot, raylets: Raylets, tmp_path: Path
) -> None:
    link = window.context.cluster
    link.connect_to(raylets.address)
    qtbot.waitUntil(lambda: link.cluster is not None, timeout=PATIENCE)
    assert link.cluster is not None
    with qtbot.waitSignal(link.lost, timeout=PATIENCE) as lost:
        next(child for child in active_children() if child.name == "framefleet cluster").kill()
    assert lost.args == [Notice("cluster.connection_has_ended")]
    assert link.cluster is None
    window.context.settings.begin(tiny_files(1))
    qtbot.waitUntil(lambda: window.context.settings.summary is not None, timeout=PATIENCE)
    (key,) = window.context.run.add([make_video(tmp_path / "short.mp4", 10, (32, 32))])
    qtbot.waitUntil(lambda: (item := window.context.queue.get(key)) is not None and item.state is ItemState.DONE, timeout=PATIENCE)
