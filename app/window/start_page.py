"""The page without files: choose a model, add videos, or watch the demo."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QScrollArea, QSizePolicy, QWidget

from framefleet.app.window.actions import Actions
from framefleet.app.window.context import Context
from framefleet.app.window.streams.dialog import RecentStreams
from framefleet.app.window.widgets import formats, painting, theme
from framefleet.app.window.widgets.build import Flow, column, label, push_button, row, set_role, show_inside
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.load import ModelSummary

MARGIN, GAP = 16, 16
MAX_STREAMS = 3
"""The number of last streams that are offered."""
STREAM_WIDTH, ALONE_WIDTH = 220, 440
"""The largest widths of the text of each, beside the others and in a line of its own, logical pixels."""


class StepCard(QFrame):
    """One step: an icon, a title, an explanation, and buttons."""

    def __init__(self, symbol: str, title: str, text: str, *buttons: QPushButton) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setMaximumWidth(344)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._symbol = symbol
        self.icon = painting.Symbol(size=22)
        self.title = label("section", title)
        self.text = label("muted", text, wrap=True)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        head = row(self.icon, (self.title, 1), spacing=10)
        below = Flow(*buttons, spacing=theme.SPACE)
        column(head, (self.text, 1), 4, below, spacing=10, margins=(20, 18, 20, 18), of=self)
        self.set_done(False)

    def set_done(self, done: bool) -> None:
        """Show whether the step is done."""
        name, colour = ("check", "GOOD") if done else (self._symbol, "ACCENT")
        self.icon.show_icon(name, colour)


class StartPage(QScrollArea):
    """Shows the steps side by side, or below each other in a narrow window. shown: it has become visible."""

    shown = Signal()

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        title = label("title", translate("window", "Detect objects in your videos"), wrap=True)
        subtitle = label("muted", translate("window", "Everything runs on this machine, on every device you let it use."), wrap=True)
        for line in (title, subtitle):
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.choose_model = push_button("")
        self.open_files = push_button(
            translate("window", "Open files…"), actions.open_files.trigger, tip=translate("window", "Open files (Ctrl+O)")
        )
        self.open_folder = push_button(
            translate("window", "Open folder…"), actions.open_folder.trigger, tip=translate("window", "Open a folder (Ctrl+Shift+O)")
        )
        self.open_stream = push_button(
            translate("window", "Open stream…"), actions.open_stream.trigger, tip=translate("window", "Open a camera or stream (Ctrl+L)")
        )
        self.model_step = StepCard("model", "", "", self.choose_model)
        adding = translate("window", "Drop videos, pictures or folders anywhere on this window, or open them.")
        self.video_step = StepCard("film", translate("window", "Add videos"), adding, self.open_files, self.open_folder, self.open_stream)
        self.steps = row(self.model_step, self.video_step, spacing=GAP)
        across = row(1.0, (self.steps, 200), 1.0)  # the steps reach their full width before the margins grow
        self.watch = push_button(translate("window", "Watch the demo"), actions.demo.trigger, symbol="play")
        self.about = label("muted", translate("window", "No video at hand? Framefleet has a demo with its own video and model."))
        self.about.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.demo = row(None, self.about, (self.watch, 0, Qt.AlignmentFlag.AlignHCenter), None, spacing=12)
        self.streams = [push_button("") for _ in range(MAX_STREAMS)]
        self.last_streams = QWidget()
        self.streams_title = label("muted", translate("window", "Last streams:"))
        self.streams_title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        streams = ((button, 0, Qt.AlignmentFlag.AlignHCenter) for button in self.streams)
        self.streams_line = row(None, self.streams_title, *streams, None, spacing=12, of=self.last_streams)
        self.last_streams.hide()
        inside = QWidget()
        parts = (title, subtitle, 24, across, 20, self.last_streams, self.demo)
        column(4.0, *parts, 5.0, spacing=6, margins=(MARGIN, 24, MARGIN, 24), of=inside)
        show_inside(self, inside)
        self.set_model(None)

    def showEvent(self, event: QShowEvent) -> None:
        """Say so: there may be other last streams."""
        super().showEvent(event)
        self.shown.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the steps side by side if there is room, and the demo's text beside its button."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        room = self.viewport().width() - 2 * MARGIN
        steps = sum(min(step.sizeHint().width(), step.maximumWidth()) for step in (self.model_step, self.video_step)) + GAP
        demo = self.about.fontMetrics().horizontalAdvance(self.about.text()) + self.watch.sizeHint().width() + self.demo.spacing()
        self._name_streams(STREAM_WIDTH)
        buttons = [button.sizeHint().width() + self.streams_line.spacing() for button in self.streams if button.text()]
        streams = self.streams_title.sizeHint().width() + sum(buttons)
        if room < streams:
            self._name_streams(min(ALONE_WIDTH, room - 2 * MARGIN))
        for line, needed in ((self.steps, steps), (self.demo, demo), (self.streams_line, streams)):
            line.setDirection(QBoxLayout.Direction.LeftToRight if room >= needed else QBoxLayout.Direction.TopToBottom)
        self.about.setWordWrap(room < demo)

    def _name_streams(self, longest: int) -> None:
        """Write the addresses on the buttons, shortened to this width."""
        for button in self.streams:
            text = button.fontMetrics().elidedText(button.toolTip(), Qt.TextElideMode.ElideMiddle, longest)
            button.setText(formats.verbatim(text))

    def show_streams(self, addresses: Sequence[str]) -> None:
        """Offer the last streams, the newest first. addresses: without user and password."""
        for number, button in enumerate(self.streams):
            address = addresses[number] if number < len(addresses) else ""
            button.setToolTip(address)
            button.setVisible(bool(address))
        self.last_streams.setVisible(bool(addresses))
        self._arrange()

    def set_model(self, summary: ModelSummary | None) -> None:
        """Show the model in use, None = none. The button of the next step gets the accent colour."""
        step = self.model_step
        step.set_done(summary is not None)
        if summary is None:
            step.title.setText(translate("window", "Choose a model"))
            step.text.setText(
                translate(
                    "window",
                    "Download one with a click, or drop an .onnx file, or a Darknet .cfg and its .weights, anywhere on this window.",
                )
            )
            self.choose_model.setText(translate("window", "Choose model…"))
        else:
            step.title.setText(formats.shortened(summary.name, 24))
            step.text.setText(formats.model_line(summary))
            self.choose_model.setText(translate("window", "Change…"))
        set_role(self.choose_model, "primary" if summary is None else "")
        set_role(self.open_files, "" if summary is None else "primary")


def make_start_page(context: Context) -> StartPage:
    """The start page of a window."""
    page = StartPage(context.actions)
    page.choose_model.clicked.connect(context.settings.open_models)
    recent = RecentStreams(context.store)
    page.shown.connect(lambda: page.show_streams(recent.addresses))
    for button in page.streams:
        button.clicked.connect(lambda _=False, button=button: context.requests.open_stream.emit(button.toolTip()))
    context.settings.model_changed.connect(page.set_model)
    return page
