"""The fields of the engine's table of settings, and what the last run chose where the user did not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QGridLayout, QLabel, QLineEdit, QSpinBox, QWidget

from framefleet.app.window.devices.status import DeviceStatus
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.widgets.build import Item, column, label, row, say, wrapped
from framefleet.app.window.widgets.fields import ChoiceOrText, PercentBox, choice, form_grid, number, text_field
from framefleet.app.window.widgets.translation import of_engine, of_settings, strategy_name, translate
from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.pool.events import StrategyChosen
from framefleet.engine.settings.kinds import Choice, Kind, Number, Switch, write
from framefleet.engine.settings.table import DEFAULTS, SETTINGS, TABLE, Field, Section, Setting
from framefleet.engine.types import AS_ASKED

Row = tuple[str, QWidget] | tuple[str, QWidget, str]


class SettingsForm(QWidget):
    """A field for each setting of a section of the dialog. changed: a value has changed."""

    changed = Signal()

    def __init__(self, section: Section, values: Mapping[str, Any]) -> None:
        super().__init__()
        shown = [(setting, setting.field) for setting in SETTINGS if setting.field and setting.field.section is section]
        self.fields = {setting.name: self._field(setting.kind, field, values[setting.name]) for setting, field in shown}
        self.problems = {name: wrapped("error") for name in self.fields}
        self.notes = {name: wrapped("notice") for name in self.fields}
        self.choices = {name: wrapped("small") for name in self.fields}
        """What the engine chose for automatic values."""
        self.parts: dict[tuple[str, str], QWidget] = {}
        """The fields that are shown only while another setting has a certain value."""
        groups: list[Item] = []
        for condition, group in groupby(shown, lambda each: each[0].only_with):
            grid = form_grid(self._rows([(setting.name, field) for setting, field in group]))
            if condition is None:
                groups.append(grid)
            else:
                part = self.parts[condition] = QWidget()
                part.setLayout(grid)
                groups.append(part)
        column(*groups, spacing=8, of=self)
        self._show_parts()

    @property
    def values(self) -> dict[str, Any]:
        """The values of the fields, by the setting's name."""
        return {name: _value(TABLE[name], field) for name, field in self.fields.items()}

    @property
    def unreadable(self) -> dict[str, Notice]:
        """What is wrong with texts that cannot be read, by the setting's name. ``values`` has None for them."""
        lines = {name: field for name, field in self.fields.items() if isinstance(field, QLineEdit | ChoiceOrText)}
        return {name: problem for name, line in lines.items() if (problem := _read(TABLE[name].kind, line)[1])}

    def show_sentences(
        self, problems: Mapping[str, str], notes: Mapping[str, str], choices: Mapping[str, str], previews: Mapping[str, str]
    ) -> None:
        """Show sentences below the fields, by the setting's name.

        problems: of values that cannot be used. choices: what the engine chose; shown where the value is the default. previews: what the
        value gives.
        """
        values = self.values
        automatic = {name: text for name, text in choices.items() if name in values and values[name] == DEFAULTS[name]} | {**previews}
        shown = self._shown
        for lines, texts, named in (
            (self.problems, problems, self.fields.keys()),
            (self.notes, notes, shown),
            (self.choices, automatic, shown),
        ):
            for name, line in lines.items():
                say(line, texts.get(name, "") if name in named else "")

    def set_values(self, values: Mapping[str, Any]) -> None:
        """Show other values, by the setting's name."""
        for name, field in self.fields.items():
            _set_value(field, values[name])

    def search(self, text: str) -> bool:
        """Show only rows whose title, note or name contains this text; return whether there is one. "": all rows."""
        for grid in self.findChildren(QGridLayout):
            for line in range(grid.rowCount()):
                cells = (grid.itemAtPosition(line, place) for place in range(grid.columnCount()))
                widgets = list(dict.fromkeys(widget for cell in cells if cell is not None and (widget := cell.widget()) is not None))
                if any(widget in lines.values() for lines in self._sentences for widget in widgets):
                    continue  # they are shown below their field if they have a text
                shown = text.lower() in " ".join(map(words, widgets)).lower()
                for widget in widgets:
                    widget.setVisible(shown)
        self._show_parts()
        return bool(self._shown)

    @property
    def _shown(self) -> set[str]:
        """The names of the settings that neither the search nor another setting hides."""
        return {name for name, field in self.fields.items() if field.isVisibleTo(self)}

    @property
    def _sentences(self) -> tuple[dict[str, QLabel], ...]:
        return self.problems, self.notes, self.choices

    def _field(self, kind: Kind, field: Field, value: Any) -> QWidget:
        name = of_settings(field.spoken or field.title)
        match kind:
            case Choice():
                combo = choice(name, {member: of_settings(title) for member, title in kind.titles.items()}, value)
                combo.currentIndexChanged.connect(self._changed)
                return combo
            case Number():
                spin = number(name, kind, value)
                spin.valueChanged.connect(self._changed)
                return spin
            case Switch():
                box = QCheckBox(of_settings(field.note))
                box.setChecked(value)
                box.toggled.connect(self._changed)
                return box
        if field.choices:
            either = ChoiceOrText(name, {text: of_settings(title) for text, title in field.choices.items()})
            _set_value(either, value)
            either.editTextChanged.connect(self._changed)
            return either
        line = text_field(name, value, of_settings(field.empty))
        line.textChanged.connect(self._changed)
        return line

    def _rows(self, shown: Sequence[tuple[str, Field]]) -> list[Row]:
        """The rows of the grid: fields with the same title beside each other, their problems and notes below."""
        rows: list[Row] = []
        for title, group in groupby(shown, lambda each: of_settings(each[1].title)):
            names, fields = zip(*group, strict=True)
            widgets, note = [self.fields[name] for name in names], of_settings(fields[-1].note)
            if len(widgets) > 1:
                rows.append((title, _line(widgets, note)))
            else:
                rows.append((title, widgets[0], note) if note and not isinstance(widgets[0], QCheckBox) else (title, widgets[0]))
            rows += [("", lines[name]) for name in names for lines in self._sentences]
        return rows

    def _changed(self) -> None:
        self._show_parts()
        self.changed.emit()

    def _show_parts(self) -> None:
        for (name, wanted), part in self.parts.items():
            part.setVisible(_value(TABLE[name], self.fields[name]) == wanted)


