"""The bar at the top: files, the model in use, settings and the menu; and the line at the bottom: devices, strategy and remaining work."""

import textwrap
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from framefleet.app.window.actions import Actions
from framefleet.app.window.context import Context
from framefleet.app.window.devices.bottleneck import Bottleneck
from framefleet.app.window.devices.status import DeviceStatus, Phase
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.widgets import formats, painting, theme
from framefleet.app.window.widgets.build import Light, Panel, label, row, set_role, tool_button
from framefleet.app.window.widgets.translation import of_engine, strategy_name, translate
from framefleet.engine.model.load import ModelSummary
from framefleet.engine.pool.events import StrategyChosen

MAX_NAME_WIDTH = 240
"""The largest width of a model's name, logical pixels, so that a long name does not widen the window."""


class TopBar(Panel):
    """Shows buttons for the window's actions."""

    def __init__(self, actions: Actions) -> None:
        super().__init__("bar")
        self.open, self.open_folder, self.model = QPushButton(), QPushButton(), QPushButton()
        for button, action in ((self.open, actions.open_files), (self.open_folder, actions.open_folder)):
            button.setText(action.text())
            button.setIcon(action.icon())
            button.setToolTip(action.toolTip())
            button.clicked.connect(action.trigger)
        for button in (self.open, self.open_folder, self.model):
            button.setIconSize(QSize(18, 18))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.videos = tool_button("grid", actions.videos.title(), menu=actions.videos)
        self.settings = tool_button("settings", translate("window", "Settings"), "Ctrl+,", actions.settings.trigger)
        self.more = tool_button("more", translate("window", "More"), menu=actions.menu)
        left = (QLabel(pixmap=painting.pixmap("framefleet", 24)), label("wordmark", "Framefleet"), 16, self.open, self.open_folder)
        row(*left, None, self.model, self.videos, self.settings, self.more, spacing=theme.SPACE, margins=(16, 8, 10, 8), of=self)
        self.set_model(None)

    def set_model(self, summary: ModelSummary | None, demo: bool = False) -> None:
        """Show the model in use, None = none. demo: the demo uses its own."""
        self.model.setIcon(painting.icon("model", theme.MUTED if summary or demo else theme.WARNING))
        if summary is None and demo:
            text, tip = (
                translate("window", "Demo model"),
                translate("window", "The demo has its own model. Click to choose another."),
            )
        elif summary is None:
            text, tip = translate("window", "Choose a model…"), translate("window", "Choose a model")
        else:
            name = self.model.fontMetrics().elidedText(summary.name, Qt.TextElideMode.ElideMiddle, MAX_NAME_WIDTH)
            text, tip = (
                f"{name} · {summary.width}×{summary.height}",
                translate("window", "{name}\n{summary}\nClick to change").format(name=summary.name, summary=formats.model_line(summary)),
            )
        self.model.setText(formats.verbatim(text))
        self.model.setToolTip(tip)
        self.model.setAccessibleName(translate("window", "Model: {name}").format(name=summary.name if summary else text))


def make_top_bar(context: Context) -> TopBar:
    """The bar of a window."""
    bar, settings, queue, run = TopBar(context.actions), context.settings, context.queue, context.run

    def show_model(*_: object) -> None:
        """Name the demo's model while the demo is all that is in the queue."""
        bar.set_model(settings.summary, demo=len(queue) == 1 and all(run.has_own_settings(item.key) for item in queue))

    bar.model.clicked.connect(settings.open_models)
    for changed in (settings.model_changed, queue.rowsInserted, queue.rowsRemoved):
        changed.connect(show_model)
    return bar


REFRESH_MS = 50
"""Changes of the queue within this time cause one update, because a thousand files may be added at once."""
_TIP_COLUMNS = 80
FEW = 3
"""The largest number of devices that are named; more are only counted."""


