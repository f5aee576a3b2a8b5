"""Provides the processes in which a run's workers live. This machine's here; a cluster's in ``engine.cluster``."""

from collections.abc import Callable, Sequence

from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.devices.discovery import chosen_devices
from framefleet.engine.errors import UsageError
from framefleet.engine.notices import Notice, Option
from framefleet.engine.pool.supervision.host import Host, WorkerHost, WorkerMain
from framefleet.engine.settings import RunSettings
from framefleet.engine.types import DeviceId


class Hosts:
    """The processes of this machine, one for each device."""

    def devices(self, asked: Sequence[DeviceId] = ()) -> tuple[DeviceId, ...]:
        """The devices to use. asked: by the user; none = the best ones. Raises DeviceError, UsageError."""
        return chosen_devices(asked)

    def watch(self, join: Callable[[DeviceId], None]) -> None:
        """Let devices that are found later join the run. join: see ``EnginePool.add_device``."""

    def check(self, settings: RunSettings, devices: Sequence[DeviceId]) -> None:  # noqa: ARG002
        """Check that the devices can run here with these settings. Raises UsageError if they cannot."""
        if remote := [device for device in devices for member in device.members if member.node]:
            raise UsageError(Notice("pool.device_of_cluster", device=str(remote[0]), option=Option("cluster", "ADDRESS")))

    def host(self, device: DeviceId, worker_main: WorkerMain) -> WorkerHost:
        """The host for a device's workers. worker_main: what a worker runs."""
        return Host(str(device), worker_main)

    def cores(self, device: DeviceId) -> int:  # noqa: ARG002
        """Number of processor cores that the device's machine may use."""
        return usable_cores()
