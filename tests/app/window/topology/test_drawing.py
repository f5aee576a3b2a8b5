from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from framefleet.app.window.topology.drawing import EDGE, NVLINK, PCIE, SYSTEM, TopologyDrawing
from framefleet.app.window.topology.text import short_names
from framefleet.app.window.widgets import theme
from framefleet.engine.devices.telemetry import LinkTraffic, Telemetry
from framefleet.engine.devices.topology import Topology
from framefleet.engine.types import DeviceId
from tests.support.devices.topologies import CUBES, MESH, SOCKETS, eight


def drawn(qtbot: QtBot, topology: Topology, width: int = 320) -> TopologyDrawing:
    drawing = TopologyDrawing()
    qtbot.addWidget(drawing)
    drawing.show_topology(topology)
    drawing.resize(width, drawing.height())
    return drawing


def lit(drawing: TopologyDrawing, place: int, beyond: float) -> QColor:
    """The colour beside a GPU's box, at half its height."""
    area = drawing.layout_.gpus[place]
    x = area.left() + beyond if beyond < 0 else area.right() + beyond
    return drawing.grab().toImage().pixelColor(int(x), int(area.center().y()))


def test_wires_light_up_with_what_flows(qtbot: QtBot) -> None:
    drawing = drawn(qtbot, eight(), 300)
    assert lit(drawing, 2, -5) == lit(drawing, 5, -5)
    assert lit(drawing, 2, 10) == lit(drawing, 5, 10)
    busy = DeviceId("cuda", "2")
    drawing.show_telemetry({busy: Telemetry(busy, pcie_rx=20e9, pcie_tx=1e9, nvlink_rx=300e9, nvlink_tx=300e9)})
    assert lit(drawing, 2, -5).red() > lit(drawing, 5, -5).red() + 40
    assert lit(drawing, 2, 10).red() > lit(drawing, 5, 10).red() + 40


def carries(one: int, other: int, rate: float) -> dict[DeviceId, Telemetry]:
    """Snapshots of ``MESH``'s GPUs, with one counter a pair, while one sends to another."""
    snapshots = {}
    for place in range(4):
        device = DeviceId("cuda", str(place))
        ends = [end for end in range(4) if end != place]
        links = [
            LinkTraffic(number, MESH.gpus[end].pci, rate * ((place, end) == (other, one)), rate * ((place, end) == (one, other)))
            for number, end in enumerate(ends)
        ]
        rx, tx = rate * (place == other), rate * (place == one)
        snapshots[device] = Telemetry(device, nvlink_rx=rx, nvlink_tx=tx, nvlink_traffic=tuple(links))
    return snapshots


def test_what_flows_between_two_lights_up_their_rail_only(qtbot: QtBot) -> None:
    drawing = drawn(qtbot, MESH)
    drawing.show_telemetry(carries(1, 3, 60e9))
    image = drawing.grab().toImage()
    parts = {}
    for rail in drawing.layout_.rails:
        box = drawing.layout_.gpus[rail.members[0]]
        points = (box.right() + 4, rail.ends[0]), (rail.area.center().x(), rail.ends[0] + 4)  # others cross it further down
        parts[rail.members] = [image.pixelColor(int(x), int(y)).red() for x, y in points]
    busy = parts.pop((1, 3))
    assert min(busy) > max(max(others) for others in parts.values()) + 40
    spine = next(rail.area.center() for rail in drawing.layout_.rails if rail.members == (1, 3))
    assert drawing.about(spine).splitlines()[1:] == [
        "cuda:1 and cuda:3: 4 links",
        "cuda:1 → cuda:3: 60.0 GB/s",
        "cuda:3 → cuda:1: 0.0 MB/s",
    ]


