"""The panel with the events, the detections, the counts over time, and the routes, one at a time."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QStackedWidget

from app.window.events.detections import DetectionsPanel
from app.window.events.panel import EventsPanel
from app.window.events.routes import RoutesPanel
from app.window.widgets.build import Panel, column, push_button
from app.window.widgets.flow import Flow
from app.window.widgets.translation import translate
from app.window.zones.chart import CountChart


class EventTabs(Panel):
    """Shows one of them."""

    def __init__(self, events: EventsPanel, detections: DetectionsPanel, chart: CountChart, routes: RoutesPanel) -> None:
        super().__init__()
        self.stack, self.buttons = QStackedWidget(), QButtonGroup(self)
        titles = (
            *(translate("events", "Events"), translate("events", "Detections")),
            *(translate("events", "Counts over time"), translate("events", "Routes")),
        )
        for number, (title, panel) in enumerate(zip(titles, (events, detections, chart, routes), strict=True)):
            self.stack.addWidget(panel)
            button = push_button(title, role="flat")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons.addButton(button, number)
        self.buttons.idClicked.connect(self.stack.setCurrentIndex)
        self.buttons.button(0).setChecked(True)
        column(Flow(*self.buttons.buttons(), spacing=2), (self.stack, 1), spacing=6, margins=(12, 8, 12, 8), of=self)
