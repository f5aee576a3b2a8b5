"""Telemetry for the window and the command line. A separate process takes it, so that no bug of a driver ends the caller."""

from collections.abc import Callable, Iterable, Mapping
from threading import Thread

from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.telemetry import sampler
from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.notices import Notice
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.types import DeviceId


class TelemetryMonitor:
    """Holds the latest snapshot of each device, twice a second, until closed.

    devices: all but CPUs are known by their UUIDs. main: what its process runs, as ``sampler.main``.

    Attributes: latest: the newest snapshots; empty before the first and after the end. problem: why there are no snapshots, or none of
    GPUs; None if nothing is wrong.
    """

    def __init__(self, devices: Iterable[DeviceDescription], main: Callable[..., None] = sampler.main) -> None:
        self.latest: Mapping[DeviceId, Telemetry] = {}
        self.problem: Notice | None = None
        self._closed = False
        wanted = tuple((device.id, device.uuid or "") for device in devices)
        try:
            self._process = ChildProcess("telemetry", main, wanted, words="the process that reads it", nice=0, quiet=True)
        except OSError as error:
            self.problem = Notice("devices.telemetry_not_started", error=str(error))
            self._closed = True
            return
        self._thread = Thread(target=self._read, name="framefleet telemetry", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the process; harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        self._process.kill()
        self._thread.join()

    def _read(self) -> None:
        for problem, snapshots in self._process.messages():
            self.problem = problem
            self.latest = {snapshot.device: snapshot for snapshot in snapshots}
        outcome = self._process.end()
        self.latest = {}
        if not self._closed:
            self.problem = Notice("devices.telemetry_ended", reason=outcome.reason)
