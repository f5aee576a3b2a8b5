"""Town houses: four walls and a roof."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Mesh, join
from tools.street_renderer.street.house_front import front
from tools.street_renderer.street.house_style import Style
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
