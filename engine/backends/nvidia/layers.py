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

LAYER_NAMES = {"first_convolution": "the first convolution", "mish": "Mish"}

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

Run: TypeAlias = Callable[[str, CustomLayers], Trial]
"""Builds an engine with these layers, times it and runs some pictures. The text names it in progress messages."""


def try_layers(
    run: Run, candidates: Sequence[str], network: Network, tensorrt: str, cudnn: CudnnBuilder | None
) -> tuple[CustomLayers, str]:
    """Add one candidate after the other, and keep it if the network becomes faster. Returns the layers, and the gain in words.

    candidates: fields of ``CustomLayers``. tensorrt: name and version of the library. cudnn: None = do not try it.
    """
    exact = fastest = run("no custom layers", PLAN_ONLY)
    best, reasons = PLAN_ONLY, []
    for candidate in candidates:
        name, layers = LAYER_NAMES[candidate], replace(best, **{candidate: True})
        try:
            trial = run(f"{name} in a layer of its own", layers)
        except OutOfMemoryError:  # cutting the network takes more memory than one plan does
            continue
        if layer_pays(exact, fastest, trial, network):
            reasons.append(f"{_gain(trial, fastest)} faster with {name} in a layer of its own")
            best, fastest = layers, trial
    if cudnn is not None:
        chosen, reason = _try_cudnn(run, cudnn, network, exact, fastest)
        if chosen is not None:
            return chosen, f"{reason} than with {tensorrt}"
        reasons.append(reason)
    return best, ", ".join(reasons)


def _try_cudnn(run: Run, cudnn: CudnnBuilder, network: Network, exact: Trial, tensorrt: Trial) -> tuple[CustomLayers | None, str]:
    """Try cuDNN against the fastest engine of TensorRT, without and with our kernels for pairs of pointwise convolutions."""
    best, fastest, share = None, tensorrt, 0.0
    for pairs in (False, True)[: 1 + cudnn.has_pairs]:
        layers = CustomLayers(cudnn=True, pointwise=pairs)
        try:
            trial = run(f"{cudnn.library}{' with pairs of convolutions' * pairs}", layers)
        except DeviceError as problem:
            _log.warning("%s: %s", cudnn.library, problem)
            return None, f"{cudnn.library} cannot be used ({problem})"
        share = max(share, trial.speed / tensorrt.speed)
        if layer_pays(exact, fastest, trial, network):
            best, fastest = layers, trial
    if best is None:
        return None, f"{cudnn.library} has {share:.1%} of its speed"
    own = " and kernels of our own for pairs of pointwise convolutions" * best.pointwise
    return best, f"{_gain(fastest, tensorrt)} faster with {cudnn.library}{own}"


def layer_pays(exact: Trial, fastest: Trial, trial: Trial, network: Network) -> bool:
    """Whether an engine with one more custom layer is measurably faster than ``fastest`` and has the detections of ``exact``."""
    return trial.speed >= LEAST_GAIN * fastest.speed and matching_share(exact, trial, network) >= MATCHING


def _gain(trial: Trial, before: Trial) -> str:
    return f"{100 * (trial.speed / before.speed - 1):.1f}%"
