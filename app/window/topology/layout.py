"""Lays out a topology as one column for a narrow panel: one GPU per line.

PCIe is at the left: a trunk goes down from a box's head, with a branch to each part of the box. NVLink is at the right:
a vertical rail joins GPUs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from PySide6.QtCore import QRectF

from framefleet.engine.devices.topology import Box, Fabric, Kind, Topology, boxes, fabrics

INDENT, INSET, GAP = 24, 8, 8
TRUNK = 12
"""The distance from a box's left edge to its trunk."""
RAIL, PAIR = 18, 7
"""Widths of the tracks of a whole fabric and of one pair, logical pixels."""
BETWEEN = 30
"""Height of the connection between NUMA nodes, logical pixels."""
WIDEST = 620


@dataclass(frozen=True)
class Sizes:
    """Heights of a NUMA node's head, of another box's head, of a GPU, of the gap between parts, and of the connection between NUMA nodes.

    All are logical pixels.
    """

    node: float
    head: float
    gpu: float
    gap: float = GAP
    between: float = BETWEEN


@dataclass(frozen=True)
class Branch:
    """A line from a trunk to a part of a box, at height y. end: its right end. gpus: indices in the topology of the GPUs behind it."""

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
    """A vertical line at the right edge that joins GPUs by NVLink. pair: it shows one of several pairs of its fabric.

    members: indices of the GPUs in the topology. ends: the y of its connection to each member.
    """

    fabric: Fabric
    members: tuple[int, ...]
    nvlinks: int
    pair: bool
    area: QRectF = field(default_factory=QRectF)
    ends: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """The width of its track, logical pixels."""
        return PAIR if self.pair else RAIL


@dataclass
class Layout:
    """The areas of all parts, logical pixels. gpus: by index in the topology."""

    boxes: list[Placed] = field(default_factory=list)
    gpus: dict[int, QRectF] = field(default_factory=dict)
    rails: list[Rail] = field(default_factory=list)
    height: float = 0.0


def lay_out(topology: Topology, width: float, sizes: Sizes) -> Layout:
    """Lay out a topology within this width, logical pixels."""
    layout = Layout()
    machine = boxes(topology)
    rails = [*_rails(topology)]
    tracks = _tracks(rails, [topology.gpus.index(gpu) for box in machine for gpu in box.gpus()])
    widths = [max(rail.width for rail, track in zip(rails, tracks, strict=True) if track == number) for number in range(len(set(tracks)))]
    right = min(width, WIDEST) - (sum(widths) + INSET if widths else 0)
    y = 0.0
    for number, box in enumerate(machine):
        y = _place(layout, topology, box, QRectF(0.5, y + (sizes.between if number else 0.5), right - 1, 0), sizes)
    layout.height = y + 1
    ends = _ends(layout, rails, tracks)
    for number, (rail, track) in enumerate(zip(rails, tracks, strict=True)):
        heights = tuple(ends[number, place] for place in rail.members)
        edges = heights if rail.pair else [y for place in rail.members for y in (layout.gpus[place].top(), layout.gpus[place].bottom())]
        area = QRectF(right + INSET + sum(widths[:track]), min(edges), rail.width, max(edges) - min(edges))
        layout.rails.append(replace(rail, area=area, ends=heights))
    return layout


def _place(layout: Layout, topology: Topology, box: Box, start: QRectF, sizes: Sizes) -> float:
    """Lay out a box and its parts below the upper edge of ``start``; return the y of the box's lower edge."""
    node = box.kind is Kind.NODE
    head = QRectF(start.x(), start.y(), start.width(), sizes.node if node else sizes.head)
    y, inner, right = head.bottom(), start.x() + INDENT, start.right() - INSET
    position = len(layout.boxes)
    branches = []
    for part in box.parts:
        y += sizes.gap
        if isinstance(part, Box):
            bottom = _place(layout, topology, part, QRectF(inner, y, right - inner, 0), sizes)
            branches.append(Branch(y + sizes.head / 2, inner, tuple(topology.gpus.index(gpu) for gpu in part.gpus())))
            y = bottom
        else:
            place = topology.gpus.index(part)
            layout.gpus[place] = QRectF(inner, y, right - inner, sizes.gpu)
            branches.append(Branch(y + sizes.gpu / 2, inner, (place,)))
            y += sizes.gpu
    y += sizes.gap if box.parts else 0
    area = QRectF(start.x(), start.y(), start.width(), y - start.y())
    layout.boxes.insert(position, Placed(box, area, head, start.x() + TRUNK, tuple(branches)))
    return y


def _rails(topology: Topology) -> Iterator[Rail]:
    """One rail for a fabric with a switch or with two GPUs, else one for each pair. They have no area yet."""
    for fabric in fabrics(topology):
        if fabric.alike and (len(fabric.gpus) == 2 or not fabric.direct):
            yield Rail(fabric, fabric.gpus, fabric.nvlinks, False)
            continue
        for one, other in combinations(fabric.gpus, 2):
            link = topology.links[one][other]
            if link is not None and link.nvlinks:
                yield Rail(fabric, (one, other), link.nvlinks, True)


def _tracks(rails: Sequence[Rail], order: Sequence[int]) -> list[int]:
    """The track of each rail, chosen so that rails do not overlap. Track 0 is nearest to the GPUs and holds the shortest rails.

    order: the indices of the GPUs from top to bottom.
    """
    spans = [[order.index(place) for place in rail.members] for rail in rails]
    ends = [(min(span), max(span)) for span in spans]
    tracks = [0] * len(rails)
    taken: list[list[tuple[int, int]]] = []
    for number in sorted(range(len(ends)), key=lambda number: (ends[number][1] - ends[number][0], ends[number])):
        first, last = ends[number]
        track = next((track for track, others in enumerate(taken) if all(last < a or b < first for a, b in others)), len(taken))
        taken[track:] = taken[track:] or [[]]
        taken[track].append((first, last))
        tracks[number] = track
    return tracks


def _ends(layout: Layout, rails: Sequence[Rail], tracks: Sequence[int]) -> dict[tuple[int, int], float]:
    """The y at which each rail connects to each of its members, by the indices of rail and member.

    To avoid crossings, rails that lead up connect above rails that lead down, and the outermost track connects in the middle.
    """
    heights = {}
    for place, area in layout.gpus.items():
        leaving = []
        for number, rail in enumerate(rails):
            if place in rail.members:
                up = any(layout.gpus[other].y() < area.y() for other in rail.members)
                leaving.append((not up, tracks[number] if up else -tracks[number], number))
        for position, (*_, number) in enumerate(sorted(leaving), 1):
            heights[number, place] = area.y() + area.height() * position / (len(leaving) + 1)
    return heights
