"""Boxes match the pixels of their objects, and small or hidden objects are ignored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.demo import HEIGHT, WIDTH, Still
from tools.street_renderer.geometry.posed_meshes import draw_over
from tools.street_renderer.traffic.actor import NAMES
from tools.street_renderer.truth import MIN_HEIGHT, MIN_VISIBLE, Truth, coco


def pixels_of(street: Still, track: int) -> tuple[int, int, int, int]:
    """x1 y1 x2 y2 around an actor's pixels."""
    rows, columns = np.nonzero(street.actors == track)
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def test_exactly_the_visible_objects_have_a_box(street: Still) -> None:
    kinds = np.array([actor.kind for actor in street.renderer.scene.actors])
    shown = {int(track) for track in np.unique(street.actors) if track >= 0 and kinds[track] >= 0}
    assert shown == set(street.truth.tracks.tolist())
    assert len(shown) > 30
    assert np.array_equal(street.truth.kinds, kinds[street.truth.tracks])


def test_a_box_is_tight_where_nothing_hides_its_object(street: Still) -> None:
    free = np.flatnonzero(street.truth.visible > 0.999)
    assert len(free) >= 8
    for i in free:
        box, seen = street.truth.boxes[i], pixels_of(street, street.truth.tracks[i])
        # a pixel shows what lies at its centre: edges may be half a pixel off, thin ends a little more
        assert np.abs(box - seen).max() <= 2.0, (NAMES[street.truth.kinds[i]], box, seen)


def test_no_pixel_of_an_object_lies_outside_its_box(street: Still) -> None:
    for box, track in zip(street.truth.boxes, street.truth.tracks, strict=True):
        x1, y1, x2, y2 = pixels_of(street, track)
        assert x1 >= box[0] - 1, track
        assert y1 >= box[1] - 1, track
        assert x2 <= box[2] + 1, track
        assert y2 <= box[3] + 1, track


def test_boxes_lie_within_the_picture(street: Still) -> None:
    boxes = street.truth.boxes
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= (WIDTH, HEIGHT)).all()
    assert (boxes[:, 2:] > boxes[:, :2]).all()


def test_visible_is_the_share_that_others_leave(street: Still) -> None:
    """Each actor drawn alone, with nothing before it."""
    scene, meshes = street.renderer.scene, street.renderer.scene.meshes
    matrices, _ = street.renderer.motion.matrices(1.0)
    empty = np.zeros(WIDTH * HEIGHT, np.float32)
    jitter = street.renderer.background.jitters[1]
    hidden = 0
    inside = (street.truth.boxes > 1).all(1) & (street.truth.boxes[:, 2:] < (WIDTH - 1, HEIGHT - 1)).all(1)
    for i in np.flatnonzero(inside):
        track = street.truth.tracks[i]
        faces = np.flatnonzero((meshes.owner == track) & meshes.mesh.counts)
        part = meshes.part(faces)
        alone, *_ = draw_over(part.surface(part.posed(matrices)), scene.camera, jitter, empty)
        shown = np.count_nonzero(street.actors == track)
        # faces that look away may be left out of the whole, by a pixel here and there
        assert street.truth.visible[i] == pytest.approx(shown / len(alone), abs=0.02 + 1.5 / len(alone))
        hidden += street.truth.visible[i] < 0.7
    assert hidden >= 3


def test_small_and_hidden_objects_are_ignored(street: Still) -> None:
    truth = street.truth
    small = truth.boxes[:, 3] - truth.boxes[:, 1] < MIN_HEIGHT * HEIGHT
    assert np.array_equal(truth.ignore, small | (truth.visible < MIN_VISIBLE))
    assert small.any()
    assert (truth.ignore & ~small).any()
    assert (~truth.ignore).sum() > 20


@pytest.mark.slow
def test_an_umbrella_is_not_in_its_owners_box(rain: Still) -> None:
    scene, meshes = rain.renderer.scene, rain.renderer.scene.meshes
    owners = np.unique(meshes.owner[~meshes.mesh.counts])
    sheltered = [track for track in owners if scene.actors[track].kind == NAMES.index("person") and track in rain.truth.tracks]
    assert sheltered
    matrices, _ = rain.renderer.motion.matrices(1.0)
    for track in sheltered:
        part = meshes.part(np.flatnonzero(meshes.owner == track))
        vertices = part.posed(matrices)
        box = meshes.boxes(part, vertices, scene.camera)[track]
        everything = scene.camera.project(scene.camera.to_camera(vertices))
        assert everything[:, 1].min() < box[1] - 0.05 * (box[3] - box[1])


def test_truth_survives_its_file(street: Still, tmp_path: Path) -> None:
    street.truth.save(tmp_path / "a.npz")
    loaded = Truth.load(tmp_path / "a.npz")
    for name, column in vars(street.truth).items():
        assert np.array_equal(getattr(loaded, name), column)
        assert getattr(loaded, name).dtype == column.dtype


def test_coco_says_the_same(street: Still) -> None:
    made = coco([street.truth, street.truth], NAMES, WIDTH, HEIGHT, "a.mp4")
    assert [image["id"] for image in made["images"]] == [0, 1]
    assert [(entry["id"], entry["name"]) for entry in made["categories"]] == list(enumerate(NAMES, 1))
    count = len(street.truth.boxes)
    assert len({note["id"] for note in made["annotations"]}) == 2 * count
    for note, i in zip(made["annotations"], [*range(count), *range(count)], strict=True):
        x, y, width, height = note["bbox"]
        assert np.allclose((x, y, x + width, y + height), street.truth.boxes[i], atol=0.11)
        assert note["category_id"] == street.truth.kinds[i] + 1
        assert note["iscrowd"] == street.truth.ignore[i]
        assert note["track_id"] == street.truth.tracks[i]
