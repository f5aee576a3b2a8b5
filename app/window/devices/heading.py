"""The heading of the devices: what limits the run and what to do, or the strategy, and the devices that can join."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from framefleet.app.window.devices.bottleneck import Bottleneck
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import column, label, row, say, set_role, tool_button, wrapped
from framefleet.app.window.widgets.engine_text import strategy_name
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.pool.events import StrategyChosen


class RunHeading(QWidget):
    """Shows the state of the current run in two or three lines. join_requested: a DeviceId."""

    join_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._offered: tuple[DeviceDescription, ...] = ()
        self._strategy: StrategyChosen | None = None
        self._bottleneck: Bottleneck | None = None
        self._add = translate("devices", "Add a device to this run")
        self.title, self.text = label("", wrap=True), wrapped("small")
        self.menu = QMenu(self)
        self.add = tool_button("add", self._add, menu=self.menu)
        self.add.setProperty("role", "small-flat")
        self.add.hide()
        words = column(self.title, self.text, spacing=0)
        row((words, 1), (self.add, 0, Qt.AlignmentFlag.AlignTop), margins=(16, 2, 12, 4), of=self)
        self.hide()

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """Show the strategy and its reason."""
        self._strategy = chosen
        self._show()

    def show_bottleneck(self, found: Bottleneck | None) -> None:
        """Show what limits the run, None = nothing is known; then the strategy is shown."""
        if found != self._bottleneck:
            self._bottleneck = found
            self._show()

    def _show(self) -> None:
        strategy, found = self._strategy, self._bottleneck
        about = ""
        if strategy is not None:
            about = translate("devices", "Strategy: {name}").format(name=strategy_name(strategy.strategy))
            reason = f"{formats.capitalised(strategy.reason)}."
        self.setVisible(strategy is not None or found is not None)
        set_role(self.title, found.role if found is not None else "")
        self.title.setText(found.text if found is not None else about)
        say(self.text, found.advice if found is not None else reason if strategy is not None else "")
        self.setToolTip(f"{about}\n{reason}" if strategy is not None else "")
        self.setAccessibleName(f"{self.title.text()} {self.text.text()}")

    def offer(self, devices: Sequence[DeviceDescription], why_none: str | None) -> None:
        """Offer devices that can join the run. why_none: why no device can join; None = no run."""
        self.add.setVisible(bool(devices) or why_none is not None)
        self.add.setEnabled(bool(devices))
        self.add.setToolTip(self._add if devices else why_none or "")
        if tuple(devices) == self._offered:
            return  # the menu may be open
        self._offered = tuple(devices)
        self.menu.clear()
        for description in devices:
            self.menu.addAction(f"{description.id}   {description.name}", partial(self.join_requested.emit, description.id))
