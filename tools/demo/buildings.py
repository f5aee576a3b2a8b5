"""Town houses: façades with real reveals, sills, cornices, balconies, shops, awnings and roofs.

A façade is built flat, in (along, up, out) metres with its front at out = 0, then stood up against a wall line.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo.meshes import Mesh, Rgb, both_sides, box, join, loft, quads, ring, srgb, tube

WALLS = [
    srgb(c)
    for c in [
        "#e3cfae",
        "#d8a47f",
        "#c9705a",
        "#e8dcc5",
        "#b9c4c0",
        "#93a8b0",
        "#d9b36c",
        "#a85f4a",
        "#cfc0a8",
        "#dfe0da",
        "#8f9f86",
        "#c99a8c",
        "#7d8894",
        "#e6bf9a",
    ]
]
ACCENTS = [srgb(c) for c in ["#7c2f2b", "#23495c", "#2f5a45", "#d49a2a", "#3b3f46", "#8d3f5b", "#e0d9c8", "#1f6a6e"]]
ROOFS = [srgb(c) for c in ["#8a4a36", "#6d4438", "#5b6068", "#4a4e55", "#7b5a48"]]
GLASS, FRAME = srgb("#2b3d4a"), srgb("#e6e1d6")
WARM = [(1.9, 1.12, 0.42), (1.7, 1.1, 0.5), (2.1, 1.42, 0.7), (1.5, 1.2, 0.8)]


@dataclass(frozen=True)
class Style:
    """How one house looks; lengths in metres."""

    wall: Rgb
    trim: Rgb
    accent: Rgb
    roof: Rgb
    storey: float
    bay: float
    window: tuple[float, float]
    floors: int
    kind: str
    roof_kind: str
    balconies: float
    ground: str


def style(rng: Generator) -> Style:
    """A random one."""
    kind = str(rng.choice(["classic", "brick", "modern"], p=[0.5, 0.25, 0.25]))
    wall = WALLS[rng.integers(len(WALLS))]
    bay = rng.uniform(2.3, 3.1)
    return Style(
        wall=wall if kind != "brick" else srgb(str(rng.choice(["#9c4f3c", "#8a4636", "#b06a4c", "#7a5347"]))),
        trim=srgb("#efe8da") if kind != "modern" else srgb("#40464b"),
        accent=ACCENTS[rng.integers(len(ACCENTS))],
        roof=ROOFS[rng.integers(len(ROOFS))],
        storey=rng.uniform(3.0, 3.5),
        bay=bay,
        window=(bay * rng.uniform(0.42, 0.55), rng.uniform(1.6, 2.05))
        if kind != "modern"
        else (bay * rng.uniform(0.62, 0.8), rng.uniform(1.7, 2.1)),
        floors=int(rng.integers(3, 7)),
        kind=kind,
        roof_kind=str(rng.choice(["flat", "gable", "mansard"], p=[0.4, 0.3, 0.3])) if kind != "modern" else "flat",
        balconies=float(rng.choice([0, 0.3, 0.8], p=[0.5, 0.25, 0.25])),
        ground=str(rng.choice(["shop", "door"], p=[0.75, 0.25])),
    )


class _Facade:
    """Collects quads given in (along, up, out)."""

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
        if b - a > 1e-6 and high - low > 1e-6:
            self.quad([(a, low, out), (b, low, out), (b, high, out), (a, high, out)], color, emission, lamp, gloss)

    def slab(self, a: float, b: float, low: float, high: float, back: float, front: float, color: Rgb) -> None:
        """A box standing out of the wall."""
        self.panel(a, b, low, high, front, color)
        self.quad([(a, high, front), (b, high, front), (b, high, back), (a, high, back)], color)
        self.quad([(a, low, back), (b, low, back), (b, low, front), (a, low, front)], color)
        self.quad([(a, low, back), (a, low, front), (a, high, front), (a, high, back)], color)
        self.quad([(b, low, front), (b, low, back), (b, high, back), (b, high, front)], color)

    def hole(self, a: float, b: float, low: float, high: float, deep: float, color: Rgb) -> None:
        """The four reveals of an opening."""
        self.quad([(a, low, 0), (b, low, 0), (b, low, -deep), (a, low, -deep)], color)
        self.quad([(a, high, -deep), (b, high, -deep), (b, high, 0), (a, high, 0)], color)
        self.quad([(a, low, 0), (a, low, -deep), (a, high, -deep), (a, high, 0)], color)
        self.quad([(b, low, -deep), (b, low, 0), (b, high, 0), (b, high, -deep)], color)

    def stand(self, start: NDArray[np.float64], along: NDArray[np.float64]) -> Mesh:
        """Against a wall that begins at ``start`` and runs along a unit vector, its front to the right of it."""
        points = np.array(self.faces)
        out = np.array([along[1], -along[0], 0.0])
        world = start + points[..., :1] * along + points[..., 2:] * out + points[..., 1:2] * (0, 0, 1)
        made = quads(world, np.array([row[0] for row in self.rows]), np.array([row[1] for row in self.rows]))
        made.lamp[:] = [row[2] for row in self.rows]
        made.gloss[:] = [row[3] for row in self.rows]
        return made


def _dim(color: Rgb, by: float) -> Rgb:
    return color[0] * by, color[1] * by, color[2] * by


def _window(f: _Facade, rng: Generator, s: Style, a: float, b: float, low: float, high: float) -> None:
    deep = 0.16
    f.hole(a, b, low, high, deep, _dim(s.wall, 0.8))
    lit = rng.random() < 0.5
    glow = tuple(c * rng.uniform(0.3, 0.75) for c in WARM[rng.integers(len(WARM))]) if lit else (0.0, 0.0, 0.0)
    group = int(rng.integers(1, 5))
    tint = rng.uniform(0.7, 1.25)
    glass = _dim(GLASS, tint)
    frame = s.trim if s.kind != "modern" else srgb("#33383c")
    f.panel(a, b, low, high, -deep, frame)
    w = 0.07
    middle = (a + b) / 2
    cross = low + (high - low) * 0.68
    panes = [
        (a + w, middle - w / 2, low + w, cross - w / 2),
        (middle + w / 2, b - w, low + w, cross - w / 2),
        (a + w, middle - w / 2, cross + w / 2, high - w),
        (middle + w / 2, b - w, cross + w / 2, high - w),
    ]
    if s.kind == "modern":
        panes = [(a + w, middle - w / 2, low + w, high - w), (middle + w / 2, b - w, low + w, high - w)]
    curtain = rng.random() < 0.3
    for x0, x1, y0, y1 in panes:
        f.panel(x0, x1, y0, y1, -deep + 0.02, glass, glow, group, 1.0)
        if curtain:
            share = 0.3 * (x1 - x0)
            side = (x0, x0 + share) if x0 < middle - 0.2 else (x1 - share, x1)
            f.panel(*side, y0, y1, -deep + 0.03, srgb("#cfc6b4"), tuple(c * 0.5 for c in glow), group, 0.5)
    if s.kind != "modern":
        f.slab(a - 0.1, b + 0.1, low - 0.1, low, 0, 0.12, s.trim)
    if s.kind == "classic":
        f.slab(a - 0.12, b + 0.12, high, high + 0.14, 0, 0.09, s.trim)
    if s.kind == "classic" and rng.random() < 0.12:
        for side in (a - 0.02 - (b - a) * 0.42, b + 0.02):
            f.slab(side, side + (b - a) * 0.42, low, high, 0, 0.05, s.accent)


def _awning(f: _Facade, rng: Generator, a: float, b: float, top: float, color: Rgb) -> None:
    out, drop, stripes = 1.25, 0.6, max(3, int((b - a) / 0.45))
    edges = np.linspace(a, b, stripes + 1)
    pale = srgb("#f1ece0") if rng.random() < 0.6 else color
    for i, (x0, x1) in enumerate(itertools.pairwise(edges)):
        tint = color if i % 2 == 0 else pale
        f.quad([(x0, top - drop, out), (x1, top - drop, out), (x1, top, 0.02), (x0, top, 0.02)], tint)
        f.quad([(x1, top - drop, out), (x0, top - drop, out), (x0, top, 0.02), (x1, top, 0.02)], _dim(tint, 0.6))
        f.panel(x0, x1, top - drop - 0.2, top - drop, out, tint)
        f.quad([(x1, top - drop - 0.2, out), (x0, top - drop - 0.2, out), (x0, top - drop, out), (x1, top - drop, out)], _dim(tint, 0.6))
    f.quad([(a, top - drop, out), (a, top, 0.02), (a, top - drop, 0.02), (a, top - drop, 0.02)], _dim(color, 0.8))
    f.quad([(b, top - drop, out), (b, top - drop, 0.02), (b, top, 0.02), (b, top, 0.02)], _dim(color, 0.8))


def _shop_window(f: _Facade, rng: Generator, a: float, b: float, top: float, glow: tuple[float, ...]) -> None:
    """Glass in three bands, brighter towards the ceiling, and the goods behind it."""
    group = int(rng.integers(1, 3))
    edges = (0.5, 0.5 + (top - 0.5) * 0.4, 0.5 + (top - 0.5) * 0.75, top)
    for low, high, share in zip(edges[:-1], edges[1:], (0.5, 0.8, 1.15), strict=True):
        f.panel(a, b, low, high, -0.27, _dim(GLASS, 1.2), (glow[0] * share, glow[1] * share, glow[2] * share), group, 1.0)
    x = a + rng.uniform(0.05, 0.3)
    while x < b - 0.3:
        wide = rng.uniform(0.15, 0.45)
        color = ACCENTS[rng.integers(len(ACCENTS))]
        lit = tuple(0.35 * c + 0.12 * g for c, g in zip(color, glow, strict=True))
        f.panel(x, min(x + wide, b - 0.05), 0.5, rng.uniform(0.75, 1.5), -0.262, _dim(color, 0.5), lit, group, 0.5)  # type: ignore[arg-type]
        x += wide + rng.uniform(0.08, 0.5)


def _ground_floor(f: _Facade, rng: Generator, s: Style, width: float, high: float) -> None:
    units = max(1, round(width / rng.uniform(4.5, 6.5)))
    edges = np.linspace(0, width, units + 1)
    door_at = int(rng.integers(units))
    for i, (left, right) in enumerate(itertools.pairwise(edges)):
        a, b = left + 0.35, right - 0.35
        top = high - 0.75
        base = s.trim if s.kind != "brick" else _dim(s.wall, 0.9)
        f.panel(left, a, 0, high, 0, base)
        f.panel(b, right, 0, high, 0, base)
        f.panel(a, b, top, high, 0, base)
        if s.ground == "shop" and not (i == door_at and units > 2):
            color = ACCENTS[rng.integers(len(ACCENTS))]
            power = rng.uniform(0.45, 0.85)
            glow = tuple(c * power for c in WARM[rng.integers(len(WARM))])
            f.hole(a, b, 0, top, 0.3, _dim(color, 0.7))
            f.panel(a, b, 0, top, -0.3, color)
            door = a + 0.12 if rng.random() < 0.5 else b - 1.12
            f.panel(door, door + 1.0, 0.08, 2.35, -0.27, _dim(GLASS, 0.8), tuple(c * 0.7 for c in glow), 1, 1.0)
            spans = [(a + 0.12, door - 0.12), (door + 1.12, b - 0.12)]
            for x0, x1 in spans:
                if x1 - x0 > 0.5:
                    _shop_window(f, rng, x0, x1, top - 0.12, glow)
            f.slab(a - 0.1, b + 0.1, top + 0.05, top + 0.6, 0, 0.1, color)
            letters = rng.uniform(0.35, 0.7) * (b - a)
            x = (a + b) / 2 - letters / 2
            ink = srgb("#f6efdd") if sum(color) < 0.9 else srgb("#2b2a28")
            while x < (a + b) / 2 + letters / 2:
                step = rng.uniform(0.12, 0.3)
                f.panel(x, x + step - 0.06, top + 0.2, top + 0.44, 0.112, ink, tuple(c * 0.8 for c in ink), 1)
                x += step if rng.random() > 0.15 else step + 0.2
            if rng.random() < 0.55:
                _awning(f, rng, a - 0.05, b + 0.05, top + 0.02, color)
        else:
            middle = (a + b) / 2
            f.panel(a, middle - 0.7, 0, top, 0, base)
            f.panel(middle + 0.7, b, 0, top, 0, base)
            f.panel(middle - 0.7, middle + 0.7, 2.6, top, 0, base)
            f.hole(middle - 0.7, middle + 0.7, 0, 2.6, 0.3, _dim(base, 0.7))
            f.panel(middle - 0.7, middle + 0.7, 0, 2.6, -0.3, s.accent)
            f.panel(middle - 0.5, middle + 0.5, 2.1, 2.5, -0.28, GLASS, WARM[0], 2, 1.0)
            for x in (middle - 0.55, middle + 0.07):
                f.panel(x, x + 0.48, 0.3, 1.9, -0.28, _dim(s.accent, 0.75))
    f.slab(0, width, high - 0.12, high, 0, 0.16, s.trim)


def facade(rng: Generator, s: Style, width: float, shops: bool = True, blind: bool = False) -> tuple[_Facade, float]:
    """One front and its height up to the eaves. blind: no openings (a party wall)."""
    f = _Facade()
    ground = 4.1 if shops else s.storey
    top = ground + s.storey * (s.floors - 1)
    if blind:
        f.panel(0, width, 0, top, 0, _dim(s.wall, 0.92))
        return f, top
    if shops:
        _ground_floor(f, rng, s, width, ground)
    bays = max(1, int(width / s.bay))
    step = width / bays
    for floor in range(1 if shops else 0, s.floors):
        low = ground + (floor - 1) * s.storey if shops or floor else 0
        sill = low + (s.storey - s.window[1]) * 0.42
        head = sill + s.window[1]
        balcony_row = s.balconies > 0 and floor < s.floors - 1 and floor > 0
        for i in range(bays):
            left = i * step
            a, b = left + (step - s.window[0]) / 2, left + (step + s.window[0]) / 2
            f.panel(left, a, low, low + s.storey, 0, s.wall)
            f.panel(b, left + step, low, low + s.storey, 0, s.wall)
            f.panel(a, b, low, sill, 0, s.wall)
            f.panel(a, b, head, low + s.storey, 0, s.wall)
            _window(f, rng, s, a, b, sill, head)
            if balcony_row and rng.random() < s.balconies:
                x0, x1 = a - 0.25, b + 0.25
                f.slab(x0, x1, sill - 0.32, sill - 0.18, 0, 0.9, s.trim)
                rail = srgb("#2b3033") if s.kind != "modern" else srgb("#9fb4bb")
                f.slab(x0, x1, sill + 0.72, sill + 0.78, 0.84, 0.9, rail)
                if s.kind == "modern":
                    f.panel(x0, x1, sill - 0.18, sill + 0.72, 0.88, rail, gloss=0.9)
                else:
                    for x in np.arange(x0 + 0.03, x1, 0.16):
                        f.panel(x, x + 0.03, sill - 0.18, sill + 0.72, 0.88, rail)
                f.quad([(x0, sill - 0.18, 0), (x0, sill - 0.18, 0.9), (x0, sill + 0.75, 0.9), (x0, sill + 0.75, 0)], rail)
                f.quad([(x1, sill - 0.18, 0.9), (x1, sill - 0.18, 0), (x1, sill + 0.75, 0), (x1, sill + 0.75, 0.9)], rail)
        if s.kind == "classic" and floor:
            f.slab(0, width, low - 0.08, low + 0.06, 0, 0.07, s.trim)
    if s.kind == "classic":
        for x in (0.0, width - 0.4):
            f.slab(x, x + 0.4, ground, top - 0.3, 0, 0.05, s.trim)
    f.slab(-0.0, width, top - 0.34, top, 0, 0.28 if s.kind != "modern" else 0.1, s.trim)
    return f, top


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
    """A whole house. Its front begins at ``corner`` and runs ``along`` (unit), the street to the right of that direction;
    left and right end walls have windows where they are open, else they are party walls.
    """
    ahead = np.array([*along, 0.0])
    back = np.array([-along[1], along[0], 0.0])
    start = np.array([*corner, 0.0])
    front, top = facade(rng, s, width)
    parts = [front.stand(start, ahead)]
    parts.append(facade(rng, s, depth, open_left, not open_left)[0].stand(start + back * depth, -back))
    parts.append(facade(rng, s, depth, open_right, not open_right)[0].stand(start + ahead * width, back))
    parts.append(facade(rng, s, width, False, True)[0].stand(start + ahead * width + back * depth, -ahead))

    def at(u: float, v: float, z: float) -> NDArray[np.float64]:
        return start + ahead * u + back * v + np.array([0, 0, z])

    def prism(u0: float, u1: float, v0: float, v1: float, z0: float, z1: float, color: Rgb, shrink: float = 0.0) -> Mesh:
        low = [at(u0, v0, z0), at(u1, v0, z0), at(u1, v1, z0), at(u0, v1, z0)]
        high = [
            at(u0 + shrink, v0 + shrink, z1),
            at(u1 - shrink, v0 + shrink, z1),
            at(u1 - shrink, v1 - shrink, z1),
            at(u0 + shrink, v1 - shrink, z1),
        ]
        return loft([low, high], color)

    if s.roof_kind == "flat":
        parts.append(
            quads(
                [[at(0, 0, top - 0.25), at(width, 0, top - 0.25), at(width, depth, top - 0.25), at(0, depth, top - 0.25)]], srgb("#8b8780")
            )
        )
        for u0, u1, v0, v1 in ((0, width, 0, 0.25), (0, width, depth - 0.25, depth), (0, 0.25, 0, depth), (width - 0.25, width, 0, depth)):
            parts.append(prism(u0, u1, v0, v1, top - 0.3, top + 0.45, s.trim if s.kind != "brick" else s.wall))
        for _ in range(rng.integers(2, 5)):
            u, v = rng.uniform(1.2, max(1.3, width - 3)), rng.uniform(1.2, max(1.3, depth - 3))
            parts.append(
                prism(
                    u,
                    u + rng.uniform(0.8, 2.2),
                    v,
                    v + rng.uniform(0.8, 2.0),
                    top - 0.25,
                    top + rng.uniform(0.6, 1.7),
                    srgb(str(rng.choice(["#a9aaa6", "#8f9698", "#c7c2b6"]))),
                )
            )
    elif s.roof_kind == "mansard":
        parts.append(prism(0, width, 0, depth, top, top + 2.5, s.roof, 1.15))
        parts.append(prism(1.1, width - 1.1, 1.1, depth - 1.1, top + 2.45, top + 3.2, _dim(s.roof, 1.15), 2.0))
        bays = max(1, int(width / s.bay / 1.3))
        for i in range(bays):
            u = (i + 0.5) * width / bays
            parts.append(prism(u - 0.65, u + 0.65, 0.25, 1.6, top + 0.3, top + 2.0, s.trim))
            parts.append(prism(u - 0.78, u + 0.78, 0.15, 1.7, top + 2.0, top + 2.16, s.roof))
            glow = WARM[rng.integers(4)] if rng.random() < 0.4 else (0, 0, 0)
            parts.append(
                quads(
                    [
                        [
                            at(u - 0.45, 0.23, top + 0.55),
                            at(u + 0.45, 0.23, top + 0.55),
                            at(u + 0.45, 0.23, top + 1.85),
                            at(u - 0.45, 0.23, top + 1.85),
                        ]
                    ],
                    GLASS,
                    glow,
                    int(rng.integers(1, 5)),
                    1.0,
                )
            )
    else:
        rise = depth * 0.32
        eaves = 0.4
        ridge = [at(0, depth / 2, top + rise), at(width, depth / 2, top + rise)]
        drop = rise * eaves / (depth / 2)
        faces = [
            [at(0, -eaves, top - drop), at(width, -eaves, top - drop), ridge[1], ridge[0]],
            [at(width, depth + eaves, top - drop), at(0, depth + eaves, top - drop), ridge[0], ridge[1]],
        ]
        parts.append(both_sides(quads(faces, s.roof)))
        parts.append(
            quads(
                [[at(0, depth, top), at(0, 0, top), ridge[0], ridge[0]], [at(width, 0, top), at(width, depth, top), ridge[1], ridge[1]]],
                s.wall,
            )
        )
        for i in range(int(rng.integers(0, 3))):
            u = width * (i + 1) / 3
            v = depth * 0.2
            parts.append(prism(u - 0.7, u + 0.7, v, depth / 2, top + rise * 0.2, top + rise * 0.72, s.trim))
            parts.append(prism(u - 0.85, u + 0.85, v - 0.1, depth / 2, top + rise * 0.72, top + rise * 0.72 + 0.2, s.roof, 0.0))
            parts.append(
                quads(
                    [
                        [
                            at(u - 0.45, v - 0.02, top + rise * 0.38),
                            at(u + 0.45, v - 0.02, top + rise * 0.38),
                            at(u + 0.45, v - 0.02, top + rise * 0.68),
                            at(u - 0.45, v - 0.02, top + rise * 0.68),
                        ]
                    ],
                    GLASS,
                    WARM[0],
                    3,
                    1.0,
                )
            )
    if s.roof_kind != "flat":
        for _ in range(rng.integers(1, 3)):
            u = rng.uniform(0.5, width - 1.2)
            high = top + (depth * 0.32 if s.roof_kind == "gable" else 3.2)
            parts.append(prism(u, u + 0.7, depth * 0.45, depth * 0.45 + 1.2, top + 0.5, high + 0.9, srgb("#8d5a48")))
            parts += [
                loft(
                    [
                        ring(tuple(at(u + 0.35, depth * 0.45 + v, high + 0.9)), 0.12, 0.12, 6),
                        ring(tuple(at(u + 0.35, depth * 0.45 + v, high + 1.25)), 0.1, 0.1, 6),
                    ],
                    srgb("#b5654a"),
                )
                for v in (0.3, 0.85)
            ]
    return join(parts)


__all__ = ["Style", "box", "facade", "house", "style", "tube"]
