"""All devices at work, one card each."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.window import theme
from app.window.device_card import DeviceCard
from app.window.device_status import DeviceStatus
from engine.types import DeviceId

REPAINT_MS = 500
"""Time between repaints of the charts: what they show comes twice a second, and the CPU has better things to do."""


class DevicePanel(QWidget):
    """Cards in the order in which the devices were first heard of; it repaints only while it can be seen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._cards: dict[DeviceId, DeviceCard] = {}
        heading = QLabel("Devices")
        heading.setProperty("role", "section")
        heading.setContentsMargins(16, 12, 16, 6)
        self.hint = QLabel("Each device appears here when detection starts.")
        self.hint.setProperty("role", "small")
        self.hint.setWordWrap(True)
        self.hint.setContentsMargins(8, 0, 8, 8)
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(8, 0, 8, 8)
        self._column.setSpacing(8)
        self._column.addWidget(self.hint)
        self._column.addStretch()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(inside)
        inside.setObjectName("inside")
        inside.setStyleSheet(f"#inside {{ background: {theme.SURFACE}; }}")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(heading)
        column.addWidget(scroll, 1)
        self._timer = QTimer(self, interval=REPAINT_MS)
        self._timer.timeout.connect(self.refresh)

    @property
    def cards(self) -> tuple[DeviceCard, ...]:
        """One per device."""
        return tuple(self._cards.values())

    def show_devices(self, devices: Iterable[DeviceStatus]) -> None:
        """These are the devices now; others go."""
        current = {status.device: status for status in devices}
        for device in [device for device in self._cards if device not in current]:
            card = self._cards.pop(device)
            self._column.removeWidget(card)
            card.deleteLater()
        for device, status in current.items():
            if device not in self._cards:
                self._cards[device] = DeviceCard()
                self._column.insertWidget(self._column.count() - 1, self._cards[device])
            self._cards[device].show_status(status)
        self.hint.setVisible(not current)

    @Slot()
    def refresh(self) -> None:
        """Redraw every card that can be seen."""
        for card in self._cards.values():
            if not card.visibleRegion().isEmpty():
                card.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to repaint."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop repainting."""
        super().hideEvent(event)
        self._timer.stop()
