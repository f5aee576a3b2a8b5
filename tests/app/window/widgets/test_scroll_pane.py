from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QScrollArea
from pytestqt.qtbot import QtBot

from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.topology.panel import TopologyPanel
from framefleet.app.window.widgets.build import ScrollPane


def test_it_is_a_stop_of_the_tab_key_only_while_there_is_something_to_scroll(qtbot: QtBot) -> None:
    inside = QLabel("devices")
    pane = ScrollPane("Devices", inside)
    qtbot.addWidget(pane)
    pane.resize(200, 100)
    pane.show()
    assert pane.focusPolicy() is Qt.FocusPolicy.NoFocus
    inside.setMinimumHeight(300)
    qtbot.waitUntil(lambda: pane.focusPolicy() is Qt.FocusPolicy.TabFocus)
    pane.setFocus()
    qtbot.keyClick(pane, Qt.Key.Key_PageDown)
    assert pane.verticalScrollBar().value() > 0
    inside.setMinimumHeight(20)
    qtbot.waitUntil(lambda: pane.focusPolicy() is Qt.FocusPolicy.NoFocus)


def test_the_panels_that_scroll_have_names(qtbot: QtBot) -> None:
    for panel, name in ((DevicePanel(), "Devices"), (TopologyPanel(), "Topology")):
        qtbot.addWidget(panel)
        assert [scroll.accessibleName() for scroll in panel.findChildren(QScrollArea)] == [name]
