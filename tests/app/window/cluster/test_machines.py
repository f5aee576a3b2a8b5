"""The panels show devices by machine, with the network's throughput. These machines are made up; ``test_cluster`` has real ones."""

from __future__ import annotations

from dataclasses import replace

from pytestqt.qtbot import QtBot

from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.devices.status import DeviceStatus, fold
from framefleet.engine.cluster.messages import Measured, NodeState
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStats
from framefleet.engine.types import DeviceId
from tests.support.devices.topologies import ALONE, eight
from tests.support.notices import words
from tests.support.window import engine_info

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")


def state(name: str, time: float = 0.0, sent: int = 0, received: int = 0) -> NodeState:
    measured = Measured((Telemetry(DeviceId("cuda", "0"), utilization=80.0),), 3 * 2**20, 2**10)
    return NodeState(time, name, "10.0.0.7", False, sent, received, measured)


def shown(qtbot: QtBot, *machines: Machine) -> DevicePanel:
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(320, 900)
    panel.show()
    devices = [DeviceId("cuda", number, machine.state.name) for machine in machines for number in "01"]
    panel.describe_cluster(DeviceDescription(device, "NVIDIA H200", "TensorRT", ("fp16",)) for device in devices)
    panel.show_machines(machines)
    qtbot.waitUntil(lambda: not any(heading.visibleRegion().isEmpty() for heading in panel.machines.folds.headings.values()))
    return panel


def working(device: DeviceId, rate: float) -> DeviceStatus:
    status = fold(DeviceStatus(device), DeviceReady(replace(engine_info(), device=device)), 0.0)
    return fold(status, DeviceStats(device, 100, rate, 12.3, 30.1, {}), 0.0)


def test_devices_stand_below_their_machine_with_its_network_and_work(qtbot: QtBot) -> None:
    panel = shown(qtbot, *(Machine(state(name)) for name in NAMES[:2]))
    assert [str(device) for device in panel.device_cards] == ["alpha/cuda:0", "alpha/cuda:1", "beta/cuda:0", "beta/cuda:1"]
    broken = fold(working(DeviceId("cuda", "1", "beta"), 0.0), DeviceFailed(DeviceId("cuda", "1", "beta"), words("it burns"), False), 0.0)
    panel.show_devices([working(DeviceId("cuda", "0", "beta"), 50.5), working(DeviceId("cuda", "0", "alpha"), 40), broken])
    assert [device.node for device in panel.device_cards] == ["alpha", "alpha", "beta", "beta"]
    panel.refresh()
    alpha, beta = panel.machines.folds.headings["alpha"], panel.machines.folds.headings["beta"]
    cards = [panel.device_cards[DeviceId("cuda", "0", name)] for name in ("alpha", "beta")]
    places = [each.y() for each in (alpha, cards[0], beta, cards[1])]
    assert places == sorted(places)
    assert (alpha.network, alpha.work, alpha.problem) == ("↓ 3.0 MiB/s  ↑ 1.0 KiB/s", "2 devices · 40.0 frames/s", "")
    assert (beta.work, beta.problem) == ("2 devices · 50.5 frames/s", "1 failed")
    telemetry = panel.machines.telemetry(DeviceId("cuda", "0", "beta"))
    assert telemetry is not None
    assert telemetry.utilization == 80.0


def test_a_machine_that_is_lost_says_so(qtbot: QtBot) -> None:
    panel = shown(qtbot, Machine(replace(state("alpha"), lost=True, measured=None)))
    panel.refresh()
    assert panel.machines.folds.headings["alpha"].network == "cannot be reached"


def test_with_more_than_four_machines_a_click_shows_the_devices_of_one(qtbot: QtBot) -> None:
    panel = shown(qtbot, *(Machine(state(name)) for name in NAMES))
    assert not panel.device_cards
    panel.machines.folds.headings["delta"].clicked.emit()
    assert [str(device) for device in panel.device_cards] == ["delta/cuda:0", "delta/cuda:1"]
    panel.machines.folds.headings["delta"].clicked.emit()
    assert not panel.device_cards
    panel.show_machines([])
    assert not panel.machines.folds.headings


def test_the_tooltip_has_framefleet_s_own_traffic(qtbot: QtBot) -> None:
    before = Machine.of(state("alpha"), None)
    assert (before.sent, before.received) == (None, None)
    machine = Machine.of(state("alpha", time=2.0, sent=2**21, received=2**11), before)
    assert (machine.sent, machine.received) == (2**20, 2**10)
    assert Machine.of(machine.state, machine) is machine, "the node has sent nothing new"
    panel = shown(qtbot, machine)
    panel.refresh()
    assert panel.machines.folds.headings["alpha"].details().splitlines() == [
        "10.0.0.7",
        "The network cards of this machine receive 3.0 MiB/s and send 1.0 KiB/s.",
        "Files from here: 1.0 MiB/s, 2.0 MiB in all.",
        "Results to here: 1.0 KiB/s, 2.0 KiB in all.",
    ]


def test_the_topology_of_an_opened_machine_stands_above_its_devices(qtbot: QtBot) -> None:
    panel = shown(qtbot, *(Machine(state(name)) for name in NAMES[:2]))
    described = [DeviceDescription(device, "NVIDIA H200", "TensorRT", ("fp16",)) for device in panel.device_cards]
    panel.describe_cluster(described, {"beta": eight(), "alpha": ALONE})
    assert list(panel.drawings) == ["beta"]  # nothing is joined in the other one
    heading, drawing, card = (
        panel.machines.folds.headings["beta"],
        panel.drawings["beta"],
        panel.device_cards[DeviceId("cuda", "0", "beta")],
    )
    qtbot.waitUntil(lambda: heading.y() < drawing.y() < card.y())
    heading.clicked.emit()
    assert not drawing.isVisible()
    panel.show_machines([])
    assert not panel.drawings
