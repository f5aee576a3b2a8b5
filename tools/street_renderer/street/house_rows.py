"""Town houses, in rows along the pavements and at the ends of the streets, and a skyline."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Mesh, box, join, srgb
from tools.street_renderer.ground.canvas import ordered
from tools.street_renderer.street.house_front import front
from tools.street_renderer.street.house_style import Style, style
from tools.street_renderer.street.layout import Layout
from tools.street_renderer.street.roofs import Plot, roof


def house(
    rng: Generator,
    corner: tuple[float, float],
    along: tuple[float, float],
    width: float,
    depth: float,
    s: Style,
    open_left: bool,
    open_right: bool,
) -> Mesh:
    """A house whose front begins at ``corner`` and runs ``along`` (unit vector), with the street on the right of that direction.

    open_left, open_right: whether the end walls have windows; otherwise they are party walls.
    """
    ahead = np.array([*along, 0.0])
    back = np.array([-along[1], along[0], 0.0])
    start = np.array([*corner, 0.0])
    street, top = front(rng, s, width)
    parts = [street.placed(start, ahead)]
    parts.append(front(rng, s, depth, open_left, not open_left)[0].placed(start + back * depth, -back))
    parts.append(front(rng, s, depth, open_right, not open_right)[0].placed(start + ahead * width, back))
    parts.append(front(rng, s, width, False, True)[0].placed(start + ahead * width + back * depth, -ahead))
    parts += roof(rng, Plot(start, ahead, back, width, depth, top), s)
    return join(parts)


def houses(
    rng: Generator, lay: Layout, eye: tuple[float, float, float], parts: list[Mesh], footprints: list[tuple[float, float, float, float]]
) -> None:
    """Add houses along both sides of both roads to ``parts``, and their ground areas (x0, x1, y0, y1) to ``footprints``."""
    px, py = lay.half + lay.pave, lay.cross_half + lay.pave
    for sx in (-1, 1):
        for sy in (-1, 1):
            if lay.park == (sx, sy):
                # a row behind the square
                for i in range(-1, int((lay.far - lay.yc) / 15) + 1 if sy > 0 else 4):
                    x0 = px + 32
                    y0 = lay.yc + sy * py + (i * 15 if sy > 0 else -i * 15 - 15)
                    if i < 0 and sy > 0:
                        continue
                    parts.append(house(rng, (sx * x0, y0 + (15 if sx > 0 else 0)), (0, -sx), 15, 11, style(rng), True, True))
                continue
            y, end = lay.yc + sy * py, lay.far if sy > 0 else min(eye[1], lay.near) - 4
            first = True
            while (end - y) * sy > 1:
                s = style(rng)
                width = float(np.clip(rng.uniform(9, 17), 6, max(6.0, (end - y) * sy + 4)))
                depth = rng.uniform(10, 13)
                last = (end - y) * sy - width <= 1
                low = y if sy > 0 else y - width
                # the street lies to the right of the direction the front runs in
                corner = (sx * px, low + width) if sx > 0 else (sx * px, low)
                near_end = first if (sx > 0) == (sy > 0) else last
                far_end = last if (sx > 0) == (sy > 0) else first
                parts.append(house(rng, corner, (0, -sx), width, depth, s, far_end, near_end))
                footprints.append((*ordered(sx * px, sx * (px + depth)), low, low + width))
                if first:
                    _side_row(rng, lay, sx, sy, px + depth, parts, footprints)
                first = False
                y += sy * (width + 0.02)
    # houses that close the end of the main road and both ends of the cross road
    for width, corner, along in (
        (2 * px + 16, (-px - 8, lay.far + 1), (1.0, 0.0)),
        (2 * py + 10, (lay.side + 3, lay.yc + py + 5), (0.0, -1.0)),
        (2 * py + 10, (-lay.side - 3, lay.yc - py - 5), (0.0, 1.0)),
    ):
        parts.append(house(rng, corner, along, width, 12, style(rng), True, True))


def _side_row(
    rng: Generator, lay: Layout, sx: int, sy: int, start: float, parts: list[Mesh], footprints: list[tuple[float, float, float, float]]
) -> None:
    """Add houses along the cross road, outwards from the corner house."""
    y = lay.yc + sy * (lay.cross_half + lay.pave)
    x = start + 0.02
    while x < lay.side:
        width = rng.uniform(10, 17)
        low = x if sx > 0 else -x - width
        corner = (low, y) if sy > 0 else (low + width, y)
        parts.append(house(rng, corner, (sy, 0), width, 11, style(rng), False, False))
        footprints.append((low, low + width, *ordered(y, y + sy * 11)))
        x += width + 0.02


def skyline(rng: Generator, lay: Layout, parts: list[Mesh]) -> None:
    """Add distant blocks with a few lit windows to ``parts``."""
    for i in range(40):
        # behind the end of the street, and to both sides beyond the houses
        y = lay.far + rng.uniform(16, 220) if i < 28 else rng.uniform(lay.yc + 20, lay.far)
        x = rng.uniform(-130, 130) if i < 28 else float(rng.choice([-1, 1])) * rng.uniform(76, 120)
        high, w, d = rng.uniform(14, 30) * rng.choice([1, 1, 1.7]), rng.uniform(8, 18), rng.uniform(8, 18)
        color = np.array(srgb(str(rng.choice(["#b9b4ab", "#a7aeb3", "#c7b39d", "#9aa3ad", "#b08d7c"]))))
        parts.append(box((x - w / 2, y, 0), (x + w / 2, y + d, high), color))
        rows, cols = int(high / 3.4), int(w / 3)
        for r in range(1, rows):
            pane = box((x - w / 2 + 0.8, y - 0.06, r * 3.4), (x - w / 2 + 0.8 + (cols * 3 - 1.6), y, r * 3.4 + 1.7), srgb("#5d6b78"), 0.9)
            if rng.random() < 0.4:
                pane.emission[:] = (0.5, 0.36, 0.18)
                pane.lamp[:] = rng.integers(1, 5)
            parts.append(pane)
