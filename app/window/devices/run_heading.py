"""How the devices share the work and why, and a button that lets another one join."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from app.window.viewer.transport import tool_button
from app.window.widgets.indicators import label, say, wrapped
from engine.devices.description import DeviceDescription
from engine.pool.events import StrategyChosen

_ADD = "Let another device take part"


class RunHeading(QWidget):
    """There from the first run on. join_requested: the DeviceId of a device that does not take part yet."""

    join_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offered: tuple[DeviceDescription, ...] = ()
        self.strategy = label("")
        self.reason = wrapped("small")
        self.add = tool_button("add", _ADD)
        self.add.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self)
        self.add.setMenu(self.menu)
        self.add.hide()
        words = QVBoxLayout()
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(2)
        words.addWidget(self.strategy)
        words.addWidget(self.reason)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 12, 8)
        row.addLayout(words, 1)
        row.addWidget(self.add, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """How the work is shared, and why."""
        self.show()
        self.strategy.setText(f"Strategy: {chosen.strategy}")
        say(self.reason, f"{chosen.reason[:1].upper()}{chosen.reason[1:]}.")

    def offer(self, devices: Sequence[DeviceDescription], why_none: str | None) -> None:
        """These could join the run. why_none: why none can, in words; None = there is no run to join."""
        self.add.setVisible(bool(devices) or why_none is not None)
        self.add.setEnabled(bool(devices))
        self.add.setToolTip(_ADD if devices else why_none or "")
        if tuple(devices) == self._offered:
            return  # the menu may be open
        self._offered = tuple(devices)
        self.menu.clear()
        for description in devices:
            self.menu.addAction(f"{description.id}   {description.name}", partial(self.join_requested.emit, description.id))
