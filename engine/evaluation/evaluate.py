"""Evaluates sessions: accuracy, curves, confusions, results of each file and the worst frames, also for several sessions side by side.

``draw`` in the second half estimates how much the mean average precision would vary with other pictures (bootstrap).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation import accuracy, coco, cvat, yolo
from framefleet.engine.evaluation.fit import Fitted, Frame, classes_named, fit, label_list, true_boxes
from framefleet.engine.evaluation.truth import Truth
from framefleet.engine.notices import Notice, SourceError, UsageError
from framefleet.engine.store.session import SessionReader, StoredSource

_MAX_CROSSED = 1000
"""Detections in a picture that are matched with objects of other classes."""


@dataclass(frozen=True)
class FileResult:
    """The results of one source at the chosen confidence. map50: None if it has no objects."""

    path: str
    pictures: int
    objects: int
    right: int
    wrong: int
    missed: int
    map50: float | None


@dataclass(frozen=True)
class FrameErrors:
    """A frame and its errors at the chosen confidence.

    Attributes
    ----------
    missed
        Objects without a detection.
    wrong
        Detections without an object.
    picture
        The name of a folder's picture, None for other frames. The time of a picture is its place in the folder.
    """

    path: str
    file: Path
    frame: int
    time: float
    objects: int
    missed: int
    wrong: int
    picture: str | None = None


class Interval(NamedTuple):
    """The limits between which the value lies with a probability of ``SHARE``, as far as the bootstrap can tell."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Result:
    """The evaluation of one session.

    Parameters
    ----------
    map50, map50_95 : float
        Means over the classes with objects; NaN if there are no objects.
    curve : Curve
        Of all classes together.
    confusion : ndarray, int64, shape (classes + 1, classes + 1)
        Rows are true classes, columns detected ones; the last row counts detections without an object, the last column missed objects.
    failed : int
        Pictures whose frames could not be processed. They count as frames without detections.
    unused : tuple of str
        Labels of detections that the truth does not know, which are not counted.
    stored : float
        Least confidence of the stored detections.
    interval50, interval50_95, difference50, difference50_95 : Interval, optional
        None if there are too few pictures. The differences are to the first session.
    """

    name: str
    map50: float
    map50_95: float
    classes: tuple[accuracy.ClassAccuracy, ...]
    curve: accuracy.Curve
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
    """Sessions compared with one truth.

    Parameters
    ----------
    truth : Path
    labels : tuple of str
        The truth's labels.
    counted : tuple of str, optional
        The labels that are compared. None: all.
    pictures, objects, left_out : int
        Compared pictures and objects; pictures that not all sessions have.
    confidence : float
        For counts, confusions and worst frames.
    remarks : tuple of Notice
        What a person should know about the truth.
    results : tuple of Result
        One a session.
    """

    truth: Path
    labels: tuple[str, ...]
    counted: tuple[str, ...] | None
    pictures: int
    objects: int
    left_out: int
    confidence: float
    remarks: tuple[Notice, ...]
    results: tuple[Result, ...]


def read_truth(path: Path) -> Truth:
    """Read true objects: a COCO file (.json, .json.gz), a CVAT file (.xml), or a folder in YOLO's format.

    Raises
    ------
    SourceError
        The file or folder is missing, unreadable, damaged, or of another kind, or it holds no pictures.
    """
    suffix = path.suffix.lower()
    try:
        if path.is_dir():
            if any(path.glob("*.sqlite")) and not any((path / name).exists() for name in ("data.yaml", "labels")):
                raise SourceError(Notice("evaluation.session_as_truth", path=path))
            truth = yolo.read(path)
        elif suffix == ".xml":
            truth = cvat.read(path)
        elif suffix in (".json", ".gz"):
            truth = coco.read(path)
        elif not path.exists():
            raise SourceError(Notice("general.missing", path=path))
        else:
            raise SourceError(Notice("evaluation.session_as_truth" if suffix == ".sqlite" else "evaluation.no_truth", path=path))
    except MemoryError as error:
        raise SourceError(Notice("evaluation.out_of_memory", path=path)) from error
    if not truth.pictures:
        raise SourceError(Notice("evaluation.no_pictures", path=path))
    return truth


