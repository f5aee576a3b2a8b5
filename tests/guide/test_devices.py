"""The commands of the pages about devices, GPUs and measuring run as they are printed there, with CPU devices in place of CUDA devices.

On CUDA devices, ``tests/gpu/test_guide.py`` runs them. What stands in: the tests' small model for yolov4; measurements are short.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.guide import ON_DEVICES, follow_on_devices
from tests.support.media import make_video

HERE = [words for words in ON_DEVICES if not {"nvdec", "fp16", "doctor"} & {*words}]
"""The commands for any machine. ``tests/app/cli/test_doctor.py`` runs doctor."""


LONG = ["bench", "scaling"], ["tune", "--model"]
"""Measurements that take longest: see also ``tests/app/cli``."""
MEASURED = (pytest.mark.slow,)


@pytest.mark.usefixtures("short_measurements")
@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words), marks=MEASURED * (words[:2] in LONG)) for words in HERE])
def test_an_example_runs(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_video(tmp_path / "street.mp4", 12, (96, 64))
    follow_on_devices([word.replace("cuda:", "cpu:") for word in words], "--precision", "fp32")
