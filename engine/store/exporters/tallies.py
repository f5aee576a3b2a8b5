"""Counts of detections in groups of consecutive frames, such as intervals of time."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice
from framefleet.engine.store.clock import MONDAY, Clock
from framefleet.engine.store.exporters.options import Least
from framefleet.engine.store.session import Block, SessionReader, StoredFrame, StoredSource

Array: TypeAlias = NDArray[np.float64]

_SINGLE = 0.05  # of the inferred frames: if more failed, the file counts as unread
_ROUNDING = 0.01  # seconds: Matroska has times in whole milliseconds


@dataclass
class Tally:
    """Counts for one class. first, last: pts of the first and last frame with this class, seconds. most: most detections in a frame.

    seconds: how long its frames last together.
    """

    first: float = 0.0
    last: float = 0.0
    frames: int = 0
    most: int = 0
    detections: int = 0
    seconds: float = 0.0

    def add(self, last: float, seconds: float, frames: int, most: int, detections: int) -> None:
        """Add the counts of later frames."""
        self.last = last
        self.seconds += seconds
        self.frames += frames
        self.most = max(self.most, most)
        self.detections += detections


@dataclass
class Group:
    """Consecutive frames with the same key. inferred, failed: numbers of frames. seconds: how long the inferred ones last together.

    last: its last frame. tracks, track_seconds: of each track, the number of detections, and how long they last.
    """

    key: int
    inferred: int = 0
    failed: int = 0
    seconds: float = 0.0
    last: StoredFrame | None = None
    classes: dict[int, Tally] = field(default_factory=dict)
    tracks: Counter[int] = field(default_factory=Counter)
    track_seconds: Counter[int] = field(default_factory=Counter)

    @property
    def unread(self) -> bool:
        """Whether more than single frames failed, as where the end of a video is missing."""
        return many_failed(self.inferred, self.failed)

    def seen(self, least: Least, tracks: Mapping[int, int] | None) -> dict[int, Tally]:
        """The classes that are seen long enough: with tracks, one track of them. A shorter group needs them in all frames.

        tracks: from ``classes_of_tracks``. A class may be seen in none of its frames, if a track of it shows others here.
        """
        if least.seconds is not None and self.seconds > 0:
            needed = min(least.seconds, self.seconds) - _ROUNDING
            lengths = _longest(self.track_seconds, tracks) if tracks is not None else {k: t.seconds for k, t in self.classes.items()}
        elif (needed := min(least.frames, self.inferred)) > 1:
            lengths = _longest(self.tracks, tracks) if tracks is not None else {k: t.frames for k, t in self.classes.items()}
        else:
            return self.classes
        return {class_id: self.classes.get(class_id, Tally()) for class_id, length in lengths.items() if length >= needed}


def _longest(lengths: Mapping[int, float], tracks: Mapping[int, int]) -> dict[int, float]:
    """The length of the longest track of each class. lengths: of each track. tracks: the class of each one that counts."""
    longest: dict[int, float] = {}
    for track, length in lengths.items():
        if track in tracks:
            longest[tracks[track]] = max(length, longest.get(tracks[track], 0.0))
    return longest


def classes_of_tracks(reader: SessionReader, source: StoredSource) -> dict[int, int] | None:
    """Return the class id of each track of a source, without those that the reader leaves out; None if the source was not tracked."""
    if not reader.is_tracked(source.number):
        return None
    classes = {track: class_id for track, class_id, *_ in reader.tracks(source.number)}
    return {track: class_id for track, class_id in classes.items() if reader.classes is None or class_id in reader.classes}


def many_failed(inferred: int, failed: int) -> bool:
    """Whether more than single frames failed."""
    return failed > max(1, _SINGLE * inferred)


def main_failure(source: StoredSource) -> Notice | None:
    """Why most of the failed frames of a source failed."""
    return max(source.ledger.failed, key=lambda reason: source.ledger.failed[reason], default=None)


def read_files(blocks: Iterable[Block], source: StoredSource) -> Iterator[Group]:
    """Yield a group for each file of a source: the video, or each picture of a folder. blocks: of the source, without boxes."""
    video, empty = source.timed, True
    # the pts of a picture is its position in the folder
    for group in read_groups(blocks, lambda pts: (np.zeros_like(pts) if video else pts).astype(np.int64)):
        yield group
        empty = False
    if empty:
        yield Group(0)


def is_empty(source: StoredSource, group: Group, least: Least, tracks: Mapping[int, int] | None) -> bool | None:
    """Whether no class is seen long enough in a file; None if unknown. group: from ``read_files``. tracks: see ``Group.seen``."""
    seen = group.seen(least, tracks)
    known = group.inferred > 0 and (not source.timed or (source.succeeded and not group.unread))
    return not seen if seen or known else None


def read_groups(blocks: Iterable[Block], keys_of: Callable[[NDArray[np.float64]], NDArray[np.int64]]) -> Iterator[Group]:
    """Yield groups of consecutive frames with the same key. A source without frames has no group.

    blocks: of a source, without boxes. keys_of: the keys, int64 (n,), of frames by their pts, float64 (n,), seconds.
    """
    group: Group | None = None
    for block, seconds in _timed(blocks):
        keys = keys_of(block.pts)  # the time of a failed frame is an estimate and may lie before the frame ahead of it
        keys = np.maximum.accumulate(keys if group is None else np.maximum(keys, group.key))
        begins = keys[1:] != keys[:-1]
        group_of = np.concatenate(([0], np.cumsum(begins)))  # the position in ``groups`` of each frame's group
        groups = [group if group is not None and group.key == keys[0] else Group(int(keys[0]))]
        groups += map(Group, keys[1:][begins].tolist())
        if group is not None and group is not groups[0]:
            yield group
        _add_frames(groups, group_of, block.frames, seconds)
        _add_detections(groups, group_of, seconds, block)
        *ended, group = groups
        yield from ended
    if group is not None:
        yield group


def _timed(blocks: Iterable[Block]) -> Iterator[tuple[Block, Array]]:
    """Yield each block, and how long its frames last, float64 (n,), seconds. The last frame lasts as long as the mean."""
    first, count = 0.0, 0
    waiting: Block | None = None
    for block in blocks:
        if waiting is not None:
            yield waiting, _lengths(waiting.pts, block.pts[0])
        first, count = (first if count else float(block.pts[0])), count + len(block.frames)
        waiting = block
    if waiting is not None:
        last = waiting.pts[-1]
        yield waiting, _lengths(waiting.pts, last + (last - first) / max(count - 1, 1))


def _lengths(pts: Array, end: float) -> Array:
    """How long frames at these times last, float64 (n,), seconds; the last one until ``end``."""
    lengths = np.empty_like(pts)
    np.subtract(pts[1:], pts[:-1], out=lengths[:-1])
    lengths[-1] = end - pts[-1]
    return np.maximum(lengths, 0.0, out=lengths)


def _add_frames(groups: Sequence[Group], group_of: NDArray[np.intp], frames: Sequence[StoredFrame], seconds: Array) -> None:
    failed = np.fromiter((frame.failure is not None for frame in frames), np.bool_, len(frames))
    totals, failures, lengths = np.bincount(group_of), np.bincount(group_of, failed), np.bincount(group_of, seconds * ~failed)
    columns = (each.tolist() for each in (totals, failures, np.cumsum(totals), lengths))
    for group, total, failures_in, end, length in zip(groups, *columns, strict=True):
        group.inferred += total - int(failures_in)
        group.failed += int(failures_in)
        group.seconds += length
        group.last = frames[end - 1]


def _add_detections(groups: Sequence[Group], group_of: NDArray[np.intp], seconds: Array, block: Block) -> None:
    if not len(block.class_ids):
        return
    classes = int(block.class_ids.max()) + 1
    # for each frame and class, the number of detections; then those of each group and class together, in the order of frames
    codes, numbers = np.unique(block.frame * classes + block.class_ids, return_counts=True)
    frames, class_ids = codes // classes, codes % classes
    order = np.argsort(group_of[frames] * classes + class_ids, kind="stable")
    frames, class_ids, numbers = frames[order], class_ids[order], numbers[order]
    starts = np.flatnonzero(np.diff(group_of[frames] * classes + class_ids, prepend=-1))
    ends = np.append(starts[1:], len(frames))
    columns = (
        *(group_of[frames[starts]], class_ids[starts], block.pts[frames[starts]], block.pts[frames[ends - 1]]),
        *(np.add.reduceat(seconds[frames], starts), ends - starts, np.maximum.reduceat(numbers, starts), np.add.reduceat(numbers, starts)),
    )
    for position, class_id, first, last, *counts in zip(*(column.tolist() for column in columns), strict=True):
        tallies = groups[position].classes
        if class_id not in tallies:
            tallies[class_id] = Tally(first, last)
        tallies[class_id].add(last, *counts)
    tracked = block.tracks >= 0
    if not tracked.any():
        return
    pairs = np.stack((group_of[block.frame[tracked]], block.tracks[tracked]))
    found, places, times = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    lengths = np.bincount(places.ravel(), seconds[block.frame[tracked]], found.shape[1])
    for (position, track), count, length in zip(found.T.tolist(), times.tolist(), lengths.tolist(), strict=True):
        groups[position].tracks[track] += count
        groups[position].track_seconds[track] += length


Times: TypeAlias = tuple[float | None, float | None, str | None]
"""Begin and end of an interval, seconds of the source, and the clock time of its begin in ISO 8601; None or "" if unknown."""


def intervals_of_pictures(blocks: Iterable[Block], clock: Clock, length: float) -> Iterator[tuple[Times, Group]]:
    """Yield the intervals in which pictures were taken, in order, each with its counts; first the pictures whose time is unknown.

    blocks: of a folder, without boxes. The pictures need not be in the order of their times. length: of an interval, seconds. Intervals
    begin at full multiples of it since ``MONDAY``, so at midnight if they divide a day. An interval without pictures is left out: nothing
    says that the camera was on.
    """
    groups: dict[int, Group] = {}
    earliest: dict[int, datetime] = {}
    step = max(timedelta(seconds=length), timedelta.resolution)
    unknown: Group | None = None
    for picture in read_groups(blocks, lambda pts: pts.astype(np.int64)):  # the pts of a picture is its position
        moment = None if picture.last is None else clock.at(picture.last.pts)
        if moment is None:
            unknown = unknown or Group(0)
            _add(unknown, picture)
            continue
        number = (moment.replace(tzinfo=None) - MONDAY) // step
        earliest[number] = min(earliest.get(number, moment), moment)
        _add(groups.setdefault(number, Group(number)), picture)
    if unknown is not None:
        yield (None, None, None), unknown
    for number in sorted(groups):
        start = (MONDAY + number * step).replace(tzinfo=earliest[number].tzinfo)
        yield (None, None, start.isoformat(timespec="milliseconds")), groups[number]


def _add(group: Group, picture: Group) -> None:
    """Add the counts of one picture to a group."""
    group.inferred += picture.inferred
    group.failed += picture.failed
    for class_id, counts in picture.classes.items():
        tally = group.classes.setdefault(class_id, Tally(counts.first, counts.last))
        tally.add(counts.last, counts.seconds, counts.frames, counts.most, counts.detections)
