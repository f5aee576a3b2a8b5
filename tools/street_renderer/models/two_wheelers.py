"""Bicycles and motorcycles, and the poses of their riders. They face +y; bones are frame, front wheel, rear wheel and crank."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, barrel, box, join, loft, ring, srgb, tube, wheel
from tools.street_renderer.models import skeleton
from tools.street_renderer.models.vehicle_parts import HEADLIGHT, NIGHT, PAINTS, STEEL, TAILLIGHT, TRIM, TYRE

BONES = 4
RADIUS = {"bicycle": 0.34, "motorcycle": 0.31}
_AXLE = {"bicycle": (0.56, -0.5), "motorcycle": (0.72, -0.66)}
_CRANK = (0.0, 0.29)
_PEDAL = 0.17


def _lamp(part: Mesh, color: tuple[float, ...]) -> Mesh:
    part.emission[:] = color
    part.lamp[:] = NIGHT
    return part


def bicycle(rng: Generator) -> Mesh:
    """A random bicycle, about 1.8 m long."""
    paint = PAINTS[rng.integers(2, len(PAINTS))]
    r, (front, rear) = RADIUS["bicycle"], _AXLE["bicycle"]
    parts = []
    for y, bone in ((front, 1), (rear, 2)):
        parts.append(wheel((0, y, r), r, 0.05, 0.045, TYRE, 14).on_bone(bone))
        parts += [
            tube(
                (0, y - (r - 0.03) * cos(a), r - (r - 0.03) * sin(a)),
                (0, y + (r - 0.03) * cos(a), r + (r - 0.03) * sin(a)),
                0.007,
                STEEL,
                4,
            ).on_bone(bone)
            for a in np.arange(4) * pi / 4
        ]
    crank, seat, head = (0, *_CRANK), (0, -0.17, 0.8), (0, 0.4, 0.84)
    bars = [(crank, seat), (crank, head), ((0, -0.14, 0.74), head), (crank, (0, rear, r)), ((0, -0.15, 0.72), (0, rear, r))]
    parts += [tube(a, b, 0.025, paint, 5) for a, b in bars]
    parts.append(tube((0, 0.37, 0.96), (0, front, r), 0.022, paint, 5))
    parts += [tube((0, 0.38, 0.99), (s * 0.27, 0.3, 1.0), 0.018, TRIM, 4) for s in (-1, 1)]
    parts.append(box((-0.07, -0.34, 0.84), (0.07, -0.07, 0.9), TRIM, 0, (0.6, 0.8)))
    parts.append(_lamp(box((-0.035, 0.44, 0.9), (0.035, 0.5, 0.96), STEEL), HEADLIGHT))
    parts.append(_lamp(box((-0.03, -0.5, 0.66), (0.03, -0.46, 0.72), srgb("#a3191c")), TAILLIGHT))
    if rng.random() < 0.35:
        parts.append(
            box((-0.16, 0.46, 0.72), (0.16, 0.74, 0.92), srgb("#8a6a45"))
            if rng.random() < 0.5
            else box((-0.19, -0.72, 0.55), (0.19, -0.4, 0.72), srgb("#2f5d50"))
        )
    for side in (-1, 1):
        parts.append(tube((side * 0.06, *_CRANK), (side * 0.08, 0, _CRANK[1] + side * _PEDAL), 0.014, STEEL, 4).on_bone(3))
    return join(parts)


def motorcycle(rng: Generator) -> Mesh:
    """A random motorcycle or scooter, about 2.1 m long."""
    paint = PAINTS[rng.integers(len(PAINTS))]
    r, (front, rear) = RADIUS["motorcycle"], _AXLE["motorcycle"]
    parts = []
    for y, bone, wide in ((front, 1, 0.13), (rear, 2, 0.18)):
        parts.append(wheel((0, y, r), r, 0.11, wide, TYRE, 12).on_bone(bone))
        parts.append(
            loft(
                [ring((-wide * 0.3, y, r), r - 0.1, r - 0.1, 10, 0), ring((wide * 0.3, y, r), r - 0.1, r - 0.1, 10, 0)], STEEL, gloss=0.4
            ).on_bone(bone)
        )
    if rng.random() < 0.55:
        parts.append(
            barrel(
                [(-0.12, 0.78, 0.1, 0.08), (0.0, 0.82, 0.16, 0.13), (0.28, 0.86, 0.17, 0.15), (0.42, 0.86, 0.1, 0.1)], paint, 8, gloss=0.6
            )
        )
        parts.append(barrel([(-0.9, 0.88, 0.06, 0.04), (-0.6, 0.8, 0.14, 0.08), (-0.1, 0.75, 0.14, 0.08)], TRIM, 7))
        parts.append(box((-0.17, -0.25, 0.25), (0.17, 0.32, 0.66), srgb("#3a3f45"), 0.4, (0.8, 0.7)))
        parts.append(tube((0.17, -0.1, 0.34), (0.2, -0.85, 0.42), 0.055, STEEL, 6))
        parts.append(barrel([(0.5, 0.9, 0.13, 0.16), (0.66, 0.9, 0.12, 0.14), (0.74, 0.88, 0.06, 0.07)], paint, 7, gloss=0.6))
        lamp_y = 0.72
    else:
        parts.append(
            barrel(
                [(-0.85, 0.66, 0.1, 0.1), (-0.6, 0.62, 0.19, 0.18), (-0.15, 0.6, 0.18, 0.17), (-0.05, 0.55, 0.12, 0.12)],
                paint,
                8,
                gloss=0.6,
            )
        )
        parts.append(box((-0.18, -0.12, 0.26), (0.18, 0.42, 0.36), TRIM))
        parts.append(
            loft(
                [
                    [(-0.2, 0.38, 0.3), (0.2, 0.38, 0.3), (0.15, 0.52, 0.3), (-0.15, 0.52, 0.3)],
                    [(-0.17, 0.36, 0.92), (0.17, 0.36, 0.92), (0.12, 0.5, 0.92), (-0.12, 0.5, 0.92)],
                ],
                paint,
                gloss=0.6,
            )
        )
        parts.append(box((-0.14, -0.75, 0.78), (0.14, -0.05, 0.88), TRIM, 0, (0.8, 0.95)))
        if rng.random() < 0.5:
            parts.append(box((-0.25, -1.05, 0.86), (0.25, -0.6, 1.3), srgb(str(rng.choice(["#d8412f", "#1fa38a", "#f0b323", "#202428"])))))
        lamp_y = 0.54
    parts += [tube((s * 0.07, 0.46, 0.98), (s * 0.08, front, r), 0.03, STEEL, 5) for s in (-1, 1)]
    parts += [tube((0, 0.46, 1.02), (s * 0.36, 0.34, 1.06), 0.022, TRIM, 4) for s in (-1, 1)]
    parts.append(_lamp(box((-0.09, lamp_y - 0.04, 0.84), (0.09, lamp_y + 0.04, 0.98), srgb("#dfe6ea"), 0.8), HEADLIGHT))
    parts.append(_lamp(box((-0.08, -0.94, 0.78), (0.08, -0.88, 0.86), srgb("#a3191c")), TAILLIGHT))
    parts += [tube((s * 0.2, 0.42, 1.06), (s * 0.34, 0.4, 1.22), 0.012, TRIM, 4) for s in (-1, 1)]
    parts.append(box((-0.09, front - 0.25, r * 2 + 0.02), (0.09, front + 0.2, r * 2 + 0.06), paint, 0.4))
    return join(parts)


def rolling(kind: str, travelled: float) -> NDArray[np.float64]:
    """Bone matrices (4, 3, 4) after ``travelled`` metres. kind: 'bicycle' or 'motorcycle'."""
    r = RADIUS[kind]
    place = np.zeros((BONES, 3, 4))
    place[:, :, :3] = np.eye(3)
    for bone, (y, z), angle in (
        (1, (_AXLE[kind][0], r), travelled / r),
        (2, (_AXLE[kind][1], r), travelled / r),
        (3, _CRANK, crank_angle(travelled)),
    ):
        c, s = cos(angle), sin(angle)
        rotation = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
        joint = np.array([0, y, z])
        place[bone, :, :3], place[bone, :, 3] = rotation, joint - rotation @ joint
    return place


def crank_angle(travelled: float) -> float:
    """The angle of the pedals, radians: one turn every 5 m."""
    return travelled * 2 * pi / 5.0


def rider_pose(kind: str, travelled: float, height: float) -> NDArray[np.float64]:
    """Bone matrices (13, 3, 4) of a rider of this height, in the coordinates of the bicycle or motorcycle."""
    if kind == "motorcycle":
        return skeleton.riding((-0.28, 0.9 + 0.02 * height), (0.36, 1.04), ((0.08, 0.34), (0.08, 0.34)), 0.22, height)
    angle = crank_angle(travelled)
    left, right = ((_CRANK[0] + side * _PEDAL * sin(angle), _CRANK[1] + side * _PEDAL * cos(angle) + 0.03) for side in (-1, 1))
    return skeleton.riding((-0.2, 0.93), (0.3, 1.02), (left, right), 0.42, height)