def _line(fields: Sequence[QWidget], note: str) -> QWidget:
    """Fields in a row, "×" between them."""
    line = QWidget()
    items = [item for field in fields for item in (QLabel("×"), field)][1:]
    row(*items, label("small", note), None, spacing=8, of=line)
    return line


def words(widget: QWidget) -> str:
    """All text of a widget: what it shows and its name for screen readers, with those of the widgets in it."""
    inside = [widget, *widget.findChildren(QWidget)]
    texts = [each.text() for each in inside if isinstance(each, QLabel | QCheckBox)]
    return " ".join((*texts, *(each.accessibleName() for each in inside)))


def _set_value(field: QWidget, value: Any) -> None:
    match field:
        case QLineEdit() | ChoiceOrText():
            field.setText("" if value is None else write(value))
        case QComboBox():
            field.setCurrentIndex(field.findData(value))
        case QSpinBox():
            field.setValue(int(value or 0))
        case PercentBox():
            field.set_share(value)
        case QDoubleSpinBox():
            field.setValue(value or 0.0)
        case QCheckBox():
            field.setChecked(value)


def _value(setting: Setting, field: QWidget) -> Any:
    match field:
        case QLineEdit() | ChoiceOrText():
            return _read(setting.kind, field)[0]
        case QComboBox():
            return setting.kind.read(field.currentData())  # Qt returns enumerations as plain text
        case QSpinBox():
            return field.value() or None
        case PercentBox():
            return field.share
        case QDoubleSpinBox():
            value = round(field.value(), field.decimals())
            return None if field.specialValueText() and not value else value
        case QCheckBox():
            return field.isChecked()
    raise TypeError(f"no value in {field}")


