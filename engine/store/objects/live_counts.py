"""Counts at lines and in zones while a run writes its session, before its tracks are stored."""

import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from framefleet.engine.store.facts import TRACK
from framefleet.engine.store.reading.reader import SessionReader
from framefleet.engine.store.tracks import tracker_for
from framefleet.engine.tracking.follow import Follower, TrackerName
from framefleet.engine.tracking.tracker import NONE
from framefleet.engine.zones.counter import ZoneCounter
from framefleet.engine.zones.counts import Counts, counts_of
from framefleet.engine.zones.shapes import ZoneSet

_PORTION = 50


class LiveCounts:
    """Follows the objects of one source behind the frames that are stored, and counts them.

    The tracker is that of the run. zones: for pictures of the source's size. Attributes: time: of the last counted frame, seconds.

    Raises:
        UsageError: the model does not have a label of the zones.
        ExportError: the session cannot be read.
    """

    def __init__(self, path: Path, source: int, zones: ZoneSet) -> None:
        self._path, self._source, self._zones = path, source, zones
        with SessionReader(path, corrected=False) as reader:
            self._allowed = zones.class_ids(reader.labels)
            self._follower = Follower(tracker_for(reader, source, TrackerName.of(reader.facts.get(TRACK))))
        self._counter = ZoneCounter(zones)
        self._best = defaultdict[int, float](float)
        self._last = -1
        self.time = 0.0

    def update(self, seconds: float, confidence: float = 0.0, classes: frozenset[int] | None = None) -> Counts:
        """Count the frames that were stored since the last call, for at most this time. The next call goes on behind them.

        confidence, classes: see ``TrackCounter``; each call may have others.
        """
        end = time.monotonic() + seconds
        rows: list[tuple[np.ndarray, ...]] = []
        with SessionReader(self._path, corrected=False) as reader:
            for frame in reader.frames(self._source, self._last):
                places, numbers = self._follower.add(frame)
                followed = numbers != NONE
                which, numbers = places[followed], numbers[followed]
                if frame.detections is not None:
                    scale = np.tile((self._zones.size[0] / frame.width, self._zones.size[1] / frame.height), 2)
                    rows.append((numbers, np.full(len(which), frame.ref.pts), frame.detections.boxes[which] * scale))
                    for number, score in zip(numbers.tolist(), frame.detections.scores[which].tolist(), strict=True):
                        self._best[number] = max(self._best[number], round(score, 4))
                self._last, self.time = frame.ref.index, frame.ref.pts
                if len(rows) >= _PORTION:
                    self._count(rows)
                    rows = []
                    if time.monotonic() > end:
                        break
        self._count(rows)
        class_ids = np.full(self._follower.count, -1, np.int64)
        for number in self._follower.confirmed:
            class_id = self._follower.class_of(number)
            if self._best[number] >= confidence and (classes is None or class_id in classes):
                class_ids[number] = class_id
        return counts_of(self._counter, class_ids, self._allowed)

    def _count(self, rows: list[tuple[np.ndarray, ...]]) -> None:
        if rows:
            tracks, times, boxes = (np.concatenate(column) for column in zip(*rows, strict=True))
            self._counter.add(tracks, times, boxes.astype(np.float64))
