"""Brings the pictures of live sources and their boxes together. Written by the run's thread, read by the window's."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np
from PySide6.QtGui import QImage

from framefleet.engine.pool.events import Event, FramesDone, SourceFinished, StreamChanged, StreamPicture
from framefleet.engine.types import FrameResult

KEPT = 64
"""The largest number of results of a source that wait for their picture, and the other way round."""
LATENCIES = 300
"""The number of frames over which the latency is measured."""


@dataclass(frozen=True, eq=False)
class LivePicture:
    """A picture of a live source with its boxes.

    seconds: the frame's pts. arrival: of its packet, ``perf_counter``. latency: p50 and p99 of the last pictures from packet to boxes, ms.
    """

    seconds: float
    arrival: float
    image: QImage
    result: FrameResult
    latency: tuple[float, float]


class _Source:
    def __init__(self) -> None:
        self.pictures: OrderedDict[float, StreamPicture] = OrderedDict()
        self.results: OrderedDict[float, tuple[FrameResult, float]] = OrderedDict()  # with the time when they came
        self.latencies: deque[float] = deque(maxlen=LATENCIES)


class LivePictures:
    """Keeps the newest picture of each live source whose boxes are known. wake: called when ``take`` has something new."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._lock = Lock()
        self._sources: dict[int, _Source] = {}
        self._newest: dict[int, LivePicture] = {}

    def apply(self, event: Event) -> None:
        """Take an event of the run. Called by the run's thread."""
        match event:
            case StreamChanged(source):
                self._sources.setdefault(source, _Source())
            case SourceFinished(source):
                self._sources.pop(source, None)
            case StreamPicture(source) if source in self._sources:
                self._picture(source, self._sources[source], event)
            case FramesDone(source, frames) if source in self._sources:
                self._results(source, self._sources[source], frames)

    def _picture(self, number: int, source: _Source, picture: StreamPicture) -> None:
        if (known := source.results.get(picture.seconds)) is not None:
            self._finish(number, source, picture, *known)
        else:
            source.pictures[picture.seconds] = picture
            while len(source.pictures) > KEPT // 8:
                source.pictures.popitem(last=False)

    def _results(self, number: int, source: _Source, frames: tuple[FrameResult, ...]) -> None:
        now = time.perf_counter()
        for result in frames:
            if (picture := source.pictures.pop(result.ref.pts, None)) is not None:
                self._finish(number, source, picture, result, now)
            else:
                source.results[result.ref.pts] = result, now
        while len(source.results) > KEPT:
            source.results.popitem(last=False)

    def _finish(self, number: int, source: _Source, picture: StreamPicture, result: FrameResult, came: float) -> None:
        source.latencies.append(1000 * (came - picture.arrival))
        p50, p99 = np.percentile(source.latencies, (50, 99)).tolist()
        size = picture.width, picture.height
        image = QImage(picture.pixels, *size, 4 * picture.width, QImage.Format.Format_RGB32).copy()  # of memory that it owns
        with self._lock:
            first = not self._newest
            self._newest[number] = LivePicture(picture.seconds, picture.arrival, image, result, (p50, p99))
        if first:
            self._wake()

    def take(self) -> dict[int, LivePicture]:
        """The newest pictures since the last call, by the number of their source."""
        with self._lock:
            newest, self._newest = self._newest, {}
            return newest
