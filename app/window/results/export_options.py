"""The parts of the export dialog: what to export, and the options of each format."""

from collections.abc import Collection, Sequence
from math import ceil, floor
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QListWidget, QListWidgetItem, QWidget

from framefleet.app.window.queue.item import Part
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.build import Flow, column, label, row
from framefleet.app.window.widgets.fields import PercentBox, clearable, combo_box, form_grid, number
from framefleet.app.window.widgets.formats import plural
from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.notices import UsageError, literal
from framefleet.engine.settings.checks import part_problem
from framefleet.engine.settings.kinds import Moment, Moments, Number, items
from framefleet.engine.store.exporters.coco import check_coco_labels
from framefleet.engine.store.exporters.options import DEFAULTS, DRAWN, Every, ExportOptions, Least, PictureFormat, read_category_map
from framefleet.engine.store.exporters.options import Part as DrawnPart
from framefleet.engine.store.session import Span
from framefleet.engine.zones.shapes import ZoneSet

LIST_HEIGHT = 110
"""Height of the list, logical pixels."""
_SOME = "some"


class PickList(QObject):
    """Lets the user choose one of a few values, or tick some in a list. changed: the choice has changed.

    name: of the field. choices, lines: titles and values. some: title of the choice that shows the list.
    """

    changed = Signal()

    def __init__(self, name: str, choices: Sequence[tuple[str, Any]], lines: Sequence[tuple[str, Any]], some: str) -> None:
        super().__init__()
        self._name = name
        self.combo, self.list = combo_box(name), QListWidget()
        for title, value in choices:
            self.combo.addItem(title, value)
        if len(lines) > 1:
            self.combo.addItem(some, _SOME)
        for title, value in lines:
            line = QListWidgetItem(title, self.list)
            line.setData(Qt.ItemDataRole.UserRole, value)
            line.setCheckState(Qt.CheckState.Unchecked)
        self.list.setAccessibleName(some)
        self.list.setFixedHeight(LIST_HEIGHT)
        self.list.setProperty("role", "picks")
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)  # the style, which sets the height of lines, comes later
        self.list.hide()
        self.combo.currentIndexChanged.connect(self._show_list)
        self.list.itemChanged.connect(self.changed)

    @property
    def rows(self) -> tuple[tuple[str, QWidget], tuple[str, QWidget]]:
        """The rows for ``form_grid``: the list has its own, so that the name stands beside the combo box."""
        return (self._name, self.combo), ("", self.list)

    @property
    def several(self) -> bool:
        """Whether the list with check boxes is shown."""
        return bool(self.combo.currentData() == _SOME)

    @property
    def values(self) -> tuple[Any, ...]:
        """The chosen value, or the ticked ones."""
        if not self.several:
            return (self.combo.currentData(),)
        return tuple(line.data(Qt.ItemDataRole.UserRole) for line in self.lines if line.checkState() is Qt.CheckState.Checked)

    def choose(self, values: Collection[Any]) -> None:
        """Choose one value, or show the list with these ones ticked."""
        self._tick(values)
        one = next((place for place in range(self.combo.count()) if self.combo.itemData(place) in values), -1) if len(values) == 1 else -1
        with QSignalBlocker(self.combo):
            self.combo.setCurrentIndex(one if one >= 0 else max(self.combo.findData(_SOME), 0))
        self._show_list()

    def _tick(self, values: Collection[Any]) -> None:
        with QSignalBlocker(self.list):
            for line in self.lines:
                line.setCheckState(Qt.CheckState.Checked if line.data(Qt.ItemDataRole.UserRole) in values else Qt.CheckState.Unchecked)

    @property
    def lines(self) -> list[QListWidgetItem]:
        """The rows of the list, in order."""
        return [self.list.item(place) for place in range(self.list.count())]

    def _show_list(self) -> None:
        one = self.combo.currentData()
        values = [line.data(Qt.ItemDataRole.UserRole) for line in self.lines]
        if not self.several:
            self._tick((one,) if one in values else values)  # the list begins with what was chosen before
        self.list.setVisible(self.several)
        self.changed.emit()