def _read(kind: Kind, line: QLineEdit | ChoiceOrText) -> tuple[Any, Notice | None]:
    """The value of a line, and what is wrong with its text."""
    try:
        return (kind.read(line.text().strip()) if line.text().strip() else None), None
    except UsageError as error:
        return None, error.notice


GROUP = "last_run"
MAX_ENGINES = 3
"""The largest number of devices whose choices are named."""


class LastRun(QObject):
    """Collects the choices from the events of a run, and stores them for the next start."""

    def __init__(self, store: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._choices: dict[str, tuple[_Choice, ...]] = {}
        store.beginGroup(GROUP)
        for name in store.childKeys():
            with suppress(ValueError, TypeError):  # of an earlier version, or changed by hand
                self._choices[name] = tuple(map(_Choice.from_json, json.loads(str(store.value(name)))))
        store.endGroup()

    @property
    def sentences(self) -> Mapping[str, str]:
        """A sentence for each setting whose automatic choice is known, by the setting's name."""
        return {
            name: translate("settings", "Last run: {choice}.").format(choice="; ".join(choice.text(name) for choice in choices))
            for name, choices in self._choices.items()
        }

    def show_strategy(self, chosen: StrategyChosen) -> None:
        """Take the strategy and its reason."""
        self._keep("parallel", [_Choice(chosen.strategy, chosen.reason)])

    def show_devices(self, statuses: Sequence[DeviceStatus]) -> None:
        """Take the precision, the batch and the decode threads of each device."""
        engines = [status.engine for status in statuses if status.engine is not None]
        if not engines:
            return
        few = len(engines) <= MAX_ENGINES and len({(engine.precision, engine.reason) for engine in engines}) > 1
        if all(engine.reason != AS_ASKED for engine in engines):  # the demo asks for one
            self._keep("precision", [_Choice(engine.precision, engine.reason, str(engine.device) if few else "") for engine in engines])
        self._keep("batch", [_Choice(", ".join(dict.fromkeys(str(engine.batch) for engine in engines)))])
        self._keep("decode_threads", [_Choice(", ".join(dict.fromkeys(str(engine.decode_threads) for engine in engines)))])
        self._keep("devices", [_Choice(", ".join(str(engine.device) for engine in engines))])

    def show_item(self, item: QueueItem) -> None:
        """Take what decoded a finished video."""
        if (use := item.progress.decoder.notice) is not None:
            self._keep("decode", [_Choice("", use)])

    def _keep(self, name: str, choices: Sequence[_Choice]) -> None:
        kept = tuple(dict.fromkeys(choices))
        if self._choices.get(name) != kept:
            self._choices[name] = kept
            self._store.setValue(f"{GROUP}/{name}", json.dumps([choice.as_json() for choice in kept]))


@dataclass(frozen=True)
class _Choice:
    """What was chosen, and why. device: for which one, "" = for all."""

    value: str
    why: Notice | None = None
    device: str = ""

    def text(self, setting: str) -> str:
        """The choice in the window's language."""
        value = strategy_name(self.value) if setting == "parallel" else self.value
        return ": ".join(filter(None, (self.device, value, of_engine(self.why) if self.why is not None else "")))

    def as_json(self) -> list[Any]:
        """The choice as values that ``json`` can write."""
        return [self.value, None if self.why is None else self.why.as_json(), self.device]

    @classmethod
    def from_json(cls, stored: Any) -> _Choice:
        """Read what ``as_json`` returned. Raises ValueError if it is something else."""
        value, why, device = stored
        return cls(str(value), None if why is None else Notice.from_json(why), str(device))
