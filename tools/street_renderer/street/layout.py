"""The layout of the streets: a main road along y and a cross road, with pavements and crossings."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

LANE = 3.3
"""Width of a traffic lane, metres."""


@dataclass(frozen=True)
class Layout:
    """Dimensions of the streets, metres. Traffic keeps to the right.

    lanes, cross_lanes: lanes per direction. bike, parking: widths of the bicycle and parking lanes beside the main road, 0 if
    there are none. yc: y of the cross road's middle. pave: width of the pavements. radius: of the kerb at corners. near, far:
    ends of the main road. side: length of the cross road to each side. park: the quadrant (sign of x, sign of y - yc) that is
    a square with trees instead of houses, or None. bus_lane: whether the outer lane is a bus lane.
    """

    lanes: int
    cross_lanes: int
    bike: float
    parking: float
    yc: float
    pave: float
    radius: float
    near: float
    far: float
    side: float
    park: tuple[int, int] | None
    bus_lane: bool
    season: str

    @property
    def half(self) -> float:
        """Half the width of the main road."""
        return self.lanes * LANE + self.bike + self.parking

    @property
    def cross_half(self) -> float:
        """Half the width of the cross road."""
        return self.cross_lanes * LANE + 0.3

    @property
    def zebra(self) -> tuple[float, float]:
        """Start and end of the crossings, measured from the kerb line of the road beside them."""
        return self.radius * 0.45, self.radius * 0.45 + 3.2

    def stop(self, cross: bool) -> float:
        """Distance of the stop line from the middle of the junction."""
        return (self.half if cross else self.cross_half) + self.zebra[1] + 1.2


def draw(rng: Generator) -> Layout:
    """A random street."""
    lanes = int(rng.choice([1, 2], p=[0.55, 0.45]))
    wide = rng.random() < 0.5
    return Layout(
        lanes=lanes,
        cross_lanes=int(rng.choice([1, 2], p=[0.75, 0.25])),
        bike=1.7 if rng.random() < 0.5 else 0.0,
        parking=2.2 if lanes == 1 or rng.random() < 0.35 else 0.0,
        yc=rng.uniform(18, 28),
        pave=rng.uniform(4.8, 6.5) if wide else rng.uniform(3.6, 4.8),
        radius=rng.uniform(3.0, 5.0),
        near=-14.0,
        far=rng.uniform(105, 150),
        side=58.0,
        park=(int(rng.choice([-1, 1])), int(rng.choice([-1, 1], p=[0.25, 0.75]))) if rng.random() < 0.4 else None,
        bus_lane=lanes == 2 and rng.random() < 0.4,
        season=str(rng.choice(["summer", "autumn", "spring"], p=[0.6, 0.22, 0.18])),
    )