INTERVALS = {
    30.0: marked("results", "30 seconds"),
    60.0: marked("results", "1 minute"),
    300.0: marked("results", "5 minutes"),
    900.0: marked("results", "15 minutes"),
    3600.0: marked("results", "1 hour"),
    86400.0: marked("results", "1 day"),
}
PICTURES = {
    None: marked("results", "Labels only"),
    PictureFormat.JPEG: marked("results", "Labels and JPEG pictures"),
    PictureFormat.PNG: marked("results", "Labels and PNG pictures"),
}
PARTS = {
    DrawnPart.BOXES: marked("results", "Boxes"),
    DrawnPart.IDS: marked("results", "Numbers"),
    DrawnPart.TRAILS: marked("results", "Trails"),
    DrawnPart.ZONES: marked("results", "Lines and zones"),
    DrawnPart.HEAT: marked("results", "Heat map"),
    DrawnPart.CHART: marked("results", "Chart"),
}
EVERY = {
    Every(): marked("results", "Every frame"),
    Every(frames=5): marked("results", "Every 5th frame"),
    Every(frames=25): marked("results", "Every 25th frame"),
    Every(seconds=1.0): marked("results", "A frame per second"),
    Every(seconds=10.0): marked("results", "A frame every 10 seconds"),
    Every(seconds=60.0): marked("results", "A frame per minute"),
}
MIN_SEEN = {
    Least(): marked("results", "In one frame"),
    Least(frames=5): marked("results", "In 5 frames"),
    Least(seconds=0.5): marked("results", "For half a second"),
    Least(seconds=1.0): marked("results", "For 1 second"),
    Least(seconds=2.0): marked("results", "For 2 seconds"),
    Least(seconds=5.0): marked("results", "For 5 seconds"),
}
DOUBTFUL = (0.3, 0.6)
"""The range of confidences that the fields show first."""


def _places(zones: ZoneSet | None) -> str:
    """How many lines and zones there are, in words."""
    return (
        translate("results", "no lines and zones")
        if zones is None
        else f"{plural(len(zones.lines), 'line')}, {plural(len(zones.zones), 'zone')}"
    )