class StatusLine(Panel):
    """Shows devices, backend and precision; the strategy; the throughput; and the remaining work of the queue."""

    def __init__(self) -> None:
        super().__init__("bar")
        self.dot, self.devices, self.strategy, self.queue = Light(), label("small"), label("small"), label("small")
        self.bottleneck = label("notice")
        self._row = row(
            self.dot, self.devices, 12, self.strategy, 12, self.bottleneck, None, self.queue, spacing=8, margins=(16, 5, 16, 6), of=self
        )
        self._rate, self._left, self._stored, self._statuses = 0.0, "", "", tuple[DeviceStatus, ...]()
        self.show_devices(())

    def add(self, widget: QWidget, share: int = 0) -> None:
        """Add a widget before the remaining work. It must not be higher than a line of text. share: of the room that others leave."""
        self._row.insertWidget(self._row.indexOf(self.queue), widget, share)

    def show_devices(self, statuses: Sequence[DeviceStatus]) -> None:
        """Show the devices of the run, an empty sequence before the first run."""
        self._statuses = tuple(statuses)
        statuses = [status for status in statuses if status.phase is not Phase.LEFT]
        failed = [status for status in statuses if status.phase is Phase.FAILED]
        built = [status for status in statuses if status.engine is not None and status.phase is not Phase.FAILED]
        if not statuses:
            text, colour, why = (
                self._stored or translate("window", "No device in use yet"),
                theme.DISABLED,
                translate("window", "Devices start with the first file."),
            )
        elif len(failed) == len(statuses):
            text, colour = translate("window", "No device left"), theme.DANGER
            why = "\n".join(f"{status.device}: {status.message}" for status in failed)
        else:
            lines = dict.fromkeys(f"{status.engine.backend} · {status.engine.precision}" for status in built if status.engine is not None)
            building = [f"{status.device} {formats.percent(status.building[1])}" for status in statuses if status.building is not None]
            names = [str(status.device) for status in statuses if status not in failed]
            idle = all(status.phase is Phase.IDLE for status in statuses)
            engines = " / ".join(lines) or ("" if idle else translate("window", "building the engine"))  # a run that failed builds nothing
            text = " · ".join(filter(None, (_named(names, len(statuses)), engines)))
            text += (
                translate("window", " · building {building}").format(building=_named(building, len(building))) if building and lines else ""
            )
            text += translate("window", " · {count} failed").format(count=len(failed)) if failed else ""
            colour = theme.WARNING if failed else theme.MUTED if idle else theme.GOOD if built else theme.WARNING
            why = "\n".join(
                f"{status.device}: {status.engine.device_name}\n    {status.engine.precision}: {of_engine(status.engine.reason)}"
                for status in built
                if status.engine is not None
            )
        self.dot.set_colour(colour)
        self.devices.setText(text)
        self.devices.setToolTip(why)

    def show_stored(self, model: str) -> None:
        """Name the model of the stored results that are shown, "" = none are; the devices of a run come before it."""
        self._stored = translate("window", "Stored results of {model}").format(model=model) if model else ""
        self.show_devices(self._statuses)

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """Show how the devices share the work."""
        self.strategy.setText(translate("window", "Strategy: {strategy}").format(strategy=strategy_name(chosen.strategy)))
        self.strategy.setToolTip(textwrap.fill(of_engine(chosen.reason, capital=True), _TIP_COLUMNS))  # Qt does not wrap plain text

    def show_bottleneck(self, found: Bottleneck | None) -> None:
        """Show what limits the throughput, None = nothing is known."""
        set_role(self.bottleneck, "small" if found is None else found.role)
        self.bottleneck.setText("" if found is None else found.text)
        self.bottleneck.setToolTip("" if found is None else found.advice)

    def show_rate(self, rate: float) -> None:
        """Show the throughput of all devices together, frames/s, 0 = none."""
        self._rate = rate
        self._show_work()

    def show_queue(self, items: Iterable[QueueItem]) -> None:
        """Show the number of waiting files or, without any, the longest remaining time."""
        items = list(items)
        waiting = sum(item.state is ItemState.WAITING and not item.live for item in items)  # a stream waits for its camera
        left = max((item.remaining for item in items if item.remaining is not None), default=None)
        time = "" if left is None else translate("window", "{left} left").format(left=formats.remaining(left))
        self._left = translate("window", "%Ln files waiting", None, waiting) if waiting else time
        self._show_work()

    def _show_work(self) -> None:
        rate = translate("window", "{total} frames/s").format(total=formats.rate(self._rate)) if self._rate else ""
        self.queue.setText(" · ".join(filter(None, (rate, self._left))))


def _named(devices: Sequence[str], number: int) -> str:
    return ", ".join(devices) if number <= FEW else formats.plural(number, "device")


def make_status_line(context: Context) -> StatusLine:
    """A line that shows the state of a window's parts."""
    line, run, queue = StatusLine(), context.run, context.queue
    soon = QTimer(line, singleShot=True, interval=REFRESH_MS)

    def show_soon(*_: object) -> None:
        if not soon.isActive():
            soon.start()

    def show_file(item: QueueItem | None) -> None:
        line.show_stored(item.results.model if item is not None and item.results is not None else "")

    soon.timeout.connect(lambda: line.show_queue(queue))
    for changed in (queue.rowsInserted, queue.rowsRemoved, run.item_changed):
        changed.connect(show_soon)
    run.devices_changed.connect(line.show_devices)
    run.rate_changed.connect(line.show_rate)
    run.strategy_changed.connect(line.show_strategy)
    context.requests.bottleneck.connect(line.show_bottleneck)
    context.selection.file_changed.connect(show_file)
    line.add(context.activity)
    right = context.actions.right
    right.toggled.connect(line.bottleneck.setHidden)  # the devices say it, too, so that messages have the room
    line.bottleneck.setHidden(right.isChecked())
    return line
