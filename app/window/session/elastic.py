"""Decides whether a running session can use other devices, and lets them join and leave it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from framefleet.app.window.devices.status import DeviceStatus
from framefleet.app.window.session.thread import SessionThread
from framefleet.engine.errors import UsageError
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.settings import RunSettings


def only_devices_differ(
    session: SessionThread | None, chosen: StrategyChosen | None, now: RunSettings | None, settings: RunSettings, labels: Sequence[str]
) -> bool:
    """Whether the session can continue with these settings, because devices can join and leave it. now: the settings of the session.

    It cannot with automatic devices, which are chosen at the start of a session, nor on a cluster.
    """
    if now is None or session is None or session.cluster is not None or (session.settings, session.labels) != (now, tuple(labels)):
        return False
    return chosen is not None and chosen.elastic and bool(settings.devices) and replace(settings, devices=now.devices) == now


def use_devices(session: SessionThread, statuses: Iterable[DeviceStatus], settings: RunSettings) -> bool:
    """Let devices join and leave the session until they are those of the settings; return False if that is refused."""
    now = {status.device for status in statuses if status.takes_part}
    try:
        for device in settings.devices:  # first, because the last device cannot leave
            if device not in now:
                session.add_device(device)
        for device in now.difference(settings.devices):
            session.remove_device(device)
    except (UsageError, RuntimeError):
        return False
    session.settings = settings
    return True
