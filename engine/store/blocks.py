"""Stored frames and their detections as arrays: unpacked from a session's rows, corrected and filtered."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store import schema, sources

COLUMNS = "frame, pts, width, height, failure, name, device, boxes"
CORRECTION_COLUMNS = "frame, place, class_id, track, deleted, verified"
DRAWN_COLUMNS = "frame, place, x1, y1, x2, y2"
MAX_SECONDS = 1e10
"""The latest time of a frame, and the longest one: three centuries."""
MAX_CLASS_ID = 1 << 20
_MAX_SIZE = 1 << 24


class StoredFrame(NamedTuple):
    """A stored frame without its detections.

    number: the frame's index. pts: seconds. width, height: pixels. device: its number in ``SessionReader.device_names``.
    """

    number: int
    pts: float
    width: int
    height: int
    failure: Notice | None
    name: str | None
    device: int


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive frames of a source, and their detections in order.

    Parameters
    ----------
    frames : list of StoredFrame
        The frames.
    frame : int64 (n,)
        The position in ``frames`` of each detection's frame.
    places : int64 (n,)
        The place of each detection in its frame, as the model found it.
    class_ids, tracks : int64 (n,)
        Track -1: none.
    verified, drawn : bool (n,)
        Whether a person checked the detection, and whether a person drew or moved its box.
    confidences : float32 (n,)
        As stored.
    stored : float32 (n, 4)
        The boxes x1, y1, x2, y2 in source pixels, as stored.

    The places of detections that a person added are behind those of the model's detections.
    """

    frames: list[StoredFrame]
    frame: NDArray[np.int64]
    places: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    tracks: NDArray[np.int64]
    verified: NDArray[np.bool_]
    confidences: NDArray[np.float32]
    stored: NDArray[np.float32]
    drawn: NDArray[np.bool_]

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The index of each frame, int64 (frames,)."""
        return np.fromiter((frame[0] for frame in self.frames), np.int64, len(self.frames))

    @cached_property
    def pts(self) -> NDArray[np.float64]:
        """The time of each frame, float64 (frames,), seconds."""
        return np.fromiter((frame[1] for frame in self.frames), np.float64, len(self.frames))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Width and height of each frame, int64 (frames, 2), pixels."""
        return np.array([frame[2:4] for frame in self.frames], np.int64).reshape(-1, 2)

    @cached_property
    def inferred(self) -> NDArray[np.bool_]:
        """Whether each frame was inferred, bool (frames,). The others failed."""
        return np.fromiter((frame[4] is None for frame in self.frames), np.bool_, len(self.frames))

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The confidences, float64 (n,), rounded to 4 decimals."""
        scores = self.confidences.astype(np.float64)
        return np.round(scores, 4, out=scores)

    @cached_property
    def boxes(self) -> NDArray[np.float64]:
        """The boxes x, y, width, height, float64 (n, 4), source pixels, rounded to 2 decimals."""
        boxes = self.stored.astype(np.float64)
        boxes[:, 2:] -= boxes[:, :2]
        np.round(boxes, 2, out=boxes)
        boxes += 0.0  # no "-0.0"
        return boxes

    def boxes_in(self, size: tuple[int, int]) -> NDArray[np.float64]:
        """The boxes as in ``boxes``, as if all pictures had this width and height, pixels."""
        boxes: NDArray[np.float64] = np.round(self.boxes * self.scale_to(size), 2)
        return boxes

    def scale_to(self, size: tuple[int, int]) -> NDArray[np.float64]:
        """What makes each box one of a picture with this width and height, pixels: factors of its four numbers, float64 (n, 4)."""
        return np.tile(np.divide(size, np.maximum(self.sizes, 1))[self.frame], 2)

    @property
    def corners(self) -> NDArray[np.float64]:
        """The boxes x1, y1, x2, y2, float64 (n, 4), source pixels, from those of ``boxes``."""
        return np.concatenate((self.boxes[:, :2], self.boxes[:, :2] + self.boxes[:, 2:]), 1)

    def part(self, begin: int, detections: slice, numbers: Sequence[int]) -> Self:
        """The frames from the place ``begin`` on, with other numbers. detections: those in these frames."""
        frames = [frame._replace(number=number) for frame, number in zip(self.frames[begin : begin + len(numbers)], numbers, strict=True)]
        chosen = self.select(np.arange(detections.start, detections.stop))
        return replace(chosen, frames=frames, frame=chosen.frame - begin)

    def select(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Self:
        """The same frames with the detections that a boolean mask or an index array keeps, in that order."""
        frame, places, class_ids, tracks = (column[keep] for column in (self.frame, self.places, self.class_ids, self.tracks))
        columns = (frame, places, class_ids, tracks, self.verified[keep], self.confidences[keep], self.stored[keep], self.drawn[keep])
        return type(self)(self.frames, *columns)

    def filtered(self, confidence: float, classes: frozenset[int] | None, tracks: frozenset[int] | None) -> Self:
        """The same frames with the detections of at least this confidence, of these classes and tracks, as in ``SessionReader``."""
        keep = np.ones(len(self.frame), bool)
        if confidence > 0:
            keep &= self.confidences >= np.float32(confidence)
        if classes is not None:
            keep &= np.isin(self.class_ids, np.fromiter(classes, np.int64, len(classes)))
        if tracks is not None:
            keep &= np.isin(self.tracks, np.fromiter(tracks, np.int64, len(tracks))) if tracks else self.tracks >= 0
        return self if keep.all() else self.select(keep)

    def position(self, number: int) -> int | None:
        """The position in ``frames`` of the frame with this number, None if it is not in this block."""
        position = int(np.searchsorted(self.numbers, number))
        return position if position < len(self.frames) and self.numbers[position] == number else None


class WrongValue(Protocol):
    """Makes the error about a value that no run writes. frame: its number. table: the one with the value."""

    def __call__(self, frame: int, value: object, table: str = "frames") -> ExportError:
        """Return the error."""


def unpack(rows: list[tuple[Any, ...]], tracks: Iterable[tuple[int, bytes]], wrong: WrongValue) -> Block:
    """Return consecutive frames and their detections as a run stored them.

    Parameters
    ----------
    rows : list of tuple
        Values of ``COLUMNS``, at least one row.
    tracks : iterable of tuple
        Number and packed tracks of the frames that have any.
    wrong : WrongValue
        Makes the error that is raised for a value that no run writes.
    """
    lengths = np.fromiter((len(row[7]) for row in rows), np.int64, len(rows))
    counts, rest = np.divmod(lengths, schema.BOX.itemsize)
    if rest.any():
        raise wrong(rows[int(rest.argmax())][0], "a part of a box")
    table = np.frombuffer(b"".join([row[7] for row in rows]), schema.BOX)
    for row in rows:
        if not all(isinstance(size, int) and bool(row[7]) <= size <= _MAX_SIZE for size in row[2:4]):
            raise wrong(row[0], row[2:4])
        if not isinstance(row[5], str | None):
            raise wrong(row[0], row[5])
    frames = [StoredFrame._make(row[:7]) for row in rows]
    frames = [
        frame if row[4] is None else frame._replace(failure=sources.reason_of(row[4])) for frame, row in zip(frames, rows, strict=True)
    ]
    starts = np.cumsum(counts) - counts
    frame = np.repeat(np.arange(len(rows)), counts)
    places = np.arange(len(table)) - starts[frame]
    class_ids, numbers = table["class_id"].astype(np.int64), np.full(len(table), -1, np.int64)
    verified, drawn = np.zeros((2, len(table)), bool)
    block = Block(frames, frame, places, class_ids, numbers, verified, table["confidence"], table["corners"], drawn)
    _check(block, wrong)
    for number, packed in tracks:
        position = block.position(number)
        if position is None:
            continue
        if len(packed) != counts[position] * schema.TRACK.itemsize:
            raise wrong(number, "another number of tracks", "frame_tracks")
        numbers[starts[position] : starts[position] + counts[position]] = np.frombuffer(packed, schema.TRACK)
    return block


def correct(block: Block, corrections: Iterable[tuple[Any, ...]], boxes: Iterable[tuple[Any, ...]], wrong: WrongValue) -> Block:
    """Return the frames of ``unpack`` with what a person corrected. Changes the given block.

    Parameters
    ----------
    block : Block
        All detections of the model.
    corrections : iterable of tuple
        Values of ``CORRECTION_COLUMNS``.
    boxes : iterable of tuple
        Values of ``DRAWN_COLUMNS``.
    wrong : WrongValue
        As in ``unpack``.
    """
    counts = np.bincount(block.frame, minlength=len(block.frames))
    starts = np.cumsum(counts) - counts
    keep = np.ones(len(block.frame), bool)
    added = dict[tuple[int, int], tuple[Any, ...]]()
    for number, place, class_id, track, deleted, verified in corrections:
        position = block.position(number)
        if position is None or place < 0:
            continue
        if place >= counts[position]:
            added[number, place] = class_id, track, deleted
            continue
        detection = starts[position] + place
        if class_id is not None:
            block.class_ids[detection] = class_id
        if track is not None:
            block.tracks[detection] = track
        keep[detection] = not deleted
        block.verified[detection] = bool(verified)
    corners, drawn, new = block.stored.copy(), block.drawn.copy(), list[tuple[Any, ...]]()
    for number, place, *box in boxes:
        position = block.position(number)
        if position is None or place < 0:
            continue
        if place < counts[position]:
            corners[starts[position] + place], drawn[starts[position] + place] = box, True
        elif (number, place) in added:
            class_id, track, deleted = added[number, place]
            if not deleted:
                new.append((position, place, class_id, -1 if track is None else track, *box))
    block = _extended(replace(block, stored=corners, drawn=drawn), new)
    keep = np.concatenate((keep, np.ones(len(new), bool)))
    if new:
        order = np.lexsort((-block.confidences, block.frame))
        block, keep = block.select(order), keep[order]
    _check(block, wrong)
    return block if keep.all() else block.select(keep)


def _extended(block: Block, new: list[tuple[Any, ...]]) -> Block:
    """The block with detections that a person added, behind all others. new: position of the frame, place, class id, track, 4 corners."""
    rows = np.array(new, np.float64).reshape(-1, 8)
    frame, places, class_ids, tracks = rows[:, :4].astype(np.int64).T
    ones = np.ones(len(new), bool)
    return Block(
        block.frames,
        np.concatenate((block.frame, frame)),
        np.concatenate((block.places, places)),
        np.concatenate((block.class_ids, class_ids)),
        np.concatenate((block.tracks, tracks)),
        np.concatenate((block.verified, ones)),
        np.concatenate((block.confidences, np.ones(len(new), np.float32))),
        np.concatenate((block.stored, rows[:, 4:].astype(np.float32))),
        np.concatenate((block.drawn, ones)),
    )


def _check(block: Block, wrong: WrongValue) -> None:
    """Refuse values that no run writes."""
    finite = np.abs(block.pts) <= MAX_SECONDS  # False for NaN
    if not finite.all():
        at = int(finite.argmin())
        raise wrong(block.numbers[at], block.pts[at].item())
    for values, right in (
        (block.class_ids, (block.class_ids >= 0) & (block.class_ids <= MAX_CLASS_ID)),
        (block.confidences, np.isfinite(block.confidences)),
        (block.stored, np.isfinite(block.stored).all(1)),
    ):
        if not right.all():
            at = int(right.argmin())
            raise wrong(block.frames[block.frame[at]].number, values[at].tolist())
