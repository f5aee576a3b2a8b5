"""Compares two stored results of a video, without true objects: which detections of one have no counterpart in the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Self

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.evaluation.accuracy import Boxes, match
from framefleet.engine.notices import ExportError, Notice, UsageError
from framefleet.engine.store.exporters.coco import coco_name
from framefleet.engine.store.facts import CREATED
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import Detections

OVERLAP = 0.5
"""The smallest intersection over union of counterparts. They also have the same class."""

_SAME = 1e-6
"""Times that differ by less are of the same frame, seconds."""
_ALL = np.iinfo(np.int64).max


@dataclass(frozen=True)
class StoredResult:
    """The results of a video in one session.

    Parameters
    ----------
    database : Path
        The session.
    source : int
        Number of the source in it.
    created : str
        The fact ``CREATED`` of the session, ISO 8601.
    model : str
        Name of the model.
    labels : tuple of str
        The labels of the model.
    frames : int
        Number of stored frames.
    """

    database: Path
    source: int
    created: str
    model: str
    labels: tuple[str, ...]
    frames: int

    @classmethod
    def find(cls, database: Path, file: Path) -> Self:
        """Find the results of a video in a session: of the same file, else of one with the same name.

        Raises
        ------
        UsageError
            The session has no such source.
        ExportError
            The session cannot be read.
        """
        with SessionReader(database) as reader:
            sources = reader.sources()
            same = [source for source in sources if source.file == file] or [source for source in sources if source.file.name == file.name]
            if not same:
                raise UsageError(Notice("evaluation.other_video", path=database, name=file.name))
            return cls._read(reader, same[0].number)

    @classmethod
    def of(cls, database: Path, source: int) -> Self:
        """Describe the results of a source in a session. Raises ExportError if the session cannot be read."""
        with SessionReader(database) as reader:
            return cls._read(reader, source)

    @classmethod
    def _read(cls, reader: SessionReader, source: int) -> Self:
        facts = reader.facts.get(CREATED, ""), reader.facts.get("model", "")
        return cls(reader.path, source, *facts, reader.labels, reader.count(source))

    @property
    def time(self) -> datetime | None:
        """When the session began, None if unknown."""
        try:
            return datetime.fromisoformat(self.created).astimezone()
        except ValueError:
            return None


def results_of(databases: Sequence[Path], file: Path) -> list[StoredResult]:
    """Return the results of a video in these sessions, the newest first. Sessions that cannot be read, or without it, are left out."""
    found = []
    for database in dict.fromkeys(databases):
        try:
            found.append(StoredResult.find(database, file))
        except (UsageError, ExportError):
            continue
    return sorted((each for each in found if each.frames), key=lambda each: each.created, reverse=True)


def common_labels(one: Sequence[str], other: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The labels of two models together, and the place of each label of the second one among them, int32 (n,).

    Darknet's and COCO's name of a class count as one label.
    """
    own = {coco_name(label): label for label in reversed(one)}
    names = [own.get(coco_name(label), label) for label in other]
    labels = (*one, *dict.fromkeys(name for name in names if name not in one))
    return labels, np.array([labels.index(name) for name in names], np.int32)


