from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.backends import precision
from framefleet.engine.backends.precision import (
    MATCHING,
    NOT_TUNED,
    Trial,
    agreeing_share,
    matching_share,
    probe_pictures,
    resolve_precision,
    trial_settings,
)
from framefleet.engine.model.network import Network
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import AS_ASKED, DeviceId
from tests.support.models import tiny_network

CPU = DeviceId("cpu", "0")
BOTH = (Precision.FP32, Precision.BF16)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "framefleet" / "plans"


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


def heads(network: Network, error: float = 0.0) -> list[np.ndarray]:
    random, noise = np.random.default_rng(0), np.random.default_rng(1)
    shapes = [(4, *layer.shape) for layer in network.heads]
    return [(random.normal(0, 1, shape) + error * noise.normal(0, 1, shape)).astype(np.float32) for shape in shapes]


class Runner:
    """A device whose bf16 has a given speed and error."""

    def __init__(self, network: Network, speed: float, error: float) -> None:
        self.trials = {Precision.FP32: Trial(heads(network), 10.0), Precision.BF16: Trial(heads(network, error), speed)}
        self.runs = 0

    def __call__(self, precision: Precision) -> Trial:
        self.runs += 1
        return self.trials[precision]


@pytest.mark.parametrize(
    ("speed", "error", "chosen"),
    [(20.0, 0.001, Precision.BF16), (20.0, 0.5, Precision.FP32), (9.0, 0.0, Precision.FP32)],
    ids=["faster and equal", "faster but different", "equal but slower"],
)
def test_auto_is_the_fastest_that_matches(network: Network, speed: float, error: float, chosen: Precision) -> None:
    precision, reason = resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", Runner(network, speed, error))
    assert precision is chosen
    assert f"bf16: {speed / 10:.2f}× the speed of fp32" in str(reason)
    assert str(reason).endswith("of its boxes equal (99% needed)")


def test_a_precision_that_cannot_be_built_is_named_and_not_taken(network: Network) -> None:
    def run(precision: Precision) -> Trial:
        if precision is Precision.BF16:
            raise DeviceError(Notice("backends.plan_not_loaded", library="TensorRT"))
        return Trial(heads(network), 10.0)

    precision, reason = resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", run)
    assert precision is Precision.FP32
    assert str(reason) == "bf16 cannot be used: TensorRT cannot load the plan; its messages above say why"


@pytest.mark.parametrize(
    ("error", "mixed_speed", "chosen"),
    [(0.001, 12.0, Precision.BF16), (0.5, 12.0, Precision.MIXED), (0.5, 10.8, Precision.FP32)],
    ids=["the fastest matches", "only the tail may be rough", "no gain worth the name"],
)
def test_mixed_is_for_networks_that_bf16_does_not_suit(network: Network, error: float, mixed_speed: float, chosen: Precision) -> None:
    runner = Runner(network, 20.0, error)
    runner.trials[Precision.MIXED] = Trial(heads(network, 0.001), mixed_speed)
    precision, reason = resolve_precision(Precision.AUTO, CPU, (*BOTH, Precision.MIXED), network, "here", runner)
    assert precision is chosen
    assert ("mixed:" in str(reason)) == (chosen is not Precision.BF16)


def test_it_is_tried_once_for_each_situation(network: Network) -> None:
    runner = Runner(network, 20.0, 0.0)
    first = resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", runner)
    assert resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", runner) == first
    assert runner.runs == 2
    resolve_precision(Precision.AUTO, CPU, BOTH, network, "elsewhere", runner)
    resolve_precision(Precision.AUTO, CPU, BOTH, tiny_network(seed=2), "here", runner)
    assert runner.runs == 6


def test_without_trials_it_is_the_first_choice_until_a_trial_has_run(network: Network) -> None:
    runner = Runner(network, 20.0, 0.0)
    known = Precision.AUTO, CPU, BOTH, network, "here", runner
    assert resolve_precision(*known, first=Precision.FP32) == (Precision.FP32, NOT_TUNED)
    assert runner.runs == 0
    tuned = resolve_precision(*known)
    assert tuned[0] is Precision.BF16
    assert resolve_precision(*known, first=Precision.FP32) == tuned
    assert runner.runs == 2


@pytest.mark.parametrize(("confidence", "compared"), [(0.9, 0.25), (0.25, 0.25), (0.2, 0.2), (0.005, 0.1)])
def test_trials_of_most_runs_compare_the_same_boxes(confidence: float, compared: float) -> None:
    settings = EngineSettings(stored_confidence=confidence, iou=0.3, classes=frozenset({1}))
    assert trial_settings(settings) == EngineSettings(stored_confidence=compared)


def test_devices_alike_that_try_at_the_same_time_take_the_first_ones_outcome(network: Network, cache: Path) -> None:
    class Slower(Runner):
        """Another device has had its outcome in between, and gained more."""

        def __call__(self, precision: Precision) -> Trial:
            if precision is Precision.BF16:
                self.first = resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", Runner(network, 20.0, 0.0))
            return super().__call__(precision)

    slower = Slower(network, 10.0, 0.0)
    assert resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", slower) == slower.first
    assert slower.first[0] is Precision.BF16
    assert len(list(cache.iterdir())) == 1


