"""The bar at the top: open files, the model in use, settings, and the menu."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QPushButton

from framefleet.app.window.actions import Actions
from framefleet.app.window.context import Context
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import Panel, label, row, tool_button
from framefleet.app.window.widgets.painting import icon, pixmap
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.check import ModelSummary

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
        left = (QLabel(pixmap=pixmap("framefleet", 24)), label("wordmark", "Framefleet"), 16, self.open, self.open_folder)
        row(*left, None, self.model, self.videos, self.settings, self.more, spacing=theme.SPACE, margins=(16, 8, 10, 8), of=self)
        self.set_model(None)

    def set_model(self, summary: ModelSummary | None, demo: bool = False) -> None:
        """Show the model in use, None = none. demo: the demo uses its own."""
        self.model.setIcon(icon("model", theme.MUTED if summary or demo else theme.WARNING))
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
        self.model.setText(text)
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
