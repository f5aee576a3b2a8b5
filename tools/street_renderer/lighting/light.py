"""The light of a scene from day to night: the sun, the sky and their colours."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import cos, radians, sin

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Vector = NDArray[np.float32]


def _v(*values: float) -> Vector:
    return np.array(values, np.float32)


@dataclass(frozen=True, eq=False)
class Light:
    """One state of the light. Colours are linear radiance (3,).

    sun: unit vector towards the sun. beam: the sun's colour. sky, bounce: ambient light from above and from the ground.
    zenith, horizon: the sky's colours. glow: added to the sky around the sun. haze: share of light lost per metre, replaced
    by the horizon's colour. night: 0 day … 1 lamps, windows and headlights fully on. exposure: factor before tone mapping.
    wet: 0 dry … 1 puddles. softness: radius of shadow edges per metre of distance to the object that casts the shadow.
    """

    sun: Vector
    beam: Vector
    sky: Vector
    bounce: Vector
    zenith: Vector
    horizon: Vector
    glow: Vector
    haze: float
    night: float
    exposure: float
    wet: float
    softness: float

    def toward(self, other: Light, share: float) -> Light:
        """Interpolate between this light and another. share: 0 this … 1 the other. The sun's direction does not change."""
        mixed = {f.name: (1 - share) * getattr(self, f.name) + share * getattr(other, f.name) for f in fields(self) if f.name != "sun"}
        return Light(sun=self.sun, **mixed)


def sun_at(azimuth: float, elevation: float) -> Vector:
    """Unit vector towards the sun. azimuth: degrees to the right of +y. elevation: degrees above the horizon."""
    a, e = radians(azimuth), radians(elevation)
    return _v(sin(a) * cos(e), cos(a) * cos(e), sin(e))


def day(azimuth: float, elevation: float = 48) -> Light:
    """A clear day with blue shadows."""
    return Light(
        sun_at(azimuth, elevation), _v(3.2, 2.85, 2.35), _v(0.66, 0.8, 1.04), _v(0.46, 0.42, 0.37), _v(0.2, 0.44, 0.86), _v(0.78, 0.9,
        1.02),
        _v(0.5, 0.42, 0.3), 0.0016, 0.0, 0.60, 0.0, 0.014,
    )  # fmt: skip


def golden(azimuth: float, elevation: float = 20) -> Light:
    """Low evening sun with long shadows."""
    return Light(
        sun_at(azimuth, elevation), _v(4.1, 2.55, 1.3), _v(0.66, 0.69, 0.88), _v(0.52, 0.41, 0.32), _v(0.34, 0.48, 0.78), _v(1.15,
        0.93, 0.72),
        _v(1.5, 0.85, 0.35), 0.0022, 0.12, 0.74, 0.0, 0.016,
    )  # fmt: skip


def overcast(azimuth: float, wet: float = 0.0) -> Light:
    """A cloudy sky, almost without shadows. wet: 0 dry … 1 puddles."""
    return Light(
        sun_at(azimuth, 60), _v(0.42, 0.41, 0.4), _v(1.02, 1.08, 1.16), _v(0.34, 0.34, 0.34), _v(0.62, 0.68, 0.76), _v(0.86, 0.9, 0.95),
        _v(0, 0, 0), 0.0035, 0.25 * wet, 0.74, wet, 0.12,
    )  # fmt: skip


def dusk(azimuth: float, wet: float = 0.0) -> Light:
    """After sunset: blue light, an orange horizon, lamps on."""
    return Light(
        sun_at(azimuth, 14), _v(0.42, 0.22, 0.17), _v(0.19, 0.26, 0.49), _v(0.1, 0.09, 0.12), _v(0.08, 0.15, 0.4), _v(0.66, 0.42, 0.42),
        _v(0.8, 0.34, 0.12), 0.0024, 1.0, 0.98, wet, 0.03,
    )  # fmt: skip


def night(azimuth: float, wet: float = 0.0) -> Light:
    """Night, with a little blue light left."""
    return Light(
        sun_at(azimuth, 35), _v(0.08, 0.1, 0.16), _v(0.11, 0.15, 0.3), _v(0.05, 0.05, 0.07), _v(0.03, 0.05, 0.14), _v(0.16, 0.17, 0.3),
        _v(0, 0, 0), 0.003, 1.0, 1.25, wet, 0.05,
    )  # fmt: skip


def draw(rng: Generator, azimuth: float) -> Light:
    """A random state of the light, as training uses it."""
    kind = rng.choice(["day", "golden", "overcast", "rain", "dusk", "night"], p=[0.3, 0.19, 0.15, 0.12, 0.17, 0.07])
    wet = float(rng.choice([0.0, 0.6, 1.0], p=[0.6, 0.2, 0.2]))
    base = {
        "day": lambda: day(azimuth, rng.uniform(34, 64)),
        "golden": lambda: golden(azimuth, rng.uniform(15, 28)),
        "overcast": lambda: overcast(azimuth),
        "rain": lambda: overcast(azimuth, rng.uniform(0.5, 1.0)),
        "dusk": lambda: golden(azimuth, 16).toward(dusk(azimuth, wet), rng.uniform(0.45, 1.0)),
        "night": lambda: dusk(azimuth, wet).toward(night(azimuth, wet), rng.uniform(0.3, 0.9)),
    }[kind]()
    return _varied(rng, base)


def draw_unseen(rng: Generator, azimuth: float) -> Light:
    """A random state of the light that ``draw`` never returns: other heights of the sun, and other mixtures of states."""
    kind = rng.choice(["morning", "noon", "evening", "hazy", "shower", "night"], p=[0.2, 0.15, 0.25, 0.15, 0.15, 0.1])
    wet = float(rng.choice([0.0, 0.3, 0.8], p=[0.6, 0.2, 0.2]))
    base = {
        "morning": lambda: day(azimuth, rng.uniform(22, 33)),
        "noon": lambda: day(azimuth, rng.uniform(65, 75)),
        "evening": lambda: golden(azimuth, 14).toward(dusk(azimuth, wet), rng.uniform(0.06, 0.42)),
        "hazy": lambda: golden(azimuth, rng.uniform(20, 35)).toward(overcast(azimuth), rng.uniform(0.3, 0.7)),
        "shower": lambda: day(azimuth, rng.uniform(35, 60)).toward(overcast(azimuth, 1.0), rng.uniform(0.3, 0.7)),
        "night": lambda: night(azimuth, wet),
    }[kind]()
    return _varied(rng, base)


def _varied(rng: Generator, base: Light) -> Light:
    """A copy with random changes of exposure, haze and colours."""
    values = {f.name: getattr(base, f.name) for f in fields(base)}
    values["exposure"] *= rng.uniform(0.85, 1.15)
    values["haze"] *= rng.uniform(0.5, 1.8)
    for name in ("beam", "sky"):
        values[name] = values[name] * rng.uniform(0.93, 1.07, 3).astype(np.float32)
    return Light(**values)


def sky_color(light: Light, rays: NDArray[np.float32]) -> NDArray[np.float32]:
    """Radiance of the sky along directions (…, 3)."""
    unit = rays / np.linalg.norm(rays, axis=-1, keepdims=True)
    up = np.clip(unit[..., 2:], 0, 1) ** 0.55
    around = np.clip(unit @ light.sun, 0, 1)[..., None]
    sky = light.horizon + (light.zenith - light.horizon) * np.minimum(up * 1.25, 1)
    color: NDArray[np.float32] = sky + light.glow * (0.6 * around**8 + 0.5 * around**64)
    return color
