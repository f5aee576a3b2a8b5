"""Counts errors: of each file, of each frame, and of each pair of classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation.fit import Frame
from framefleet.engine.evaluation.matching import Boxes, Matches, match
from framefleet.engine.evaluation.precision import average_precisions, mean
from framefleet.engine.store.session import StoredSource

_MOST_CROSSED = 1000
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
    """A frame and its errors at the chosen confidence. missed: objects without a detection. wrong: detections without an object."""

    path: str
    file: Path
    frame: int
    time: float
    objects: int
    missed: int
    wrong: int


def count_errors(matches: Matches, objects: Boxes, pictures: int, confidence: float) -> dict[str, NDArray[np.int64]]:
    """Count in each picture, at a confidence and an overlap of 0.5: ``objects``, and ``right``, ``wrong`` and ``missed`` detections.

    Returns an int64 (pictures,) for each.
    """
    counted = (matches.found.scores >= confidence - 1e-7) & ~matches.ignored[0]
    right = np.bincount(matches.found.pictures[counted & matches.right[0]], minlength=pictures)
    wrong = np.bincount(matches.found.pictures[counted & ~matches.right[0]], minlength=pictures)
    there = np.bincount(objects.pictures[~objects.ignored], minlength=pictures)
    return {"objects": there, "right": right, "wrong": wrong, "missed": there - right}


def by_file(
    sources: tuple[StoredSource, ...],
    frames: Sequence[Frame],
    errors: Mapping[str, NDArray[np.int64]],
    matches: Matches,
    objects: Boxes,
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
            part = Matches(matches.found.select(mine), matches.objects[:1, mine], matches.right[:1, mine], matches.ignored[:1, mine])
            ap = mean(average_precisions(part, objects.select(chosen), classes)[0])
        files.append(FileResult(known[frames[first].source].path, last - first, **counts, map50=ap))
    total = errors["missed"] + errors["wrong"]
    chosen_frames = [int(number) for number in np.argsort(-total, kind="stable")[:worst] if total[number]]
    listed = [
        FrameErrors(
            known[frames[number].source].path,
            known[frames[number].source].file,
            frames[number].index,
            frames[number].time,
            *(int(errors[name][number]) for name in ("objects", "missed", "wrong")),
        )
        for number in chosen_frames
    ]
    return tuple(files), tuple(listed)


def confusion(matches: Matches, objects: Boxes, classes: int, confidence: float) -> NDArray[np.int64]:
    """Count the pairs of true and detected classes: see ``Result.confusion``.

    Detections that match no object of their class are matched with the remaining objects of any class.
    """
    table = np.zeros((classes + 1, classes + 1), np.int64)
    counted = (matches.found.scores >= confidence - 1e-7) & ~matches.ignored[0]
    right = counted & matches.right[0]
    np.fill_diagonal(table[:classes, :classes], np.bincount(matches.found.classes[right], minlength=classes))
    left = ~objects.ignored
    left[matches.objects[0, right]] = False
    others = objects.select(left)
    crossed = match(matches.found.select(counted & ~right), others, by_class=False, overlaps=np.array([0.5]), most=_MOST_CROSSED)
    pairs = crossed.objects[0] >= 0
    np.add.at(table, (others.classes[crossed.objects[0, pairs]], crossed.found.classes[pairs]), 1)
    table[classes, :classes] = np.bincount(matches.found.classes[counted], minlength=classes) - table[:classes, :classes].sum(axis=0)
    table[:classes, classes] = np.bincount(objects.classes[~objects.ignored], minlength=classes) - table[:classes, :classes].sum(axis=1)
    return table
