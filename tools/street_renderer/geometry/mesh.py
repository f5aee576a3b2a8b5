"""Meshes of flat, coloured faces, and the solids that all models are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rgb = tuple[float, float, float]


def srgb(code: str) -> Rgb:
    """Convert a colour '#rrggbb' to linear light."""
    parts = (int(code[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return red, green, blue


def palette(codes: str) -> list[Rgb]:
    """Convert colours '#rrggbb', separated by spaces, to linear light."""
    return [srgb(code) for code in codes.split()]


def dim(color: Rgb, by: float) -> Rgb:
    """Multiply a colour by ``by``: darker below 1, brighter above."""
    return color[0] * by, color[1] * by, color[2] * by


@dataclass(frozen=True, eq=False)
class Mesh:
    """Faces with four corners, their materials, and the bone that moves each vertex.

    vertices: (n, 3) metres. bones: (n,) bone numbers. faces: (m, 4) vertex indices, anticlockwise
    from outside; a triangle repeats its last. albedo: (m, 3) linear. emission: (m, 3) linear light at full power.
    lamp: (m,) number of the switch that turns the emission on. gloss: (m,) 0 matt … 1 glass. counts: (m,) whether the
    face is part of the object's box; a lead or an umbrella is not.
    """

    vertices: NDArray[np.float64]
    bones: NDArray[np.int32]
    faces: NDArray[np.int32]
    albedo: NDArray[np.float32]
    emission: NDArray[np.float32]
    lamp: NDArray[np.int32]
    gloss: NDArray[np.float32]
    counts: NDArray[np.bool_]

    def moved(self, x: float = 0, y: float = 0, z: float = 0, turn: float = 0, scale: float = 1) -> Mesh:
        """A copy, scaled, turned by ``turn`` radians anticlockwise about z, then shifted."""
        c, s = np.cos(turn), np.sin(turn)
        rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        return replace(self, vertices=self.vertices * scale @ rotation.T + (x, y, z))

    def on_bone(self, bone: int) -> Mesh:
        """A copy with all vertices on one bone."""
        return replace(self, bones=np.full(len(self.vertices), bone, np.int32))


def mesh(
    vertices: ArrayLike, faces: ArrayLike, color: ArrayLike, emission: ArrayLike = 0, lamp: int = 0, gloss: float = 0, counts: bool = True
) -> Mesh:
    """A mesh of one material; ``color`` may be one per face."""
    points, corners = np.asarray(vertices, np.float64).reshape(-1, 3), np.asarray(faces, np.int32).reshape(-1, 4)
    m = len(corners)
    return Mesh(
        points,
        np.zeros(len(points), np.int32),
        corners,
        np.broadcast_to(np.asarray(color, np.float32), (m, 3)).copy(),
        np.broadcast_to(np.asarray(emission, np.float32), (m, 3)).copy(),
        np.full(m, lamp, np.int32),
        np.full(m, gloss, np.float32),
        np.full(m, counts),
    )


def join(parts: Iterable[Mesh]) -> Mesh:
    """Join several meshes to one."""
    listed = list(parts)
    starts = np.cumsum([0] + [len(part.vertices) for part in listed])
    return Mesh(
        np.concatenate([part.vertices for part in listed]),
        np.concatenate([part.bones for part in listed]),
        np.concatenate([part.faces + start for part, start in zip(listed, starts, strict=False)]).astype(np.int32),
        np.concatenate([part.albedo for part in listed]),
        np.concatenate([part.emission for part in listed]),
        np.concatenate([part.lamp for part in listed]),
        np.concatenate([part.gloss for part in listed]),
        np.concatenate([part.counts for part in listed]),
    )


def quads(corners: ArrayLike, color: ArrayLike, emission: ArrayLike = 0, lamp: int = 0, gloss: float = 0, counts: bool = True) -> Mesh:
    """Separate faces from their corners (m, 4, 3)."""
    points = np.asarray(corners, np.float64).reshape(-1, 4, 3)
    return mesh(points.reshape(-1, 3), np.arange(len(points) * 4).reshape(-1, 4), color, emission, lamp, gloss, counts)


def both_sides(part: Mesh) -> Mesh:
    """Return a mesh with its faces and their back sides."""
    return join([part, replace(part, faces=part.faces[:, ::-1])])


def loft(
    rings: Sequence[ArrayLike], color: ArrayLike, *, caps: bool = True, closed: bool = False, gloss: float = 0, counts: bool = True
) -> Mesh:
    """Create a surface over rings with the same number of points, with convex end caps. closed: join the last ring to the first."""
    stack = np.asarray(rings, np.float64)
    n, k = stack.shape[:2]
    index = np.arange(n * k).reshape(n, k)
    below, above = (index, np.roll(index, -1, 0)) if closed else (index[:-1], index[1:])
    sides = np.stack([below, np.roll(below, -1, 1), np.roll(above, -1, 1), above], -1).reshape(-1, 4)
    faces = [sides]
    if caps and not closed:
        fan = [(0, i, min(i + 1, k - 1), min(i + 2, k - 1)) for i in range(1, k - 1, 2)]
        faces += [index[-1][np.array(fan)], index[0][::-1][np.array(fan)]]
    corners = np.concatenate(faces)
    if _volume(stack.reshape(-1, 3), corners) < 0:
        corners = corners[:, ::-1]
    return mesh(stack, corners, color, gloss=gloss, counts=counts)


def box(
    low: Sequence[float],
    high: Sequence[float],
    color: ArrayLike,
    gloss: float = 0,
    taper: tuple[float, float] = (1, 1),
    counts: bool = True,
) -> Mesh:
    """A box between two corners. taper: factors of the top's x and y extents."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
    ring = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    top = (ring - (cx, cy)) * taper + (cx, cy)
    return loft([np.c_[ring, np.full(4, z0)], np.c_[top, np.full(4, z1)]], color, gloss=gloss, counts=counts)


