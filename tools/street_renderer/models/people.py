"""Meshes of people: bodies on the bones of ``skeleton``, clothes, hair, helmets and umbrellas."""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Mesh, Rgb, both_sides, box, column, join, loft, palette, quads, ring, srgb, tube
from tools.street_renderer.models.skeleton import (
    ARM_L,
    ARM_R,
    ELBOW,
    FOOT_L,
    FOOT_R,
    FORE_L,
    FORE_R,
    HEAD,
    JOINT,
    KNEE,
    PELVIS,
    SHIN_L,
    SHIN_R,
    THIGH_L,
    THIGH_R,
    TORSO,
)

SKIN = palette("#f1c9a5 #e0ac84 #c68a5f #a66b42 #7d4b2c #543221")
HAIR = palette("#1c1715 #2e2119 #4d3421 #7a5230 #b08a4f #8d8a86 #d8d4cc #6e2c1b")
TOPS = palette("#f2efe9 #1f2328 #b8323a #2b5ea7 #e0b13c #2f7d62 #d97742 #7a4b8c #8fb5c9 #d9a1a8 #5c6470 #3c4a2e #c9c2b2 #0f3b57 #e9d8a6")
BOTTOMS = palette("#24344d #2b2e33 #3b4d6b #6b5a45 #b9a88a #4a4f55 #1b1d20 #7d7f83 #59301f")
SHOES = palette("#1c1c1e #f0eeea #6a3d22 #a8322f")


def _limb(bone: int, x: float, top: float, bottom: float, r0: float, r1: float, color: Rgb) -> Mesh:
    middle = (top + bottom) / 2
    bulge = (r0 + r1) / 2 * 1.06
    return column([(bottom, r1, r1 * 1.05), (middle, bulge, bulge * 1.05), (top, r0, r0 * 1.05)], color, 6, x).on_bone(bone)


