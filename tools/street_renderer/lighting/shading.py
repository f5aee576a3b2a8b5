"""Shading of flat faces, street lamps and tone mapping. Faces are shaded once each, not per pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.lighting.light import Light, sky_color

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Lamps:
    """Street lamps. places: (n, 3) metres. color: radiance at 1 m."""

    places: F32
    color: F32

    def irradiance(self, points: F32, normals: F32 | None = None) -> F32:
        """Compute the light (m, 3) that reaches points (m, 3) with all lamps on. normals: (m, 3), None: horizontal faces."""
        total = np.zeros(len(points), np.float32)
        for place in self.places:
            to = place - points
            square = np.einsum("ij,ij->i", to, to)
            lean = to[:, 2] if normals is None else np.einsum("ij,ij->i", to, normals)
            # the shade throws the light down: nothing above the lamp, most of it within 60° of straight down
            cone = np.clip(to[:, 2] / np.sqrt(square), 0, 1) ** 1.5
            total += np.maximum(lean, 0) * cone / (square * np.sqrt(square) + 1)
        return total[:, None] * self.color


@dataclass(frozen=True, eq=False)
class ShadedFaces:
    """Radiance of each face (m, 3). ``rest`` always applies; ``sunlit`` is added where the sun reaches the face."""

    sunlit: F32
    rest: F32


def shade_faces(
    normals: F32, centers: F32, albedo: F32, gloss: F32, emission: F32, switch: F32, eye: F32, light: Light, lit: F32
) -> ShadedFaces:
    """Shade faces under one light.

    normals, centers, albedo, emission: (m, 3). gloss, switch: (m,); switch: how far each face's emission is on, 0 … 1.
    lit: (m, 3) lamp light that reaches each face. The reflection is Schlick's approximation of Fresnel's law.
    """
    view = eye - centers
    view /= np.linalg.norm(view, axis=1, keepdims=True)
    facing = np.clip(np.einsum("ij,ij->i", normals, view), 0, 1)[:, None]
    mirror = 2 * facing * normals - view
    matt = gloss[:, None]
    # paint carries a thin clear coat; glass shows the sky at any angle
    base = np.where(matt > 0.8, 0.16, 0.045) * (matt > 0)
    fresnel = matt * (base + (1 - base) * (1 - facing) ** 5 * 0.7)
    seen = sky_color(light, mirror) * np.float32(0.8)
    seen = np.where(mirror[:, 2:] > 0, seen, light.bounce * 0.35)
    up = normals[:, 2:]
    ambient = light.sky * (0.5 + 0.5 * up) + light.bounce * (0.5 - 0.5 * up)
    rest = albedo * (ambient * (1 - fresnel) + lit) + fresnel * seen + emission * switch[:, None]
    slant = np.clip(normals @ light.sun, 0, 1)[:, None]
    shine = matt * np.clip(mirror @ light.sun, 0, 1)[:, None] ** 60 * 1.6 * (slant > 0)
    return ShadedFaces(((albedo * slant + shine) * light.beam).astype(np.float32), rest.astype(np.float32))


def tone(radiance: F32, exposure: float) -> NDArray[np.uint8]:
    """Map radiance to 8-bit sRGB-like values on a filmic curve (fit of the ACES reference curve by K. Narkowicz, 2015)."""
    x = np.maximum(radiance, 0) * np.float32(exposure * _SCALE)
    index = np.minimum(np.sqrt(x) * np.float32(_STEPS / _TOP), _STEPS - 1).astype(np.uint16)
    return _CURVE[index]


def _curve() -> NDArray[np.uint8]:
    x = (np.arange(_STEPS) / _STEPS * _TOP) ** 2
    mapped = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)
    return np.round(255 * mapped ** (1 / 2.2)).astype(np.uint8)


_SCALE, _TOP, _STEPS = 0.62, 5.0, 8192
_CURVE = _curve()
