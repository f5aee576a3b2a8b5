"""Counts of detections in groups of consecutive frames, such as intervals of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from engine.store.blocks import Block, StoredFrame
from engine.store.exporters.base import Export
from engine.store.session import StoredSource


@dataclass
class Tally:
    """Counts for one class. first, last: pts of the first and last frame with this class, seconds. most: most detections in a frame."""

    first: float
    last: float
    frames: int = 0
    most: int = 0
    detections: int = 0


@dataclass
class Group:
    """Consecutive frames with the same key. inferred, failed: numbers of frames. name, failure: of the last frame."""

    key: int
    inferred: int = 0
    failed: int = 0
    name: str | None = None
    failure: str | None = None
    classes: dict[int, Tally] = field(default_factory=dict)

    def add(self, frame: StoredFrame, found: list[tuple[int, int]]) -> None:
        """Add a frame. found: class ids and numbers of detections."""
        self.name, self.failure = frame.name, frame.failure
        if frame.failure is not None:
            self.failed += 1
            return
        self.inferred += 1
        for class_id, detections in found:
            tally = self.classes.get(class_id)
            if tally is None:
                tally = self.classes[class_id] = Tally(frame.pts, frame.pts)
            tally.last = frame.pts
            tally.frames += 1
            tally.most = max(tally.most, detections)
            tally.detections += detections


def read_groups(export: Export, source: StoredSource, key_of: Callable[[StoredFrame], int]) -> Iterator[Group]:
    """Yield groups of consecutive frames with the same key. A source without frames has no group."""
    group: Group | None = None
    for block in export.blocks(source, boxes=False):
        found = _counts(block)
        for position, frame in enumerate(block.frames):
            key = key_of(frame)
            if group is None or group.key != key:
                if group is not None:
                    yield group
                group = Group(key)
            group.add(frame, found.get(position, []))
    if group is not None:
        yield group


def _counts(block: Block) -> dict[int, list[tuple[int, int]]]:
    """Return the class ids and their numbers of detections by a frame's position in the block."""
    classes = int(block.class_ids.max(initial=0)) + 1
    codes, numbers = np.unique(block.frame * classes + block.class_ids, return_counts=True)
    found: dict[int, list[tuple[int, int]]] = {}
    for position, class_id, number in zip((codes // classes).tolist(), (codes % classes).tolist(), numbers.tolist(), strict=True):
        found.setdefault(position, []).append((class_id, number))
    return found