def evaluate(
    sessions: Mapping[str, Path],
    truth: Truth,
    *,
    confidence: float = 0.25,
    renamed: Mapping[str, str] | None = None,
    classes: Sequence[str] | None = None,
    common: bool = False,
    worst: int = 100,
    progress: Callable[[Notice], None] = lambda _: None,
) -> Evaluation:
    """Compare sessions with a truth.

    Only classes that the truth and all sessions looked for are compared.

    Parameters
    ----------
    sessions : mapping of str to Path
        Databases by the names that the results have.
    truth : Truth
    confidence : float
        At which detections count in all results but the average precision.
    renamed : mapping of str to str, optional
        Labels of the sessions by labels of the truth.
    classes : sequence of str, optional
        Labels of the truth that are compared. None: all.
    common : bool
        Leave out pictures that a session does not have.
    worst : int
        Number of frames in the list of the worst frames.
    progress : callable
        Called with each step.

    Raises
    ------
    UsageError
        The truth does not fit a session.
    ExportError
        A session cannot be read.
    """
    counted = classes_named(truth, classes)
    loaded = {}
    for name, path in sessions.items():
        progress(Notice("evaluation.reading", name=name))
        with SessionReader(path, corrected=False) as reader:
            loaded[name] = fit(truth, reader, renamed, counted=counted, common=common)
    for one in loaded.values():
        counted &= one.looked_for
    if not counted:
        raise UsageError(Notice("evaluation.no_common_class", path=truth.file, labels=label_list(truth.labels)))
    shared = np.array([all(each) for each in zip(*(one.frames for one in loaded.values()), strict=True)], bool)
    if not shared.any():
        raise UsageError(Notice("evaluation.no_common_picture", path=truth.file))
    # the pictures that all sessions have, in order of file and time
    order = sorted(np.flatnonzero(shared).tolist(), key=_position(next(iter(loaded.values())).frames))
    place = np.full(len(shared), -1)
    place[order] = np.arange(len(order))
    objects = _chosen(true_boxes(truth, next(iter(loaded.values())).frames), place, counted)
    matched, results = [], []
    for name, one in loaded.items():
        progress(Notice("evaluation.matching", name=name))
        matches = accuracy.match(_chosen(one.found, place, counted), objects)
        frames = [frame for number in order if (frame := one.frames[number]) is not None]
        matched.append(matches)
        results.append(_result(name, one, matches, objects, frames, truth.labels, confidence, worst))
    progress(Notice("evaluation.intervals"))
    results = _with_intervals(results, matched, objects, len(order), len(truth.labels))
    return Evaluation(
        truth.file,
        truth.labels,
        None if len(counted) == len(truth.labels) else tuple(truth.labels[number] for number in sorted(counted)),
        len(order),
        int((~objects.ignored).sum()),
        int((~shared).sum()),
        confidence,
        (*truth.remarks, *dict.fromkeys(remark for one in loaded.values() for remark in one.remarks)),
        tuple(results),
    )


def _position(frames: tuple[Frame | None, ...]) -> Callable[[int], tuple[int, int]]:
    def position(number: int) -> tuple[int, int]:
        frame = frames[number]
        return (frame.source, frame.index) if frame is not None else (-1, -1)

    return position


def _chosen(boxes: accuracy.Boxes, place: NDArray[np.int64], classes: frozenset[int]) -> accuracy.Boxes:
    """The boxes of these classes in pictures that have a place, which becomes their picture's number."""
    kept = boxes.select((place[boxes.pictures] >= 0) & np.isin(boxes.classes, [*classes]))
    return replace(kept, pictures=place[kept.pictures])


