"""Trials of precisions on frames of the user's sources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from framefleet.engine.backends.openvino.backend import Trials
from framefleet.engine.backends.openvino.engine import Builder
from framefleet.engine.backends.precision import TooFewBoxesError, probe_pictures
from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.model.network import Placement
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId
from tests.support.models import tiny_network


def trials_on(sources: Iterator[list[HostImage]], per_picture: int) -> Trials:
    builder = Builder(DeviceId("cpu", "0"), tiny_network(), EngineSettings())
    return Trials(builder, None, lambda: sources, False, Placement(), lambda heads: per_picture * len(heads[0]))


@pytest.mark.parametrize(("per_picture", "pictures", "left"), [(60, 1, 2), (20, 3, 1), (1, 4, 0)], ids=["first", "second", "all"])
def test_sources_are_tried_until_there_are_enough_boxes(per_picture: int, pictures: int, left: int) -> None:
    frames = probe_pictures(96, 96)
    sources = iter([list[HostImage](), frames[:1], frames[1:3], frames[3:]])
    trials = trials_on(sources, per_picture)
    assert all(len(head) == pictures for head in trials.run(Precision.FP32).heads)
    assert len([*sources]) == left
    assert all(len(head) == pictures for head in trials.run(Precision.FP32).heads), "each precision gets the same frames"


def test_without_a_frame_nothing_is_built() -> None:
    with pytest.raises(TooFewBoxesError, match="no frame of a source"):
        trials_on(iter([[], []]), 9).run(Precision.FP32)