def ring(center: Sequence[float], rx: float, ry: float, sides: int = 8, axis: int = 2, phase: float = 0.5) -> NDArray[np.float64]:
    """An ellipse of points (sides, 3) around ``axis`` (0, 1, 2); rx and ry lie along the two other axes, in order."""
    angle = (np.arange(sides) + phase) * 2 * np.pi / sides
    flat = np.stack([rx * np.cos(angle), ry * np.sin(angle)], -1)
    points = np.insert(flat, axis, 0.0, 1)
    return points + np.asarray(center, np.float64)


def column(
    levels: Iterable[tuple[float, float, float]], color: ArrayLike, sides: int = 8, x: float = 0, y: float = 0, gloss: float = 0
) -> Mesh:
    """A solid around a vertical axis at (x, y), from ellipses (z, rx, ry)."""
    return loft([ring((x, y, z), rx, ry, sides) for z, rx, ry in levels], color, gloss=gloss)


def barrel(sections: Iterable[tuple[float, float, float, float]], color: ArrayLike, sides: int = 8, gloss: float = 0) -> Mesh:
    """A solid along y, from upright ellipses (y, z, rx, rz)."""
    return loft([ring((0, y, z), rx, rz, sides, 1) for y, z, rx, rz in sections], color, gloss=gloss)


def tube(start: Sequence[float], end: Sequence[float], radius: float, color: ArrayLike, sides: int = 5, tip: float | None = None) -> Mesh:
    """A round bar between two points. tip: radius at the end, if different."""
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    along = (b - a) / np.linalg.norm(b - a)
    helper = np.eye(3)[np.argmin(np.abs(along))]
    u = np.cross(along, helper)
    u /= np.linalg.norm(u)
    v = np.cross(along, u)
    angle = np.arange(sides) * 2 * np.pi / sides
    circle = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v
    return loft([a + radius * circle, b + (radius if tip is None else tip) * circle], color)


def wheel(center: Sequence[float], radius: float, thickness: float, width: float, color: ArrayLike, sides: int = 14) -> Mesh:
    """A wheel rim in the y-z plane: a ring of ``thickness``, ``width`` wide in x."""
    angle = np.arange(sides) * 2 * np.pi / sides
    rings = []
    for a in angle:
        ahead, up = np.cos(a), np.sin(a)
        section = [(-width / 2, radius - thickness), (width / 2, radius - thickness), (width / 2, radius), (-width / 2, radius)]
        rings.append([(x, r * ahead, r * up) for x, r in section])
    return loft(np.array(rings) + np.asarray(center), color, closed=True)


def blob(center: Sequence[float], radii: Sequence[float], color: ArrayLike, rings: int = 4, sides: int = 7) -> Mesh:
    """An ellipsoid."""
    latitude = np.linspace(-np.pi / 2, np.pi / 2, rings + 2)
    latitude[0], latitude[-1] = -np.pi / 2 + 0.12, np.pi / 2 - 0.12
    cx, cy, cz = center
    return loft(
        [
            ring((cx, cy, cz + radii[2] * np.sin(t)), radii[0] * np.cos(t), radii[1] * np.cos(t), sides, phase=0.5 * i)
            for i, t in enumerate(latitude)
        ],
        color,
    )


def _volume(points: NDArray[np.float64], faces: NDArray[np.int32]) -> float:
    a, b, c, d = (points[faces[:, i]] for i in range(4))
    return float(np.einsum("ij,ij->", a, _cross(b, c)) + np.einsum("ij,ij->", a, _cross(c, d)))


def _cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The products of rows, as ``np.cross``, which takes five times as long for the few rows of a part."""
    ax, ay, az = a.T
    bx, by, bz = b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], -1)
