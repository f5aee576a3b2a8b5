"""Fields of the settings: combo boxes and spin boxes. The mouse wheel does not change them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QDoubleSpinBox, QSpinBox

from app.window.widgets.form_grid import indent

NUMBER_WIDTH = 124
Choice = TypeVar("Choice", bound=StrEnum)
AnySpin = TypeVar("AnySpin", bound=QAbstractSpinBox)


class _Choice(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the wheel scrolls the page and must not change settings


class _WholeNumber(QSpinBox):
    def keyPressEvent(self, event: QKeyEvent) -> None:
        _make_room(self, event)
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _Number(QDoubleSpinBox):
    def keyPressEvent(self, event: QKeyEvent) -> None:
        _make_room(self, event)
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def _make_room(spin: QAbstractSpinBox, event: QKeyEvent) -> None:
    """Select the text for "none", so that a typed digit replaces it."""
    if event.text().isdigit() and spin.text() == spin.specialValueText():
        spin.selectAll()


def choice(name: str, titles: Mapping[Choice, str], value: Choice) -> QComboBox:
    """A combo box for the members of an enumeration, each with its title."""
    combo = _Choice()
    combo.setAccessibleName(name)
    for member, title in titles.items():
        combo.addItem(title, member)
    combo.setCurrentIndex(list(titles).index(value))
    return combo


def share(name: str, value: float, least: float = 0.01, most: float = 1.0) -> QDoubleSpinBox:
    """A field for a number between 0 and 1."""
    return _number(name, _Number(minimum=least, maximum=most, singleStep=0.05, decimals=2, value=value))


def count(name: str, value: int | None, most: int, none: str = "Automatic") -> QSpinBox:
    """A field for a number from 1 to ``most``, or for None, shown as the text ``none``."""
    spin = _number(name, _WholeNumber(minimum=0, maximum=most, value=value or 0))
    spin.setSpecialValueText(none)
    return spin


def milliseconds(name: str, value: float | None, most: float, none: str) -> QDoubleSpinBox:
    """A field for a time up to ``most``, ms, or for None, shown as the text ``none``."""
    spin = _number(name, _Number(minimum=0.0, maximum=most, singleStep=1.0, decimals=1, value=value or 0.0, suffix=" ms"))
    spin.setSpecialValueText(none)
    return spin


def _number(name: str, spin: AnySpin) -> AnySpin:
    spin.setAccessibleName(name)
    spin.setFixedWidth(NUMBER_WIDTH)
    indent(spin)
    return spin
