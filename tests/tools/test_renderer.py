"""A seed always gives the same frames; another seed gives other frames."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.support.demo import DAY, HEIGHT, RAIN, SECONDS, WIDTH, Still
from tests.support.paths import PROJECT
from tools.street_renderer import scene
from tools.street_renderer.lighting import light
from tools.street_renderer.render.frame_renderer import FrameRenderer


@pytest.mark.slow
def test_another_process_renders_the_same_bytes(rain: Still) -> None:
    code = f"from tests.support.demo import still; print(still({RAIN}).digest)"
    # anything that depends on the order of a set differs between processes with different hashes
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == rain.digest


@pytest.mark.slow
def test_another_seed_is_another_street(rain: Still, day: Still) -> None:
    assert rain.picture.shape == day.picture.shape == (HEIGHT, WIDTH, 3)
    assert np.abs(rain.picture.astype(int) - day.picture).mean() > 10


def test_another_time_shows_other_places(day: Still) -> None:
    _, later = day.renderer.frame(1, 1.8)
    both, now, then = np.intersect1d(day.truth.tracks, later.tracks, return_indices=True)
    assert len(both) > 10
    moved = np.abs(day.truth.boxes[now] - later.boxes[then]).max(1)
    still = np.array([day.renderer.scene.actors[track].still for track in both])
    assert still.any()
    assert moved[still].max() == 0
    assert (moved[~still] > 1).mean() > 0.3


def test_a_picture_is_no_flat_field(street: Still) -> None:
    grey = street.picture.mean(2)
    assert grey.std() > 20
    assert 20 < grey.mean() < 200
    assert (street.picture == 255).all(2).mean() < 0.05


@pytest.mark.slow
def test_the_size_of_the_picture_changes_nothing_but_the_size(day: Still) -> None:
    larger = scene.draw(DAY, 2 * WIDTH, 2 * HEIGHT, SECONDS, cell=0.3)
    assert [actor.kind for actor in larger.actors] == [actor.kind for actor in day.renderer.scene.actors]
    for mine, other in zip(day.renderer.scene.actors, larger.actors, strict=True):
        assert np.array_equal(mine.pose(1.0), other.pose(1.0))
    point = np.array([[2.0, 12.0, 1.0]])
    small, large = (made.camera.project(made.camera.to_camera(point)) for made in (day.renderer.scene, larger))
    assert np.allclose(2 * small, large)


@pytest.mark.slow
def test_rain_falls_only_where_it_rains(rain: Still, day: Still) -> None:
    """Two frames of one time differ by their rain and grain alone."""
    for made, least, most in ((rain, 0.4, 30.0), (day, 0.0, 3.0)):
        other, _ = made.renderer.frame(7, 1.0)
        assert least <= np.abs(other.astype(int) - made.picture).mean() <= most


def test_unseen_light_is_none_that_training_draws() -> None:
    rng = np.random.default_rng(1)
    trained, unseen = ([draw(rng, 0.0) for _ in range(200)] for draw in (light.draw, light.draw_unseen))

    def height(lit: light.Light) -> float:
        return float(np.degrees(np.arcsin(lit.sun[2])))

    def daylight(lit: light.Light) -> bool:
        return lit.night == 0 and lit.wet == 0 and float(lit.beam.max()) > 2.5

    # a clear day's sun stands between 34 and 64 degrees in training
    assert {34 <= height(lit) <= 64 for lit in trained if daylight(lit)} == {True}
    clear = [height(lit) for lit in unseen if daylight(lit) and lit.softness < 0.0141]
    assert clear
    assert not any(34 <= value <= 64 for value in clear)
    # between the last sun and dusk training begins at 0.45 of the way, where night is above 0.5
    twilight = [lit.night for lit in unseen if 0.16 < lit.night < 0.5 and lit.wet == 0]
    assert twilight
    assert not [lit for lit in trained if 0.16 < lit.night < 0.5 and lit.wet == 0]


def test_light_changes_during_a_scene(day: Still) -> None:
    made = replace(day.renderer.scene, camera=day.renderer.scene.camera.resized(160, 90))
    renderer = FrameRenderer(made, 1, 0.0, [light.golden(10), light.dusk(10)], shadow_cell=0.3)
    early, middle, late = (float(renderer.frame(0, time)[0].mean()) for time in (0.0, 1.0, 2.0))
    assert early > middle > late
    assert early > 1.15 * late
