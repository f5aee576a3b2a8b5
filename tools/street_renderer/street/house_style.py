"""The style of a house: colours, storeys, windows and roof."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Rgb, palette, srgb

WALLS = palette("#e3cfae #d8a47f #c9705a #e8dcc5 #b9c4c0 #93a8b0 #d9b36c #a85f4a #cfc0a8 #dfe0da #8f9f86 #c99a8c #7d8894 #e6bf9a")
ACCENTS = palette("#7c2f2b #23495c #2f5a45 #d49a2a #3b3f46 #8d3f5b #e0d9c8 #1f6a6e")
ROOFS = palette("#8a4a36 #6d4438 #5b6068 #4a4e55 #7b5a48")
GLASS = srgb("#2b3d4a")
WARM = [(1.9, 1.12, 0.42), (1.7, 1.1, 0.5), (2.1, 1.42, 0.7), (1.5, 1.2, 0.8)]


@dataclass(frozen=True)
class Style:
    """The look of one house; lengths in metres.

    bay: width of wall per window. window: width and height. kind: 'classic', 'brick' or 'modern'. balconies: share of windows
    that have one. ground: 'shop' or 'door'.
    """

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
    """A random style."""
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
