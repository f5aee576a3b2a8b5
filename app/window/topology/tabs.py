"""Tabs for the devices and the topology."""

from collections.abc import Sequence

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QButtonGroup, QStackedWidget

from framefleet.app.window.context import Placed
from framefleet.app.window.floating import Floating
from framefleet.app.window.widgets.build import Panel, column, push_button, row, tool_button
from framefleet.app.window.widgets.translation import translate


class DeviceTabs(Panel):
    """Shows one of the panels. Each can be moved to its own window. store: keeps which are, and where.

    cluster: the action that asks for a cluster.
    """

    def __init__(self, panels: Sequence[Placed], cluster: QAction, store: QSettings) -> None:
        super().__init__()
        self.stack = QStackedWidget()
        self.buttons = QButtonGroup(self)
        self.detach = tool_button("detach", "")
        self.cluster = tool_button("device", translate("cluster", "Connect to a cluster…"), clicked=cluster.trigger)
        self.floating: list[Floating] = []
        for number, panel in enumerate(panels):
            floating = Floating(panel.widget, panel.title, panel.name, store, panel.own_size)
            floating.changed.connect(self._show_detach)
            self.floating.append(floating)
            button = push_button(panel.title, role="flat")
            button.setCheckable(True)
            button.setStyleSheet("padding: 5px 7px")
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons.addButton(button, number)
        for tool in (self.cluster, self.detach):
            tool.setProperty("role", "small-flat")
        self.head = row(*self.buttons.buttons(), None, self.cluster, self.detach, spacing=0, margins=(4, 6, 4, 2))
        column(self.head, (self.stack, 1), spacing=0, of=self)
        for panel in panels:
            self.stack.addWidget(panel.widget)
        self.buttons.idClicked.connect(self.show_tab)
        self.detach.clicked.connect(lambda: self.floating[self.stack.currentIndex()].toggle())
        self.show_tab(0)

    def show_tab(self, number: int) -> None:
        """Show the panel with this number, from 0, as the buttons are arranged."""
        self.buttons.button(number).setChecked(True)
        self.stack.setCurrentIndex(number)
        self._show_detach()

    def _show_detach(self, _floats: bool = False) -> None:
        number = self.stack.currentIndex()
        what = self.buttons.button(number).text()
        floats = self.floating[number].floats
        title = translate("topology", "Put {panel} back here") if floats else translate("topology", "Show {panel} in its own window")
        title = title.format(panel=what)
        self.detach.setToolTip(title)
        self.detach.setAccessibleName(title)