def _result(
    name: str,
    fitted: Fitted,
    matches: accuracy.Matches,
    objects: accuracy.Boxes,
    frames: Sequence[Frame],
    labels: Sequence[str],
    confidence: float,
    worst: int,
) -> Result:
    measured = accuracy.measure(matches, objects, labels, confidence)
    errors = count_errors(matches, objects, len(frames), confidence)
    files, worst_frames = _by_file(fitted.sources, frames, errors, matches, objects, len(labels), worst)
    return Result(
        name,
        measured.map50,
        measured.map50_95,
        measured.classes,
        accuracy.curve(matches, objects, confidence=confidence),
        confusion(matches, objects, len(labels), confidence),
        files,
        worst_frames,
        len(matches.found),
        sum(frame.failed for frame in frames),
        fitted.unused,
        fitted.stored,
    )


def count_errors(matches: accuracy.Matches, objects: accuracy.Boxes, pictures: int, confidence: float) -> dict[str, NDArray[np.int64]]:
    """Count in each picture, at a confidence and an overlap of 0.5: ``objects``, and ``right``, ``wrong`` and ``missed`` detections.

    Returns an int64 (pictures,) for each.
    """
    counted = (matches.found.scores >= confidence - accuracy.TOLERANCE) & ~matches.ignored[0]
    right = np.bincount(matches.found.pictures[counted & matches.right[0]], minlength=pictures)
    wrong = np.bincount(matches.found.pictures[counted & ~matches.right[0]], minlength=pictures)
    there = np.bincount(objects.pictures[~objects.ignored], minlength=pictures)
    return {"objects": there, "right": right, "wrong": wrong, "missed": there - right}


def _by_file(
    sources: tuple[StoredSource, ...],
    frames: Sequence[Frame],
    errors: Mapping[str, NDArray[np.int64]],
    matches: accuracy.Matches,
    objects: accuracy.Boxes,
    classes: int,
    worst: int,
) -> tuple[tuple[FileResult, ...], tuple[FrameErrors, ...]]:
    """The results of each file, and the frames with the most errors; of equal ones the earlier frame comes first.

    errors: from ``count_errors``.
    """
    # the pictures of a file follow each other, and the matched detections are in the order of pictures
    sources_of = np.array([frame.source for frame in frames])
    borders = [0, *(np.flatnonzero(np.diff(sources_of)) + 1).tolist(), len(frames)]
    known = {source.number: source for source in sources}
    objects = objects.select(np.argsort(objects.pictures, kind="stable"))
    files = []
    for first, last in pairwise(borders):
        counts = {name: int(column[first:last].sum()) for name, column in errors.items()}
        ap = None
        if counts["objects"]:
            mine = slice(*np.searchsorted(matches.found.pictures, [first, last]))
            chosen = slice(*np.searchsorted(objects.pictures, [first, last]))
            part = accuracy.Matches(
                matches.found.select(mine), matches.objects[:1, mine], matches.right[:1, mine], matches.ignored[:1, mine]
            )
            ap = accuracy.mean(accuracy.average_precisions(part, objects.select(chosen), classes)[0])
        files.append(FileResult(known[frames[first].source].path, last - first, **counts, map50=ap))
    total = errors["missed"] + errors["wrong"]
    chosen_frames = [int(number) for number in np.argsort(-total, kind="stable")[:worst] if total[number]]
    listed = []
    for number in chosen_frames:
        frame, (present, missed, wrong) = frames[number], (int(errors[name][number]) for name in ("objects", "missed", "wrong"))
        source = known[frame.source]
        listed.append(FrameErrors(source.path, source.file, frame.index, frame.time, present, missed, wrong, frame.name))
    return tuple(files), tuple(listed)


def confusion(matches: accuracy.Matches, objects: accuracy.Boxes, classes: int, confidence: float) -> NDArray[np.int64]:
    """Count the pairs of true and detected classes: ``Result.confusion``.

    Detections that match no object of their class are matched with the remaining objects of any class.
    """
    table = np.zeros((classes + 1, classes + 1), np.int64)
    counted = (matches.found.scores >= confidence - accuracy.TOLERANCE) & ~matches.ignored[0]
    right = counted & matches.right[0]
    np.fill_diagonal(table[:classes, :classes], np.bincount(matches.found.classes[right], minlength=classes))
    left = ~objects.ignored
    left[matches.objects[0, right]] = False
    others = objects.select(left)
    crossed = accuracy.match(matches.found.select(counted & ~right), others, by_class=False, overlaps=np.array([0.5]), most=_MAX_CROSSED)
    pairs = crossed.objects[0] >= 0
    np.add.at(table, (others.classes[crossed.objects[0, pairs]], crossed.found.classes[pairs]), 1)
    table[classes, :classes] = np.bincount(matches.found.classes[counted], minlength=classes) - table[:classes, :classes].sum(axis=0)
    table[:classes, classes] = np.bincount(objects.classes[~objects.ignored], minlength=classes) - table[:classes, :classes].sum(axis=1)
    return table


