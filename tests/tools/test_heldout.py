"""Held-out scenes come as videos, each with its truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from tools.street_renderer import scene
from tools.street_renderer.dataset import held_out
from tools.street_renderer.lighting import light
from tools.street_renderer.render.frame_renderer import FrameRenderer


@pytest.mark.slow
def test_a_scene_becomes_a_video_with_its_truth(tmp_path: Path) -> None:
    made = scene.draw(905_001, 160, 96, 3 / held_out.RATE, cell=0.3, lights=light.draw_unseen)
    renderer = FrameRenderer(made, 2, held_out.SHUTTER, shadow_cell=0.3)
    held_out.write_video(renderer, 3, tmp_path / "905001.mp4", tmp_path / "905001.truth.npz")
    video, truth = tmp_path / "905001.mp4", held_out.load(tmp_path / "905001.truth.npz")
    info = probe(video)
    assert (info.width, info.height, info.frames, info.rate) == (160, 96, 3, held_out.RATE)
    assert len(truth) == 3

    frames = [frame for segment in info.segments for frame in decode(info, segment)]
    for i, frame in enumerate(frames):
        picture, true = renderer.frame(i, (i + 0.5) / held_out.RATE)
        assert isinstance(frame, DecodedFrame)
        assert np.abs(frame.image.astype(int) - picture).mean() < 6
        assert np.array_equal(truth[i].boxes, true.boxes)
        assert np.array_equal(truth[i].ignore, true.ignore)

    written = video.stat().st_mtime_ns
    # an existing scene is not rendered again
    held_out.render_scene(905_001, 3, True, tmp_path)
    assert video.stat().st_mtime_ns == written
