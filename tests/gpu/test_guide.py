"""The commands of the guide's pages about devices, GPUs and measuring run as they are printed there, on NVIDIA GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.guide import ON_DEVICES, follow_on_devices
from tests.support.media import make_video


@pytest.mark.parametrize("words", ON_DEVICES, ids=" ".join)
def test_an_example_runs(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if any("cuda:1" in word for word in words):
        request.getfixturevalue("several")  # skips the test where there is one GPU
    monkeypatch.chdir(tmp_path)
    make_video(tmp_path / "street.mp4", 120, (640, 352))
    follow_on_devices(words)