MAX_BLOCKS, MIN_BLOCKS = 200, 10
"""Pictures are drawn in blocks, because consecutive pictures of a video are similar. With fewer blocks there is no interval."""

_BLOCK, _FEW_BLOCKS = 10, 20
"""Pictures of a block, if that makes at least this number of blocks."""

DRAWS = 500
SHARE = 0.95
"""The probability of an interval. ``benchmarks/detection/intervals.py`` measures how often one holds the true value."""

_BINS = 256
"""Detections of a class are divided into at most this number of groups of similar confidence, which makes a draw a multiplication.

The surest ones, which decide about classes with few objects, are half of the groups, each alone. The others share the other half.
"""


_SAME = 1e-12
"""Changes below this come from rounding."""


class Draws(NamedTuple):
    """What drawing pictures with repetition does to mean average precisions.

    Parameters
    ----------
    changes : ndarray, float64, shape (sessions, draws, thresholds)
        By how much each draw changes the mean.
    without : ndarray, float64, shape (sessions, blocks, thresholds)
        By how much the mean changes without one block of pictures.
    rare : ndarray, float64, shape (sessions, thresholds)
        Variance of the mean that the draws do not show, because a class has few objects: if all three are found, so they are in each draw.
    """

    changes: NDArray[np.float64]
    without: NDArray[np.float64]
    rare: NDArray[np.float64]


def _with_intervals(
    results: list[Result], matched: list[accuracy.Matches], objects: accuracy.Boxes, pictures: int, classes: int
) -> list[Result]:
    draws = draw(matched, objects, pictures, classes)
    if draws is None:
        return results
    found = []
    for number, each in enumerate(results):
        values: dict[str, Any] = {}
        for name, over in (("50", _at_half), ("50_95", _over_thresholds)):
            changes, without, rare = map(over, draws)
            value, first = getattr(each, f"map{name}"), getattr(results[0], f"map{name}")
            values[f"interval{name}"] = interval(value, changes[number], without[number], float(rare[number]))
            apart = changes[number] - changes[0], without[number] - without[0], float(rare[number])
            values[f"difference{name}"] = interval(value - first, *apart, difference=True)
        found.append(replace(each, **values))
    return found


