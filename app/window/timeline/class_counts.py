"""How often each class was seen in one source, by confidence and time, in constant memory."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import FrameResult

BINS = 960
"""The number of slices of a source's length in which activity is counted."""
_THRESHOLDS = (np.arange(101) / 100).astype(np.float32)
_MAX_COUNT = 50_000  # detections of a class, hundredth and slice: 16 bits would overflow soon after


_NO_FRAMES: NDArray[np.int64] = np.zeros(BINS, np.int64)
_NO_FAILURES: NDArray[np.int32] = np.zeros(BINS, np.int32)
for _shared in (_NO_FRAMES, _NO_FAILURES):  # by all files without any: ten thousand files of a queue need no memory for them
    _shared.flags.writeable = False


def length_of(info: SourceInfo | None) -> float:
    """The length of a source: the largest pts of a folder of pictures, seconds of a video; 0 if unknown."""
    if info is None:
        return 0.0
    return float(max(info.frames - 1, 1)) if info.kind is SourceKind.IMAGES else info.duration or 0.0


FIRST_LENGTH = 60.0
"""Seconds that the timeline of a live source shows at first. It doubles whenever the source has become longer."""


def live_length(head: float | None) -> float:
    """The length of the timeline of a live source, seconds. head: time of its last frame."""
    length = FIRST_LENGTH
    while head is not None and head >= length:
        length *= 2
    return length


def slices_of(times: NDArray[np.float64], length: float) -> NDArray[np.int64]:
    """The slices of a source of this length in which these times since its beginning lie, int64 (n,)."""
    places = times / length if length else np.zeros_like(times)
    return np.clip(places * BINS, 0, BINS - 1).astype(np.int64)


def parts_of(frames: NDArray[np.int64]) -> tuple[tuple[float, float], ...]:
    """The parts of a source with results, as fractions of its length. frames: with results in each slice, int64 (BINS,), in one at least.

    A run may take some of the frames, so slices without a frame are a gap only where they are more than usual.
    """
    seen = np.flatnonzero(frames)
    steps = np.diff(seen)
    ends = np.flatnonzero(steps > 3 * np.median(steps)) if len(steps) else np.zeros(0, np.int64)
    begins, lasts = seen[np.append(0, ends + 1)], seen[np.append(ends, len(seen) - 1)]
    return tuple((float(begin) / BINS, (float(last) + 1) / BINS) for begin, last in zip(begins, lasts, strict=True))