@dataclass(frozen=True, eq=False)
class Results:
    """The detections of all frames of a source in memory.

    Parameters
    ----------
    pts : float64 (frames,)
        The times of the frames, seconds.
    starts : int64 (frames + 1,)
        Where the detections of each frame begin.
    found : Detections
        Of all frames, in order.
    """

    pts: NDArray[np.float64]
    starts: NDArray[np.int64]
    found: Detections

    @classmethod
    def empty(cls) -> Self:
        """No frames."""
        return cls(np.zeros(0), np.zeros(1, np.int64), Detections())

    @classmethod
    def read(cls, result: StoredResult, ids: NDArray[np.int32] | None = None, stop: Event | None = None) -> Self:
        """Read a source, corrections included.

        Parameters
        ----------
        result : StoredResult
            What to read.
        ids : ndarray, int32 (n,), optional
            The class id to use for each class id of the session. Others stay.
        stop : threading.Event, optional
            Any thread sets it to end the reading early.

        Raises
        ------
        ExportError
            The session cannot be read.
        """
        with SessionReader(result.database, created=result.created) as reader:
            reader.stop = stop or reader.stop
            blocks = [
                (block.pts, np.bincount(block.frame, minlength=len(block.frames)), block.stored, block.confidences, block.class_ids)
                for block in reader.blocks(result.source)
            ]
        empty = np.zeros(0), np.zeros(0, np.int64), np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int64)
        pts, counts, boxes, scores, class_ids = (np.concatenate(column) for column in zip(empty, *blocks, strict=True))
        if ids is not None and len(ids):
            class_ids = np.where(class_ids < len(ids), ids[np.minimum(class_ids, len(ids) - 1)], class_ids)
        return cls(pts, np.append(0, np.cumsum(counts)), Detections(boxes, scores, class_ids.astype(np.int32)))

    def at(self, pts: float) -> Detections:
        """The detections of the frame at this time (seconds), empty if there is no such frame."""
        place = int(np.argmin(np.abs(self.pts - pts))) if len(self.pts) else -1
        if place < 0 or abs(self.pts[place] - pts) > _SAME:
            return Detections()
        part = slice(self.starts[place], self.starts[place + 1])
        return Detections(self.found.boxes[part], self.found.scores[part], self.found.class_ids[part])

    def boxes(self, places: NDArray[np.int64], confidence: float, classes: frozenset[int] | None) -> Boxes:
        """The detections of these frames, from a confidence on and of these classes. Their picture is the number in ``places``."""
        picture = np.full(len(self.pts), -1, np.int64)
        picture[places] = np.arange(len(places))
        pictures = np.repeat(picture, np.diff(self.starts))
        keep = (pictures >= 0) & (self.found.scores >= np.float32(confidence))
        if classes is not None:
            keep &= np.isin(self.found.class_ids, [*classes])
        return _boxes(pictures[keep], self.found.class_ids[keep], self.found.boxes[keep], self.found.scores[keep])


@dataclass(frozen=True, eq=False)
class Differences:
    """The frames in which two results differ.

    Parameters
    ----------
    frames : int
        Number of frames that both have.
    pts : float64 (n,)
        Times of the frames that differ, seconds, in ascending order.
    first, second : int64 (n,)
        Number of detections in each that only the first or only the second result has.
    """

    frames: int
    pts: NDArray[np.float64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def after(self, pts: float, forward: bool = True) -> float | None:
        """The time of the next frame that differs, or of the previous one; None if there is none."""
        there = self.pts[self.pts > pts + _SAME] if forward else self.pts[self.pts < pts - _SAME]
        return None if not len(there) else float(there[0 if forward else -1])


def compare(one: Results, other: Results, confidence: float = 0.0, classes: frozenset[int] | None = None) -> Differences:
    """Compare the frames that two results have.

    Parameters
    ----------
    one, other : Results
        With the same class ids.
    confidence : float
        Detections count from this confidence on.
    classes : frozenset of int, optional
        Only detections of these classes count. None: all.
    """
    times, others = (np.round(each.pts / _SAME).astype(np.int64) for each in (one, other))
    common, *places = np.intersect1d(times, others, return_indices=True)
    boxes = [each.boxes(where, confidence, classes) for each, where in zip((one, other), places, strict=True)]
    alone = [np.bincount(part.pictures[mask], minlength=len(common)) for part, mask in zip(boxes, _alone(*boxes), strict=True)]
    differ = (alone[0] > 0) | (alone[1] > 0)
    return Differences(len(common), one.pts[places[0]][differ], alone[0][differ], alone[1][differ])


def without_counterpart(one: Detections, other: Detections) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which detections of a frame have no counterpart in the other detections of it, bool (n,), and the reverse, bool (m,)."""
    found = [_boxes(np.zeros(len(each), np.int64), each.class_ids, each.boxes, each.scores) for each in (one, other)]
    return _alone(*found)


def _boxes(pictures: NDArray[np.int64], class_ids: NDArray[np.int32], corners: NDArray[np.float32], scores: NDArray[np.float32]) -> Boxes:
    boxes = corners.astype(np.float64)
    boxes[:, 2:] -= boxes[:, :2]
    return Boxes(pictures, class_ids.astype(np.int64), boxes, scores.astype(np.float64), np.zeros(len(pictures), bool))


def _alone(one: Boxes, other: Boxes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    alone = np.ones(len(one), bool), np.ones(len(other), bool)
    if len(one) and len(other):
        order = np.lexsort((-one.scores, one.classes, one.pictures))  # the order in which ``match`` returns them
        matched = match(one.select(order), other, overlaps=np.array([OVERLAP]), most=_ALL).objects[0]
        alone[0][order[matched >= 0]] = False
        alone[1][matched[matched >= 0]] = False
    return alone
