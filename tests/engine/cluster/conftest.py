"""A real cluster for all tests of this folder, and what a run on this machine finds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.cluster.connection import ClusterConnection
from tests.support.clusters.ray import Raylets, facts
from tests.support.clusters.runs import FRAMES
from tests.support.media import make_video
from tests.support.pool import run_pool, tiny_settings


@pytest.fixture(scope="package")
def raylets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raylets]:
    pytest.importorskip("ray", reason="a cluster needs Ray: pip install 'framefleet[cluster]'")
    if sys.platform != "linux":
        pytest.skip("looks for processes in /proc")
    with Raylets(tmp_path_factory.mktemp("nodes")) as raylets:
        yield raylets


@pytest.fixture(scope="package")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three segments: frames 0 to 107, to 215, and the rest."""
    return make_video(tmp_path_factory.mktemp("cluster") / "video.mp4", FRAMES, (160, 120))


@pytest.fixture(scope="package")
def local(video: Path) -> list[tuple[Any, ...]]:
    """What a run on this machine finds in two copies of the video."""
    seen = run_pool([video, video], settings=tiny_settings())
    return facts(seen.frames[0] + seen.frames[1])


@pytest.fixture
def cluster(raylets: Raylets, tmp_path: Path) -> Iterator[ClusterConnection]:
    raylets.add("beta")
    with ClusterConnection(raylets.address, print, cache=tmp_path / "cache" / "files") as cluster:
        yield cluster