class Tally:
    """Counts detections per class and hundredth of confidence, and also per slice of time.

    The session's thread writes it and the window's thread reads it. ``add`` only increments numbers or replaces arrays, so a reader sees
    counts that are at most one frame old. frames, failures: frames with results and failed ones in each slice, int64 and int32 (BINS,).
    complete: whether the detections that are stored already are counted. compact: whether only the counts of the whole source are kept.
    """

    def __init__(self, complete: bool = True) -> None:
        self._counts: dict[int, NDArray[np.int64] | NDArray[np.int32]] = {}
        self._activity: dict[int, NDArray[np.uint16]] = {}
        self.frames, self.failures = _NO_FRAMES, _NO_FAILURES
        self.complete, self.compact = complete, False
        self._length = FIRST_LENGTH  # of a live source

    def _slices(self, pts: NDArray[np.float64], info: SourceInfo | None) -> NDArray[np.int64]:
        """The slices in which frames lie. The slices of a live source become longer as it goes on."""
        if info is None or info.kind is not SourceKind.LIVE:
            return slices_of(pts - (info.begin if info is not None else 0.0), length_of(info))
        while len(pts) and pts.max() >= self._length:
            self._length *= 2
            self.frames, self.failures = _in_pairs(self.frames), _in_pairs(self.failures)
            for class_id, counts in self._activity.items():
                self._activity[class_id] = np.minimum(_in_pairs(counts.astype(np.int64)), _MAX_COUNT).astype(np.uint16)
        return slices_of(pts, self._length)

    def compress(self) -> None:
        """Keep how often each class was seen at or above each confidence, and forget when."""
        if not self.compact:
            self._counts = {class_id: counts[::-1].cumsum()[::-1].astype(np.int32) for class_id, counts in self._counts.items()}
            self._activity, self.frames, self.failures, self.compact = {}, _NO_FRAMES, _NO_FAILURES, True

    def add(self, class_ids: NDArray[np.int32], scores: NDArray[np.float32], slices: NDArray[np.int64]) -> None:
        """Count detections: class ids (n,), scores (n,) and the slices of the source's length (n,) in which they are."""
        # The same comparison as Detections.filter, so that the numbers equal the boxes on the picture.
        levels = np.searchsorted(_THRESHOLDS, scores, side="right") - 1
        for class_id in np.unique(class_ids).tolist():
            if class_id not in self._counts:
                self._activity[class_id] = np.zeros((BINS, 101), np.uint16)
                self._counts[class_id] = np.zeros(101, np.int64)
            mine = class_ids == class_id
            np.add.at(self._counts[class_id], levels[mine], 1)
            activity, places = self._activity[class_id].reshape(-1), slices[mine] * 101 + levels[mine]
            np.add.at(activity, places[activity[places] < _MAX_COUNT], 1)

    def add_frames(self, frames: Sequence[FrameResult], info: SourceInfo | None) -> None:
        """Count the detections of frames of a source, and the failed frames."""
        failed = [frame.ref.pts for frame in frames if frame.failure is not None]
        self._add_failures(failed, info)
        self._add_frames(np.array([frame.ref.pts for frame in frames if frame.failure is None]), info)
        found = [(frame.ref.pts, frame.detections) for frame in frames if frame.detections is not None and len(frame.detections)]
        if found:
            slices = self._slices(np.array([pts for pts, _ in found]), info).repeat([len(detections) for _, detections in found])
            self.add(
                np.concatenate([detections.class_ids for _, detections in found]),
                np.concatenate([detections.scores for _, detections in found]),
                slices,
            )

    def _add_frames(self, times: NDArray[np.float64], info: SourceInfo | None) -> None:
        if len(times):
            slices = self._slices(times, info)
            self.frames = self.frames + np.bincount(slices, minlength=BINS)

    def _add_failures(self, times: Sequence[float], info: SourceInfo | None) -> None:
        if times:
            slices = self._slices(np.array(times), info)
            failures = self.failures.copy()
            np.add.at(failures, slices, 1)
            self.failures = failures

    def add_stored(self, reader: SessionReader, source: int, info: SourceInfo | None, most: int | None = None) -> None:
        """Count the stored detections of a source, until the reader's ``stop`` is set. An hour of video takes about a second.

        most: count only so many frames: a run that goes on detects again in those behind a gap.
        """
        self.complete = False
        frames = reader.indices(source)[:most]
        times = reader.times(source, len(frames))
        failed = np.intersect1d(reader.failed_times(source), times).tolist()
        self._add_failures(failed, info)
        self._add_frames(times[~np.isin(times, failed)], info)
        slices = self._slices(times, info)
        ends = np.flatnonzero(np.diff(slices, append=BINS)).tolist()  # the last frame of each slice
        first = 0  # position of the slice's first frame
        for last in ends:
            if reader.stop.is_set():
                return
            class_ids, scores = reader.scores(source, int(frames[first]), int(frames[last]))
            self.add(class_ids, scores, np.full(len(scores), slices[last]))
            first = last + 1
        self.complete = True

    def counts(self, confidence: float) -> Mapping[int, int]:
        """Class id → detections at or above a confidence, rounded to hundredths, for each class detected so far."""
        level = round(confidence * 100)
        if self.compact:
            return {class_id: int(counts[level]) for class_id, counts in self._counts.items()}
        return {class_id: int(counts[level:].sum()) for class_id, counts in list(self._counts.items())}

    def lanes(self, confidence: float, classes: Iterable[int] | None, most: int) -> list[tuple[int, NDArray[np.int64]]]:
        """The activity of the given classes (None = all) that were seen most often: class id, and counts as ``activity`` returns."""
        counts = self.counts(confidence)
        shown = [class_id for class_id in (counts if classes is None else classes) if counts.get(class_id)]
        return [(class_id, self.activity(confidence, [class_id])) for class_id in sorted(shown, key=lambda each: -counts[each])[:most]]

    def activity(self, confidence: float, classes: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Detections of the given classes (None = all) per slice of the source, int64 (BINS,). confidence: rounded to hundredths."""
        level = round(confidence * 100)
        chosen = list(self._activity) if classes is None else [class_id for class_id in classes if class_id in self._activity]
        total = np.zeros(BINS, np.int64)
        for class_id in chosen:
            total += self._activity[class_id][:, level:].sum(axis=1, dtype=np.int64)
        return total


Counts = TypeVar("Counts", NDArray[np.int64], NDArray[np.int32])


def _in_pairs(counts: Counts) -> Counts:
    """Counts (BINS, …) in slices that are twice as long; the second half is empty."""
    half = counts.reshape(BINS // 2, 2, *counts.shape[1:]).sum(axis=1, dtype=counts.dtype)
    return np.concatenate([half, np.zeros_like(half)])
