"""Which devices the panel lists, and what is known of each: status, description, telemetry, and what limits the run."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from framefleet.app.window.cluster.machines import Machines
from framefleet.app.window.devices.bottleneck import Bottleneck, find_bottleneck
from framefleet.app.window.devices.card import Change
from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.devices.telemetry import DeviceTelemetry
from framefleet.app.window.widgets.engine_text import strategy_name
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.types import DeviceId

_HOST = DeviceId("cpu", "0")


class ListedDevices:
    """The devices of the run, then recorded ones, then those of a cluster that wait.

    ``statuses``: of the run. ``recording``: a recorded machine. ``strategy``: of the run.
    """

    def __init__(self) -> None:
        self.statuses: tuple[DeviceStatus, ...] = ()
        self.recording: Recording | None = None
        self.strategy: StrategyChosen | None = None
        self.machines = Machines()
        self.telemetry = DeviceTelemetry()
        self._known: dict[DeviceId, DeviceDescription] = {}

    @property
    def of_run(self) -> set[DeviceId]:
        """The devices of the run."""
        return {status.device for status in self.statuses}

    def know(self, descriptions: Iterable[DeviceDescription]) -> None:
        """Add descriptions of devices of this machine."""
        self._known |= {description.id: description for description in descriptions}

    def all(self) -> dict[DeviceId, DeviceStatus]:
        """The status of each listed device, in order."""
        shows = self.machines.shows
        listed = {status.device: status for status in self.statuses if shows(status.device)}
        for description in self.recording.devices if self.recording is not None else ():
            listed.setdefault(description.id, DeviceStatus(description.id, Phase.RECORDED))
        for device in filter(shows, self.machines.waiting()):
            listed.setdefault(device, DeviceStatus(device, Phase.IDLE))
        return dict(sorted(listed.items(), key=lambda each: each[0].node)) if self.machines.folds.headings else listed

    def description(self, device: DeviceId) -> DeviceDescription | None:
        """The description of a device, None if unknown. All CPU devices of this machine share that of cpu:0."""
        if device.node:
            return self.machines.description(device)
        known = self._known.get(DeviceId(device.kind, "0") if device.kind == "cpu" else device)
        if known is None and self.recording is not None and device not in self.of_run:
            known = next((described for described in self.recording.devices if described.id == device), None)
        return None if known is None else replace(known, id=device)

    def watch(self, visible: bool) -> None:
        """Take telemetry of this machine's devices, and of the processors, while the panel is visible."""
        here = [member for status in self.statuses if status.phase is not Phase.LEFT for member in status.device.members]
        wanted = [known for device in here if not device.node and (known := self.description(device)) is not None]
        if here and _HOST not in here and (host := self.description(_HOST)) is not None:
            wanted.append(host)  # for the bottleneck
        self.telemetry.watch(wanted if visible else ())

    def snapshot(self, device: DeviceId) -> Telemetry | None:
        """The latest telemetry of a device, None if unknown."""
        if not device.node and device in self.of_run:
            return self.telemetry.of(device)
        recorded = self.recording.telemetry.get(device) if self.recording is not None else None
        return recorded or self.machines.telemetry(device)

    def bottleneck(self) -> Bottleneck | None:
        """What limits the run, None while no device works."""
        here = (device for status in self.statuses if not status.device.node for device in status.device.members)
        known = {device: snapshot for device in here if (snapshot := self.telemetry.of(device))}
        cpu = next((device for device in known if device.kind == "cpu"), _HOST)
        return find_bottleneck(self.statuses, known, self.telemetry.of(cpu))

    def changes(self) -> dict[DeviceId, Change | None]:
        """How the user can change the part of each device in the run, None = not at all."""
        last = sum(status.takes_part for status in self.statuses) < 2
        changes: dict[DeviceId, Change | None] = {}
        for status in self.statuses:
            again = status.phase in (Phase.FAILED, Phase.LEFT)
            possible = self._elastic and (again or (status.takes_part and not last))
            changes[status.device] = (Change.JOIN if again else Change.LEAVE) if possible else None
        return changes

    def joinable(self) -> tuple[Sequence[DeviceDescription], str | None]:
        """The devices that can join the run, and why none can; None = nothing runs."""
        if not any(status.takes_part for status in self.statuses):
            return (), None
        if not self._elastic:
            name = strategy_name(self.strategy.strategy) if self.strategy is not None else ""
            text = translate("devices", "With {name}, devices cannot join or leave during a run")
            return (), text.format(name=name)
        known_here, ours = self.machines.devices or self._known.values(), self.of_run
        others = [known for known in known_here if known.available and known.id not in ours]
        return others, translate("devices", "All devices of this machine are in this run")

    @property
    def _elastic(self) -> bool:
        """Whether devices can join and leave the current run."""
        running = any(status.takes_part for status in self.statuses)
        return running and self.strategy is not None and self.strategy.elastic
