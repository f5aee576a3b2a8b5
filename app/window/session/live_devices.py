"""Devices of a session that runs are brought in line with other settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.window.devices.status import DeviceStatus
from app.window.session.thread import SessionThread
from engine.errors import UsageError
from engine.pool.events import StrategyChosen
from engine.settings import RunSettings


def only_devices_differ(now: RunSettings, then: RunSettings, strategy: StrategyChosen | None) -> bool:
    """Whether a run with the settings of now can take up those of then as it goes on. Automatic devices are decided at its start."""
    return strategy is not None and strategy.elastic and bool(then.devices) and replace(then, devices=now.devices) == now


def use_devices(session: SessionThread, statuses: Iterable[DeviceStatus], settings: RunSettings) -> bool:
    """Let devices join and leave until they are those of the settings; False if that is refused. statuses: as they are now."""
    now = {status.device for status in statuses if status.takes_part}
    try:
        for device in settings.devices:  # first: the last device cannot leave
            if device not in now:
                session.add_device(device)
        for device in now.difference(settings.devices):
            session.remove_device(device)
    except (UsageError, RuntimeError):
        return False
    session.settings = settings
    return True
