"""The shipped clip and its truth match each other and the renderer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.media.probe import probe
from tests.support.demo import CLIP, CLIP_TRUTH, Still
from tools.street_renderer import scene
from tools.street_renderer.dataset import demo_clip
from tools.street_renderer.render.frame_renderer import FrameRenderer
from tools.street_renderer.traffic.actor import NAMES


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(gzip.decompress(CLIP_TRUTH.read_bytes()))
    return made


INDEX = 40
"""The frame of each shot that is compared."""


COMPARED = 0, 2
"""The numbers of these shots."""


@pytest.fixture(scope="module")
def decoded() -> dict[int, tuple[int, NDArray[np.uint8]]]:
    """For each shot of COMPARED the number of frame INDEX, and that frame at a quarter of its size."""
    lengths = [round(shot.seconds * demo_clip.RATE) for shot in demo_clip.SHOTS]
    wanted = {sum(lengths[:number]) + INDEX: number for number in COMPARED}
    kept = {}
    with av.open(str(CLIP)) as file:
        for count, frame in enumerate(file.decode(video=0)):
            if count in wanted:
                picture = frame.reformat(demo_clip.WIDTH // 4, demo_clip.HEIGHT // 4, "rgb24").to_ndarray()
                kept[wanted[count]] = count, picture
            if len(kept) == len(wanted):
                break
    return kept


def test_the_clip_is_small_and_large_enough() -> None:
    info = probe(CLIP)
    assert CLIP.stat().st_size < 4_000_000
    assert (info.width, info.height, info.codec) == (demo_clip.WIDTH, demo_clip.HEIGHT, "h264")
    assert info.width >= 1280
    assert info.height >= 720
    assert info.duration is not None
    assert 20 <= info.duration <= 30
    assert info.rate == demo_clip.RATE


def test_every_frame_has_its_truth(truth: dict[str, Any]) -> None:
    info = probe(CLIP)
    with av.open(str(CLIP)) as file:
        assert sum(packet.size > 0 for packet in file.demux(video=0)) == info.frames == len(truth["images"])
    assert [image["id"] for image in truth["images"]] == list(range(info.frames))
    assert {(image["width"], image["height"]) for image in truth["images"]} == {(info.width, info.height)}
    assert {note["image_id"] for note in truth["annotations"]} == set(range(info.frames))


def test_every_box_is_a_box_in_the_picture(truth: dict[str, Any]) -> None:
    x, y, width, height = np.array([note["bbox"] for note in truth["annotations"]]).T
    assert min(x.min(), y.min()) >= 0
    assert min(width.min(), height.min()) > 0
    # coordinates are rounded to a tenth
    assert (x + width).max() <= demo_clip.WIDTH + 0.05
    assert (y + height).max() <= demo_clip.HEIGHT + 0.05
    assert len({note["id"] for note in truth["annotations"]}) == len(truth["annotations"])


def test_every_class_is_scored(truth: dict[str, Any]) -> None:
    assert [(entry["id"], entry["name"]) for entry in truth["categories"]] == list(enumerate(NAMES, 1))
    asked = [note["category_id"] for note in truth["annotations"] if not note["iscrowd"]]
    assert min(np.bincount(asked, minlength=len(NAMES) + 1)[1:]) > 500
    assert {note["iscrowd"] for note in truth["annotations"]} == {0, 1}


def test_tracks_are_one_object_each(truth: dict[str, Any]) -> None:
    kinds: dict[int, set[int]] = {}
    seen: set[tuple[int, int]] = set()
    for note in truth["annotations"]:
        kinds.setdefault(note["track_id"], set()).add(note["category_id"])
        assert (note["image_id"], note["track_id"]) not in seen
        seen.add((note["image_id"], note["track_id"]))
    assert all(len(classes) == 1 for classes in kinds.values())


@pytest.mark.slow
@pytest.mark.parametrize("number", COMPARED)
def test_the_renderer_still_makes_this_clip(truth: dict[str, Any], decoded: dict[int, tuple[int, NDArray[np.uint8]]], number: int) -> None:
    """A frame of a shot, rendered at a quarter of its size, matches the shipped picture and boxes."""
    shot = demo_clip.SHOTS[number]
    camera, lit = shot.camera.resized(demo_clip.WIDTH // 4, demo_clip.HEIGHT // 4), shot.lights()
    made = scene.assemble(
        np.random.default_rng(shot.seed),
        shot.layout,
        camera,
        lit[0],
        shot.plan,
        INDEX / demo_clip.RATE + 0.2,
        shot.offset,
        0.1,
        shot.rain,
        0.004,
    )
    picture, drawn = FrameRenderer(made, 4, 0.02, lit, shadow_cell=0.1).frame(INDEX, (INDEX + 0.5) / demo_clip.RATE)
    frame, shown = decoded[number]

    shipped = {note["track_id"] % 1000: note for note in truth["annotations"] if note["image_id"] == frame}
    common = [i for i, track in enumerate(drawn.tracks) if int(track) in shipped and drawn.visible[i] > 0.6]
    assert len(common) > 20
    for i in common:
        note = shipped[int(drawn.tracks[i])]
        x, y, width, height = note["bbox"]
        assert note["category_id"] == drawn.kinds[i] + 1
        assert np.abs(4 * drawn.boxes[i] - (x, y, x + width, y + height)).max() < 4

    # the stains of the ground depend on the resolution of its map, which is coarser here
    likeness = np.corrcoef(*(cv2.GaussianBlur(image.mean(2), (0, 0), 1.5).ravel() for image in (picture, shown)))[0, 1]
    assert likeness > 0.9


def test_encoding_numbers_frames_and_keeps_shots_apart(tmp_path: Path, day: Still) -> None:
    for name in ("0_0000", "0_0001", "1_0000"):
        cv2.imwrite(str(tmp_path / f"{name}.png"), day.picture[..., ::-1])
        day.truth.save(tmp_path / f"{name}.npz")
    demo_clip.encode(tmp_path, tmp_path / "out", 26)
    made = json.loads(gzip.decompress((tmp_path / "out" / CLIP_TRUTH.name).read_bytes()))
    info = probe(tmp_path / "out" / CLIP.name)
    assert info.frames == len(made["images"]) == 3
    assert {note["track_id"] // 1000 for note in made["annotations"] if note["image_id"] < 2} == {0}
    assert {note["track_id"] // 1000 for note in made["annotations"] if note["image_id"] == 2} == {1}
    with av.open(str(tmp_path / "out" / CLIP.name)) as file:
        first = next(file.decode(video=0)).to_ndarray(format="rgb24")
    # decoding restores the colours because the file states their matrix
    assert np.abs(first.astype(int).mean((0, 1)) - day.picture.mean((0, 1))).max() < 3
