"""Draws a topology: nested boxes, and the links between them - PCIe as a tree, NVLink as rails -, each the brighter the higher its load.

The drawing is a column with one GPU below the other, or a low strip with the GPUs beside each other. The strip is a column with x and y
exchanged; only its texts are written in their own places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from PySide6.QtCore import QEvent, QLineF, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QTransform
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from framefleet.app.window.topology import text
from framefleet.app.window.topology.layout import WIDEST, Layout, Placed, Rail, Sizes, lay_out
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import CENTRE, LEFT, RIGHT, draw_bar, draw_box, fitting, painting, write
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.devices.topology import Gpu, Kind, Topology
from framefleet.engine.types import DeviceId

PCIE, NVLINK, SYSTEM = "ACCENT", "GOOD", "MUTED"
"""Names of the theme's colours; SYSTEM is that of the connection between NUMA nodes."""


@dataclass(frozen=True)
class Links:
    """Draws links with a painter. font: of their texts. strip: the painter exchanges x and y."""

    painter: QPainter
    topology: Topology
    telemetry: text.Snapshots
    layout: Layout
    font: QFont
    strip: bool

    def _gpus(self, places: Sequence[int]) -> list[Gpu]:
        return [self.topology.gpus[place] for place in places]

    def draw_between(self, above: Placed, below: Placed) -> None:
        """Draw the connection between two NUMA nodes."""
        x, top, bottom = above.area.x() + 28, above.area.bottom(), below.area.top()
        self.painter.setPen(QPen(QColor(theme.colour(SYSTEM)), 1.5))
        for offset in (-3, 0, 3):
            self.painter.drawLine(QLineF(x + offset, top, x + offset, bottom))
        if self.strip:
            return
        title = QRectF(x + 12, top, above.area.width() - 40, bottom - top)
        write(self.painter, title, translate("topology", "Between the NUMA nodes"), LEFT, self.font, theme.colour(SYSTEM))

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
        known = [telemetry for gpu in gpus if (telemetry := text.telemetry_of(gpu, self.telemetry)) is not None]
        flow = sum((telemetry.pcie_rx or 0) + (telemetry.pcie_tx or 0) for telemetry in known)
        capacity = max(map(text.pcie_capacity, gpus))
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
        return text.nvlink_share_between(gpus[0], gpus[1], rail.nvlinks, self.telemetry) if len(gpus) == 2 else None

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
        shares = [text.nvlink_share(gpu, self.telemetry) if load is None else load for gpu in self._gpus(rail.members)]
        for start, turn, flow in zip(starts, turns, shares, strict=True):
            self._draw_wire([start, turn], width, NVLINK, flow)
        if rail.pair:
            # the counters do not show the pair's own traffic; it is zero if one of the two has none
            self._draw_wire(turns, width, NVLINK, 0.02 if min(shares) > 0 else 0.0)
            return
        quiet, edge = QColor(theme.colour(NVLINK)), QColor(theme.colour(NVLINK))
        quiet.setAlphaF(min(0.1 + 0.3 * max(shares) ** 0.35, 0.4))
        draw_box(self.painter, rail.area.adjusted(0.5, 0.5, -0.5, -0.5), 5, quiet, edge)
        self.painter.save()
        self.painter.translate(rail.area.center())
        self.painter.setTransform(_EXCHANGED if self.strip else QTransform().rotate(-90), True)
        across = QRectF(-rail.area.height() / 2, -rail.area.width() / 2, rail.area.height(), rail.area.width())
        name = translate("topology", "NVLink ×{nvlinks}").format(nvlinks=rail.fabric.nvlinks)
        write(self.painter, across, name, CENTRE, self.font, theme.colour(NVLINK))
        self.painter.restore()


_EXCHANGED = QTransform(0, 1, 1, 0, 0, 0)
"""Exchanges x and y."""
PAD, BAR = 7, 3
CELL = 40.0
"""The height of a GPU in a strip, logical pixels."""
EDGE = "DISABLED"
"""The name of the colour of boxes."""
_CPU = DeviceId("cpu", "0")


