"""Telemetry of one node: its devices and its network cards. Taken only while the driver wants it."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from framefleet.engine.cluster.messages import Measured
from framefleet.engine.devices.discovery import DeviceDescription, discover
from framefleet.engine.devices.telemetry import TelemetryMonitor, rate

INTERVAL_SECONDS = 0.5
"""Shortest time between two snapshots."""


class NodeTelemetry:
    """Takes telemetry. A process reads the devices, as on the user's machine. network: Linux's list of network cards."""

    def __init__(self, network: Path = Path("/sys/class/net")) -> None:
        self._network = network
        self._lock = threading.Lock()
        self._devices: tuple[DeviceDescription, ...] | None = None
        self._monitor: TelemetryMonitor | None = None
        self._wanted = False
        self._time, self._counters = time.monotonic(), self._count()

    def know(self, devices: Sequence[DeviceDescription]) -> None:
        """Use these descriptions, so that the devices need not be found again."""
        self._devices = tuple(devices)

    def want(self, wanted: bool) -> None:
        """Begin to take telemetry, or stop. Does not wait for the devices to be found."""
        self._wanted = wanted
        threading.Thread(target=self._begin_or_stop, name="telemetry", daemon=True).start()

    def take(self) -> Measured | None:
        """A new snapshot; None if none is wanted, or the last one is too young."""
        now, before = time.monotonic(), self._time
        if not self._wanted or now < before + INTERVAL_SECONDS:
            return None
        earlier, self._time, self._counters = self._counters, now, self._count()
        rx, tx = (rate(then, at, now - before) for then, at in zip(earlier, self._counters, strict=True))
        monitor = self._monitor
        return Measured(tuple(monitor.latest.values()) if monitor is not None else (), rx, tx)

    def close(self) -> None:
        """Stop."""
        self._wanted = False
        self._begin_or_stop()

    def _begin_or_stop(self) -> None:
        with self._lock:
            if self._wanted and self._monitor is None:
                if self._devices is None:
                    self._devices = discover()
                self._monitor = TelemetryMonitor(device for device in self._devices if device.available)
            elif not self._wanted and self._monitor is not None:
                self._monitor.close()
                self._monitor = None

    def _count(self) -> tuple[int | None, int | None]:
        """Bytes that the network cards have received and sent since the machine started.

        A card without a device below is virtual. It counts only in a container, which has no other one.
        """
        try:
            cards = [card for card in self._network.iterdir() if card.name != "lo"]
            cards = [card for card in cards if (card / "device").exists()] or cards
            received, sent = (sum(int((card / "statistics" / f"{way}_bytes").read_text()) for card in cards) for way in ("rx", "tx"))
        except (OSError, ValueError):
            return None, None
        return received, sent
