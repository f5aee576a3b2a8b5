"""The layers that something else than TensorRT's plan computes, and the trials that choose them."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from framefleet.engine.backends.cudnn.build import CudnnBuilder
from framefleet.engine.backends.precision import MATCHING, Trial, matching_share
from framefleet.engine.cuda.memory import OutOfMemoryError
from framefleet.engine.errors import DeviceError
from framefleet.engine.model.network import Network
from framefleet.engine.notices import Notice

LAYER_NAMES = {"first_convolution": Notice("backends.layer_first"), "mish": Notice("backends.layer_mish")}

LEAST_GAIN = 1.01
"""Least speedup of the network by a custom layer: smaller differences may be chance."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CustomLayers:
    """The layers that something else computes instead of TensorRT's plan; all need FP16.

    first_convolution: our kernel computes the network's first layer, if it suits; it writes channels last. mish: our kernel computes Mish
    after each convolution, in place: every such convolution then ends a plan. cudnn: cuDNN and our kernels compute all layers. pointwise:
    with cuDNN, our kernels also compute pairs of pointwise convolutions.
    """

    first_convolution: bool = False
    mish: bool = False
    cudnn: bool = False
    pointwise: bool = False


PLAN_ONLY = CustomLayers()

Run: TypeAlias = Callable[[Notice, CustomLayers], Trial]
"""Builds an engine with these layers, times it and runs some pictures. The notice names it in progress messages."""


def try_layers(
    run: Run, candidates: Sequence[str], network: Network, tensorrt: str, cudnn: CudnnBuilder | None
) -> tuple[CustomLayers, list[Notice]]:
    """Add one candidate after the other, and keep it if the network becomes faster. Returns the layers, and the results that count.

    candidates: fields of ``CustomLayers``. tensorrt: name and version of the library. cudnn: None = do not try it.
    """
    exact = fastest = run(Notice("backends.no_custom_layers"), PLAN_ONLY)
    best, results = PLAN_ONLY, list[Notice]()
    for candidate in candidates:
        name, layers = LAYER_NAMES[candidate], replace(best, **{candidate: True})
        try:
            trial = run(Notice("backends.separate_layer", name=name), layers)
        except OutOfMemoryError:  # cutting the network takes more memory than one plan does
            continue
        if layer_pays(exact, fastest, trial, network):
            results.append(Notice("backends.faster_with_layer", gain=trial.speed / fastest.speed - 1, name=name))
            best, fastest = layers, trial
    if cudnn is not None:
        chosen, result = _try_cudnn(run, cudnn, network, exact, fastest, tensorrt)
        if chosen is not None:
            return chosen, [result]
        results.append(result)
    return best, results


def _try_cudnn(
    run: Run, cudnn: CudnnBuilder, network: Network, exact: Trial, before: Trial, tensorrt: str
) -> tuple[CustomLayers | None, Notice]:
    """Try cuDNN against the fastest engine of TensorRT, without and with our kernels for pairs of pointwise convolutions."""
    best, fastest, share, library = None, before, 0.0, str(cudnn.library)
    for pairs in (False, True)[: 1 + cudnn.has_pairs]:
        layers = CustomLayers(cudnn=True, pointwise=pairs)
        try:
            trial = run(Notice("backends.cudnn_with_pairs" if pairs else "backends.cudnn", library=library), layers)
        except DeviceError as problem:
            _log.warning("%s: %s", library, problem)
            return None, Notice("backends.cudnn_failed", library=library, problem=problem.notice)
        share = max(share, trial.speed / before.speed)
        if layer_pays(exact, fastest, trial, network):
            best, fastest = layers, trial
    if best is None:
        return None, Notice("backends.cudnn_slower", library=library, share=share)
    gain = fastest.speed / before.speed - 1
    code = "backends.faster_with_cudnn_pairs" if best.pointwise else "backends.faster_with_cudnn"
    return best, Notice(code, gain=gain, library=library, tensorrt=tensorrt)


def layer_pays(exact: Trial, fastest: Trial, trial: Trial, network: Network) -> bool:
    """Whether an engine with one more custom layer is measurably faster than ``fastest`` and has the detections of ``exact``."""
    return trial.speed >= LEAST_GAIN * fastest.speed and matching_share(exact, trial, network) >= MATCHING
