"""The time of a frame on one device as one bar, divided into stages."""

from collections.abc import Mapping

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.painting import draw_box, painting
from framefleet.app.window.widgets.translation import marked, translate

COLOURS = {
    "decode": "#4c79bd",
    "queue": "#3a414d",
    "upload": "#3f5f93",
    "preprocess": "#5a93e6",
    "infer": "#6aa5ff",
    "network": "#6aa5ff",
    "postprocess": "#87b8ff",
    "deliver": "#a9ccff",
    "download": "#a9ccff",
}
ORDER = tuple(COLOURS)
_NAMES = {"queue": marked("stages", "waiting")}
"""Names of stages that differ from those in the engine."""


class StageBar(QWidget):
    """A bar divided in proportion to the times of the stages. The tooltip shows the times."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(translate("devices", "Time per stage"))
        self._stages: dict[str, float] = {}
        self._bottleneck: str | None = None

    def show_stages(self, stages: Mapping[str, float], bottleneck: str | None = None) -> None:
        """Show the mean time of a frame in each stage, ms, in order; the bottleneck stands out."""
        if (dict(stages), bottleneck) != (self._stages, self._bottleneck):
            self._stages, self._bottleneck = dict(stages), bottleneck
            self.setToolTip(legend(stages))
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the parts side by side."""
        total, x, room = sum(self._stages.values()), 0.0, self.width() - (len(self._stages) - 1)
        with painting(self) as painter:
            if total <= 0:
                draw_box(painter, QRectF(self.rect()), 3, theme.HOVER)
                return
            for name, value in self._stages.items():
                colour = theme.WARNING if name == self._bottleneck else COLOURS.get(_kind(name), theme.MUTED)
                painter.fillRect(QRectF(x, 0, max(room * value / total, 1.0), self.height()), QColor(colour))
                x += room * value / total + 1


def _kind(name: str) -> str:
    """The stage without its device: "network" for "network cuda:1"."""
    return name.partition(" ")[0]


def stage_name(name: str) -> str:
    """The name of a stage in the language of the window; its device stays as it is."""
    kind, space, device = name.partition(" ")
    return translate("stages", _NAMES.get(kind, kind)) + space + device


def in_order(stages: Mapping[str, float]) -> dict[str, float]:
    """The stages in the order in which a frame passes them."""

    def place(name: str) -> tuple[int, str]:
        return ORDER.index(_kind(name)) if _kind(name) in ORDER else len(ORDER), name

    return {name: stages[name] for name in sorted(stages, key=place)}


def legend(stages: Mapping[str, float]) -> str:
    """The stages as text, one per line: ``decode 1.2 ms``."""
    return "\n".join(
        translate("devices", "{name} {value} ms").format(name=stage_name(name), value=formats.milliseconds(value))
        for name, value in stages.items()
    )


def short_legend(stages: Mapping[str, float]) -> str:
    """The stages in one paragraph: ``ms: decode 1.2 · infer 8.3``. Lines do not break between a name and its number."""
    parts = (f"{stage_name(name)}\N{NO-BREAK SPACE}{formats.milliseconds(value)}" for name, value in stages.items())
    return translate("devices", "ms: {parts}").format(parts=" · ".join(parts)) if stages else ""
