"""Evaluates sessions: accuracy, curves, confusions, results of each file and the worst frames, also for several sessions side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.errors import UsageError
from framefleet.engine.evaluation.accuracy import ClassAccuracy, measure
from framefleet.engine.evaluation.bootstrap import Interval, drawn_changes, interval
from framefleet.engine.evaluation.errors import FileResult, FrameErrors, by_file, confusion, count_errors
from framefleet.engine.evaluation.fit import Fitted, Frame, fit, true_boxes
from framefleet.engine.evaluation.matching import Boxes, Matches, match
from framefleet.engine.evaluation.precision import CONFIDENCES, Curve, curve
from framefleet.engine.evaluation.truth import Truth
from framefleet.engine.store.session import SessionReader


@dataclass(frozen=True, eq=False)
class Result:
    """The evaluation of one session.

    map50, map50_95: means over the classes with objects. curve: of all classes together. confusion: int64 (classes + 1, classes + 1):
    rows are true classes, columns detected ones; the last row counts detections without an object, the last column missed objects.
    failed: pictures whose frames could not be processed: they count as frames without detections. unused: labels of detections that the
    truth does not know, which are not counted. stored: least confidence of the stored detections. interval50, difference50 and so on:
    None if there are too few pictures; the difference is to the first session.
    """

    name: str
    map50: float
    map50_95: float
    classes: tuple[ClassAccuracy, ...]
    curve: Curve
    confusion: NDArray[np.int64]
    files: tuple[FileResult, ...]
    worst: tuple[FrameErrors, ...]
    detections: int
    failed: int
    unused: tuple[str, ...]
    stored: float
    interval50: Interval | None = None
    interval50_95: Interval | None = None
    difference50: Interval | None = None
    difference50_95: Interval | None = None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Sessions compared with one truth. labels: the truth's. confidence: for counts, confusions and worst frames. left_out: pictures."""

    truth: Path
    labels: tuple[str, ...]
    pictures: int
    objects: int
    left_out: int
    confidence: float
    results: tuple[Result, ...]


def evaluate(
    sessions: Mapping[str, Path],
    truth: Truth,
    *,
    confidence: float = 0.25,
    renamed: Mapping[str, str] | None = None,
    common: bool = False,
    worst: int = 100,
    progress: Callable[[str], None] = lambda _: None,
) -> Evaluation:
    """Compare sessions with a truth. sessions: databases by the names that the results have.

    confidence: at which detections count in all results but the average precision. renamed, common: see ``fit``. worst: number of frames
    in the list of the worst frames. progress: called with each step, in words.

    Raises:
        UsageError: the truth does not fit a session.
        ExportError: a session cannot be read.
    """
    loaded = {}
    for name, path in sessions.items():
        progress(f"reading {name}")
        with SessionReader(path, corrected=False) as reader:
            loaded[name] = fit(truth, reader, renamed, common=common)
    shared = np.array([all(each) for each in zip(*(one.frames for one in loaded.values()), strict=True)], bool)
    if not shared.any():
        raise UsageError(f"the sessions have no picture of {truth.file} in common")
    # the pictures that all sessions have, in order of file and time
    order = sorted(np.flatnonzero(shared).tolist(), key=_position(next(iter(loaded.values())).frames))
    place = np.full(len(shared), -1)
    place[order] = np.arange(len(order))
    objects = _of_pictures(true_boxes(truth, next(iter(loaded.values())).frames), place)
    matched, results = [], []
    for name, one in loaded.items():
        progress(f"matching {name}")
        matches = match(_of_pictures(one.found, place), objects)
        frames = [frame for number in order if (frame := one.frames[number]) is not None]
        matched.append(matches)
        results.append(_result(name, one, matches, objects, frames, truth.labels, confidence, worst))
    progress("estimating how certain the differences are")
    results = _with_intervals(results, matched, objects, len(order), len(truth.labels))
    scored = int((~objects.ignored).sum())
    return Evaluation(truth.file, truth.labels, len(order), scored, int((~shared).sum()), confidence, tuple(results))


def _position(frames: tuple[Frame | None, ...]) -> Callable[[int], tuple[int, int]]:
    def position(number: int) -> tuple[int, int]:
        frame = frames[number]
        return (frame.source, frame.index) if frame is not None else (-1, -1)

    return position


def _of_pictures(boxes: Boxes, place: NDArray[np.int64]) -> Boxes:
    """The boxes of pictures that have a place, which becomes their picture's number."""
    kept = boxes.select(place[boxes.pictures] >= 0)
    return replace(kept, pictures=place[kept.pictures])


def _result(
    name: str,
    fitted: Fitted,
    matches: Matches,
    objects: Boxes,
    frames: Sequence[Frame],
    labels: Sequence[str],
    confidence: float,
    worst: int,
) -> Result:
    accuracy = measure(matches, objects, labels)
    errors = count_errors(matches, objects, len(frames), confidence)
    files, worst_frames = by_file(fitted.sources, frames, errors, matches, objects, len(labels), worst)
    return Result(
        name,
        accuracy.map50,
        accuracy.map50_95,
        accuracy.classes,
        curve(matches, objects),
        confusion(matches, objects, len(labels), confidence),
        files,
        worst_frames,
        len(matches.found),
        sum(frame.failed for frame in frames),
        fitted.unused,
        fitted.stored,
    )


def _with_intervals(results: list[Result], matched: list[Matches], objects: Boxes, pictures: int, classes: int) -> list[Result]:
    changes = drawn_changes(matched, objects, pictures, classes)
    if changes is None:
        return results
    half, whole, first = changes[:, :, 0], changes.mean(axis=2), results[0]
    return [
        replace(
            each,
            interval50=interval(each.map50, half[n]),
            interval50_95=interval(each.map50_95, whole[n]),
            difference50=interval(each.map50 - first.map50, half[n] - half[0], -1.0),
            difference50_95=interval(each.map50_95 - first.map50_95, whole[n] - whole[0], -1.0),
        )
        for n, each in enumerate(results)
    ]


def at_confidence(values: Curve, confidence: float) -> tuple[float, float, float]:
    """Return precision, recall and F1 at a confidence, which is rounded to two decimals."""
    place = int(np.searchsorted(CONFIDENCES, round(confidence, 2) - 1e-9))
    return float(values.precision[place]), float(values.recall[place]), float(values.f1[place])