class OptionsForm(QWidget):
    """A field for each option. changed: a value has changed. labels: of the session. zones: of the file."""

    changed = Signal()

    def __init__(self, labels: Sequence[str], zones: ZoneSet | None = None) -> None:
        super().__init__()
        self._labels, self._zones = labels, zones
        self.coco_ids = QCheckBox(translate("results", "COCO's own, 1 to 90, for its 80 labels"))
        self.coco_ids.toggled.connect(self._changed)
        self.interval, self.pictures, self.every, self.least_seen = (
            combo_box(translate("results", "Intervals")),
            combo_box(translate("results", "Content")),
            combo_box(translate("results", "Frames")),
            combo_box(translate("results", "Seen at least")),
        )
        self.least_seen.setToolTip(translate("results", "A class that is seen more briefly does not count in files.csv."))
        combos = (self.interval, self.pictures, self.every, self.least_seen)
        self.one_table = QCheckBox(translate("results", "One table of all files"))
        self.one_table.toggled.connect(self._changed)
        self.bom = QCheckBox(translate("results", "Write so that Excel reads all letters"))
        self.bom.setToolTip(translate("results", "The file begins with a mark of its encoding, which other programs may show."))
        for combo, titles in zip(combos, ([*each.values()] for each in (INTERVALS, PICTURES, EVERY, MIN_SEEN)), strict=True):
            combo.addItems([translate("results", title) for title in titles])
        self.interval.setCurrentIndex(list(INTERVALS).index(DEFAULTS.interval))
        for combo in combos:
            combo.currentIndexChanged.connect(self._changed)
        self.bom.toggled.connect(self._changed)
        self.doubtful = QCheckBox(translate("results", "With a confidence from"))
        self.low, self.high = (
            self._share(name, value)
            for name, value in zip((translate("results", "Lowest"), translate("results", "Highest")), DOUBTFUL, strict=True)
        )
        self.doubtful.toggled.connect(self._changed)
        between = QWidget()
        row(self.doubtful, self.low, QLabel(translate("results", "to")), self.high, None, spacing=8, of=between)
        self.map = clearable(translate("results", "COCO's labels as animal, person and vehicle"))
        self.map.setAccessibleName(translate("results", "Categories"))
        self.map.setToolTip(translate("results", "label=category, with commas between them, such as dog=animal,car=vehicle"))
        self.map.textChanged.connect(self._changed)
        self.parts = {part: QCheckBox(translate("results", title)) for part, title in PARTS.items()}
        draws = QWidget()
        draws.setLayout(Flow(*self.parts.values(), spacing=12))
        for part, check in self.parts.items():
            check.setChecked(part in DRAWN)
            check.toggled.connect(self._changed)
        fields: dict[str, tuple[str, QWidget]] = {
            "interval": (translate("results", "Intervals"), self.interval),
            "least_seen": (translate("results", "Seen at least"), self.least_seen),
            "one_table": (translate("results", "Detections"), self.one_table),
            "bom": (translate("results", "Excel"), self.bom),
            "pictures": (translate("results", "Content"), self.pictures),
            "every": (translate("results", "Frames"), self.every),
            "between": (translate("results", "Only frames"), between),
            "category_map": (translate("results", "Categories"), self.map),
            "coco_ids": (translate("results", "Category ids"), self.coco_ids),
            "draw": (translate("results", "Draws"), draws),
            "zones": (translate("results", "Counted at"), label("muted", _places(zones))),
        }
        self.fields = {name: QWidget() for name in fields}
        for name, (title, field) in fields.items():
            self.fields[name].setLayout(form_grid(((title, field),)))
        column(*self.fields.values(), spacing=8, of=self)
        self._changed()

    def _share(self, name: str, value: float) -> PercentBox:
        spin = number(translate("results", "{name} confidence").format(name=name), Number(0, 1), value)
        spin.setFixedWidth(84)
        spin.valueChanged.connect(self._changed)
        assert isinstance(spin, PercentBox)
        return spin

    def show_options(self, names: Collection[str]) -> None:
        """Show the fields of these options only."""
        for name, field in self.fields.items():
            field.setVisible(name in names)
        self.setVisible(bool(names))

    def problem(self, names: Collection[str]) -> str:
        """What is wrong with the fields of these options, "" = nothing."""
        if "between" in names and self.doubtful.isChecked() and self.low.share > self.high.share:
            return translate("results", "The lower confidence must not be above the higher one.")
        try:
            if "category_map" in names and self.map.text().strip():
                read_category_map(self.map.text())
            if "coco_ids" in names and self.coco_ids.isChecked():
                check_coco_labels(self._labels)
        except UsageError as error:
            return f"{of_engine(error.notice, capital=True)}."
        return ""

    def options(self, names: Collection[str]) -> ExportOptions:
        """The values of the fields of these options; the others have their defaults. The fields have no problem."""
        low, high = self.low.share, self.high.share
        values: dict[str, Any] = {
            "interval": [*INTERVALS][self.interval.currentIndex()],
            "bom": self.bom.isChecked(),
            "one_table": self.one_table.isChecked(),
            "least_seen": [*MIN_SEEN][self.least_seen.currentIndex()],
            "pictures": [*PICTURES][self.pictures.currentIndex()],
            "every": [*EVERY][self.every.currentIndex()],
            "coco_ids": self.coco_ids.isChecked(),
            "between": (low, high) if self.doubtful.isChecked() else None,
            "zones": self._zones,
            "draw": frozenset(part for part, check in self.parts.items() if check.isChecked()),
        }
        if "category_map" in names and self.map.text().strip():
            values["category_map"] = read_category_map(self.map.text())
        return ExportOptions(**{name: value for name, value in values.items() if name in names})

    def _changed(self) -> None:
        for spin in (self.low, self.high):
            spin.setEnabled(self.doubtful.isChecked())
        self.changed.emit()


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
            return f"{of_engine(error.notice, capital=True)}."
        return ""

    def view(self) -> dict[str, Any]:
        """What the fields say, as arguments of ``SessionReader``. Raises UsageError."""
        span = Span(self._read(self.begin), self._read(self.end))
        if problem := part_problem(span.begin, span.end):
            raise UsageError(problem)
        chosen = self.classes.values
        if not chosen:
            raise UsageError(literal(translate("results", "choose at least one class")))
        classes = None if chosen == (None,) else frozenset(chosen)
        tracks = {ALL: None, TRACKED: frozenset[int]()}.get(self.tracks.currentIndex(), self._numbers)
        return {"confidence": self.confidence.share, "classes": classes, "span": None if span == Span() else span, "tracks": tracks}

    @property
    def _numbers(self) -> frozenset[int] | None:
        found = items(self.numbers.text())
        if self.tracks.currentIndex() == THESE and not (found and all(part.isdecimal() and int(part) for part in found)):
            raise UsageError(literal(translate("results", "give the numbers of the tracks with commas between them, such as 3,7")))
        return frozenset(int(part) for part in found if part.isdecimal())

    @staticmethod
    def _read(field: QLineEdit) -> Moment | None:
        return Moments().read(field.text()) if field.text().strip() else None

    def _changed(self) -> None:
        self.numbers.setVisible(self.tracks.currentIndex() == THESE)
        self.changed.emit()
