"""The skeleton of a person who walks, stands or rides: one bone per limb. It stands on z = 0 and looks towards +y."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, sin

import numpy as np
from numpy.typing import NDArray

PELVIS, TORSO, HEAD, ARM_L, FORE_L, ARM_R, FORE_R, THIGH_L, SHIN_L, THIGH_R, SHIN_R, FOOT_L, FOOT_R = range(13)
BONES = 13
_PARENT = (-1, PELVIS, TORSO, TORSO, ARM_L, TORSO, ARM_R, PELVIS, THIGH_L, PELVIS, THIGH_R, SHIN_L, SHIN_R)
# heights of the joints of a person 1 m tall
HIP, KNEE, ANKLE, SHOULDER, ELBOW, NECK = 0.52, 0.285, 0.045, 0.815, 0.63, 0.855
JOINT = np.array(
    [(0, 0, HIP), (0, 0, HIP), (0, 0, NECK), (-0.105, 0, SHOULDER), (-0.115, 0, ELBOW), (0.105, 0, SHOULDER), (0.115, 0, ELBOW),
    (-0.05, 0, HIP),
     (-0.05, 0, KNEE), (0.05, 0, HIP), (0.05, 0, KNEE), (-0.05, 0, ANKLE), (0.05, 0, ANKLE)]
)  # fmt: skip


def pose(angles: NDArray[np.float64], height: float, lift: float = 0.0, ahead: float = 0.0, splay: float = 0.06) -> NDArray[np.float64]:
    """Bone matrices (13, 3, 4) from each joint's forward swing (13,), radians.

    height: metres. lift, ahead: shift of the whole body up and forwards, metres. splay: angle between arms and body, radians.
    """
    place = np.zeros((BONES, 3, 4))
    for bone, parent in enumerate(_PARENT):
        c, s = cos(angles[bone]), sin(angles[bone])
        own = np.array([[1, 0, 0], [0, c, s], [0, -s, c]]).T
        if bone in (ARM_L, ARM_R):
            tilt = splay if bone == ARM_R else -splay
            ct, st = cos(tilt), sin(tilt)
            own = np.array([[ct, 0, -st], [0, 1, 0], [st, 0, ct]]) @ own
        joint = JOINT[bone] * height
        if parent < 0:
            rotation, at = own, np.add(joint, (0, ahead, lift))
        else:
            rotation = place[parent, :, :3] @ own
            at = place[parent, :, :3] @ joint + place[parent, :, 3]
        place[bone, :, :3], place[bone, :, 3] = rotation, at - rotation @ joint
    return place


def walking(phase: float, height: float, stride: float = 1.0, carry: bool = False) -> NDArray[np.float64]:
    """Bone matrices (13, 3, 4) of a walking person. phase: 0 … 2π over two steps. stride: 0 stands still. carry: one hand is raised."""
    a = np.zeros(BONES)
    swing = 0.5 * stride
    for thigh, shin, foot, arm, fore, p in (
        (THIGH_L, SHIN_L, FOOT_L, ARM_R, FORE_R, phase),
        (THIGH_R, SHIN_R, FOOT_R, ARM_L, FORE_L, phase + pi),
    ):
        a[thigh] = swing * sin(p) + 0.06 * stride
        a[shin] = -stride * (0.12 + 0.85 * max(0.0, cos(p - 0.25)) ** 2)
        a[foot] = stride * 0.25 * sin(p + 0.6)
        a[arm] = 0.72 * swing * sin(p)
        a[fore] = 0.18 + 0.35 * stride * max(0.0, sin(p))
    a[TORSO] = 0.05 * stride
    a[HEAD] = -0.04 * stride
    if carry:
        a[ARM_R], a[FORE_R] = 0.75, 1.35
    drop = 0.021 * height * stride * abs(sin(phase)) ** 2
    return pose(a, height, -drop)


def cycle_length(height: float) -> float:
    """Metres walked in one full cycle, two steps."""
    return 4 * HIP * height * sin(0.5)


def riding(
    hip: tuple[float, float], hands: tuple[float, float], feet: tuple[tuple[float, float], tuple[float, float]], lean: float, height: float
) -> NDArray[np.float64]:
    """Bone matrices (13, 3, 4) of a seated rider.

    hip, hands, feet (left, right): positions (y, z), metres. lean: forward lean of the back, radians.
    """
    a = np.zeros(BONES)
    a[TORSO] = -lean
    thigh, shin = (HIP - KNEE) * height, (KNEE - ANKLE * 0.6) * height
    for (y, z), (t, s, f) in zip(feet, ((THIGH_L, SHIN_L, FOOT_L), (THIGH_R, SHIN_R, FOOT_R)), strict=True):
        a[t], a[s] = _two_links(y - hip[0], z - hip[1], thigh, shin, 1)
        a[f] = -a[t] - a[s]
    up = (SHOULDER - HIP) * height
    shoulder = (hip[0] + up * sin(lean), hip[1] + up * cos(lean))
    arm, fore = (SHOULDER - ELBOW) * height, (ELBOW - 0.44) * height
    swing, bend = _two_links(hands[0] - shoulder[0], hands[1] - shoulder[1], arm, fore, -1)
    for upper, lower in ((ARM_L, FORE_L), (ARM_R, FORE_R)):
        a[upper], a[lower] = swing + lean, bend
    a[HEAD] = lean * 0.75
    # swings are positive forwards; the torso's forward lean turns its top the other way
    return pose(a, height, hip[1] - HIP * height, hip[0], 0.12)


def _two_links(y: float, z: float, first: float, second: float, side: int) -> tuple[float, float]:
    """Forward swing of a hanging limb and bend of its middle joint so that its end reaches (y, z) from its root."""
    reach = min(hypot(y, z), 0.999 * (first + second))
    aim = atan2(y, -z)
    inner = acos(np.clip((first**2 + reach**2 - second**2) / (2 * first * reach), -1, 1))
    outer = acos(np.clip((first**2 + second**2 - reach**2) / (2 * first * second), -1, 1))
    return aim + side * inner, -side * (pi - outer)
