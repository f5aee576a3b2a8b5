"""The fields that say which detections an export contains: a part of the video, confidence, classes and tracks."""

from collections.abc import Sequence
from math import ceil, floor
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from framefleet.app.window.queue.item import Part
from framefleet.app.window.results.pick_list import PickList
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.build import row
from framefleet.app.window.widgets.fields import PercentBox, clearable, combo_box, form_grid, number
from framefleet.app.window.widgets.formats import capitalised
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.errors import UsageError
from framefleet.engine.settings.checks import part_problem
from framefleet.engine.settings.kinds import Moment, Moments, Number, items
from framefleet.engine.store.view import Span

ALL, TRACKED, THESE = range(3)
TRACKS = {
    ALL: marked("results", "All detections"),
    TRACKED: marked("results", "Only detections with a track"),
    THESE: marked("results", "Only these tracks:"),
}
_MOMENT = 118
"""Width of the fields for times, logical pixels."""


class FilterForm(QWidget):
    """Fields for what is exported. changed: a value has changed.

    labels: of the session. shown: what the window shows. part: chosen on the timeline; None: the whole video. pictures: whether the source
    is a folder of pictures.
    """

    changed = Signal()

    def __init__(self, labels: Sequence[str], shown: ViewFilter, part: Part | None = None, pictures: bool = False) -> None:
        super().__init__()
        self.begin, self.end = self._moment(translate("results", "The start")), self._moment(translate("results", "The end"))
        if part is not None and pictures:
            self.begin.setText(f"{round(part.begin)}")
            self.end.setText(f"{round(part.end)}")
        elif part is not None:  # rounded so that no frame is added
            self.begin.setText(f"{ceil(part.begin * 1000 - 1e-6) / 1000:.10g}s")
            self.end.setText(f"{floor(part.end * 1000 + 1e-6) / 1000:.10g}s")
        self._part = self.begin.text(), self.end.text()
        confidence = number(translate("results", "Lowest confidence"), Number(0, 1), shown.confidence)
        assert isinstance(confidence, PercentBox)
        self.confidence = confidence
        lines = [(name, number) for number, name in enumerate(labels)]
        self.classes = PickList(
            translate("results", "Classes"), [(translate("results", "All classes"), None)], lines, translate("results", "Some classes")
        )
        self.classes.choose((None,) if shown.classes is None else shown.classes)
        self.tracks = combo_box(translate("results", "Tracks"), {each: translate("results", title) for each, title in TRACKS.items()})
        self.numbers = clearable("3,7")
        self.numbers.setAccessibleName(translate("results", "Numbers of tracks"))
        range_, tracks = QWidget(), QWidget()
        row(self.begin, QLabel(translate("results", "to")), self.end, None, spacing=8, of=range_)
        row(self.tracks, (self.numbers, 1), spacing=8, of=tracks)
        fields: tuple[tuple[str, QWidget] | tuple[str, QWidget, str], ...] = (
            (translate("results", "Part"), range_),
            (translate("results", "Confidence"), self.confidence, translate("results", "and above")),
            *self.classes.rows,
            (translate("results", "Tracks"), tracks),
        )
        self.setLayout(form_grid(fields))
        signals = [field.textChanged for field in (self.begin, self.end, self.numbers)]
        for signal in (*signals, self.classes.changed, self.confidence.valueChanged, self.tracks.currentIndexChanged):
            signal.connect(self._changed)
        self._changed()

    def use_part(self, used: bool) -> None:
        """Show the part of the timeline, or the whole video. What the user typed stays."""
        texts = self._part if used else ("", "")
        if (self.begin.text(), self.end.text()) in (self._part, ("", "")):
            self.begin.setText(texts[0])
            self.end.setText(texts[1])

    def _moment(self, empty: str) -> QLineEdit:
        field = clearable(empty)
        field.setToolTip(translate("results", "A time such as 1:30 or 90s, or the number of a frame such as 2700"))
        field.setFixedWidth(_MOMENT)
        return field

    @property
    def problem(self) -> str:
        """What is wrong with the fields, "" = nothing."""
        try:
            self.view()
        except UsageError as error:
            return f"{capitalised(str(error))}."
        return ""

    def view(self) -> dict[str, Any]:
        """What the fields say, as arguments of ``SessionReader``. Raises UsageError."""
        span = Span(self._read(self.begin), self._read(self.end))
        if problem := part_problem(span.begin, span.end):
            raise UsageError(problem)
        chosen = self.classes.values
        if not chosen:
            raise UsageError(translate("results", "choose at least one class"))
        classes = None if chosen == (None,) else frozenset(chosen)
        tracks = {ALL: None, TRACKED: frozenset[int]()}.get(self.tracks.currentIndex(), self._numbers)
        return {"confidence": self.confidence.share, "classes": classes, "span": None if span == Span() else span, "tracks": tracks}

    @property
    def _numbers(self) -> frozenset[int] | None:
        found = items(self.numbers.text())
        if self.tracks.currentIndex() == THESE and not (found and all(part.isdecimal() and int(part) for part in found)):
            raise UsageError(translate("results", "give the numbers of the tracks with commas between them, such as 3,7"))
        return frozenset(int(part) for part in found if part.isdecimal())

    @staticmethod
    def _read(field: QLineEdit) -> Moment | None:
        return Moments().read(field.text()) if field.text().strip() else None

    def _changed(self) -> None:
        self.numbers.setVisible(self.tracks.currentIndex() == THESE)
        self.changed.emit()
