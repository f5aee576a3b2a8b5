"""The panel with the scaling of this machine: a choice of measurements, the chart, its legend, and how to measure."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QWidget

from framefleet.app.scaling_results import Series
from framefleet.app.window.scaling.chart import ScalingChart, legend
from framefleet.app.window.scaling.records import RECORDS
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import Panel, ScrollPane, column, label, push_button, row, say, wrapped
from framefleet.app.window.widgets.fields import combo_box
from framefleet.app.window.widgets.translation import marked, translate

COMMAND = " ".join(("framefleet", "bench", "scaling"))
_HOW = {
    "weak": marked("scaling", "A stream for each device"),
    "strong": marked("scaling", "One video for all devices"),
    "runs": marked("scaling", "Runs of this window"),
}


class ScalingPanel(Panel):
    """Shows measured scaling. wanted: it is shown and needs the newest measurements."""

    wanted = Signal()

    def __init__(self, results: Path) -> None:
        super().__init__()
        self.results = results
        self._series: tuple[Series, ...] = ()
        self.choice = combo_box(translate("scaling", "Measurement"), elided=True)
        self.chart = ScalingChart()
        self.legend = label("small", wrap=True, rich=True)
        self.legend.setOpenExternalLinks(True)
        self.legend.setToolTip("\n".join(f"{record.name}: {translate('scaling', record.source)}\n{record.address}" for record in RECORDS))
        self.about = label("small", wrap=True)
        self.hint, self.problem = wrapped("small"), wrapped("error")
        self.copy = push_button(translate("scaling", "Copy the command"), self._copy)
        self.measured = QWidget()
        column(self.choice, (self.chart, 1), self.legend, self.about, spacing=4, of=self.measured)
        self.how = QWidget()
        column(self.problem, self.hint, row(self.copy, None), None, spacing=8, of=self.how)
        inside = QWidget()
        column(ScrollPane(translate("scaling", "Scaling"), inside), of=self)
        column((self.measured, 1), self.how, spacing=4, margins=(12, 2, 12, 10), of=inside)
        self.choice.currentIndexChanged.connect(self.use_theme)
        self.show_series(())

    def show_series(self, found: Sequence[Series]) -> None:
        """Offer these measurements, the newest first."""
        before = self._series[self.choice.currentIndex()] if self._series else None
        self._series = tuple(found)
        say(self.problem, "")
        self.choice.blockSignals(True)
        self.choice.clear()
        for series in found:
            how = translate("scaling", _HOW.get(series.how, series.how))
            self.choice.addItem(f"{series.when:%Y-%m-%d %H:%M} · {how} · {series.model}")  # the panel may cut the end
        if before in self._series:
            self.choice.setCurrentIndex(self._series.index(before))
        self.choice.blockSignals(False)
        self.measured.setVisible(bool(found))
        self.how.setVisible(not found)
        text = translate(
            "scaling",
            "No measurement with one and with more devices yet. Run “{command}” in a terminal with your model: it takes a few minutes"
            " and appears here. Detecting in the same video with one device, and then with more, counts too.",
        )
        say(self.hint, text.format(command=COMMAND))
        self.use_theme()

    def show_problem(self, problem: str) -> None:
        """Show why the measurements cannot be read."""
        say(self.problem, problem)

    def use_theme(self) -> None:
        """Show the chosen measurement in the colours of the theme."""
        if not self._series:
            return
        series = self._series[max(self.choice.currentIndex(), 0)]
        self.chart.show_series(series)
        most = series.counts[-1]
        parts = []
        for sign, name, text, address in legend(series):
            colour = theme.colour(name)
            shown = f'<a href="{escape(address)}" style="color:{colour}">{escape(text)}</a>' if address else escape(text)
            parts.append(f'<span style="color:{colour}">{sign}</span>&nbsp;{shown}')
        self.legend.setText("<br>".join([" &nbsp; ".join(parts[:2]), *parts[2:]]))
        about = translate("scaling", "{how}: {model}, {hardware}, {source}. Frames/s by number of devices.").format(
            how=translate("scaling", _HOW.get(series.how, series.how)), model=series.model, hardware=series.hardware, source=series.source
        )
        if series.ideal[most] < most:
            about += " " + translate("scaling", "CPU devices share the cores, so that two cannot be twice as fast.")
        self.about.setText(about)
        self.choice.setToolTip(self.choice.currentText())

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(COMMAND)
        self.copy.setText(translate("scaling", "Copied"))

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for the newest measurements."""
        super().showEvent(event)
        self.wanted.emit()
