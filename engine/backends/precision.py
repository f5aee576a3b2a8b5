"""Chooses the precision for ``auto``: the fastest one whose detections match fp32, by trials whose outcome the file cache keeps.

Trials run when an engine is tuned (``Backend.tuning``). Other engines take the outcome, or a first choice if there is none. On CPUs a trial
runs frames of videos in each precision and compares the boxes above the threshold. With too few boxes it takes fp32, and the outcome is not
kept. On GPUs it runs generated pictures and compares the detections before suppression.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.backends.base import reasons
from framefleet.engine.detection.postprocess import decode_cells, detections
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.model.network import Network
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.notices import DeviceError, ModelError, Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import AS_ASKED, Detections, DeviceId, Found, Image, InferenceFailure, of_device
from framefleet.plugins.cache import FileCache

MATCHING = 0.99
"""Least share of detections that must match."""

_MIN_GAIN = 1.1
"""Least gain over the best earlier precision. On CPUs, repeated measurements of one network's gain differ by 0.05."""

MIN_BOXES = 50
"""Least number of fp32's boxes that are compared. With fewer than 100, all must match."""

_METHOD = "3"
"""Part of the key: a new number makes earlier outcomes invalid."""

_KNOWN = [precision for precision in Precision if precision is not Precision.AUTO]
_PICTURES = 4
_MIN_IOU = 0.9
_MAX_SCORE_DIFFERENCE = 0.03
_SCORE_FLOOR = 0.1
_MIN_CANDIDATES = 100
"""If fewer detections reach the floor, this many of the strongest are compared."""


NOT_TUNED = Notice("backends.not_tuned")
"""Why an engine has what it has, if no trial was run on its device."""


@dataclass(frozen=True, eq=False)
class Trial:
    """The results of one precision for some pictures, which are the same in all trials on a device.

    heads: raw outputs, float32 (pictures, channels, rows, columns), or as the reading of an ``OnnxNetwork`` describes them.
    speed: in any unit, the same for all trials.
    """

    heads: list[NDArray[np.float32]]
    speed: float


def resolve_precision(
    asked: Precision,
    device: DeviceId,
    offered: Sequence[Precision],
    network: Model,
    situation: str,
    run: Callable[[Precision], Trial],
    compare: Callable[[Trial, Trial], float] | None = None,
    first: Precision | None = None,
) -> tuple[Precision, Notice]:
    """The precision to build, and the reason.

    offered: the precisions of the device. situation: everything else that the outcome depends on (library and version, the device's
    name, threads, batch, …). run: tries one precision. compare: returns the share of fp32's results
    that another precision has, or raises TooFewBoxesError; None: ``matching_share``. first: run no trials; without the outcome of
    earlier ones, take this precision, and ``NOT_TUNED`` as the reason.

    Raises DeviceError if the device does not offer the precision of the settings.
    """
    if asked is not Precision.AUTO:
        if asked not in offered:
            problem = Notice("backends.precision_not_offered", precision=asked.value, offered=("auto", *(each.value for each in offered)))
            raise DeviceError(of_device(device, problem))
        return asked, AS_ASKED
    if not offered:
        problem = Notice("backends.no_precision", known=tuple(each.value for each in _KNOWN))
        raise DeviceError(of_device(device, problem))
    if len(offered) == 1:
        return offered[0], Notice("backends.only_precision")
    if Precision.FP32 not in offered:
        return offered[0], Notice("backends.no_fp32")
    key = "\n".join([_METHOD, network.digest, situation, *offered, "precision"])
    if first is not None:
        known = FileCache().recall(key)
        return (first, NOT_TUNED) if known is None else (Precision(known[0]), Notice.from_json(known[1]))
    if compare is None:
        assert isinstance(network, Network)  # devices that compare outputs take Darknet's networks only
        compare = partial(matching_share, network=network)
    try:
        precision, reason = FileCache().remember(key, lambda: _try_all(offered, run, compare))
    except TooFewBoxesError as problem:
        return Precision.FP32, problem.notice
    return Precision(precision), Notice.from_json(reason)


