"""Tabs for the devices and the topology."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QButtonGroup, QDialog, QStackedWidget

from app.window.devices.panel import DevicePanel
from app.window.topology.panel import TopologyPanel
from app.window.widgets.build import Panel, column, label, push_button, row, tool_button, within_screen
from app.window.widgets.translation import translate
from engine.devices.recording import Recording


class DeviceTabs(Panel):
    """Shows one of the two panels. The topology can be moved to its own window."""

    def __init__(self, devices: DevicePanel, topology: TopologyPanel) -> None:
        super().__init__()
        self.devices, self.topology = devices, topology
        self.stack = QStackedWidget()
        self.buttons = QButtonGroup(self)
        self.recorded = label(
            "small", translate("topology", "Recorded"), tip=translate("topology", "Another machine, as it was when it was recorded")
        )
        self.recorded.hide()
        self.larger = tool_button("fullscreen", translate("topology", "Show larger"))
        self.larger.clicked.connect(self.enlarge)
        self.cluster = tool_button("device", translate("cluster", "Connect to a cluster…"))
        self.window_: QDialog | None = None
        for number, (name, panel) in enumerate(
            ((translate("topology", "Devices"), devices), (translate("topology", "Topology"), topology))
        ):
            self.stack.addWidget(panel)
            button = push_button(name, role="flat")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons.addButton(button, number)
        head = row(*self.buttons.buttons(), None, self.recorded, self.cluster, self.larger, spacing=2, margins=(8, 8, 8, 4))
        column(head, (self.stack, 1), spacing=0, of=self)
        self.buttons.idClicked.connect(self.show_tab)
        self.show_tab(0)

    def show_tab(self, number: int) -> None:
        """Show the devices (0) or the topology (1)."""
        self.buttons.button(number).setChecked(True)
        self.stack.setCurrentIndex(number)
        self.larger.setVisible(number == 1)

    def show_recording(self, recording: Recording) -> None:
        """Show a recorded machine in both panels."""
        self.recorded.show()
        self.devices.show_recording(recording)
        self.topology.show_recording(recording)

    def enlarge(self) -> None:
        """Move the topology to its own window until the user closes that."""
        self.window_ = QDialog(self.window())
        self.window_.setWindowTitle(translate("topology", "Topology – Framefleet"))
        self.window_.resize(within_screen(self, 1000, 720))
        column(self.topology, margins=(8, 8, 8, 8), of=self.window_)
        self.topology.show()
        self.show_tab(0)
        self.buttons.button(1).setEnabled(False)
        self.window_.finished.connect(self._restore_topology)
        self.window_.show()

    def hideEvent(self, event: QHideEvent) -> None:
        """Close the topology's window when the main window closes or shows only the picture: Qt leaves it open."""
        super().hideEvent(event)
        if self.window_ is not None and not event.spontaneous():
            self.window_.close()

    def _restore_topology(self) -> None:
        self.stack.insertWidget(1, self.topology)
        self.buttons.button(1).setEnabled(True)
        self.show_tab(1)
        if self.window_ is not None:
            self.window_.deleteLater()
            self.window_ = None
