"""In a worker: measures the time that frames spend in each stage, between two reports."""

import time
from collections.abc import Mapping, Sequence

import numpy as np

from framefleet.engine.pool.protocol import Stats
from framefleet.engine.pool.worker.inference import Batch
from framefleet.engine.pool.worker.message_buffer import Picture
from framefleet.engine.types import DeviceId

STATS_SECONDS = 0.5

STAGES = ("decode", "queue", "preprocess", "infer", "deliver")
"""The stages of a frame, in order. The frames of a batch wait for each other, so that each one counts the batch's whole time.

``decode`` includes the wait for the device's memory, if frames are decoded there. A long ``queue`` means that the engine is slower than
the decoder, a short one that the engine waits for the decoder. A long ``deliver`` means that the consumer does not take the results. It
does not include the short time in which results are collected into a message.
"""


class Meter:
    """Sums of a device since the last ``read``. For the thread of the result sender."""

    def __init__(self, device: DeviceId) -> None:
        self._device = device
        self._fed: Mapping[str, float] = {}
        self._worth: float | None = None
        self._reset()

    @property
    def due(self) -> float:
        """The time of the next ``read``, ``perf_counter``."""
        return self._since + STATS_SECONDS

    def add(self, batch: Batch, pictures: Sequence[Picture], worth: float | None = None) -> None:
        """Count these pictures of a finished batch. worth: see ``Stats``."""
        if worth is not None:
            self._worth = worth + (self._worth or 0.0)
        count, times = len(pictures), batch.times
        done = times.done or time.perf_counter()  # the future may be done before its callback has run
        decoded = [picture.decoded for picture in pictures]
        self._latencies += [1000 * (done - moment) for moment in decoded]
        self._stages["decode"] += sum(picture.decoding for picture in pictures)
        self._stages["queue"] += 1000 * (count * times.submitted - sum(decoded))
        self._stages["preprocess"] += count * times.preprocessing
        self._stages["infer"] += count * (1000 * (done - times.submitted) - times.preprocessing)

    def delivered(self, frames: int, milliseconds: float) -> None:
        """Count sent frames. milliseconds: the time that sending took."""
        self._stages["deliver"] += frames * milliseconds

    def read(self, busy: Mapping[str, float], feeding: Mapping[str, float]) -> Stats:
        """The statistics since the last ``read``. busy: see ``Stats``. feeding: see ``Inference``."""
        now = time.perf_counter()
        now_fed = dict(feeding)
        fed = {stage: seconds - self._fed.get(stage, 0.0) for stage, seconds in now_fed.items()}
        self._fed = now_fed
        latencies = np.array(self._latencies, np.float32)
        stats = Stats(self._device, now - self._since, latencies, self._stages, dict(busy), fed, self._worth)
        self._reset()
        return stats

    def _reset(self) -> None:
        self._since = time.perf_counter()
        self._worth = None
        self._latencies: list[float] = []
        self._stages = dict.fromkeys(STAGES, 0.0)
