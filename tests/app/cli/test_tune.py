"""``framefleet tune`` on a CPU. On GPUs: ``tests/gpu/test_tuning.py``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framefleet.engine.backends.openvino.library import offered_precisions, process_core
from framefleet.engine.settings import Precision
from framefleet.plugins.cache import FOLDER_VARIABLE
from tests.support.cli import TINY, run_main
from tests.support.media import make_video


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.bench.tune.SECONDS", 0.05)
    monkeypatch.setattr("framefleet.engine.backends.openvino.backend.TRIAL_SECONDS", 0.03)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.slow  # the test below tunes one device
def test_it_prints_the_engine_of_each_device(tmp_path: Path) -> None:
    video = make_video(tmp_path / "street.mp4", 12, (96, 64))
    run = run_main("tune", str(video), *TINY, "--devices", "cpu:0,cpu:1")
    assert run.status == 0, run.err
    lines = run.out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["cpu:0:", "cpu:1:"]
    assert all("batch 1" in line and "images/s" in line for line in lines)


def test_json_compares_the_engines_before_and_after_and_needs_no_video_for_one_precision(tmp_path: Path) -> None:
    run = run_main("tune", str(tmp_path / "missing.mp4"), *TINY, "--devices", "cpu:0", "--precision", "fp32", "--json")
    assert run.status == 0, run.err
    (tuned,) = json.loads(run.out.splitlines()[-1])["tuned"]
    for engine in tuned["before"], tuned["after"]:
        assert (engine["device"], engine["precision"], engine["batch"], engine["options"]) == ("cpu:0", "fp32", 1, [])
        assert engine["images_per_s"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--devices", "openvino:GPU.9"], "openvino:GPU.9"),
        (["--batch", "0"], "argument --batch: '0' cannot be used"),
    ],
)
def test_what_cannot_be_tuned_is_named(arguments: list[str], message: str) -> None:
    run = run_main("tune", *TINY, *arguments)
    assert run.status == 2
    assert message in run.err


def test_a_precision_that_the_device_lacks_is_named() -> None:
    offered = offered_precisions(process_core(), "CPU")
    lacking = next((each for each in Precision if each is not Precision.AUTO and each not in offered), None)
    if lacking is None:
        pytest.skip("this processor computes in every precision")
    run = run_main("tune", *TINY, "--precision", lacking.value, "--devices", "cpu:0")
    assert run.status == 2
    assert f"{lacking.value} is not available on this device" in run.err
