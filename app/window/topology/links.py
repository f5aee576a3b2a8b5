"""Draws the links of a topology: PCIe as a tree, NVLink as rails, each the brighter the higher its load."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from framefleet.app.window.topology.layout import Layout, Placed, Rail
from framefleet.app.window.topology.loads import Snapshots, nvlink_share, nvlink_share_between, pcie_capacity, telemetry_of
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import CENTRE, LEFT, draw_box, write
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.topology.types import Gpu, Topology

PCIE, NVLINK, SYSTEM = "ACCENT", "GOOD", "MUTED"
"""Names of the theme's colours; SYSTEM is that of the connection between NUMA nodes."""


@dataclass(frozen=True)
class Links:
    """Draws links with a painter. font: of their texts."""

    painter: QPainter
    topology: Topology
    telemetry: Snapshots
    layout: Layout
    font: QFont

    def _gpus(self, places: Sequence[int]) -> list[Gpu]:
        return [self.topology.gpus[place] for place in places]

    def draw_between(self, above: Placed, below: Placed) -> None:
        """Draw the connection between two NUMA nodes."""
        x, top, bottom = above.area.x() + 28, above.area.bottom(), below.area.top()
        self.painter.setPen(QPen(QColor(theme.colour(SYSTEM)), 1.5))
        for offset in (-3, 0, 3):
            self.painter.drawLine(QLineF(x + offset, top, x + offset, bottom))
        text = QRectF(x + 12, top, above.area.width() - 40, bottom - top)
        write(self.painter, text, translate("topology", "Between the NUMA nodes"), LEFT, self.font, theme.colour(SYSTEM))

    def draw_branches(self, placed: Placed) -> None:
        """Draw the trunk of a box in parts; each part carries the traffic of the branches below it."""
        top = placed.head.bottom()
        for number, branch in enumerate(placed.branches):
            below = [place for later in placed.branches[number:] for place in later.gpus]
            fork = QPointF(placed.trunk, branch.y)
            self._draw_pcie([QPointF(placed.trunk, top), fork], below)
            self._draw_pcie([fork, QPointF(branch.end, branch.y)], branch.gpus)
            top = branch.y

    def _draw_pcie(self, points: Sequence[QPointF], places: Sequence[int]) -> None:
        gpus = self._gpus(places)
        known = [telemetry for gpu in gpus if (telemetry := telemetry_of(gpu, self.telemetry)) is not None]
        flow = sum((telemetry.pcie_rx or 0) + (telemetry.pcie_tx or 0) for telemetry in known)
        capacity = max(map(pcie_capacity, gpus))
        # the width depends only on the capacity, whether it comes from lanes or from the generation
        self._draw_wire(points, min(max((capacity / 1e9) ** 0.5 * 0.55, 1.2), 5.0), PCIE, flow / (2 * capacity))

    def _draw_wire(self, points: Sequence[QPointF], width: float, colour: str, share: float) -> None:
        """Draw a wire in the colour of the legend, with a bright core that is stronger at a higher load. share: the load, 0..1."""
        core = QColor(theme.TEXT)
        core.setAlphaF(min(share**0.35, 1.0) if share > 0 else 0.0)  # the exponent makes thousandths visible
        for shade, thick in ((QColor(theme.colour(colour)), width), (core, 0.5 * width)):
            self.painter.setPen(QPen(shade, thick, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
            self.painter.drawPolyline(points)

    def _load(self, rail: Rail) -> float | None:
        """The load of a rail with two members, 0..1; None if it has more members or the load is unknown."""
        gpus = self._gpus(rail.members)
        return nvlink_share_between(gpus[0], gpus[1], rail.nvlinks, self.telemetry) if len(gpus) == 2 else None

    def draw_rails(self) -> None:
        """Draw NVLink; busier rails are on top."""
        for rail in sorted(self.layout.rails, key=lambda rail: self._load(rail) or 0.0):
            self._draw_rail(rail)

    def _draw_rail(self, rail: Rail) -> None:
        x = rail.area.center().x() if rail.pair else rail.area.x()
        width = min(1.0 + 0.75 * rail.nvlinks**0.5, 4.5)
        starts = [QPointF(self.layout.gpus[place].right(), y) for place, y in zip(rail.members, rail.ends, strict=True)]
        turns = [QPointF(x, y) for y in rail.ends]
        load = self._load(rail)
        if rail.pair and load is not None:
            self._draw_wire([starts[0], *turns, starts[1]], width, NVLINK, load)
            return
        shares = [nvlink_share(gpu, self.telemetry) if load is None else load for gpu in self._gpus(rail.members)]
        for start, turn, flow in zip(starts, turns, shares, strict=True):
            self._draw_wire([start, turn], width, NVLINK, flow)
        if rail.pair:
            # the counters do not show the pair's own traffic; it is zero if one of the two has none
            self._draw_wire(turns, width, NVLINK, 0.02 if min(shares) > 0 else 0.0)
            return
        quiet, edge = QColor(theme.colour(NVLINK)), QColor(theme.colour(NVLINK))
        quiet.setAlphaF(min(0.1 + 0.3 * max(shares) ** 0.35, 0.4))
        draw_box(self.painter, rail.area.adjusted(0.5, 0.5, -0.5, -0.5), 5, quiet, edge)
        area = rail.area
        self.painter.save()
        self.painter.translate(area.center())
        self.painter.rotate(-90)
        across = QRectF(-area.height() / 2, -area.width() / 2, area.height(), area.width())
        name = translate("topology", "NVLink ×{nvlinks}").format(nvlinks=rail.fabric.nvlinks)
        write(self.painter, across, name, CENTRE, self.font, theme.colour(NVLINK))
        self.painter.restore()
