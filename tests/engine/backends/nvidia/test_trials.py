"""What the trials on a device decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.core")

from framefleet.engine.backends.nvidia.engine import CustomLayers
from framefleet.engine.backends.nvidia.trials import FIRST_BATCH, Builder, layer_pays
from framefleet.engine.backends.precision import MATCHING, Trial
from framefleet.engine.backends.tensorrt.library import Library
from framefleet.engine.cuda.memory import OutOfMemoryError
from framefleet.engine.model.load import load_model
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId
from framefleet.plugins.cache import FileCache
from tests.support.models import tiny_network
from tests.support.onnx_models import write_yolox

NETWORK = tiny_network()
OWN = "and kernels of our own for pairs of pointwise convolutions"


def trial(speed: float, error: float = 0.0) -> Trial:
    random = np.random.default_rng(3)
    heads = [random.normal(0, 1, (2, *head.shape)).astype(np.float32) for head in NETWORK.heads]
    return Trial([values + error * random.normal(0, 1, values.shape).astype(np.float32) for values in heads], speed)


def trials_of(remaining: list[float | None]) -> Callable[..., Trial]:
    """Trials that take these speeds from the list; None: the memory does not suffice."""

    def run(*_: Any) -> Trial:
        speed = remaining.pop(0)
        if speed is None:
            raise OutOfMemoryError("too large")
        return trial(speed)

    return run


@pytest.mark.parametrize(
    ("speed", "error", "pays"),
    [(103.0, 0.001, True), (103.0, 0.5, False), (100.5, 0.0, False)],
    ids=["faster and equal", "faster but different", "equal but hardly faster"],
)
def test_a_custom_layer_has_to_be_faster_and_right(speed: float, error: float, pays: bool) -> None:
    assert layer_pays(trial(100.0), trial(100.0), trial(speed, error), NETWORK) is pays


@pytest.mark.parametrize(
    ("speeds", "chosen", "reason"),
    [
        ((100, 103, 104), CustomLayers(True), "3.0% faster with the first convolution in a layer of its own"),
        ((100, 90, 102), CustomLayers(mish=True), "2.0% faster with Mish in a layer of its own"),
        ((100, 110, 121), CustomLayers(True, True), "10.0% faster with Mish in a layer of its own"),
        ((100, 110, None), CustomLayers(True), "10.0% faster with the first convolution in a layer of its own"),
        ((100, 90, 99), CustomLayers(), ""),
    ],
)
def test_the_first_convolution_and_mish_are_tried_once(
    speeds: Sequence[float | None], chosen: CustomLayers, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """speeds: without custom layers, with the first one, and with Mish beside what paid; None: the memory does not suffice."""
    remaining = list(speeds)
    builder = WithoutDevice(trials_of(remaining), tmp_path)
    monkeypatch.setattr("framefleet.engine.backends.nvidia.trials.first_convolution", lambda network: network.layers[0])
    for _ in range(2):
        layers, why = builder.choose_layers(Precision.FP16, 4)
        assert layers == chosen
        assert str(why[-1] if why else "") == reason
    assert not remaining
    assert builder.choose_layers(Precision.FP32, 4) == (CustomLayers(), [])


@pytest.mark.parametrize(
    ("speeds", "chosen", "reason"),
    [
        (
            (100, 90, 117, 126),
            CustomLayers(cudnn=True, pointwise=True, fastest=True),
            f"26.0% faster with cuDNN 9 {OWN} than with TensorRT 10",
        ),
        ((100, 90, 117, 110), CustomLayers(cudnn=True, fastest=True), "17.0% faster with cuDNN 9 than with TensorRT 10"),
        (
            (100, 110, 108, 132),
            CustomLayers(cudnn=True, pointwise=True, fastest=True),
            f"20.0% faster with cuDNN 9 {OWN} than with TensorRT 10",
        ),
        ((100, 110, 97, 99), CustomLayers(mish=True), "10.0% faster with Mish in a layer of its own; cuDNN 9 has 90.0% of its speed"),
        ((100, 90, None), CustomLayers(), "cuDNN 9 cannot be used (too large)"),
    ],
)
def test_cudnn_is_tried_against_tensorrt(speeds: Sequence[float | None], chosen: CustomLayers, reason: str, tmp_path: Path) -> None:
    """speeds: TensorRT's without and with Mish, then cuDNN's without and with our kernels for pairs of convolutions."""
    remaining = list(speeds)
    builder = WithoutDevice(trials_of(remaining), tmp_path, cudnn=Cudnn())
    for _ in range(2):
        layers, why = builder.choose_layers(Precision.FP16, 4)
        assert (layers, "; ".join(map(str, why))) == (chosen, reason)
    assert not remaining
    assert builder.library_of(chosen) == ("cuDNN 9" if chosen.cudnn else "TensorRT 10")
    assert builder.choose_layers(Precision.FP32, 4) == (CustomLayers(), [])


def test_a_network_that_cudnn_cannot_compute_is_left_to_tensorrt(tmp_path: Path) -> None:
    refused = Notice("backends.unsupported_layer", index=3, kind="Sam")
    why = Notice("backends.cudnn_cannot_compute", library="cuDNN 9", problem=refused)
    builder = WithoutDevice(trials_of([100, 90]), tmp_path, why=why)
    assert builder.choose_layers(Precision.FP16, 4) == (CustomLayers(), [why])


class Cudnn:
    """In place of ``CudnnBuilder``, which needs a device."""

    library, has_pairs, key = "cuDNN 9", True, "cuDNN 9 …"


class WithoutDevice(Builder):
    """Chooses engines without a device. run: builds and times one. cudnn: None = there is none, because of ``why``."""

    def __init__(
        self,
        run: Callable[..., Trial],
        folder: Path,
        tuning: bool = True,
        name: str = "TensorRT",
        cudnn: Cudnn | None = None,
        why: Notice | None = None,
        model: Model = NETWORK,
        settings: EngineSettings | None = None,
    ) -> None:
        self._trial = run  # type: ignore[method-assign]
        self._device, self._model, self._cache, self.situation = DeviceId("cuda", "0"), model, FileCache(folder), "here"
        self.library, self._cudnn, self._without_cudnn = Library(None, name, (10,)), cudnn, why  # type: ignore[assignment]
        self._tuning, self._settings, self._pictures = tuning, settings or EngineSettings(), [None] * 2  # type: ignore[assignment]


def test_tensorrt_rtx_is_not_cut_at_every_mish(tmp_path: Path) -> None:
    builder = WithoutDevice(trials_of([100]), tmp_path, name="TensorRT-RTX")
    assert builder.choose_layers(Precision.FP16, 4) == (CustomLayers(), [])


def test_a_file_that_takes_one_picture_at_once_has_batch_1(tmp_path: Path) -> None:
    model = load_model(write_yolox(tmp_path / "a.onnx"))
    builder = WithoutDevice(trials_of([]), tmp_path, model=model)
    assert builder.choose_batch(Precision.FP32) == (1, Notice("backends.batch_of_file"))
    assert builder.choose_layers(Precision.FP16, 1) == (CustomLayers(), [])
    with pytest.raises(DeviceError, match="takes one picture at once: leave out --batch"):
        WithoutDevice(trials_of([]), tmp_path, model=model, settings=EngineSettings(batch=4)).choose_batch(Precision.FP32)


@pytest.mark.parametrize("pairs", [False, True])
def test_without_tuning_nothing_is_tried(pairs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = WithoutDevice(trials_of([]), tmp_path, tuning=False)
    assert builder.choose_layers(Precision.FP16, 32) == (CustomLayers(), [])
    assert builder.choose_batch(Precision.FP16) == (FIRST_BATCH, Notice("backends.first_batch"))
    monkeypatch.setattr(Cudnn, "has_pairs", pairs)
    builder = WithoutDevice(trials_of([]), tmp_path, tuning=False, cudnn=Cudnn())
    assert builder.choose_layers(Precision.FP16, 32) == (CustomLayers(cudnn=True, pointwise=pairs), [])
    assert builder.choose_layers(Precision.FP32, 32) == (CustomLayers(), [])


def test_later_engines_have_what_tuning_has_found(tmp_path: Path) -> None:
    tuned = WithoutDevice(trials_of([100, 110, 100, 150, 151, 150, 150, *[150] * 8]), tmp_path)
    layers, batch = tuned.choose_layers(Precision.FP16, 4), tuned.choose_batch(Precision.FP16)
    later = WithoutDevice(trials_of([]), tmp_path, tuning=False)
    assert later.choose_layers(Precision.FP16, 4) == layers
    assert layers[0] == CustomLayers(mish=True)
    assert later.choose_batch(Precision.FP16) == batch
    assert batch[0] == 8


@pytest.mark.parametrize(("error", "equal"), [(0.0, True), (0.5, False)])
def test_an_engine_that_no_trial_has_compared_is_compared_once(error: float, equal: bool, tmp_path: Path) -> None:
    builder = WithoutDevice(trials_of([]), tmp_path, tuning=False)
    assert builder.known_share() is None
    share = builder.share_of_exact(trial(0).heads, trial(0, error).heads)
    assert (share >= MATCHING) is equal
    assert WithoutDevice(trials_of([]), tmp_path, tuning=False).known_share() == share


def test_where_the_cpu_cannot_compute_the_network_the_gpu_does(tmp_path: Path) -> None:
    remaining: list[float | None] = [100]
    builder = WithoutDevice(trials_of(remaining), tmp_path, tuning=False)
    assert builder.share_of_exact(None, trial(0).heads) == 1.0
    assert not remaining
