"""Counts the objects of each class over the time of a stored source."""

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.store.blocks import read_blocks
from framefleet.engine.store.objects.appearances import end_of
from framefleet.engine.store.session import SessionReader

PARTS = 160


def mean_counts(reader: SessionReader, source: int, end: float = 0.0) -> tuple[dict[int, NDArray[np.float64]], tuple[float, float]]:
    """Return the mean number of objects per frame in ``PARTS`` equal parts of the time, and where these parts begin and end, seconds.

    end: where they end if the last stored frame ends earlier, seconds; the means after that frame are 0.
    Only detections that pass the reader's filter count. The means are float64 (PARTS,), by class id, the most frequent class first. A part
    without frames has those of the part before it.

    Raises ExportError if the session cannot be read.
    """
    begin, last = reader.times(source, 1).max(initial=0.0), end_of(reader, source) if reader.count(source) else 0.0
    end = max(last, end)
    frames, found = np.zeros(PARTS), dict[int, NDArray[np.float64]]()
    for block in read_blocks(reader, source, boxes=False):
        places = np.clip((block.pts - begin) / max(end - begin, 1e-9) * PARTS, 0, PARTS - 1).astype(np.int64)
        frames += np.bincount(places[[frame.failure is None for frame in block.frames]], minlength=PARTS)
        for class_id in np.unique(block.class_ids).tolist():
            seen = places[block.frame[block.class_ids == class_id]]
            found[class_id] = np.bincount(seen, minlength=PARTS) + found.get(class_id, np.zeros(PARTS))
    known = np.maximum.accumulate(np.where(frames > 0, np.arange(PARTS), 0))
    stored = begin + np.arange(PARTS) / PARTS * (end - begin) < last
    ordered = sorted(found, key=lambda class_id: -found[class_id].sum())
    return {class_id: stored * found[class_id][known] / np.maximum(frames[known], 1) for class_id in ordered}, (float(begin), end)
