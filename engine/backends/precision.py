"""Chooses the precision for ``auto``: the fastest one whose detections match fp32, by trials whose outcome is cached.

A trial runs generated pictures in each precision and compares the detections before suppression. The file cache keeps the outcome, so
that only the first start with a model runs trials.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.detection.yolo import decode_cells
from engine.errors import DeviceError
from engine.model.network import Network
from engine.settings import Precision
from engine.types import DeviceId, Image
from plugins.cache import FileCache

MATCHING = 0.99
"""Least share of detections that must match."""

_LEAST_GAIN = 1.1
"""Least gain over the best precision so far. On CPUs, repeated measurements of one network's gain differ by 0.05."""

_METHOD = "2"
"""Part of the key: a new number makes earlier outcomes invalid."""

_KNOWN = [precision for precision in Precision if precision is not Precision.AUTO]
_MIN_IOU = 0.9
_MAX_SCORE_DIFFERENCE = 0.03
_SCORE_FLOOR = 0.1
_LEAST_CANDIDATES = 100
"""If fewer detections reach the floor, this many of the strongest are compared."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The results of one precision for the probe pictures. heads: raw outputs, float32 (pictures, channels, rows, columns).

    speed: in any unit that is the same for all trials on a device.
    """

    heads: list[NDArray[np.float32]]
    speed: float


def resolve_precision(
    asked: Precision,
    device: DeviceId,
    offered: Sequence[Precision],
    network: Network,
    situation: str,
    run: Callable[[Precision, list[Image]], Trial],
) -> tuple[Precision, str]:
    """The precision to build, and the reason in words.

    offered: the precisions of the device. situation: everything else that the outcome depends on (library and version, the device's
    name, threads, batch, …). run: tries one precision on pictures of the network's size.

    Raises:
        DeviceError: the device does not offer the precision of the settings.
    """
    if asked is not Precision.AUTO:
        if asked not in offered:
            raise DeviceError(f"{device}: precision {asked} is not available on this device: choose {', '.join(['auto', *offered])}")
        return asked, "as asked"
    if not offered:
        raise DeviceError(f"{device}: supports none of {', '.join(_KNOWN)}: choose another device")
    if len(offered) == 1:
        return offered[0], "the only one this device offers"
    if Precision.FP32 not in offered:
        return offered[0], "this device has no fp32 to compare with"
    key = "\n".join([_METHOD, network.digest, situation, *offered])
    precision, reason = FileCache().remember(f"{key}\nprecision", lambda: _try_all(offered, network, run))
    return Precision(precision), reason


def probe_pictures(width: int, height: int, count: int = 4) -> list[Image]:
    """Pictures with large soft patches, sharp-edged shapes and some noise; the same at every call."""
    generator = np.random.default_rng(2020)
    pictures = []
    for _ in range(count):
        rows, columns = (np.linspace(0, 7, size).astype(int) for size in (height, width))
        picture = generator.integers(30, 220, (8, 8, 3))[rows][:, columns].astype(np.float64)
        for _ in range(12):
            (left, right), (top, bottom) = np.sort(generator.integers(0, width, 2)), np.sort(generator.integers(0, height, 2))
            picture[top:bottom, left:right] = generator.integers(0, 255, 3)
        picture += generator.normal(0, 6, picture.shape)
        pictures.append(np.clip(picture, 0, 255).astype(np.uint8))
    return pictures


def matching_share(reference: Trial, other: Trial, network: Network) -> float:
    """The share of the reference's detections (a box for one class) that the other trial matches, 0..1."""
    boxes, scores = decode_cells(reference.heads, network.heads, network.width, network.height)
    other_boxes, other_scores = decode_cells(other.heads, network.heads, network.width, network.height)
    count = min(scores.size, max(_LEAST_CANDIDATES, int((scores >= _SCORE_FLOOR).sum())))
    cell, class_id = np.unravel_index(np.argpartition(scores, -count, axis=None)[-count:], scores.shape)
    close = np.abs(scores[cell, class_id] - other_scores[cell, class_id]) <= _MAX_SCORE_DIFFERENCE
    return float((close & (_overlap(boxes[cell], other_boxes[cell]) >= _MIN_IOU)).mean())


def _overlap(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """IoU of each row of a with the same row of b, float32 (n,)."""
    extent = np.maximum(np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]), 0)
    shared = extent.prod(axis=1)
    union = (a[:, 2:] - a[:, :2]).prod(axis=1) + (b[:, 2:] - b[:, :2]).prod(axis=1) - shared
    result: NDArray[np.float32] = shared / np.maximum(union, np.finfo(np.float32).tiny)
    return result


def _try_all(offered: Sequence[Precision], network: Network, run: Callable[[Precision, list[Image]], Trial]) -> tuple[Precision, str]:
    pictures = probe_pictures(network.width, network.height)
    reference = run(Precision.FP32, pictures)
    best, best_speed, reasons = Precision.FP32, reference.speed, []
    for precision in offered:
        if precision is Precision.FP32 or (precision is Precision.MIXED and best is Precision.BF16):
            continue
        trial = run(precision, pictures)
        share, gain = matching_share(reference, trial, network), trial.speed / reference.speed
        reasons.append(f"{precision}: {gain:.2f}× the speed of fp32, {share:.1%} of its boxes equal")
        if share >= MATCHING and trial.speed > best_speed * _LEAST_GAIN:
            best, best_speed = precision, trial.speed
    return best, "; ".join(reasons)
