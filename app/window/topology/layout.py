"""Where everything of a machine's drawing goes. A column, so that it fits a narrow panel: one GPU a line, NVLink along the right edge.

PCIe hangs on the left: from a box's head a trunk goes down, with a branch to each of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from PySide6.QtCore import QRectF

from engine.devices.topology.tree import Box, Fabric, Kind, boxes, fabrics
from engine.devices.topology.types import Topology

INDENT, INSET, GAP = 24, 8, 8
TRUNK = 12
"""From a box's left edge to its trunk."""
RAIL, PAIR = 18, 7
"""Width of the lane of a fabric whose GPUs are all joined alike, and of one pair's link in others."""
BETWEEN = 30
"""Height of the connection between NUMA nodes."""
WIDEST = 620


@dataclass(frozen=True)
class Sizes:
    """Heights of a NUMA node's head, of another box's head, and of a GPU, by the fonts in use."""

    node: float
    head: float
    gpu: float


@dataclass(frozen=True)
class Branch:
    """From a trunk to one part, at height y. gpus: whose data pass through it, as places in the topology."""

    y: float
    end: float
    gpus: tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """A box and its head. trunk: x of its trunk, which begins at the head's lower edge."""

    box: Box
    area: QRectF
    head: QRectF
    trunk: float
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class Rail:
    """What NVLink joins, along the right edge. pair: the two GPUs, where links of other pairs of their fabric are not theirs, too.

    ends: heights at which it leaves its members' boxes; no two rails leave one at the same.
    """

    fabric: Fabric
    area: QRectF
    members: tuple[int, ...]
    nvlinks: int
    pair: bool
    ends: tuple[float, ...]


@dataclass
class Layout:
    """Everything, in logical pixels. gpus: by their places in the topology."""

    boxes: list[Placed] = field(default_factory=list)
    gpus: dict[int, QRectF] = field(default_factory=dict)
    rails: list[Rail] = field(default_factory=list)
    height: float = 0.0


@dataclass(frozen=True)
class _Wanted:
    """A rail before it has a place."""

    fabric: Fabric
    members: tuple[int, ...]
    nvlinks: int
    pair: bool

    @property
    def width(self) -> int:
        return PAIR if self.pair else RAIL


def lay_out(topology: Topology, width: float, sizes: Sizes) -> Layout:
    """Place everything within this width."""
    layout = Layout()
    machine = boxes(topology)
    wanted = [*_wanted(topology)]
    lanes = _lanes(wanted, [topology.gpus.index(gpu) for box in machine for gpu in box.gpus()])
    widths = [max(rail.width for rail, lane in zip(wanted, lanes, strict=True) if lane == number) for number in range(len(set(lanes)))]
    right = min(width, WIDEST) - (sum(widths) + INSET if widths else 0)
    y = 0.0
    for number, box in enumerate(machine):
        y = _place(layout, topology, box, QRectF(0.5, y + (BETWEEN if number else 0.5), right - 1, 0), sizes)
    layout.height = y + 1
    ends = _ends(layout, wanted, lanes)
    for number, (rail, lane) in enumerate(zip(wanted, lanes, strict=True)):
        heights = tuple(ends[number, place] for place in rail.members)
        layout.rails.append(_rail(layout, rail, right + INSET + sum(widths[:lane]), heights))
    return layout


def _place(layout: Layout, topology: Topology, box: Box, start: QRectF, sizes: Sizes) -> float:
    """Place a box and what is in it below ``start``'s upper edge. Gives its lower edge."""
    node = box.kind is Kind.NODE
    head = QRectF(start.x(), start.y(), start.width(), sizes.node if node else sizes.head)
    y, inner, right = head.bottom(), start.x() + INDENT, start.right() - INSET
    position = len(layout.boxes)
    branches = []
    for part in box.parts:
        y += GAP
        if isinstance(part, Box):
            bottom = _place(layout, topology, part, QRectF(inner, y, right - inner, 0), sizes)
            branches.append(Branch(y + sizes.head / 2, inner, tuple(topology.gpus.index(gpu) for gpu in part.gpus())))
            y = bottom
        else:
            place = topology.gpus.index(part)
            layout.gpus[place] = QRectF(inner, y, right - inner, sizes.gpu)
            branches.append(Branch(y + sizes.gpu / 2, inner, (place,)))
            y += sizes.gpu
    y += GAP if box.parts else 0
    area = QRectF(start.x(), start.y(), start.width(), y - start.y())
    layout.boxes.insert(position, Placed(box, area, head, start.x() + TRUNK, tuple(branches)))
    return y


def _wanted(topology: Topology) -> Iterator[_Wanted]:
    """A rail for GPUs that share a switch, or are but two; else one a pair."""
    for fabric in fabrics(topology):
        if fabric.alike and (len(fabric.gpus) == 2 or not fabric.direct):
            yield _Wanted(fabric, fabric.gpus, fabric.nvlinks, False)
            continue
        for one, other in combinations(fabric.gpus, 2):
            link = topology.links[one][other]
            if link is not None and link.nvlinks:
                yield _Wanted(fabric, (one, other), link.nvlinks, True)


def _lanes(wanted: Sequence[_Wanted], order: Sequence[int]) -> list[int]:
    """A lane for each, so that none covers another; the shortest are nearest to the GPUs. order: the GPUs from top to bottom."""
    spans = [[order.index(place) for place in rail.members] for rail in wanted]
    ends = [(min(span), max(span)) for span in spans]
    lanes = [0] * len(wanted)
    taken: list[list[tuple[int, int]]] = []
    for number in sorted(range(len(ends)), key=lambda number: (ends[number][1] - ends[number][0], ends[number])):
        first, last = ends[number]
        lane = next((lane for lane, others in enumerate(taken) if all(last < a or b < first for a, b in others)), len(taken))
        taken[lane:] = taken[lane:] or [[]]
        taken[lane].append((first, last))
        lanes[number] = lane
    return lanes


def _ends(layout: Layout, wanted: Sequence[_Wanted], lanes: Sequence[int]) -> dict[tuple[int, int], float]:
    """Heights at which each rail, by its position, leaves each of its members.

    Those that lead up leave above those that lead down, and the outermost lane in the middle: so they do not cross where they leave.
    """
    heights = {}
    for place, area in layout.gpus.items():
        leaving = []
        for number, rail in enumerate(wanted):
            if place in rail.members:
                up = any(layout.gpus[other].y() < area.y() for other in rail.members)
                leaving.append((not up, lanes[number] if up else -lanes[number], number))
        for position, (*_, number) in enumerate(sorted(leaving), 1):
            heights[number, place] = area.y() + area.height() * position / (len(leaving) + 1)
    return heights


def _rail(layout: Layout, rail: _Wanted, x: float, ends: tuple[float, ...]) -> Rail:
    areas = [layout.gpus[place] for place in rail.members]
    whole = min(area.top() for area in areas), max(area.bottom() for area in areas)
    top, bottom = (min(ends), max(ends)) if rail.pair else whole
    return Rail(rail.fabric, QRectF(x, top, rail.width, bottom - top), rail.members, rail.nvlinks, rail.pair, ends)
