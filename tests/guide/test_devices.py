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


LONG = ["bench", "scaling"], ["bench", "pipeline"], ["bench", "model"], ["tune", "--model"]
"""Commands that ``tests/app/cli`` has, too."""


def _marks(words: list[str]) -> tuple[pytest.MarkDecorator, ...]:
    """Which examples are slow: those of ``LONG``, and all that detect but the one with the most options."""
    return (pytest.mark.slow,) * (words[:2] in LONG or (words[0] == "detect" and "--parallel" not in words))


@pytest.mark.usefixtures("short_measurements")
@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words), marks=_marks(words)) for words in HERE])
def test_an_example_runs(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_video(tmp_path / "street.mp4", 12, (96, 64))
    follow_on_devices([word.replace("cuda:", "cpu:") for word in words], "--precision", "fp32")
