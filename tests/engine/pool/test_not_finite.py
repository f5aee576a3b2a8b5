"""A network whose outputs overflow for some frames: these frames fail with the reason, the others are inferred."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.detection.postprocess import NOT_FINITE
from framefleet.engine.settings import Isolation, ModelFiles, Parallel
from tests.support.media import make_video
from tests.support.models import overflowing_files
from tests.support.pool import CPUS, run_pool, tiny_settings

FRAMES, LIGHT = 40, frozenset({5, 6, 30})


def dark_or_light(number: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    return np.full((size[1], size[0], 3), 255 if number in LIGHT else 2 * number, np.uint8)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("light") / "video.mp4", FRAMES, (160, 120), gop=1, picture=dark_or_light)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelFiles:
    return overflowing_files(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize(
    ("parallel", "isolation"),
    [
        (Parallel.SEGMENTS, Isolation.PROCESS),
        (Parallel.STREAMS, Isolation.THREAD),
        pytest.param(Parallel.FRAMES, Isolation.PROCESS, marks=pytest.mark.slow),
        (Parallel.FRAMES, Isolation.THREAD),
        pytest.param(Parallel.TILES, Isolation.PROCESS, marks=pytest.mark.slow),
    ],
)
def test_only_frames_without_finite_outputs_fail(parallel: Parallel, isolation: Isolation, video: Path, model: ModelFiles) -> None:
    seen = run_pool([video], CPUS, tiny_settings(parallel, model, batch=4, isolation=isolation))
    assert seen.failed(0) == dict.fromkeys(sorted(LIGHT), NOT_FINITE.reason)
    assert seen.finished[0].ledger.failed == {NOT_FINITE.reason: len(LIGHT)}
    assert seen.finished[0].ledger.inferred == FRAMES - len(LIGHT)
    assert not seen.failures, "the engine works"
