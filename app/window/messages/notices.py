"""Which banners go up when something goes wrong, and which come down when it is right again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot

from app.window.devices.status import DeviceStatus, Phase, reason_of
from app.window.widgets.banner import BannerArea, Kind
from engine.devices.description import DeviceDescription
from engine.pool.events import DeviceFailed


class Notices(QObject):
    """Turns events into banners."""

    settings_requested = Signal()

    def __init__(self, banners: BannerArea, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._banners = banners
        self._missing: tuple[DeviceDescription, ...] = ()
        self._cpu_only = False

    @Slot(object)
    def device_failed(self, event: DeviceFailed) -> None:
        """A worker ended unasked."""
        if event.restarting:
            self._banners.show_banner(f"device {event.device}", Kind.WARNING, f"{event.device} is being restarted: {reason_of(event)}")
        else:
            text = f"{event.device} failed and is out of this run: {reason_of(event)}"
            self._banners.show_banner(f"device {event.device}", Kind.ERROR, text, ("Settings…", self.settings_requested.emit))

    @Slot(object)
    def devices_changed(self, statuses: Sequence[DeviceStatus]) -> None:
        """What restarted and works again is no news any more; detecting on the CPU beside a broken GPU is."""
        for status in statuses:
            if status.phase in (Phase.READY, Phase.LEFT):
                self._banners.remove(f"device {status.device}")
        kinds = {member.kind for status in statuses if status.phase is not Phase.LEFT for member in status.device.members}
        cpu_only = kinds == {"cpu"}
        if cpu_only != self._cpu_only:
            self._cpu_only = cpu_only
            self._show_fallback()

    @Slot(object)
    def devices_found(self, found: Sequence[DeviceDescription]) -> None:
        """What this machine has."""
        self._missing = tuple(description for description in found if description.id.kind != "cpu" and not description.available)
        self._show_fallback()

    def _show_fallback(self) -> None:
        if self._cpu_only and self._missing:
            reasons = "; ".join(f"{description.id} ({description.name}): {description.problem}" for description in self._missing)
            self._banners.show_banner("fallback", Kind.WARNING, f"Detection runs on the CPU. Not usable: {reasons}")
        else:
            self._banners.remove("fallback")

    @Slot(str)
    def session_failed(self, message: str) -> None:
        """A session ended with an error."""
        self._banners.show_banner("session", Kind.ERROR, f"Detection stopped: {message}", ("Settings…", self.settings_requested.emit))

    @Slot(str)
    def refused(self, message: str) -> None:
        """A device can neither join nor leave."""
        self._banners.show_banner("refused", Kind.WARNING, f"That is not possible: {message}.")

    @Slot(str, bool)
    def preview_crashed(self, message: str, again: bool) -> None:
        """The preview process ended unasked."""
        text = f"{message} {'It was started again.' if again else 'It is not started again for this file.'} Detection goes on."
        self._banners.show_banner("preview", Kind.WARNING, text)
