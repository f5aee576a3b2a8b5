"""Chooses a plan for each convolution: the fastest of several in a trial, which the file cache keeps."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import islice

from engine.backends.cudnn.convolution import Plan, Shape, candidates
from engine.backends.cudnn.library import Library
from engine.errors import DeviceError
from plugins.cache import FileCache

_TRIED = 4
"""Most plans that a trial of one shape compares."""


class Plans:
    """The serialized plans for one device. situation: key of the device and its driver."""

    def __init__(self, library: Library, cache: FileCache, situation: str) -> None:
        self._library, self._cache, self._situation = library, cache, situation
        self._known: dict[Shape, bytes] = {}

    def find(self, handle: int, shape: Shape, time: Callable[[Plan], float] | None) -> Plan:
        """The plan of a shape. time: ms of a plan on the device, for a trial; None: take cuDNN's best guess, without a trial.

        Raises:
            DeviceError: cuDNN supports no plan.
        """
        key = f"{self._library}\n{self._situation}\n{shape}\n{_TRIED} plans"
        serialized = self._known.get(shape) or self._cache.read(key)
        if serialized is None and time is not None:
            serialized = self._try(handle, shape, time)
            self._cache.write(key, serialized)
        if serialized is None:
            serialized = next(candidates(self._library, handle, shape), None)
        if serialized is None:
            raise self._missing(shape)
        self._known[shape] = serialized
        return Plan(self._library, handle, serialized)

    def _try(self, handle: int, shape: Shape, time: Callable[[Plan], float]) -> bytes:
        """The fastest of several plans."""
        times: dict[bytes, float] = {}
        for serialized in islice(candidates(self._library, handle, shape), _TRIED):
            with suppress(DeviceError):
                times[serialized] = time(Plan(self._library, handle, serialized))
        if not times:
            raise self._missing(shape)
        return min(times, key=lambda each: times[each])

    def _missing(self, shape: Shape) -> DeviceError:
        return DeviceError(f"{self._library} offers no plan for {shape}")
