"""The fields for the options of export formats."""

from collections.abc import Collection, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QLabel, QWidget

from framefleet.app.window.widgets.build import Flow, column, label, row
from framefleet.app.window.widgets.fields import PercentBox, clearable, combo_box, form_grid, number
from framefleet.app.window.widgets.formats import capitalised, plural
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.errors import UsageError
from framefleet.engine.settings.kinds import Number
from framefleet.engine.store.exporters.common.coco_ids import check_coco_labels
from framefleet.engine.store.exporters.common.options import (
    DEFAULTS,
    DRAWN,
    Every,
    ExportOptions,
    Least,
    Part,
    PictureFormat,
    read_category_map,
)
from framefleet.engine.zones.shapes import ZoneSet

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
    Part.BOXES: marked("results", "Boxes"),
    Part.IDS: marked("results", "Numbers"),
    Part.TRAILS: marked("results", "Trails"),
    Part.ZONES: marked("results", "Lines and zones"),
    Part.HEAT: marked("results", "Heat map"),
    Part.CHART: marked("results", "Chart"),
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
        self.bom = QCheckBox(translate("results", "Begin with a byte order mark"))
        self.bom.setToolTip(translate("results", "Excel needs it to read all letters."))
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
        self._fields = {name: QWidget() for name in fields}
        for name, (title, field) in fields.items():
            self._fields[name].setLayout(form_grid(((title, field),)))
        column(*self._fields.values(), spacing=8, of=self)
        self._changed()

    def _share(self, name: str, value: float) -> PercentBox:
        spin = number(translate("results", "{name} confidence").format(name=name), Number(0, 1), value)
        spin.setFixedWidth(84)
        spin.valueChanged.connect(self._changed)
        assert isinstance(spin, PercentBox)
        return spin

    def show_options(self, names: Collection[str]) -> None:
        """Show the fields of these options only."""
        for name, field in self._fields.items():
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
            return f"{capitalised(str(error))}."
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
