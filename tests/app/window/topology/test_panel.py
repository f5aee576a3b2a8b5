from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.topology.drawing import NVLINK, PCIE
from framefleet.app.window.topology.panel import SIDE_BY_SIDE, TopologyMatrix, TopologyPanel
from framefleet.app.window.topology.text import about_link, traffic
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.appearance import Theme, apply_theme
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.recording import Recording, read_recording
from framefleet.engine.devices.topology import Level, Link, Topology
from tests.support.devices.machines import SWITCH_CODES, gpu
from tests.support.devices.topologies import ALONE, SOCKETS, eight
from tests.support.notices import words
from tests.support.window import CPU


def shown(qtbot: QtBot, topology: Topology, width: int = 800) -> TopologyPanel:
    panel = TopologyPanel()
    qtbot.addWidget(panel)
    panel.resize(width, 700)
    panel.show_topology(topology)
    panel.arrange(width >= SIDE_BY_SIDE, width, 700.0)
    return panel


def test_the_matrix_has_colours_and_words(qtbot: QtBot) -> None:
    panel = shown(qtbot, SOCKETS)
    matrix = panel.matrix
    cells = [[matrix.item(row, column) for column in range(7)] for row in range(7)]
    assert tuple(tuple(cell.text() for cell in row) for row in cells) == SWITCH_CODES
    assert cells[0][1].toolTip() == (
        "cuda:0 and cuda:1: over PCIe through one PCIe switch.\n"
        "Neither reads the other's memory: they exchange data through the processors' memory."
    )
    assert cells[2][2].toolTip() == "cuda:2 · GPU 2 · NVIDIA RTX 6000 Ada"
    image = matrix.grab().toImage()
    near, far = (matrix.visualItemRect(cells[0][column]).adjusted(4, 4, -4, -4).topLeft() for column in (1, 4))
    shift = matrix.viewport().pos()
    assert image.pixelColor(near + shift).alpha() > image.pixelColor(far + shift).alpha() + 30


def test_the_matrix_of_eight_gpus_fits_a_narrow_window(qtbot: QtBot) -> None:
    matrix = TopologyMatrix()
    qtbot.addWidget(matrix)
    matrix.show_topology(eight())
    matrix.resize(240, 300)
    matrix.show()
    qtbot.waitUntil(lambda: 0 < matrix.horizontalHeader().length() <= matrix.viewport().width())
    assert matrix.item(0, 1).text() == "18"
    matrix.resize(400, 300)
    qtbot.waitUntil(lambda: matrix.item(0, 1).text() == "NV18")


def test_words_of_a_link() -> None:
    one, other = gpu(0, "pci0/a", 0), gpu(1, "pci1/a", 1)
    assert about_link(one, other, Link(Level.SYS, 2, True)) == (
        "cuda:0 and cuda:1: 2 NVLinks bonded; over PCIe through the connection between NUMA nodes.\nEach may read the other's memory."
    )
    assert about_link(one, other, Link()) == "cuda:0 and cuda:1: nothing is known."


@pytest.mark.parametrize(
    ("rates", "text"),
    [
        ((None, None), None),
        ((1.7e6, 0.62e6), "↓ 1.7  ↑ 0.6 MB/s"),
        ((385e9, 12.4e6), "↓ 385  ↑ 0 GB/s"),
        ((0.0, 0.0), "↓ 0  ↑ 0 kB/s"),
        ((None, 2e9), "↓ \N{EN DASH}  ↑ 2.0 GB/s"),
    ],
)
def test_traffic_is_read_at_a_glance(rates: tuple[float | None, float | None], text: str | None) -> None:
    assert traffic(*rates) == text


def test_the_machine_in_words(qtbot: QtBot) -> None:
    panel = shown(qtbot, SOCKETS)
    panel.show()
    assert panel.legend.text().count("PCIe") == 1
    assert "NVLink" not in panel.legend.text()
    assert panel.gpus.text() == "7 × NVIDIA RTX 6000 Ada · NODE, PHB, PIX, PXB, SYS"
    assert panel.peers.text().startswith("No GPU reads another's memory")
    drawing = panel.drawing
    first = drawing.layout_.gpus[0].center()
    assert drawing.about(first).startswith("cuda:0 · GPU 0 · NVIDIA RTX 6000 Ada\n0000:03:00.0, PCIe 4.0 ×16\n")
    assert "pci0000:00 › 0000:00:01.0 › 0000:01:00.0 › 0000:02:00.0 › 0000:03:00.0" in drawing.about(first)
    heads = {placed.head.center().y(): placed.box for placed in drawing.layout_.boxes}
    said = [drawing.about(QPointF(150, y)).splitlines()[0] for y in heads]
    assert said == ["NUMA node 0", "PCIe host bridge", "PCIe switch", "NUMA node 1", "PCIe switch", "PCIe switch"]
    assert drawing.about(QPointF(5, 5)).endswith("GPUs: cuda:0, cuda:1, cuda:2, cuda:3")
    panel.hide()


