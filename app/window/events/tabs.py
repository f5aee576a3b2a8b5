"""The panel with the events, the detections, the counts over time, and the routes, one at a time."""

from collections.abc import Collection

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QWidget

from framefleet.app.window.events.detections import DetectionsPanel
from framefleet.app.window.events.panel import EventsPanel
from framefleet.app.window.events.routes import RoutesPanel
from framefleet.app.window.widgets.build import Flow, Panel, column, label, push_button
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones.counts.chart import CountChart

MARGIN = 12
"""Left and right, logical pixels."""


class EventTabs(Panel):
    """Shows one of them."""

    def __init__(self, events: EventsPanel, detections: DetectionsPanel, chart: CountChart, routes: RoutesPanel) -> None:
        super().__init__()
        self.stack, self.buttons = QStackedWidget(), QButtonGroup(self)
        titles = (
            *(translate("events", "Events"), translate("events", "Detections")),
            *(translate("events", "Counts over time"), translate("events", "Routes")),
        )
        for number, title in enumerate(titles):
            button = push_button(title, role="flat")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.buttons.addButton(button, number)
        self.buttons.idClicked.connect(self.stack.setCurrentIndex)
        self.buttons.button(0).setChecked(True)
        # below the list: beside the heads, it would push some of them into a second row
        self.one_file = label("small", translate("events", "This file only"))
        self._marked: Collection[QWidget] = ()
        self.stack.currentChanged.connect(lambda _: self.mark_one_file(self._marked))
        self.mark_one_file(())
        self._heads = Flow(*self.buttons.buttons(), spacing=2)
        self._two_rows = self._heads.sizeHint().width() // 2 + self._heads.minimumSize().width()
        column(self._heads, (self.stack, 1), self.one_file, spacing=6, margins=(MARGIN, 8, MARGIN, 8), of=self)
        for panel in (events, detections, chart, routes):
            self.stack.addWidget(panel)

    def minimumSizeHint(self) -> QSize:
        """The height of one or two rows of heads, and of the panel."""
        least = super().minimumSizeHint()
        width = max(self.width() - 2 * MARGIN, self._two_rows)  # before its first layout, the panel is very narrow
        return QSize(least.width(), least.height() + self._heads.minimumHeightForWidth(width) - self._heads.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for the height that the heads need at the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def mark_one_file(self, panels: Collection[QWidget]) -> None:
        """Say that these panels show one file, while counts of several files are shown elsewhere."""
        self._marked = panels
        self.one_file.setVisible(self.stack.currentWidget() in panels)
