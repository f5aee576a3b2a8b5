"""The demo in the window: its clip and model, and a card with the accuracy."""

from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from framefleet.app.demo import demo_accuracy, demo_labels, demo_settings
from framefleet.app.window.context import Context, Feature, Place, Placed
from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.run.background import Background
from framefleet.app.window.run.controller import DetectionController
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import Panel, column, label, push_button, row
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.evaluation.accuracy import Accuracy
from framefleet.engine.settings import RunSettings
from framefleet.resources import DEMO

ABOUT = marked("demo", "The built-in model detects objects in rendered streets, where the true objects of each frame are known.")
COLUMNS = 2


class DemoCard(Panel):
    """The panel of the demo."""

    def __init__(self) -> None:
        super().__init__()
        self.state = label("small", wrap=True)
        self.map50, self.map50_95 = label("figure"), label("figure")
        self.choose = push_button(translate("demo", "Choose your own model…"), role="link")
        self.choose.setStyleSheet("padding-left: 0")  # in line with the text above it
        self.figures = QWidget()
        figures = QGridLayout(self.figures)
        figures.setContentsMargins(0, 4, 0, 2)
        figures.setVerticalSpacing(0)
        figures.setColumnStretch(2, 1)
        figures.setHorizontalSpacing(2 * theme.SPACE)
        units = (
            (
                self.map50,
                "mAP@0.5",
                translate("demo", "Mean average precision where a box that overlaps an object by half counts as right"),
            ),
            (
                self.map50_95,
                "mAP@0.5:0.95",
                translate("demo", "The same, averaged over overlaps from 0.5 to 0.95: how exactly the boxes fit"),
            ),
        )
        for number, (figure, unit, why) in enumerate(units):
            figure.setToolTip(why)
            figures.addWidget(figure, 0, number)
            figures.addWidget(label("small", unit, tip=why), 1, number)
        self.classes = QWidget()
        self._grid = QGridLayout(self.classes)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(5)  # two columns fit into that of the queue
        self._grid.setVerticalSpacing(1)
        for number in range(COLUMNS):
            self._grid.setColumnStretch(3 * number, 1)
            self._grid.setColumnMinimumWidth(3 * number + 2, 4)
        head, foot = row(label("section", translate("demo", "Demo")), None), row(self.choose, None, margins=(0, 2, 0, 0))
        parts = (head, label("small", translate("demo", ABOUT), wrap=True), self.figures, self.state, self.classes, foot)
        column(*parts, spacing=4, margins=(16, 10, 16, 12), of=self)
        self.show_text("")

    def show_progress(self, item: QueueItem) -> None:
        """Show the progress of detection in the clip, or why it ended early."""
        if item.state is ItemState.FAILED:
            self.show_text(item.summary)
        elif item.state is ItemState.CANCELLED:
            self.show_text(translate("demo", "Cancelled: the accuracy is measured when all frames are detected."))
        elif not item.progress.frames:
            self.show_text(translate("demo", "Framefleet prepares the model for this machine. The first time, this takes longer."))
        else:
            done = translate("demo", " {fraction} are done.").format(fraction=formats.percent(item.fraction)) if item.fraction else ""
            self.show_text(translate("demo", "The accuracy follows when all frames are detected.{done}").format(done=done))

    def show_text(self, text: str, figures: bool = False) -> None:
        """Show this text, with or without the accuracy."""
        self.state.setText(text)
        self.figures.setVisible(figures)
        self.classes.setVisible(figures)

    def show_accuracy(self, accuracy: Accuracy) -> None:
        """Show the accuracy of the detections."""
        self.map50.setText(formats.share(accuracy.map50))
        self.map50_95.setText(formats.share(accuracy.map50_95))
        while (old := self._grid.takeAt(0)) is not None:
            if (widget := old.widget()) is not None:
                widget.deleteLater()
        rows = -(-len(accuracy.classes) // COLUMNS)
        for number, found in enumerate(accuracy.classes):
            block, line = divmod(number, rows)
            tip = translate("demo", "{label}: AP@0.5 {ap50}, AP@0.5:0.95 {ap50_95}, {objects}").format(
                label=found.label,
                ap50=formats.share(found.ap50),
                ap50_95=formats.share(found.ap50_95),
                objects=formats.plural(found.objects, "object"),
            )
            self._grid.addWidget(label("small", found.label, tip=tip), line, 3 * block)
            self._grid.addWidget(label("small", formats.part(found.ap50), tip=tip), line, 3 * block + 1, Qt.AlignmentFlag.AlignRight)
        objects = sum(found.objects for found in accuracy.classes)
        self.show_text(
            translate("demo", "Measured against {objects} known objects. Each class at 0.5:").format(objects=formats.count(objects)),
            figures=True,
        )
        self.setAccessibleDescription(
            translate("demo", "Accuracy: mAP@0.5 {map50}, mAP@0.5:0.95 {map50_95}").format(
                map50=self.map50.text(), map50_95=self.map50_95.text()
            )
        )


class Demo(QObject):
    """Queues the demo's clip, and shows its card while the clip is in the queue. begun: the clip's key.

    The user's own model and settings stay as they are.
    """

    begun = Signal(int)

    def __init__(self, items: QueueModel, controller: DetectionController, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items, self._controller, self._background = items, controller, background
        self._key: int | None = None
        self._compared: Results | None = None
        self.card = DemoCard()
        self.card.hide()
        controller.item_changed.connect(self._item_changed)
        items.rowsRemoved.connect(self._rows_removed)

    @property
    def item(self) -> QueueItem | None:
        """The clip in the queue, None if it is not there."""
        return self._items.get(self._key) if self._key is not None else None

    def watch(self) -> None:
        """Show the clip; queue it if it is not in the queue."""
        item = self.item
        if item is None:
            self.start(demo_settings())
        else:
            self.begun.emit(item.key)

    def start(self, settings: RunSettings) -> None:
        """Queue the clip with these settings."""
        (self._key,) = self._controller.add([DEMO.clip], (settings, demo_labels()))
        self.card.show()
        self._item_changed(self._key)
        self.begun.emit(self._key)

    def _item_changed(self, key: int) -> None:
        item = self.item
        if item is None or key != self._key:
            return
        if item.state is not ItemState.DONE:
            self._compared = None
            self.card.show_progress(item)
        elif item.results is not None and item.results != self._compared:
            self._compared = results = item.results
            self.card.show_text(translate("demo", "Comparing with the true objects…"))
            done = partial(self._compare_done, results)
            self._background.start(
                self,
                partial(demo_accuracy, results.database, results.source),
                done,
                lambda said: self.card.show_text(of_engine(said, capital=True)),
            )

    def _compare_done(self, results: Results, accuracy: Accuracy) -> None:
        if results == self._compared:  # else it was restarted meanwhile
            self.card.show_accuracy(accuracy)

    def _rows_removed(self) -> None:
        if self.item is None:
            self._key = self._compared = None
            self.card.hide()


def attach(context: Context) -> Feature:
    """Let the user watch the demo."""
    demo = Demo(context.queue, context.run, context.background, context.window)
    context.actions.demo.triggered.connect(demo.watch)
    demo.card.choose.clicked.connect(context.settings.open_models)
    demo.begun.connect(context.selection.show)
    return Feature([Placed(demo.card, Place.LEFT)], begin=lambda start: demo.start(start.demo) if start.demo is not None else None)
