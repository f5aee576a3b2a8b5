"""Devices at work, and what joins them: two views of the same place in the window."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QButtonGroup, QDialog, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.window.devices.panel import DevicePanel
from app.window.topology.panel import TopologyPanel
from app.window.viewer.transport import tool_button
from app.window.widgets.indicators import label
from app.window.widgets.screen_fit import within_screen
from engine.devices.recording import Recording


class DeviceTabs(QWidget):
    """Shows one of the two panels; the other rests. The topology can also have a window of its own."""

    def __init__(self, devices: DevicePanel, topology: TopologyPanel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.devices, self.topology = devices, topology
        self.stack = QStackedWidget()
        self.buttons = QButtonGroup(self)
        self.recorded = label("small", "Recorded")
        self.recorded.setToolTip("Another machine, as it was when it was recorded")
        self.recorded.hide()
        self.larger = tool_button("fullscreen", "Show larger")
        self.larger.clicked.connect(self.enlarge)
        self.window_: QDialog | None = None
        row = QHBoxLayout()
        row.setContentsMargins(8, 8, 8, 4)
        row.setSpacing(2)
        for number, (name, panel) in enumerate((("Devices", devices), ("Topology", topology))):
            self.stack.addWidget(panel)
            button = QPushButton(name)
            button.setCheckable(True)
            button.setProperty("role", "flat")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons.addButton(button, number)
            row.addWidget(button)
        row.addStretch()
        row.addWidget(self.recorded)
        row.addWidget(self.larger)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self.stack, 1)
        self.buttons.idClicked.connect(self.show_tab)
        self.show_tab(0)

    @Slot(int)
    def show_tab(self, number: int) -> None:
        """0: devices, 1: topology."""
        self.buttons.button(number).setChecked(True)
        self.stack.setCurrentIndex(number)
        self.larger.setVisible(number == 1)

    @Slot(object)
    def show_recording(self, recording: Recording) -> None:
        """Show a recorded machine in both."""
        self.recorded.show()
        self.devices.show_recording(recording)
        self.topology.show_recording(recording)

    @Slot()
    def enlarge(self) -> None:
        """Move the topology to a window of its own until that is closed."""
        self.window_ = QDialog(self.window())
        self.window_.setWindowTitle("Topology – Framefleet")
        self.window_.resize(within_screen(self, 1000, 720))
        column = QVBoxLayout(self.window_)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self.topology)
        self.topology.show()
        self.show_tab(0)
        self.buttons.button(1).setEnabled(False)
        self.window_.finished.connect(self._take_back)
        self.window_.show()

    def hideEvent(self, event: QHideEvent) -> None:
        """The window is closed, or shows nothing but the picture: its own windows go with it, which Qt leaves open."""
        super().hideEvent(event)
        if self.window_ is not None and not event.spontaneous():
            self.window_.close()

    @Slot()
    def _take_back(self) -> None:
        self.stack.insertWidget(1, self.topology)
        self.buttons.button(1).setEnabled(True)
        self.show_tab(1)
        if self.window_ is not None:
            self.window_.deleteLater()
            self.window_ = None