def test_where_only_totals_are_known_a_gpus_ends_show_them(qtbot: QtBot) -> None:
    drawing = drawn(qtbot, MESH)
    drawing.show_telemetry({device: replace(one, nvlink_traffic=()) for device, one in carries(1, 3, 60e9).items()})
    image = drawing.grab().toImage()
    rail = next(rail for rail in drawing.layout_.rails if rail.members == (0, 1))
    quiet, busy = (
        image.pixelColor(int(drawing.layout_.gpus[place].right() + 4), int(y)).red()
        for place, y in zip(rail.members, rail.ends, strict=True)
    )
    assert busy > quiet + 40
    spines = {rail.members: image.pixelColor(int(rail.area.center().x()), int(rail.ends[0] + 4)).red() for rail in drawing.layout_.rails}
    assert spines[1, 3] > spines[0, 1] + 10  # it may be theirs; where one is silent, it is not
    assert drawing.about(rail.area.center()).splitlines()[2:] == ["All links of each:", "cuda:0: ↓ 0  ↑ 0 kB/s", "cuda:1: ↓ 0  ↑ 60 GB/s"]


def test_traffic_has_a_line_of_its_own_where_it_is_narrow(qtbot: QtBot) -> None:
    drawing = drawn(qtbot, eight())
    drawing.show()
    heights = []
    for width in (600, 200):
        drawing.resize(width, drawing.height())
        heights.append(drawing.layout_.gpus[0].height())
    assert heights[1] > heights[0]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2 defines it, 1..21."""

    def luminance(colour: str) -> float:
        parts = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in QColor(colour).getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_wires_have_the_colours_of_the_legend_without_traffic_too(qtbot: QtBot) -> None:
    drawing = drawn(qtbot, eight(), 300)
    assert lit(drawing, 2, -5).name() == theme.colour(PCIE)
    assert lit(drawing, 2, 10).name() == theme.colour(NVLINK)


@pytest.mark.parametrize("dark", [True, False])
def test_lines_and_texts_can_be_told_from_what_is_behind_them(dark: bool) -> None:
    lines, texts = ((*names, PCIE, NVLINK) for names in ((SYSTEM, EDGE), ("TEXT", "MUTED")))
    try:
        theme.use(dark=dark)
        for ground in (theme.SURFACE, theme.BACKGROUND):
            assert all(contrast(theme.colour(name), ground) >= 3 for name in lines)
        for ground in (theme.SURFACE, theme.RAISED):
            assert all(contrast(theme.colour(name), ground) >= 4.5 for name in texts)
    finally:
        theme.use(dark=True)


def test_a_strip_is_low_and_shows_links_and_traffic(qtbot: QtBot) -> None:
    drawing = TopologyDrawing(strip=True)
    qtbot.addWidget(drawing)
    drawing.resize(280, 10)
    for topology in (eight(), MESH, SOCKETS, CUBES):
        drawing.show_topology(topology)
        areas = [QRectF(area.y(), area.x(), area.height(), area.width()) for area in drawing.layout_.gpus.values()]
        assert all(area.right() <= 280 and area.bottom() < drawing.height() for area in areas)
        assert all(one.right() < other.left() or other.right() < one.left() for one, other in combinations(areas, 2))
        assert drawing.height() < 190
    drawing.show_topology(eight())
    assert drawing.height() < 110
    first = drawing.layout_.gpus[0].center().transposed()
    assert drawing.about(first).startswith("cuda:0 · GPU 0")
    rail = drawing.layout_.rails[0].area
    below, above = QPointF(rail.x() - 5, first.x()), QPointF(drawing.layout_.gpus[0].x() - 4, first.x())

    def colour(point: QPointF) -> QColor:
        return drawing.grab().toImage().pixelColor(point.transposed().toPoint())

    assert (colour(below).name(), colour(above).name()) == (theme.colour(NVLINK), theme.colour(PCIE))
    busy = DeviceId("cuda", "0")
    drawing.show_telemetry({busy: Telemetry(busy, pcie_rx=20e9, pcie_tx=1e9, nvlink_rx=300e9, nvlink_tx=300e9)})
    assert colour(below).red() > QColor(theme.colour(NVLINK)).red() + 40
    drawing.set_strip(False)
    assert drawing.height() > 400


@pytest.mark.parametrize(
    ("name", "shortest"),
    [
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 3080 Laptop GPU", "RTX 3080"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("Tesla V100-SXM2-16GB", "V100"),
        ("NVIDIA H200", "H200"),
        ("TITAN RTX", "TITAN RTX"),
    ],
)
def test_names_of_gpus_lose_what_does_not_tell_them_apart(name: str, shortest: str) -> None:
    names = short_names(name)
    assert names[-1] == shortest
    assert list(map(len, names)) == sorted(map(len, names), reverse=True)
