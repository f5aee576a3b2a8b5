"""The line at the bottom: what detection runs on, and why. Nothing about it is hidden."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.window.devices.status import DeviceStatus, Phase
from app.window.queue.item import ItemState, QueueItem
from app.window.widgets import formats, theme
from app.window.widgets.indicators import Dot
from engine.pool.events import StrategyChosen

_TIP_COLUMNS = 80
FEW = 3
"""Devices that are named; more are counted."""


def _part(role: str = "small") -> QLabel:
    label = QLabel()
    label.setProperty("role", role)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


class StatusLine(QWidget):
    """Devices, backend and precision; strategy; what the queue still needs."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.dot = Dot()
        self.devices = _part()
        self.strategy = _part()
        self.queue = _part()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 5, 16, 6)
        row.setSpacing(8)
        row.addWidget(self.dot)
        row.addWidget(self.devices)
        row.addSpacing(12)
        row.addWidget(self.strategy)
        row.addStretch()
        row.addWidget(self.queue)
        self.show_devices(())

    def show_devices(self, statuses: Sequence[DeviceStatus]) -> None:
        """The devices of the session; none before the first."""
        statuses = [status for status in statuses if status.phase is not Phase.LEFT]
        failed = [status for status in statuses if status.phase is Phase.FAILED]
        built = [status for status in statuses if status.engine is not None and status.phase is not Phase.FAILED]
        if not statuses:
            text, colour, why = "No device in use yet", theme.DISABLED, "Devices start with the first file."
        elif len(failed) == len(statuses):
            text, colour = "No device left", theme.DANGER
            why = "\n".join(f"{status.device}: {status.message}" for status in failed)
        else:
            lines = dict.fromkeys(f"{status.engine.backend} · {status.engine.precision}" for status in built if status.engine is not None)
            building = [f"{status.device} {formats.percent(status.building[1])}" for status in statuses if status.building is not None]
            names = [str(status.device) for status in statuses if status not in failed]
            text = f"{_named(names, len(statuses))} · {' / '.join(lines) or 'building the engine'}"
            text += f" · building {_named(building, len(building))}" if building and lines else ""
            text += f" · {len(failed)} failed" if failed else ""
            idle = all(status.phase is Phase.IDLE for status in statuses)
            colour = theme.WARNING if failed or not built else theme.MUTED if idle else theme.GOOD
            why = "\n".join(
                f"{status.device}: {status.engine.device_name}\n    {status.engine.precision}: {status.engine.reason}"
                for status in built
                if status.engine is not None
            )
        self.dot.set_colour(colour)
        self.devices.setText(text)
        self.devices.setToolTip(why)

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """How the devices share the work."""
        self.strategy.setText(f"Strategy: {chosen.strategy}")
        self.strategy.setToolTip(textwrap.fill(chosen.reason, _TIP_COLUMNS))  # Qt puts plain text on one line, however long

    def show_queue(self, items: Iterable[QueueItem]) -> None:
        """Throughput of all files together, and how long the longest takes; how long others will take is not known while they wait."""
        items = list(items)
        running = [item for item in items if item.state is ItemState.RUNNING]
        waiting = sum(item.state is ItemState.WAITING for item in items)
        total = sum(item.rate or 0.0 for item in running)
        left = max((item.remaining for item in running if item.remaining is not None), default=None)
        parts = [f"{formats.rate(total)} frames/s"] if total else []
        if waiting:
            parts.append(f"{formats.plural(waiting, 'file')} waiting")
        elif left is not None:
            parts.append(f"{formats.remaining(left)} left")
        self.queue.setText(" · ".join(parts))


def _named(devices: Sequence[str], number: int) -> str:
    return ", ".join(devices) if number <= FEW else formats.plural(number, "device")
