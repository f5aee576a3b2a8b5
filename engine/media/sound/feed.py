"""Hands samples to an audio device in step with a clock."""

import threading
from collections import deque

import numpy as np

from framefleet.engine.media.sound.track import RATE, Samples

LATENCY = 0.04
"""Time from handing samples over until they are heard, seconds: two periods of the device."""
MOST_ERROR = 0.03
"""Distance between sound and clock from which samples are left out or silence is put in, seconds."""
SMOOTHING = 0.1
"""Share of a new measurement in the mean distance. A device asks for samples irregularly."""


class Feed:
    """Samples of a sound that began at pts ``pts`` at the time ``at`` of the clock, all in seconds. Two threads may use it."""

    def __init__(self, pts: float, at: float) -> None:
        self._pts, self._at = pts, at
        self._lock = threading.Lock()
        self._waiting: deque[Samples] = deque()
        self._position = pts
        self._end = pts
        self._error: float | None = None

    @property
    def error(self) -> float:
        """How far the sound is ahead of the clock, seconds, as a mean; negative = behind."""
        return self._error or 0.0

    @property
    def ahead(self) -> float:
        """How much sound is waiting, seconds."""
        return self._end - self._position

    def add(self, pts: float, samples: Samples) -> None:
        """Append samples. A gap before them becomes silence; what overlaps is left out."""
        gap = round((pts - self._end) * RATE)
        if gap > RATE // 200:
            samples = np.concatenate([np.zeros((gap, 2), np.int16), samples])
        elif gap < -RATE // 200:
            samples = samples[-gap:]
        with self._lock:
            self._waiting.append(samples)
            self._end += len(samples) / RATE

    def take(self, count: int, now: float) -> Samples:
        """Take samples for the device: always ``count``, with silence where there are none. now: the clock, seconds."""
        due = self._pts + now + LATENCY - self._at
        with self._lock:
            error = self._position - due
            first = self._error is None
            self._error = error if self._error is None else self._error + SMOOTHING * (error - self._error)
            silence = 0
            if first or abs(self._error) > MOST_ERROR:
                shift = round(self._error * RATE)
                silence = min(max(shift, 0), count)
                self._pop(max(-shift, 0))
                self._error = (shift - silence) / RATE if shift > 0 else 0.0
                if shift > silence:
                    self._error = None  # the silence continues
            taken = self._pop(count - silence)
        out = np.zeros((count, 2), np.int16)
        out[silence : silence + len(taken)] = taken
        return out

    def _pop(self, count: int) -> Samples:
        parts: list[Samples] = []
        while count > 0 and self._waiting:
            part = self._waiting.popleft()
            if len(part) > count:
                self._waiting.appendleft(part[count:])
                part = part[:count]
            parts.append(part)
            count -= len(part)
            self._position += len(part) / RATE
        return np.concatenate(parts) if parts else np.zeros((0, 2), np.int16)
