"""ByteTrack: weak detections continue tracks, but begin none. Y. Zhang et al., "ByteTrack", ECCV 2022, arXiv:2110.06864."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.tracking.association import Rows, assign, others, overlaps
from framefleet.engine.tracking.motion import Array, Noise
from framefleet.engine.tracking.tracker import Tracker


def _noise(*variances: float) -> Noise:
    """For the corners of a box, pixels."""
    return Noise(*(np.array([variance]) for variance in variances))


REFERENCE = _noise(0.1, 0.01, 0.01, 1.0, 1.0)
"""As in the reference implementation."""

STEADY = _noise(1.0, 0.001, 0.0001, 1.0, 0.1)
"""Trusts the movement of several frames more than the box of one frame. Only ratios of variances matter, so it fits boxes of any size."""


class ByteTrack(Tracker):
    """Pairs strong detections with all tracks first, then weak ones with the remaining tracks.

    interval, patience: see ``Tracker``. frames: a track is certain after detections in this number of consecutive frames.
    strong: confidence that separates strong from weak detections. first: least confidence of a track's first detection. overlap: least
    intersection over union of a detection and a predicted box. weak_overlap: the same for weak detections, which then continue only
    tracks that were seen in the frame before; None = ``overlap``, for all tracks. noise: of the motion model.
    """

    def __init__(
        self,
        interval: float,
        patience: float = 1.0,
        frames: int = 2,
        strong: float = 0.6,
        first: float = 0.7,
        overlap: float = 0.1,
        weak_overlap: float | None = None,
        noise: Noise = REFERENCE,
    ) -> None:
        super().__init__(interval, patience, noise, max(first, strong))
        self._frames, self._strong, self._overlap, self._weak_overlap = frames, strong, overlap, weak_overlap

    def _associate(self, boxes: Array, scores: Array) -> tuple[Rows, Rows]:
        strong = scores >= self._strong
        high, low = np.flatnonzero(strong), np.flatnonzero(~strong)
        table = overlaps(self._motion.positions, boxes) * self._weights(np.arange(len(boxes)))
        rows, columns = assign(table[:, high], self._overlap)
        remaining, least = others(len(self._tracks), rows), self._overlap
        if self._weak_overlap is not None:
            remaining, least = remaining[self._tracks["consecutive"][remaining] > 0], self._weak_overlap
        late, low_columns = assign(table[np.ix_(remaining, low)], least)
        matched, which = np.concatenate((rows, remaining[late])), np.concatenate((high[columns], low[low_columns]))
        self._motion.update(matched, boxes[which])
        return matched, which

    def _ripe(self) -> NDArray[np.bool_]:
        return np.asarray(self._tracks["consecutive"] >= self._frames)

    def _alive(self) -> NDArray[np.bool_]:
        return np.asarray(self._tracks["certain"] | (self._tracks["consecutive"] > 0))
