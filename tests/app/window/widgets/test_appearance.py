import re
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPainter
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.widgets import appearance, theme
from framefleet.app.window.widgets.appearance import Theme, apply_theme, current, stored_theme
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.widgets.painting import Symbol, icon
from tests.support.paths import PROJECT
from tests.support.window import pixels


@pytest.fixture(autouse=True)
def _dark_again(qapp: QApplication) -> Iterator[None]:
    yield
    apply_theme(qapp, Theme.DARK)


def test_own_style_sheets_icons_and_symbols_follow(qtbot: QtBot, qapp: QApplication) -> None:
    made, symbol, label = icon("play"), Symbol("error", 18, "DANGER"), QLabel()
    label.setStyleSheet(f"color: {theme.MUTED}; background: #123456;")
    for widget in (symbol, label):
        qtbot.addWidget(widget)
    apply_theme(qapp, Theme.LIGHT)
    assert label.styleSheet() == f"color: {theme.COLOURS['MUTED'][1]}; background: #123456;"
    assert most_common(symbol.pixmap().toImage()) == theme.COLOURS["DANGER"][1]
    assert most_common(made.pixmap(18).toImage()) == theme.COLOURS["TEXT"][1]
    assert most_common(made.pixmap(18, QIcon.Mode.Disabled).toImage()) == theme.COLOURS["DISABLED"][1]
    assert current(current(label.styleSheet())) == label.styleSheet()


def most_common(image: object) -> str:
    """The most frequent opaque colour."""
    found: dict[str, int] = {}
    for y in range(image.height()):  # type: ignore[attr-defined]
        for x in range(image.width()):  # type: ignore[attr-defined]
            colour = image.pixelColor(x, y)  # type: ignore[attr-defined]
            if colour.alpha() == 255:
                found[colour.name()] = found.get(colour.name(), 0) + 1
    return max(found, key=lambda name: found[name])


@pytest.mark.parametrize(("scheme", "place"), [(Qt.ColorScheme.Light, 1), (Qt.ColorScheme.Dark, 0), (Qt.ColorScheme.Unknown, 0)])
def test_the_theme_is_that_of_the_system_unless_one_is_chosen(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, scheme: Qt.ColorScheme, place: int
) -> None:
    monkeypatch.setattr(appearance, "system_scheme", lambda: scheme)
    apply_theme(qapp, Theme.SYSTEM)
    assert theme.COLOURS["TEXT"][place] == theme.TEXT
    apply_theme(qapp, Theme.LIGHT)
    assert theme.COLOURS["TEXT"][1] == theme.TEXT


def test_a_change_of_the_system_is_followed(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    apply_theme(qapp, Theme.SYSTEM)
    assert theme.COLOURS["TEXT"][0] == theme.TEXT
    monkeypatch.setattr(appearance, "system_scheme", lambda: Qt.ColorScheme.Light)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.COLOURS["TEXT"][1] == theme.TEXT


def test_an_unknown_stored_theme_is_that_of_the_system() -> None:
    assert [stored_theme(text) for text in (None, "", "purple", "light")] == [Theme.SYSTEM, Theme.SYSTEM, Theme.SYSTEM, Theme.LIGHT]


def test_icons_are_drawn_in_the_resolution_of_the_screen(qapp: QApplication) -> None:
    drawn = icon("folder").pixmap(QSize(18, 18), 2.0)
    assert (drawn.size(), drawn.devicePixelRatio()) == (QSize(36, 36), 2.0)
    shown, enlarged = (QImage(36, 36, QImage.Format.Format_ARGB32) for _ in range(2))
    for image, source in ((shown, drawn), (enlarged, icon("folder").pixmap(QSize(18, 18), 1.0).scaled(36, 36))):
        image.fill(0)
        with QPainter(image) as painter:
            painter.drawPixmap(image.rect(), source)
    assert shown != enlarged


def test_every_colour_that_the_code_names_is_in_the_table() -> None:
    code = "\n".join(path.read_text() for path in (PROJECT / "app").rglob("*.py"))
    named = set(re.findall(r"\btheme\.([A-Z][A-Z_]+)\b", code))
    assert {name for name in named if not hasattr(theme, name)} == set()
    assert {"TEXT", "DANGER"} <= named


def test_the_whole_window_becomes_light_at_once(window: MainWindow, qapp: QApplication) -> None:
    """The last test of this file: a change of the theme takes time for each widget that lives."""
    window.context.banners.show_banner("one", Severity.WARNING, "Something to see.")
    dark = pixels(window.grab().toImage())
    apply_theme(qapp, Theme.LIGHT)
    light = pixels(window.grab().toImage())
    assert dark.mean() < 60
    assert light.mean() > 200
    for name in ("BACKGROUND", "SURFACE", "RAISED", "WARNING_GROUND"):
        before, now = theme.COLOURS[name]
        assert share(dark, before) > 0.001 > share(light, before), name
        assert share(light, now) > 0.001 > share(dark, now), name
    apply_theme(qapp, Theme.DARK)
    assert (pixels(window.grab().toImage()) == dark).mean() > 0.999


def share(picture: NDArray[np.uint8], colour: str) -> float:
    """The share of pixels with this colour."""
    return float((picture == QColor(colour).getRgb()[:3]).all(axis=2).mean())
