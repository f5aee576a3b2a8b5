"""Telemetry for whoever shows it: taken by a process of its own, so that no driver bug takes the caller down."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from threading import Thread

from engine.devices.description import DeviceDescription
from engine.devices.program import ROOT
from engine.devices.telemetry.snapshot import Telemetry
from engine.errors import UsageError
from engine.types import DeviceId

_PROGRAM = (sys.executable, "-m", "engine.devices.telemetry.sampler")


class TelemetryMonitor:
    """Holds the latest snapshot of each device, twice a second, until closed.

    devices: which; what is no CPU is known by its UUID. program: prints what ``sampler`` prints. Its process ends with this one.
    """

    def __init__(self, devices: Iterable[DeviceDescription], program: Sequence[str] = _PROGRAM) -> None:
        self._latest: Mapping[DeviceId, Telemetry] = {}
        self._problem: str | None = None
        self._closed = False
        arguments = [f"{device.id}={device.uuid or ''}" for device in devices]
        try:
            self._process = subprocess.Popen(
                [*program, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                errors="replace",
                cwd=ROOT,
            )
        except OSError as error:
            self._problem = f"telemetry cannot be started: {error}"
            self._closed = True
            return
        self._thread = Thread(target=self._read, name="framefleet telemetry", daemon=True)
        self._thread.start()

    @property
    def latest(self) -> Mapping[DeviceId, Telemetry]:
        """The newest snapshots; empty before the first and after the end."""
        return self._latest

    @property
    def problem(self) -> str | None:
        """Why there are none, or none of GPUs; None if nothing is wrong."""
        return self._problem

    def close(self) -> None:
        """End the process; harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        self._process.kill()
        self._thread.join()

    def _read(self) -> None:
        with self._process as process:
            assert process.stdout is not None
            for line in process.stdout:
                try:
                    values = json.loads(line)
                    snapshots = [Telemetry.from_json(each) for each in values["devices"]]
                except (ValueError, KeyError, TypeError, RecursionError, UsageError):
                    continue  # drivers print, too
                self._problem = values["problem"]
                self._latest = {snapshot.device: snapshot for snapshot in snapshots}
        self._latest = {}
        if not self._closed:
            status = process.returncode
            how = f"crashed (signal {-status})" if status < 0 else f"ended with status {status}"
            self._problem = f"telemetry is not available: the process that reads it {how}"