def test_problems_are_told(qtbot: QtBot) -> None:
    panel = shown(qtbot, Topology(ALONE.nodes, problem=words("the driver is out of order")))
    assert panel.problem.text() == "The topology is incomplete: the driver is out of order."
    panel.show_problem(words("it failed"))
    assert panel.problem.text() == "It failed"


def devices(qtbot: QtBot, topology: Topology, width: int, height: int = 700) -> DevicePanel:
    """The panel of the devices of a machine with this topology."""
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(width, height)
    panel.show_recording(Recording(tuple(DeviceDescription(gpu_.device, gpu_.name, "TensorRT", ("fp16",)) for gpu_ in topology.gpus
                                         if gpu_.device is not None), {}, topology))  # fmt: skip
    panel.show()
    return panel


def test_the_topology_stands_above_the_devices_or_beside_them_where_there_is_room(qtbot: QtBot) -> None:
    panel = devices(qtbot, eight(), 360)
    drawing, matrix = panel.topology.drawing, panel.topology.matrix

    def corner(widget: QWidget) -> QPoint:
        return widget.mapTo(panel, QPoint(0, 0))

    qtbot.waitUntil(lambda: corner(drawing).y() + drawing.height() < corner(panel.cards[0]).y())
    assert (drawing.isVisible(), matrix.isVisible()) == (True, False)
    panel.resize(SIDE_BY_SIDE, 700)
    qtbot.waitUntil(lambda: corner(panel.cards[0]).x() > corner(drawing).x() + drawing.width())
    qtbot.waitUntil(lambda: corner(matrix).y() > corner(drawing).y() + drawing.height())
    assert matrix.horizontalHeader().length() <= matrix.width()
    narrow = drawing.width()
    panel.resize(2 * SIDE_BY_SIDE, 700)
    qtbot.waitUntil(lambda: drawing.width() > narrow + SIDE_BY_SIDE / 4)
    panel.resize(360, 700)
    qtbot.waitUntil(lambda: corner(drawing).y() + drawing.height() < corner(panel.cards[0]).y())
    assert drawing.width() < 360
    panel.hide()


def test_without_room_for_all_rows_the_drawing_gives_way_and_one_line_stays(qtbot: QtBot) -> None:
    panel = devices(qtbot, eight(), 320, 320)
    qtbot.waitUntil(lambda: not panel.topology.drawing.isVisible())
    assert (panel.topology.gpus.text(), panel.topology.gpus.isVisible()) == ("8 × NVIDIA RTX 6000 Ada · 18 NVLinks", True)
    panel.resize(320, 700)
    qtbot.waitUntil(panel.topology.drawing.isVisible)
    panel.hide()


def test_one_gpu_has_no_topology(qtbot: QtBot) -> None:
    one = eight()
    panel = devices(qtbot, Topology(one.nodes, one.gpus[:1], (one.links[0][:1],)), 320)
    qtbot.waitUntil(lambda: panel.cards[0].isVisible())
    assert not panel.topology.isVisible()
    panel.hide()


@pytest.mark.data
def test_a_recorded_machine_stays_whatever_is_found_here(qtbot: QtBot, data: Path) -> None:
    path = data.parent / "device" / "recordings" / "nvml-8xH200.json"
    if not path.is_file():
        pytest.skip(f"no {path}")
    recording = read_recording(path)
    panel = DevicePanel()
    qtbot.addWidget(panel)
    panel.resize(360, 900)
    panel.show_recording(recording)
    panel.know_devices([DeviceDescription(CPU, "Some Processor", "OpenVINO", ("fp32",), memory=16 << 30)])
    panel.show()
    panel.show_topology(ALONE)
    assert panel.topology.topology == recording.topology
    assert panel.topology.matrix.item(0, 7).text() == "NV18"
    assert panel.telemetry.watched == ()
    panel.grab()  # lays out
    lines = [panel.recorded, *panel.cards[1:], panel.here, panel.cards[0]]
    tops = [line.mapTo(panel, QPoint(0, 0)).y() for line in lines]
    assert tops == sorted(tops)  # the processor of this machine does not stand below "A recorded machine"
    panel.hide()


def test_the_legend_has_the_colours_of_a_new_theme(qtbot: QtBot, qapp: QApplication) -> None:
    panel = shown(qtbot, eight())
    try:
        apply_theme(qapp, Theme.LIGHT)
        assert theme.colour(PCIE) in panel.legend.text()
        assert theme.colour(NVLINK) in panel.legend.text()
    finally:
        apply_theme(qapp, Theme.DARK)
