"""Flat, mansard and gabled roofs, with parapets, dormers and chimneys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo.house_style import GLASS, WARM, Style, dim
from tools.demo.meshes import Mesh, Rgb, both_sides, loft, quads, ring, srgb


@dataclass(frozen=True, eq=False)
class Plot:
    """Where a house stands: its front's ``start``, the unit vectors along the front and to the back, its size, its eaves' height."""

    start: NDArray[np.float64]
    ahead: NDArray[np.float64]
    back: NDArray[np.float64]
    width: float
    depth: float
    top: float

    def at(self, u: float, v: float, z: float) -> NDArray[np.float64]:
        """The point u metres along the front, v behind it, z up."""
        point: NDArray[np.float64] = self.start + self.ahead * u + self.back * v + np.array([0, 0, z])
        return point

    def prism(self, u0: float, u1: float, v0: float, v1: float, z0: float, z1: float, color: Rgb, shrink: float = 0.0) -> Mesh:
        """A block, its top smaller by ``shrink`` on every side."""
        low = [self.at(u0, v0, z0), self.at(u1, v0, z0), self.at(u1, v1, z0), self.at(u0, v1, z0)]
        high = [
            self.at(u0 + shrink, v0 + shrink, z1),
            self.at(u1 - shrink, v0 + shrink, z1),
            self.at(u1 - shrink, v1 - shrink, z1),
            self.at(u0 + shrink, v1 - shrink, z1),
        ]
        return loft([low, high], color)


def roof(rng: Generator, plot: Plot, s: Style) -> list[Mesh]:
    """The roof of the style, with what stands on it."""
    kinds = {"flat": _flat, "mansard": _mansard, "gable": _gable}
    parts = kinds[s.roof_kind](rng, plot, s)
    return parts if s.roof_kind == "flat" else parts + _chimneys(rng, plot, s)


def _flat(rng: Generator, plot: Plot, s: Style) -> list[Mesh]:
    width, depth, top = plot.width, plot.depth, plot.top
    parts: list[Mesh] = []
    parts.append(
        quads(
            [[plot.at(0, 0, top - 0.25), plot.at(width, 0, top - 0.25), plot.at(width, depth, top - 0.25), plot.at(0, depth, top - 0.25)]],
            srgb("#8b8780"),
        )
    )
    for u0, u1, v0, v1 in ((0, width, 0, 0.25), (0, width, depth - 0.25, depth), (0, 0.25, 0, depth), (width - 0.25, width, 0, depth)):
        parts.append(plot.prism(u0, u1, v0, v1, top - 0.3, top + 0.45, s.trim if s.kind != "brick" else s.wall))
    for _ in range(rng.integers(2, 5)):
        u, v = rng.uniform(1.2, max(1.3, width - 3)), rng.uniform(1.2, max(1.3, depth - 3))
        parts.append(
            plot.prism(
                u,
                u + rng.uniform(0.8, 2.2),
                v,
                v + rng.uniform(0.8, 2.0),
                top - 0.25,
                top + rng.uniform(0.6, 1.7),
                srgb(str(rng.choice(["#a9aaa6", "#8f9698", "#c7c2b6"]))),
            )
        )
    return parts


def _mansard(rng: Generator, plot: Plot, s: Style) -> list[Mesh]:
    width, depth, top = plot.width, plot.depth, plot.top
    parts: list[Mesh] = []
    parts.append(plot.prism(0, width, 0, depth, top, top + 2.5, s.roof, 1.15))
    parts.append(plot.prism(1.1, width - 1.1, 1.1, depth - 1.1, top + 2.45, top + 3.2, dim(s.roof, 1.15), 2.0))
    bays = max(1, int(width / s.bay / 1.3))
    for i in range(bays):
        u = (i + 0.5) * width / bays
        parts.append(plot.prism(u - 0.65, u + 0.65, 0.25, 1.6, top + 0.3, top + 2.0, s.trim))
        parts.append(plot.prism(u - 0.78, u + 0.78, 0.15, 1.7, top + 2.0, top + 2.16, s.roof))
        glow = WARM[rng.integers(4)] if rng.random() < 0.4 else (0, 0, 0)
        parts.append(
            quads(
                [
                    [
                        plot.at(u - 0.45, 0.23, top + 0.55),
                        plot.at(u + 0.45, 0.23, top + 0.55),
                        plot.at(u + 0.45, 0.23, top + 1.85),
                        plot.at(u - 0.45, 0.23, top + 1.85),
                    ]
                ],
                GLASS,
                glow,
                int(rng.integers(1, 5)),
                1.0,
            )
        )
    return parts


def _gable(rng: Generator, plot: Plot, s: Style) -> list[Mesh]:
    width, depth, top = plot.width, plot.depth, plot.top
    parts: list[Mesh] = []
    rise = depth * 0.32
    eaves = 0.4
    ridge = [plot.at(0, depth / 2, top + rise), plot.at(width, depth / 2, top + rise)]
    drop = rise * eaves / (depth / 2)
    faces = [
        [plot.at(0, -eaves, top - drop), plot.at(width, -eaves, top - drop), ridge[1], ridge[0]],
        [plot.at(width, depth + eaves, top - drop), plot.at(0, depth + eaves, top - drop), ridge[0], ridge[1]],
    ]
    parts.append(both_sides(quads(faces, s.roof)))
    parts.append(
        quads(
            [
                [plot.at(0, depth, top), plot.at(0, 0, top), ridge[0], ridge[0]],
                [plot.at(width, 0, top), plot.at(width, depth, top), ridge[1], ridge[1]],
            ],
            s.wall,
        )
    )
    for i in range(int(rng.integers(0, 3))):
        u = width * (i + 1) / 3
        v = depth * 0.2
        parts.append(plot.prism(u - 0.7, u + 0.7, v, depth / 2, top + rise * 0.2, top + rise * 0.72, s.trim))
        parts.append(plot.prism(u - 0.85, u + 0.85, v - 0.1, depth / 2, top + rise * 0.72, top + rise * 0.72 + 0.2, s.roof, 0.0))
        parts.append(
            quads(
                [
                    [
                        plot.at(u - 0.45, v - 0.02, top + rise * 0.38),
                        plot.at(u + 0.45, v - 0.02, top + rise * 0.38),
                        plot.at(u + 0.45, v - 0.02, top + rise * 0.68),
                        plot.at(u - 0.45, v - 0.02, top + rise * 0.68),
                    ]
                ],
                GLASS,
                WARM[0],
                3,
                1.0,
            )
        )
    return parts


def _chimneys(rng: Generator, plot: Plot, s: Style) -> list[Mesh]:
    width, depth, top = plot.width, plot.depth, plot.top
    parts: list[Mesh] = []
    for _ in range(rng.integers(1, 3)):
        u = rng.uniform(0.5, width - 1.2)
        high = top + (depth * 0.32 if s.roof_kind == "gable" else 3.2)
        parts.append(plot.prism(u, u + 0.7, depth * 0.45, depth * 0.45 + 1.2, top + 0.5, high + 0.9, srgb("#8d5a48")))
        parts += [
            loft(
                [
                    ring(tuple(plot.at(u + 0.35, depth * 0.45 + v, high + 0.9)), 0.12, 0.12, 6),
                    ring(tuple(plot.at(u + 0.35, depth * 0.45 + v, high + 1.25)), 0.1, 0.1, 6),
                ],
                srgb("#b5654a"),
            )
            for v in (0.3, 0.85)
        ]
    return parts