class TooFewBoxesError(Exception):
    """There are too few boxes to compare precisions. The notice says how many."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)
        self.notice = notice


def trial_settings(settings: EngineSettings) -> EngineSettings:
    """The settings with which trials find boxes. They depend on the confidence alone, so that runs for other classes share an outcome.

    From the default confidence on, all runs share one. Boxes below 0.1 never count: runs that keep weaker boxes, for trackers or for
    average precision, do not show them.
    """
    default = EngineSettings()
    return replace(default, stored_confidence=min(default.stored_confidence, max(settings.stored_confidence, _SCORE_FLOOR)))


def agreeing_share(reference: Trial, other: Trial, network: Model, settings: EngineSettings) -> float:
    """The share of the boxes above the threshold, of the side with less, that the other side has with the same class, 0..1.

    The threshold is that of the settings, but at least 0.1. A box below it counts as the other side's if the confidences are within 0.03.

    Raises TooFewBoxesError if fp32 has fewer than MIN_BOXES.
    """
    boxes, pictures = count_boxes(reference.heads, network, settings), len(reference.heads[0])
    if boxes < MIN_BOXES:
        raise TooFewBoxesError(Notice("backends.too_few_boxes", boxes=boxes, pictures=pictures))
    strong, weak = (
        [_boxes(trial.heads, network, settings, below) for trial in (reference, other)] for below in (0.0, _MAX_SCORE_DIFFERENCE)
    )
    return min(_found_share(strong[0], weak[1]), _found_share(strong[1], weak[0]))


def count_boxes(heads: Sequence[NDArray[np.float32]], network: Model, settings: EngineSettings) -> int:
    """The number of boxes that ``agreeing_share`` compares. heads: as in ``Trial``, of fp32."""
    return sum(len(found) for found in _boxes(heads, network, settings) if isinstance(found, Detections))


def _boxes(heads: Sequence[NDArray[np.float32]], network: Model, settings: EngineSettings, below: float = 0.0) -> list[Found]:
    """The boxes in each picture. below: how far the confidence may lie below the threshold."""
    whole = [Fit(network.width, network.height, 0, 0, network.width, network.height)] * len(heads[0])
    return detections(network, heads, whole, replace(settings, stored_confidence=max(settings.stored_confidence, _SCORE_FLOOR) - below))


def _found_share(ours: Sequence[Found], theirs: Sequence[Found]) -> float:
    """The share of our boxes that are among theirs."""
    found = count = 0
    for mine, other in zip(ours, theirs, strict=True):
        if isinstance(mine, InferenceFailure) or isinstance(other, InferenceFailure):
            return 0.0
        count += len(mine)
        for box, score, class_id in zip(mine.boxes, mine.scores, mine.class_ids, strict=True):
            alike = (other.class_ids == class_id) & (np.abs(other.scores - score) <= _MAX_SCORE_DIFFERENCE)
            found += bool((alike & (_overlap(np.broadcast_to(box, other.boxes.shape), other.boxes) >= _MIN_IOU)).any())
    return found / max(count, 1)


def probe_pictures(width: int, height: int) -> list[Image]:
    """Four pictures with large soft patches, sharp-edged shapes and some noise; the same at every call."""
    generator = np.random.default_rng(2020)
    pictures = []
    for _ in range(_PICTURES):
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
    count = min(scores.size, max(_MIN_CANDIDATES, int((scores >= _SCORE_FLOOR).sum())))
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


def _try_all(
    offered: Sequence[Precision],
    run: Callable[[Precision], Trial],
    compare: Callable[[Trial, Trial], float],
) -> tuple[Precision, list[Any]]:
    """The best precision, and the results of all trials as JSON."""
    reference = run(Precision.FP32)
    best, best_speed, results = Precision.FP32, reference.speed, list[Notice]()
    for precision in offered:
        if precision is Precision.FP32 or (precision is Precision.MIXED and best is Precision.BF16):
            continue
        try:
            trial = run(precision)
        except (DeviceError, ModelError) as problem:
            results.append(Notice("backends.precision_failed", precision=precision.value, problem=problem.notice))
            continue
        share, gain = compare(reference, trial), trial.speed / reference.speed
        results.append(Notice("backends.precision_tried", precision=precision.value, gain=gain, share=share, matching=MATCHING))
        if share >= MATCHING and trial.speed > best_speed * _MIN_GAIN:
            best, best_speed = precision, trial.speed
    return best, reasons(*results).as_json()
