"""The throughput of a session: of its devices, of its files, and of all together, measured at the same moment.

A device's rate is the number of frames per second whose detections it completed in the last ``RATE_SECONDS``. The total is the sum of
the devices. The files divide the total in proportion to the frames that each received: results arrive in whole segments and in order,
so a file's own count moves in leaps.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from framefleet.app.window.devices.status import DeviceStatus
from framefleet.engine.types import DeviceId

HOLD_SECONDS = 0.5
"""Time for which rates stay as they are, so that every part of the window shows the same figures and they can be read."""


@dataclass(frozen=True)
class Rates:
    """Frames/s. devices: those that work. sources: those that run."""

    devices: Mapping[DeviceId, float] = field(default_factory=dict)
    sources: Mapping[int, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """The throughput of the session."""
        return sum(self.devices.values()) or sum(self.sources.values())


def measure(devices: Iterable[DeviceStatus], received: Mapping[int, float]) -> Rates:
    """The rates now. received: the frames per second that arrived of each unfinished source.

    Before the first report of a device, the sources keep their own rates.
    """
    of_devices = {status.device: status.rate for status in devices if status.rate}
    total, files = sum(of_devices.values()), sum(received.values())
    factor = total / files if total and files else 1.0
    return Rates(of_devices, {source: rate * factor for source, rate in received.items()})


class HeldRates:
    """Measures at most every ``HOLD_SECONDS``, but at once if other devices or sources are at work."""

    def __init__(self) -> None:
        self._rates = Rates()
        self._at: float | None = None

    def at(self, now: float, devices: Iterable[DeviceStatus], received: Mapping[int, float]) -> Rates:
        """The rates to show at a monotonic time, seconds."""
        fresh = measure(devices, received)
        same = fresh.devices.keys() == self._rates.devices.keys() and fresh.sources.keys() == self._rates.sources.keys()
        if self._at is None or not same or now - self._at >= HOLD_SECONDS:
            self._rates, self._at = fresh, now
        return self._rates
