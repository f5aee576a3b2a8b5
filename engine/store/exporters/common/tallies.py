"""Counts of detections in groups of consecutive frames, such as intervals of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.store.blocks import Block, StoredFrame
from engine.store.exporters.common.base import Export
from engine.store.session import StoredSource


@dataclass
class Tally:
    """Counts for one class. first, last: pts of the first and last frame with this class, seconds. most: most detections in a frame."""

    first: float
    last: float
    frames: int = 0
    most: int = 0
    detections: int = 0
    tracks: set[int] = field(default_factory=set)

    def add(self, last: float, frames: int, most: int, detections: int) -> None:
        """Add the counts of later frames."""
        self.last = last
        self.frames += frames
        self.most = max(self.most, most)
        self.detections += detections


@dataclass
class Group:
    """Consecutive frames with the same key. inferred, failed: numbers of frames. last: its last frame."""

    key: int
    inferred: int = 0
    failed: int = 0
    last: StoredFrame | None = None
    classes: dict[int, Tally] = field(default_factory=dict)


def read_groups(export: Export, source: StoredSource, keys_of: Callable[[NDArray[np.float64]], NDArray[np.int64]]) -> Iterator[Group]:
    """Yield groups of consecutive frames with the same key. A source without frames has no group.

    keys_of: the keys, int64 (n,), of frames by their pts, float64 (n,), seconds.
    """
    group: Group | None = None
    for block in export.blocks(source, boxes=False):
        pts = np.fromiter((frame.pts for frame in block.frames), np.float64, len(block.frames))
        keys = keys_of(pts)  # the time of a failed frame is an estimate and may lie before the frame ahead of it
        keys = np.maximum.accumulate(keys if group is None else np.maximum(keys, group.key))
        starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
        group_of = np.cumsum(np.diff(keys, prepend=keys[0]) != 0)  # the position in ``starts`` of each frame's group
        groups = [group if group is not None and group.key == keys[0] else Group(int(keys[0]))]
        groups += [Group(int(keys[start])) for start in starts[1:]]
        if group is not None and group is not groups[0]:
            yield group
        _add_frames(groups, group_of, block.frames)
        _add_detections(groups, group_of, pts, block)
        *ended, group = groups
        yield from ended
    if group is not None:
        yield group


def _add_frames(groups: Sequence[Group], group_of: NDArray[np.intp], frames: Sequence[StoredFrame]) -> None:
    failed = np.fromiter((frame.failure is not None for frame in frames), np.bool_, len(frames))
    totals, failures = np.bincount(group_of), np.bincount(group_of, failed)
    for group, total, failures_in, end in zip(groups, totals.tolist(), failures.tolist(), np.cumsum(totals).tolist(), strict=True):
        group.inferred += total - int(failures_in)
        group.failed += int(failures_in)
        group.last = frames[end - 1]


def _add_detections(groups: Sequence[Group], group_of: NDArray[np.intp], pts: NDArray[np.float64], block: Block) -> None:
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
        *(group_of[frames[starts]], class_ids[starts], pts[frames[starts]], pts[frames[ends - 1]]),
        *(ends - starts, np.maximum.reduceat(numbers, starts), np.add.reduceat(numbers, starts)),
    )
    for position, class_id, first, last, *counts in zip(*(column.tolist() for column in columns), strict=True):
        tallies = groups[position].classes
        if class_id not in tallies:
            tallies[class_id] = Tally(first, last)
        tallies[class_id].add(last, *counts)
    tracked = block.tracks >= 0
    triples = np.stack((group_of[block.frame[tracked]], block.class_ids[tracked], block.tracks[tracked]))
    for position, class_id, track in np.unique(triples, axis=1).T.tolist():
        groups[position].classes[class_id].tracks.add(track)
