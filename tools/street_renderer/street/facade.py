"""A wall's faces, collected in flat coordinates (along, up, out) with the wall at out = 0, metres, then placed in the world."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, Rgb, quads


class Facade:
    """Collects faces given in (along, up, out)."""

    def __init__(self) -> None:
        self.faces: list[list[tuple[float, float, float]]] = []
        self.rows: list[tuple[Rgb, tuple[float, float, float], int, float]] = []

    def quad(
        self,
        corners: list[tuple[float, float, float]],
        color: Rgb,
        emission: tuple[float, float, float] = (0, 0, 0),
        lamp: int = 0,
        gloss: float = 0,
    ) -> None:
        """Add one face."""
        self.faces.append(corners)
        self.rows.append((color, emission, lamp, gloss))

    def panel(
        self,
        a: float,
        b: float,
        low: float,
        high: float,
        out: float,
        color: Rgb,
        emission: tuple[float, float, float] = (0, 0, 0),
        lamp: int = 0,
        gloss: float = 0,
    ) -> None:
        """Add an upright rectangle ``out`` metres in front of the wall."""
        if b - a > 1e-6 and high - low > 1e-6:
            self.quad([(a, low, out), (b, low, out), (b, high, out), (a, high, out)], color, emission, lamp, gloss)

    def slab(self, a: float, b: float, low: float, high: float, back: float, front: float, color: Rgb) -> None:
        """Add a box that sticks out of the wall, without its back."""
        self.panel(a, b, low, high, front, color)
        self.quad([(a, high, front), (b, high, front), (b, high, back), (a, high, back)], color)
        self.quad([(a, low, back), (b, low, back), (b, low, front), (a, low, front)], color)
        self.quad([(a, low, back), (a, low, front), (a, high, front), (a, high, back)], color)
        self.quad([(b, low, front), (b, low, back), (b, high, back), (b, high, front)], color)

    def hole(self, a: float, b: float, low: float, high: float, deep: float, color: Rgb) -> None:
        """Add the four sides (reveals) of an opening."""
        self.quad([(a, low, 0), (b, low, 0), (b, low, -deep), (a, low, -deep)], color)
        self.quad([(a, high, -deep), (b, high, -deep), (b, high, 0), (a, high, 0)], color)
        self.quad([(a, low, 0), (a, low, -deep), (a, high, -deep), (a, high, 0)], color)
        self.quad([(b, low, -deep), (b, low, 0), (b, high, 0), (b, high, -deep)], color)

    def placed(self, start: NDArray[np.float64], along: NDArray[np.float64]) -> Mesh:
        """The faces on a wall that begins at ``start`` and runs ``along`` (unit vector), with the street on the right."""
        points = np.array(self.faces)
        out = np.array([along[1], -along[0], 0.0])
        world = start + points[..., :1] * along + points[..., 2:] * out + points[..., 1:2] * (0, 0, 1)
        made = quads(world, np.array([row[0] for row in self.rows]), np.array([row[1] for row in self.rows]))
        made.lamp[:] = [row[2] for row in self.rows]
        made.gloss[:] = [row[3] for row in self.rows]
        return made
