from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, QSettings, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.topology.drawing import NVLINK, PCIE
from framefleet.app.window.topology.panel import SIDE_BY_SIDE, TopologyPanel
from framefleet.app.window.topology.tabs import DeviceTabs
from framefleet.app.window.topology.text import about_link, traffic
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.appearance import Theme, apply_theme
from framefleet.engine.devices.recording import read_recording
from framefleet.engine.devices.topology import Level, Link, Topology
from tests.support.devices.machines import SWITCH_CODES, gpu
from tests.support.devices.topologies import ALONE, SOCKETS, eight
from tests.support.notices import words
from tests.support.window import CPU, feature, pixels


def shown(qtbot: QtBot, topology: Topology, width: int = 320) -> TopologyPanel:
    panel = TopologyPanel()
    qtbot.addWidget(panel)
    panel.resize(width, 700)
    panel.show_topology(topology)
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


def test_the_matrix_of_eight_gpus_fits_the_side_panel(qtbot: QtBot) -> None:
    panel = shown(qtbot, eight(), 262)
    panel.show()
    matrix = panel.matrix
    qtbot.waitUntil(lambda: 0 < matrix.horizontalHeader().length() <= matrix.viewport().width())
    assert matrix.item(0, 1).text() == "18"
    panel.resize(1000, 700)
    qtbot.waitUntil(lambda: matrix.item(0, 1).text() == "NV18")
    panel.hide()


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


def test_without_a_gpu_there_are_processors(qtbot: QtBot) -> None:
    panel = shown(qtbot, ALONE)
    panel.show()
    assert panel.note.text() == "This machine has no NVIDIA GPU: detection runs on its processors."
    assert [widget.isVisible() for widget in (panel.drawing, panel.matrix, panel.legend, panel.peers)] == [True, False, False, False]
    qtbot.waitUntil(lambda: panel.telemetry.of(CPU) is not None, timeout=10_000)  # the real processors, by the real sampler
    panel.refresh()
    panel.hide()
    assert panel.telemetry.watched == ()


def test_problems_are_told(qtbot: QtBot) -> None:
    panel = shown(qtbot, Topology(ALONE.nodes, problem=words("the driver is out of order")))
    assert panel.problem.text() == "The topology is incomplete: the driver is out of order."
    panel.show_problem(words("it failed"))
    assert (panel.problem.text(), panel.note.text()) == ("It failed", "")


def test_drawing_and_matrix_stand_side_by_side_where_there_is_room(qtbot: QtBot) -> None:
    panel = shown(qtbot, eight())
    panel.show()
    qtbot.waitUntil(lambda: panel.matrix.mapTo(panel, panel.matrix.rect().topLeft()).y() > panel.drawing.height())
    panel.resize(SIDE_BY_SIDE, 700)
    qtbot.waitUntil(lambda: panel.matrix.mapTo(panel, panel.matrix.rect().topLeft()).x() > panel.drawing.width())
    assert panel.matrix.horizontalHeader().length() <= panel.matrix.width()
    panel.hide()


@pytest.mark.data
def test_a_recorded_machine_stays_whatever_is_found_here(qtbot: QtBot, data: Path) -> None:
    path = data.parent / "device" / "recordings" / "nvml-8xH200.json"
    if not path.is_file():
        pytest.skip(f"no {path}")
    recording = read_recording(path)
    panel = TopologyPanel()
    qtbot.addWidget(panel)
    panel.resize(320, 900)
    panel.show_recording(recording)
    panel.show()
    panel.show_topology(ALONE)
    assert panel.topology == recording.topology
    assert panel.note.text() == "A recorded machine, not this one"
    assert panel.matrix.item(0, 7).text() == "NV18"
    assert panel.telemetry.watched == ()
    picture = pixels(panel.drawing.grab().toImage())
    blue = QColor(theme.ACCENT)
    assert (abs(picture.astype(int) - (blue.red(), blue.green(), blue.blue())).sum(axis=2) < 60).any()  # PCIe's traffic is written


def test_the_window_looks_at_the_machine_when_the_tab_is_opened(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat), tmp_path)
    qtbot.addWidget(window)
    window.show()
    assert feature(window, TopologyPanel).topology is None
    qtbot.mouseClick(feature(window, DeviceTabs).buttons.button(1), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: feature(window, TopologyPanel).topology is not None)
    assert feature(window, TopologyPanel).topology is not None
    assert feature(window, TopologyPanel).topology.nodes
    window.close()


def test_the_legend_has_the_colours_of_a_new_theme(qtbot: QtBot, qapp: QApplication) -> None:
    panel = shown(qtbot, eight())
    try:
        apply_theme(qapp, Theme.LIGHT)
        assert theme.colour(PCIE) in panel.legend.text()
        assert theme.colour(NVLINK) in panel.legend.text()
    finally:
        apply_theme(qapp, Theme.DARK)