def person(rng: Generator, rider: str = "") -> tuple[Mesh, float]:
    """A random person and the height in metres. rider: '' on foot, or 'bicycle' or 'motorcycle', which may add a helmet."""
    child = not rider and rng.random() < 0.1
    height = rng.uniform(1.12, 1.45) if child else float(np.clip(rng.normal(1.72, 0.09), 1.52, 1.95))
    broad = rng.uniform(0.92, 1.14)
    skin, hair = SKIN[rng.integers(len(SKIN))], HAIR[rng.integers(len(HAIR))]
    top, legs, shoes = TOPS[rng.integers(len(TOPS))], BOTTOMS[rng.integers(len(BOTTOMS))], SHOES[rng.integers(len(SHOES))]
    style = rng.choice(["trousers", "shorts", "skirt", "coat"], p=[0.56, 0.14, 0.14, 0.16]) if not rider else "trousers"
    sleeves = rng.random() < (0.55 if style != "coat" else 1.0)
    parts = []

    levels = [(0.475, 0.088, 0.07), (0.53, 0.092, 0.068), (0.62, 0.08, 0.06), (0.72, 0.1, 0.068), (0.79, 0.108, 0.064), (0.83, 0.06, 0.05)]
    trunk = [ring((0, 0, z), rx * broad, ry * broad, 8) for z, rx, ry in levels]
    parts.append(loft(trunk[:2], legs if style != "coat" else top).on_bone(PELVIS))
    parts.append(loft(trunk[1:], top).on_bone(TORSO))
    parts.append(_limb(TORSO, 0, 0.88, 0.82, 0.03, 0.034, skin))

    face = ((0.868, 0.03), (0.885, 0.046), (0.925, 0.056), (0.96, 0.052), (0.992, 0.03))
    parts.append(column([(z, r * 0.92, r) for z, r in face], skin, y=0.008).on_bone(HEAD))
    if rider == "motorcycle":
        shell = ((0.87, 0.056), (0.91, 0.076), (0.955, 0.076), (0.995, 0.05), (1.008, 0.02))
        parts.append(column([(z, r, r * 1.1) for z, r in shell], TOPS[rng.integers(len(TOPS))], gloss=0.5).on_bone(HEAD))
        visor = quads(
            [[(0.058, 0.062, 0.905), (-0.058, 0.062, 0.905), (-0.05, 0.074, 0.952), (0.05, 0.074, 0.952)]], srgb("#15202b"), gloss=1.0
        )
        parts.append(both_sides(visor.moved(y=0.018)).on_bone(HEAD))
    elif rider == "bicycle" and rng.random() < 0.6:
        helmet = ((0.945, 0.062, 0.08), (0.985, 0.055, 0.07), (1.008, 0.03, 0.04))
        parts.append(column(helmet, TOPS[rng.integers(len(TOPS))], y=-0.004).on_bone(HEAD))
    else:
        short = ((0.935, 0.055, 0.052), (0.965, 0.058, 0.062), (0.995, 0.042, 0.046), (1.003, 0.02, 0.02))
        parts.append(column(short, hair, y=-0.012).on_bone(HEAD))
        if rng.random() < 0.4:
            long = ((0.82, 0.035, 0.014), (0.88, 0.052, 0.026), (0.96, 0.053, 0.03))
            parts.append(column(long, hair, 6, y=-0.038).on_bone(HEAD))
        elif rng.random() < 0.2:
            cap = TOPS[rng.integers(len(TOPS))]
            parts.append(column(((0.965, 0.062, 0.068), (1.005, 0.045, 0.05)), cap).on_bone(HEAD))
            parts.append(box((-0.045, 0.05, 0.962), (0.045, 0.115, 0.972), cap).on_bone(HEAD))

    arm, hand = (top, skin) if sleeves else (skin, skin)
    for side, upper, lower in ((-1, ARM_L, FORE_L), (1, ARM_R, FORE_R)):
        x = side * (0.108 * broad + 0.004)
        if sleeves:
            sleeve = ((ELBOW, 0.029), (0.72, 0.034), (0.805, 0.036), (0.828, 0.02))
            parts.append(column([(z, r, r * 1.1) for z, r in sleeve], top, 6, x).on_bone(upper))
        else:
            parts.append(join([_limb(upper, x, 0.75, ELBOW, 0.03, 0.027, skin), _limb(upper, x, 0.825, 0.72, 0.03, 0.037, top)]))
        parts.append(_limb(lower, x, ELBOW + 0.012, 0.485, 0.03, 0.024, arm))
        parts.append(column(((0.43, 0.01, 0.022), (0.455, 0.016, 0.022), (0.488, 0.015, 0.022)), hand, 6, x, 0.004).on_bone(lower))
    shin_color = skin if style in ("shorts", "skirt") else legs
    for side, thigh, shin, foot in ((-1, THIGH_L, SHIN_L, FOOT_L), (1, THIGH_R, SHIN_R, FOOT_R)):
        x = side * 0.05
        parts.append(_limb(thigh, x, 0.53, KNEE - 0.005, 0.056 * broad, 0.042, legs if style != "skirt" else skin))
        calf = ((0.05, 0.029), (0.19, 0.041), (KNEE + 0.015, 0.041))
        parts.append(column([(z, r, r * 1.1) for z, r in calf], shin_color, 6, x, -0.004).on_bone(shin))
        sole = [(x - 0.027, -0.04), (x + 0.027, -0.04), (x + 0.03, 0.06), (x + 0.015, 0.1), (x - 0.015, 0.1), (x - 0.03, 0.06)]
        upper_shoe = [(x + (a - x) * 0.7, b * 0.3 - 0.012, 0.062) for a, b in sole]
        parts.append(loft([[(a, b, 0.0) for a, b in sole], [(a, b * 0.9, 0.03) for a, b in sole], upper_shoe], shoes).on_bone(foot))
    if style in ("skirt", "coat"):
        color, hem = (legs, 0.3) if style == "skirt" else (top, 0.33)
        flare = 1.15 if style == "skirt" else 1.0
        levels = [(hem, 0.112 * flare, 0.135 * flare), (0.46, 0.1, 0.085), (0.58, 0.086 * broad, 0.066 * broad)]
        parts.append(column(levels, color).on_bone(PELVIS))
    if rng.random() < (0.28 if rider != "motorcycle" else 0.15):
        bag = TOPS[rng.integers(len(TOPS))]
        parts.append(box((-0.075, -0.155, 0.6), (0.075, -0.055, 0.8), bag, 0, (0.85, 0.9)).on_bone(TORSO))
    elif not rider and rng.random() < 0.2:
        parts.append(box((0.12 * broad, -0.07, 0.32), (0.155 * broad + 0.01, 0.09, 0.44), TOPS[rng.integers(len(TOPS))]).on_bone(FORE_R))
    body = join(parts)
    # a slightly enlarged head is easier to recognise from far away
    head = body.bones == HEAD
    body.vertices[head] = (body.vertices[head] - JOINT[HEAD]) * 1.14 + JOINT[HEAD]
    body.vertices[:] *= height
    return body, height


def umbrella(rng: Generator, height: float) -> Mesh:
    """An umbrella held over the head of a person of this height. Its faces are not part of the person's box."""
    color = np.array(TOPS[rng.integers(len(TOPS))], np.float32)
    angle = np.arange(9) * 2 * pi / 8
    rim = np.stack([0.55 * np.cos(angle), 0.12 + 0.55 * np.sin(angle), np.full(9, height + 0.1)], -1)
    mid = np.stack([0.36 * np.cos(angle), 0.12 + 0.36 * np.sin(angle), np.full(9, height + 0.25)], -1)
    top = np.array([0, 0.12, height + 0.34])
    faces = [[rim[i], rim[i + 1], mid[i + 1], mid[i]] for i in range(8)] + [[mid[i], mid[i + 1], top, top] for i in range(8)]
    shade = np.array([0.82 if i % 2 else 1.0 for i in range(16)])[:, None]
    cloth = both_sides(quads(faces, color * shade, counts=False))
    stick = tube((0.12, 0.14, height * 0.62), (0.02, 0.12, height + 0.32), 0.012, srgb("#2a2a2c"), 4)
    stick.counts[:] = False
    return join([cloth, stick]).on_bone(PELVIS)
