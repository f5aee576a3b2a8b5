"""Mean counts of objects over time."""

from __future__ import annotations

import numpy as np
import pytest

from framefleet.engine.store.appearances import PARTS, mean_counts
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.store import LABELS, make_frame, video_info


def written(path, frames):
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 1000))
        writer.add_frames(frames)
    return SessionReader(path)


def test_means_are_of_the_frames_of_each_part(tmp_path):
    """Two frames a part: the second half has one object in each second frame only, in addition to that in all frames."""
    count = 2 * PARTS
    frames = (make_frame(0, index, boxes=2 if index >= PARTS and index % 2 else 1) for index in range(count))
    with written(tmp_path / "s.sqlite", frames) as reader:
        means, span = mean_counts(reader, 0)
        assert span == (0.0, pytest.approx(count / 25))
        assert list(means) == [0, 1], "the most frequent class first"
        np.testing.assert_allclose(means[0], 1)
        np.testing.assert_allclose(means[1][: PARTS // 2 - 1], 0)
        np.testing.assert_allclose(means[1][PARTS // 2 + 1 :], 0.5, atol=0.2)
        reader.confidence = 0.85
        assert list(mean_counts(reader, 0)[0]) == [0], "the second object has a lower confidence"


def test_failed_frames_do_not_count_and_gaps_are_filled(tmp_path):
    """Every tenth frame was taken, and half of those failed."""
    frames = (make_frame(0, index, boxes=1, failure="broken" if index % 20 else None) for index in range(0, 400, 10))
    with written(tmp_path / "s.sqlite", frames) as reader:
        np.testing.assert_allclose(mean_counts(reader, 0)[0][0], 1)


def test_a_source_without_frames_has_no_counts(tmp_path):
    with written(tmp_path / "s.sqlite", ()) as reader:
        assert mean_counts(reader, 0) == ({}, (0.0, 0.0))


def test_there_is_nothing_behind_a_part(tmp_path):
    """The first two of four seconds were detected."""
    with written(tmp_path / "s.sqlite", (make_frame(0, index, boxes=1) for index in range(50))) as reader:
        means, span = mean_counts(reader, 0, 4.0)
        assert span == (0.0, 4.0)
        np.testing.assert_allclose(means[0], np.repeat([1, 0], PARTS // 2))