def test_without_hard_links_it_is_remembered_as_well(network: Network, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError("no hard links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    test_it_is_tried_once_for_each_situation(network)
    assert [file.suffix for file in cache.iterdir()] == [".built"] * 3


@pytest.mark.parametrize("junk", [b"", b"\xff\x00"])
def test_a_damaged_memory_is_made_anew(network: Network, cache: Path, junk: bytes) -> None:
    runner = Runner(network, 20.0, 0.0)
    resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", runner)
    (entry,) = cache.iterdir()
    entry.write_bytes(junk)
    assert resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", runner)[0] is Precision.BF16
    assert runner.runs == 4


def test_a_cache_that_cannot_be_written_is_no_obstacle(network: Network, tmp_path: Path) -> None:
    (tmp_path / "framefleet").write_text("a file where a folder should be")
    assert resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", Runner(network, 20.0, 0.0))[0] is Precision.BF16


def test_one_precision_needs_no_trial(network: Network) -> None:
    runner = Runner(network, 20.0, 0.0)
    assert resolve_precision(Precision.AUTO, CPU, (Precision.FP32,), network, "here", runner)[0] is Precision.FP32
    assert resolve_precision(Precision.BF16, CPU, BOTH, network, "here", runner) == (Precision.BF16, AS_ASKED)
    assert resolve_precision(Precision.AUTO, CPU, (Precision.FP16,), network, "here", runner)[0] is Precision.FP16
    half = resolve_precision(Precision.AUTO, CPU, (Precision.FP16, Precision.BF16), network, "here", runner)
    assert half == (Precision.FP16, Notice("backends.no_fp32"))
    assert runner.runs == 0


@pytest.mark.parametrize(("asked", "offered"), [(Precision.FP16, BOTH), (Precision.AUTO, ())])
def test_what_cannot_be_had_is_an_error_that_names_the_device(network: Network, asked: Precision, offered: tuple[Precision, ...]) -> None:
    with pytest.raises(DeviceError, match="cpu:0: "):
        resolve_precision(asked, CPU, offered, network, "here", Runner(network, 20.0, 0.0))


def test_matching_counts_candidates_not_cells(network: Network) -> None:
    reference = Trial(heads(network), 1.0)
    assert matching_share(reference, reference, network) == 1.0
    shifted = [head.copy() for head in reference.heads]
    shifted[0][:, 0] += 3.0  # the centres of the first anchor of one head
    share = matching_share(reference, Trial(shifted, 1.0), network)
    assert 0.3 < share < 0.95


def test_probe_pictures_are_the_same_everywhere() -> None:
    first, again = probe_pictures(64, 32), probe_pictures(64, 32)
    assert [picture.shape for picture in first] == [(32, 64, 3)] * 4
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert precision.MATCHING == 0.99


def strong_heads(network: Network, error: float = 0.0, objectness: float = 0.0, pictures: int = 1) -> list[np.ndarray]:
    """Raw outputs with many confident boxes. error: of every value. objectness: added."""
    random, noise = np.random.default_rng(0), np.random.default_rng(1)
    outputs = []
    for layer in network.heads:
        values = random.normal(0, 1, (pictures, len(layer.anchors), 5 + layer.classes, *layer.shape[1:]))
        values[:, :, 4] += objectness
        outputs.append((values + error * noise.normal(0, 1, values.shape)).reshape(pictures, *layer.shape).astype(np.float32))
    return outputs


@pytest.mark.parametrize(("error", "agrees"), [(0.0, True), (0.001, True), (0.3, False)])
def test_boxes_above_the_threshold_are_compared(network: Network, error: float, agrees: bool) -> None:
    settings = EngineSettings(stored_confidence=0.3)
    exact, other = Trial(strong_heads(network), 1.0), Trial(strong_heads(network, error), 1.0)
    share = agreeing_share(exact, other, network, settings)
    assert (share >= MATCHING) is agrees
    assert share == agreeing_share(other, exact, network, settings)


def test_boxes_that_only_one_side_has_count_on_both_sides(network: Network) -> None:
    settings = EngineSettings(stored_confidence=0.3)
    exact, fewer = Trial(strong_heads(network), 1.0), Trial(strong_heads(network), 1.0)
    fewer.heads[0] = np.full_like(fewer.heads[0], -9)
    for pair in ((exact, fewer), (fewer, exact)):
        assert agreeing_share(*pair, network, settings) < 0.9


def test_boxes_that_only_trackers_use_are_not_compared(network: Network) -> None:
    exact, other = (Trial(strong_heads(network, error, objectness=-3), 1.0) for error in (0, 0.02))
    shares = {agreeing_share(exact, other, network, EngineSettings(stored_confidence=value)) for value in (0.005, 0.05, 0.1)}
    assert len(shares) == 1


def test_outputs_that_are_not_finite_do_not_match(network: Network) -> None:
    broken = Trial(strong_heads(network, pictures=2), 1.0)
    broken.heads[0][1] = np.nan
    assert agreeing_share(Trial(strong_heads(network, pictures=2), 1.0), broken, network, EngineSettings(stored_confidence=0.3)) == 0


def test_too_few_boxes_mean_fp32_and_are_tried_again(network: Network) -> None:
    runner = Runner(network, 20.0, 0.0)
    runner.trials = {
        precision: Trial(strong_heads(network, objectness=-9), 10.0 * speed) for precision, speed in zip(BOTH, (1, 2), strict=True)
    }
    compare = partial(agreeing_share, network=network, settings=EngineSettings(stored_confidence=0.3))
    precision, reason = resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", runner, compare)
    assert (precision, reason) == (Precision.FP32, Notice("backends.too_few_boxes", boxes=0, pictures=1))
    runner.trials = {Precision.FP32: Trial(strong_heads(network), 10.0), Precision.BF16: Trial(strong_heads(network), 20.0)}
    assert resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", runner, compare)[0] is Precision.BF16
    runs = runner.runs
    assert resolve_precision(Precision.AUTO, CPU, BOTH, network, "here", runner, compare)[0] is Precision.BF16
    assert runner.runs == runs
