"""Dogs and leads. A dog stands on z = 0 and looks towards +y; its bones are body, head, four legs and tail."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, barrel, both_sides, join, loft, palette, quads, ring, srgb, tube

COATS = palette("#1d1a18 #5b3a22 #a8743c #d8b07a #efe6d6 #8a8580 #c46a2b")
BODY, HEAD, FRONT_L, FRONT_R, HIND_L, HIND_R, TAIL = range(7)
BONES = 7
# joints of a dog 1 m tall at the shoulder, one per bone
_JOINT = np.array(
    [(0, 0, 0.75), (0, 0.42, 0.98), (-0.13, 0.36, 0.62), (0.13, 0.36, 0.62), (-0.13, -0.46, 0.62), (0.13, -0.46, 0.62), (0, -0.6, 0.88)]
)


def dog(rng: Generator) -> tuple[Mesh, float]:
    """A random dog and its height at the shoulder, 0.42–0.72 m."""
    height = rng.uniform(0.42, 0.72)
    coat = COATS[rng.integers(len(COATS))]
    belly = COATS[rng.integers(len(COATS))] if rng.random() < 0.4 else coat
    stout, leggy = rng.uniform(0.85, 1.25), rng.uniform(0.9, 1.1)
    parts = []
    trunk = [
        (-0.62, 0.82, 0.07, 0.09),
        (-0.52, 0.79, 0.15, 0.17),
        (-0.2, 0.76, 0.145, 0.16),
        (0.15, 0.76, 0.17, 0.21),
        (0.38, 0.8, 0.16, 0.22),
        (0.5, 0.88, 0.09, 0.13),
    ]
    parts.append(barrel([(y, z, rx * stout, rz * stout) for y, z, rx, rz in trunk], coat).on_bone(BODY))
    neck = ((0.3, 0.84, 0.12), (0.46, 0.98, 0.1), (0.56, 1.08, 0.09))
    parts.append(barrel([(y, z, r * stout, r * 1.25 * stout) for y, z, r in neck], coat, 7).on_bone(BODY))
    skull = [
        (0.43, 1.12, 0.07, 0.08),
        (0.52, 1.15, 0.12, 0.12),
        (0.66, 1.13, 0.11, 0.11),
        (0.72, 1.08, 0.065, 0.065),
        (0.9, 1.05, 0.05, 0.05),
        (0.93, 1.05, 0.03, 0.03),
    ]
    parts.append(barrel(skull, coat, 7).on_bone(HEAD))
    parts.append(barrel([(0.92, 1.07, 0.032, 0.032), (0.955, 1.07, 0.018, 0.018)], srgb("#151312"), 6).on_bone(HEAD))
    droop = rng.random() < 0.5
    for side in (-1, 1):
        ear = [
            (side * 0.06, 0.54, 1.24),
            (side * 0.13, 0.54, 1.2),
            (side * (0.17 if droop else 0.12), 0.55, 1.0 if droop else 1.4),
            (side * 0.1, 0.56, 1.02 if droop else 1.38),
        ]
        parts.append(both_sides(quads([ear], np.array(coat) * 0.6)).on_bone(HEAD))
    for bone in (FRONT_L, FRONT_R, HIND_L, HIND_R):
        x, y, _ = _JOINT[bone]
        hind = bone in (HIND_L, HIND_R)
        knee = -0.07 if hind else 0.0
        shape = [
            (0.0, 0.03, 0.05),
            (0.05, 0.0, 0.04),
            (0.3, knee, 0.042),
            (0.55, 0.02 if hind else 0.0, 0.075 if hind else 0.06),
            (0.74, 0.03, 0.1 if hind else 0.07),
        ]
        rings = [ring((x * stout, y + dy, z * leggy), r, r * 1.2, 6) for z, dy, r in shape]
        parts.append(loft(rings, belly if not hind else coat).on_bone(bone))
    parts.append(tube((0, -0.58, 0.88), (0, -0.95, rng.uniform(0.85, 1.25)), 0.045, coat, 5, 0.02).on_bone(TAIL))
    body = join(parts)
    body.vertices[:] *= height
    return body, height


def trotting(phase: float, height: float, stride: float = 1.0) -> NDArray[np.float64]:
    """Bone matrices (7, 3, 4) of a trotting dog, whose diagonal legs swing together. phase: 0 … 2π over a cycle. stride: 0 stands."""
    angles = np.zeros(BONES)
    swing = 0.5 * stride * sin(phase)
    angles[[FRONT_L, HIND_R]], angles[[FRONT_R, HIND_L]] = swing, -swing
    angles[HEAD] = 0.08 * sin(2 * phase) * stride
    place = np.zeros((BONES, 3, 4))
    for bone in range(BONES):
        c, s = cos(angles[bone]), sin(angles[bone])
        rotation = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        if bone == TAIL:
            wag = 0.45 * sin(phase * 1.7)
            rotation = np.array([[cos(wag), -sin(wag), 0], [sin(wag), cos(wag), 0], [0, 0, 1]])
        joint = _JOINT[bone] * height
        place[bone, :, :3], place[bone, :, 3] = rotation, joint - rotation @ joint
    place[:, 2, 3] += 0.02 * height * stride * abs(sin(phase))
    return place


def cycle_length(height: float) -> float:
    """Metres trotted in one full cycle of the gait."""
    return 4 * 0.62 * height * sin(0.5)


def lead(hand: NDArray[np.float64], collar: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corners (8, 4, 3) of a slack lead between two points (3,): four faces and their back sides."""
    t = np.linspace(0, 1, 5)[:, None]
    line = hand + (collar - hand) * t - np.array([0, 0, 0.12]) * np.sin(pi * t)
    wide = np.array([0, 0, 0.012])
    faces = np.stack([line[:-1] - wide, line[1:] - wide, line[1:] + wide, line[:-1] + wide], 1)
    return np.concatenate([faces, faces[:, ::-1]])
