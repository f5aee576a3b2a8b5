"""Chooses a plan for each convolution: the fastest of several in a trial, which the file cache keeps."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice

from framefleet.engine.backends.cudnn.build_plans import build_plans
from framefleet.engine.backends.cudnn.convolution import Plan, Shape, candidates
from framefleet.engine.backends.cudnn.library import Library
from framefleet.engine.errors import DeviceError
from framefleet.engine.notices import Notice
from framefleet.plugins.cache import FileCache

_TRIED = 4
"""Most plans that a trial of one shape compares. More than five gain less than 1 % on an H200."""


class Plans:
    """The serialized plans for one device. situation: key of the device and its driver."""

    def __init__(self, library: Library, cache: FileCache, situation: str) -> None:
        self._library, self._cache, self._situation = library, cache, situation
        self._chosen: dict[Shape, bytes] = {}
        self._offered: dict[Shape, list[bytes]] = {}

    def build(self, shapes: Iterable[Shape], device: int) -> None:
        """Build the plans that trials of these shapes will need. device: ordinal."""
        unknown = [shape for shape in dict.fromkeys(shapes) if shape not in self._offered and not self._read(shape)]
        if unknown:
            self._offered |= build_plans(unknown, device, _TRIED)

    def choose(self, handle: int, shape: Shape, time: Callable[[Plan], float]) -> Plan:
        """The fastest plan of a shape for which ``build`` was called. time: returns the ms of a plan on the device.

        Raises DeviceError if cuDNN supports no plan.
        """
        if not self._read(shape):
            times: dict[bytes, float] = {}
            offered = self._offered.get(shape) or list(islice(candidates(self._library, handle, shape), _TRIED))  # if a process failed
            for serialized in offered:
                with suppress(DeviceError):
                    times[serialized] = time(Plan(self._library, handle, serialized))
            if not times:
                raise DeviceError(Notice("backends.cudnn_no_plan", library=str(self._library), shape=str(shape)))
            self._chosen[shape] = min(times, key=lambda each: times[each])
            self._cache.write(self._key(shape), self._chosen[shape])
        return Plan(self._library, handle, self._chosen[shape])

    def _read(self, shape: Shape) -> bool:
        """Whether the plan is chosen, in this process or an earlier one."""
        if shape not in self._chosen:
            serialized = self._cache.read(self._key(shape))
            if serialized is not None:
                self._chosen[shape] = serialized
        return shape in self._chosen

    def _key(self, shape: Shape) -> str:
        return f"{self._library}\n{self._situation}\n{shape}\n{_TRIED} plans"