class TopologyDrawing(QWidget):
    """Draws one ``Topology``. Its height follows from its width. strip: the GPUs are beside each other."""

    def __init__(self, strip: bool = False) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.installEventFilter(self)
        self._topology = Topology()
        self._telemetry: Mapping[DeviceId, Telemetry] = {}
        self._bold, self._text, self._small = theme.font(bold=True), theme.font(-1), theme.font(-2)
        line, small = QFontMetricsF(self._bold).height(), QFontMetricsF(self._small).height()
        self._line, self._note = line, small
        self._sizes = Sizes(2 * PAD + line + small + BAR, 2 * 4 + small, 2 * PAD + line + 2 + small + 2 + BAR)
        self._two_rates = 2 * QFontMetricsF(self._small).horizontalAdvance("↓ 888  ↑ 888 MB/s") + 10 + 2 * 9
        self._tall, self._strip = False, strip
        self.layout_ = Layout()

    def set_strip(self, strip: bool) -> None:
        """Draw a strip or a column."""
        if strip is not self._strip:
            self._strip = strip
            self._place()

    def show_topology(self, topology: Topology) -> None:
        """Draw this topology."""
        self._topology = topology
        names = [
            translate("topology", "{gpu} in {value}").format(
                gpu=text.gpu_name(gpu),
                value=translate("topology", "an unknown NUMA node")
                if gpu.node is None
                else translate("topology", "NUMA node {node}").format(node=gpu.node),
            )
            for gpu in topology.gpus
        ]
        self.setAccessibleName(translate("topology", "Topology: {names}").format(names=", ".join(names) or translate("topology", "no GPU")))
        self._place()

    def show_telemetry(self, telemetry: Mapping[DeviceId, Telemetry]) -> None:
        """Show the devices' latest telemetry; repaint only if it differs."""
        if telemetry != self._telemetry:
            self._telemetry = dict(telemetry)
            self.update()

    def sizeHint(self) -> QSize:
        """The height of the layout; any width."""
        return QSize(300, int(self.layout_.height) + 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out for the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def _place(self) -> None:
        joined, self._tall = any(gpu.nvlinks for gpu in self._topology.gpus), False
        if self._strip:
            self._place_strip()
        else:
            self.layout_ = lay_out(self._topology, self.width(), self._sizes)
            self._tall = joined and min(area.width() for area in self.layout_.gpus.values()) < self._two_rates
        if self._tall:  # NVLink's traffic needs its own line
            self.layout_ = lay_out(self._topology, self.width(), replace(self._sizes, gpu=self._sizes.gpu + self._note))
        height = max((placed.area.right() for placed in self.layout_.boxes), default=0.0) if self._strip else self.layout_.height
        self.setFixedHeight(int(max([height, *(rail.area.right() for rail in self.layout_.rails)] if self._strip else [height])) + 1)
        self.updateGeometry()
        self.update()

    def _place_strip(self) -> None:
        """Lay out a column whose height is this width, and whose GPUs have the width ``CELL``."""
        sizes = Sizes(self._note + 6, self._note + 2, 0.0, gap=4, between=12)
        free = self.width() - 1 - lay_out(self._topology, 1000.0, sizes).height
        sizes = replace(sizes, gpu=max(free / max(len(self._topology.gpus), 1), 12.0))
        wide = lay_out(self._topology, WIDEST, sizes)
        more = min((area.width() for area in wide.gpus.values()), default=CELL) - CELL
        self.layout_ = lay_out(self._topology, WIDEST - more, sizes)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the tooltip for the point under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.about(QPointF(event.pos())), self)
            return True
        return super().eventFilter(watched, event)

    def about(self, point: QPointF) -> str:
        """The tooltip for a point, "" if nothing is drawn there."""
        point = point.transposed() if self._strip else point
        for place, area in self.layout_.gpus.items():
            if area.contains(point):
                gpu = self._topology.gpus[place]
                return text.about_gpu(gpu, text.telemetry_of(gpu, self._telemetry))
        for rail in self.layout_.rails:
            if rail.area.adjusted(-2, 0, 2, 0).contains(point):
                return text.about_rail([self._topology.gpus[place] for place in rail.members], rail.nvlinks, self._telemetry)
        inside = [placed for placed in self.layout_.boxes if placed.area.contains(point)]
        return text.about_box(inside[-1].box) if inside else ""

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw boxes, then links, then GPUs."""
        with painting(self) as painter:
            nodes = [placed for placed in self.layout_.boxes if placed.box.kind is Kind.NODE]
            for placed in self.layout_.boxes:
                self._draw_box(painter, placed)
            painter.save()
            if self._strip:
                painter.setTransform(_EXCHANGED, True)
            links = Links(painter, self._topology, self._telemetry, self.layout_, self._small, self._strip)
            for above, below in pairwise(nodes):
                links.draw_between(above, below)
            for placed in self.layout_.boxes:
                links.draw_branches(placed)
            links.draw_rails()
            painter.restore()
            for place, area in self.layout_.gpus.items():
                draw = self._draw_cell if self._strip else self._draw_gpu
                draw(painter, self._topology.gpus[place], _exchanged(area) if self._strip else area)

    def _draw_box(self, painter: QPainter, placed: Placed) -> None:
        node = placed.box.kind is Kind.NODE
        edge = theme.colour(EDGE) if node else QPen(QColor(theme.colour(EDGE)), 1, Qt.PenStyle.DashLine)
        area, head = (_exchanged(each) if self._strip else each for each in (placed.area, placed.head))
        draw_box(painter, area, 8, theme.SURFACE if node else theme.BACKGROUND, edge)
        if node:
            draw_box(painter, head.adjusted(1, 1, -1, -1), 7, theme.RAISED)
        if self._strip:
            painter.save()
            painter.translate(head.center())
            painter.rotate(-90)
            across = QRectF(-head.height() / 2, -head.width() / 2, head.height(), head.width()).adjusted(4, 0, -4, 0)
            names = text.node_name(placed.box), f"NUMA {placed.box.node.number}" if placed.box.node is not None else ""
            fits = (name for name in names if QFontMetricsF(self._small).horizontalAdvance(name) <= across.width())
            write(painter, across, next(fits, ""), CENTRE, self._small, theme.MUTED)
            painter.restore()
            return
        inner = head.adjusted(10, 0, -10, 0)
        if not node:
            write(painter, inner, text.node_name(placed.box), LEFT, self._small, theme.MUTED)
            return
        title = QRectF(inner.x(), inner.y() + PAD, inner.width(), self._line)
        facts = QRectF(inner.x(), title.bottom(), inner.width(), self._note)
        processors = self._telemetry.get(_CPU)  # one value for all processors, so a node shows it only if it is the only one
        usage = processors.utilization if processors is not None and len(self._topology.nodes) == 1 else None
        if usage is not None:
            write(painter, title, translate("topology", "CPU {usage} %").format(usage=round(usage)), RIGHT, self._text, theme.TEXT)
            bar = QRectF(inner.x(), head.bottom() - PAD, inner.width(), BAR)
            draw_bar(painter, bar, usage / 100, theme.ACCENT)
        write(painter, title.adjusted(0, 0, -70 if usage is not None else 0, 0), text.node_name(placed.box), LEFT, self._bold, theme.TEXT)
        known = fitting(QFontMetrics(self._small, self), text.node_facts(placed.box.node), facts.width())
        write(painter, facts, known, LEFT, self._small, theme.MUTED)

    def _draw_cell(self, painter: QPainter, gpu: Gpu, area: QRectF) -> None:
        """Draw a GPU in a strip: its name or number, and its load or, in a wide cell, the traffic too."""
        telemetry = text.telemetry_of(gpu, self._telemetry) or Telemetry(_CPU)
        draw_box(painter, area, 4, theme.RAISED, theme.colour(EDGE))
        inner = area.adjusted(3, 3, -3, -3)
        names = text.gpu_name(gpu), gpu.device.name if gpu.device is not None else str(gpu.number)
        metrics = QFontMetricsF(self._small)
        name = next((name for name in names if metrics.horizontalAdvance(name) <= inner.width()), names[-1])
        write(painter, QRectF(inner.x(), inner.y(), inner.width(), self._note), name, CENTRE, self._small, theme.TEXT)
        usage = telemetry.utilization
        load = "" if usage is None else f"{usage:.0f} %"
        flows = text.traffic(telemetry.nvlink_rx, telemetry.nvlink_tx), text.traffic(telemetry.pcie_rx, telemetry.pcie_tx)
        texts = *(f"{load}  {flow}" for flow in flows if flow), load, "" if usage is None else f"{usage:.0f}"
        shown = next((each for each in texts if metrics.horizontalAdvance(each) <= inner.width()), "")
        write(painter, QRectF(inner.x(), inner.y() + self._note, inner.width(), self._note), shown, CENTRE, self._small, theme.MUTED)
        draw_bar(painter, QRectF(inner.x(), inner.bottom() - BAR, inner.width(), BAR), (usage or 0) / 100, theme.ACCENT)

    def _draw_gpu(self, painter: QPainter, gpu: Gpu, area: QRectF) -> None:
        telemetry = text.telemetry_of(gpu, self._telemetry) or Telemetry(_CPU)
        draw_box(painter, area, 6, theme.RAISED, theme.colour(EDGE))
        inner = area.adjusted(9, PAD, -9, -PAD)
        first = QRectF(inner.x(), inner.y(), inner.width(), self._line)
        second = QRectF(inner.x(), first.bottom() + 2, inner.width(), self._note)
        usage = telemetry.utilization
        room = 0.0
        if usage is not None:
            room = write(painter, first, f"{usage:.0f} %", RIGHT, self._text, theme.TEXT) + 8
        used = write(painter, first.adjusted(0, 0, -room, 0), text.gpu_name(gpu), LEFT, self._bold, theme.TEXT) + 8
        rest, names = first.adjusted(used, 0, -room, 0), text.short_names(gpu.name)
        fits = (name for name in names if QFontMetricsF(self._text).horizontalAdvance(name) <= rest.width())
        write(painter, rest, next(fits, ""), LEFT, self._text, theme.MUTED)  # elided text would be useless
        draw_bar(painter, QRectF(inner.x(), inner.bottom() - BAR + 2, inner.width(), BAR), (usage or 0) / 100, theme.ACCENT)
        pcie = text.traffic(telemetry.pcie_rx, telemetry.pcie_tx)
        used = write(painter, second, pcie or text.pcie_link(gpu), LEFT, self._small, theme.colour(PCIE) if pcie else theme.MUTED) + 12
        nvlink = text.traffic(telemetry.nvlink_rx, telemetry.nvlink_tx) if gpu.nvlinks else None
        other = nvlink or (
            translate("topology", "{nvlinks} NVLinks").format(nvlinks=gpu.nvlinks) if gpu.nvlinks else text.pcie_link(gpu) if pcie else ""
        )
        rest, where = (second.translated(0, self._note), LEFT) if self._tall else (second.adjusted(used, 0, 0, 0), RIGHT)
        if painter.fontMetrics().horizontalAdvance(other) <= rest.width():  # elided text would be useless
            write(painter, rest, other, where, self._small, theme.colour(NVLINK) if nvlink else theme.MUTED)


def _exchanged(area: QRectF) -> QRectF:
    """An area with x and y exchanged."""
    return QRectF(area.y(), area.x(), area.height(), area.width())