def _at_half(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[..., 0]


def _over_thresholds(values: NDArray[np.float64]) -> NDArray[np.float64]:
    mean_of_all: NDArray[np.float64] = values.mean(axis=-1)
    return mean_of_all


def draw(compared: Sequence[accuracy.Matches], truth: accuracy.Boxes, pictures: int, classes: int) -> Draws | None:
    """Draw pictures with repetition, and compute the mean average precision of each session.

    All sessions are measured on the same drawn pictures, so their differences vary less than each of them.

    Parameters
    ----------
    pictures
        Number of pictures.

    Returns
    -------
    Draws or None
        None if there are too few pictures, or no objects.
    """
    blocks = min(MAX_BLOCKS, max(pictures // _BLOCK, min(pictures, _FEW_BLOCKS)))
    if blocks < MIN_BLOCKS or truth.ignored.all():
        return None
    drawn = np.random.default_rng(0).multinomial(blocks, np.full(blocks, 1 / blocks), DRAWS)
    # the first row is what the others are compared with: all blocks once
    weights = np.vstack([np.ones(blocks), drawn, 1 - np.eye(blocks)])
    objects = _objects(truth, blocks, pictures, classes)
    means, rare = map(np.stack, zip(*(_means(matches, objects, weights, pictures) for matches in compared), strict=True))
    changes = means[:, 1:] - means[:, :1]
    return Draws(changes[:, :DRAWS], changes[:, DRAWS:], rare)


def interval(
    value: float, changes: NDArray[np.float64], without: NDArray[np.float64], rare: float = 0.0, difference: bool = False
) -> Interval:
    """Return an interval of Student's t, whose centre is corrected by the bias of the draws.

    The jackknife counts if its standard error is larger than that of the draws. For differences, it is far too large.
    ``benchmarks.detection.intervals`` measures how often intervals hold the true value.

    Parameters
    ----------
    value : float
        Without drawing.
    changes, without, rare
        Of one session, or differences of two: see ``Draws``.
    difference : bool
        Whether it is a difference of two sessions, from -1 to 1. One that never varies has an interval without width.
    """
    blocks = len(without)
    if difference and np.abs([*changes, *without]).max() <= _SAME:
        return Interval(value, value)
    variance = float(changes.var(ddof=1)) * blocks / (blocks - 1)
    if not difference:
        variance = max(variance, float(((without - without.mean()) ** 2).sum()) * (blocks - 1) / blocks)
    centre, wide = value - float(changes.mean()), _students_t(blocks - 1) * sqrt(variance + rare)
    low, high = np.clip((centre - wide, centre + wide), -1.0 if difference else 0.0, 1.0).tolist()
    return Interval(low, high)


def _students_t(freedom: int) -> float:
    """The quantile of Student's t that ``SHARE`` of the distribution lies within, by the series of Fisher (1926)."""
    z = NormalDist().inv_cdf((1 + SHARE) / 2)
    terms = (z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return float(sum(term / freedom**power for power, term in enumerate(terms)))


def _objects(truth: accuracy.Boxes, blocks: int, pictures: int, classes: int) -> NDArray[np.float64]:
    """The number of objects in each block of each class, float64 (blocks, classes)."""
    counted = truth.select(~truth.ignored)
    cells = counted.pictures * blocks // pictures * classes + counted.classes
    return np.bincount(cells, minlength=blocks * classes).reshape(blocks, classes).astype(np.float64)


def _means(
    matches: accuracy.Matches, objects: NDArray[np.float64], drawn: NDArray[np.float64], pictures: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mAP of each draw at each overlap, float64 (draws, thresholds), and the variance ``Draws.rare``, float64 (thresholds,).

    A class of which a draw has no object counts as in the first row. Otherwise, draws without a rare class would have another mean.
    """
    found, blocks = matches.found, len(objects)
    totals, rare = np.zeros((len(drawn), len(matches.right))), np.zeros(len(matches.right))
    block_of, there = found.pictures * blocks // pictures, np.flatnonzero(objects.sum(axis=0))
    for number in there:
        which = np.flatnonzero(found.classes == number)
        which = which[np.argsort(-found.scores[which], kind="stable")]
        alone = np.arange(min(len(which), _BINS // 2))
        rest = np.arange(len(which) - len(alone))
        bins = max(len(alone) + min(len(rest), _BINS // 2), 1)
        cells = block_of[which] * bins + np.concatenate([alone, len(alone) + rest * (bins - len(alone)) // max(len(rest), 1)])
        expected = drawn @ objects[:, number]
        seen = expected > 0
        for place, (right, ignored) in enumerate(zip(matches.right[:, which], matches.ignored[:, which], strict=True)):
            tables = [np.bincount(cells, each, blocks * bins).reshape(blocks, bins) for each in (right, ~right & ~ignored)]
            so_far = [(drawn[seen] @ table).cumsum(axis=1) for table in tables]
            precisions = np.full(len(drawn), np.nan)
            precisions[seen] = accuracy.interpolated(so_far[0], so_far[1], expected[seen])
            precisions[~seen] = precisions[0]
            totals[:, place] += precisions
            # the variance of a share of so many objects, two of each kind added (Agresti and Coull 1998)
            share = (expected[0] * precisions[0] + 2) / (expected[0] + 4)
            rare[place] += max(0.0, share * (1 - share) / (expected[0] + 4) - precisions[1 : DRAWS + 1].var())
    return totals / max(len(there), 1), rare / max(len(there), 1) ** 2
