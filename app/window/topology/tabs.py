"""Tabs for the devices and the topology."""

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.floating import SIZE, Floating
from framefleet.app.window.topology.panel import TopologyPanel
from framefleet.app.window.widgets.build import Panel, column, push_button, row, tool_button
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.recording import Recording


class DeviceTabs(Panel):
    """Shows one of the panels. Each can be moved to its own window. store: keeps which are, and where."""

    def __init__(self, devices: DevicePanel, topology: TopologyPanel, store: QSettings) -> None:
        super().__init__()
        self.devices, self.topology = devices, topology
        self.stack = QStackedWidget()
        self.buttons = QButtonGroup(self)
        self.detach = tool_button("detach", "")
        self.cluster = tool_button("device", translate("cluster", "Connect to a cluster…"))
        self.floating: list[Floating] = []
        panels: tuple[tuple[str, str, QWidget], ...] = (
            ("devices", translate("topology", "Devices"), devices),
            ("topology", translate("topology", "Topology"), topology),
        )
        for number, (name, title, panel) in enumerate(panels):
            floating = Floating(panel, title, name, store, topology.own_size if panel is topology else lambda: SIZE)
            floating.changed.connect(self._show_detach)
            self.floating.append(floating)
            button = push_button(title, role="flat")
            button.setCheckable(True)
            button.setStyleSheet("padding: 5px 7px")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons.addButton(button, number)
        for tool in (self.cluster, self.detach):
            tool.setProperty("role", "small-flat")
        self.head = row(*self.buttons.buttons(), None, self.cluster, self.detach, spacing=0, margins=(4, 6, 4, 2))
        column(self.head, (self.stack, 1), spacing=0, of=self)
        for _, _, panel in panels:
            self.stack.addWidget(panel)
        self.buttons.idClicked.connect(self.show_tab)
        self.detach.clicked.connect(lambda: self.floating[self.stack.currentIndex()].toggle())
        self.show_tab(0)

    def show_tab(self, number: int) -> None:
        """Show the panel with this number, from 0, as the buttons are arranged."""
        self.buttons.button(number).setChecked(True)
        self.stack.setCurrentIndex(number)
        self._show_detach()

    def show_recording(self, recording: Recording) -> None:
        """Show a recorded machine in both panels."""
        self.devices.show_recording(recording)
        self.topology.show_recording(recording)

    def _show_detach(self, _floats: bool = False) -> None:
        number = self.stack.currentIndex()
        what = self.buttons.button(number).text()
        floats = self.floating[number].floats
        title = translate("topology", "Put {panel} back here") if floats else translate("topology", "Show {panel} in its own window")
        title = title.format(panel=what)
        self.detach.setToolTip(title)
        self.detach.setAccessibleName(title)
