"""The colours and fonts of the whole window.

The colours are attributes of this module, such as ``theme.TEXT``. They change with the theme, so they are read where something is drawn
or made, and are not kept in constants: those hold a colour's name, and ``colour`` returns the current one.
"""

from functools import lru_cache
from typing import Final

from PySide6.QtGui import QFont, QFontInfo
from PySide6.QtWidgets import QApplication

COLOURS: Final = {
    # name: dark, light
    "BACKGROUND": ("#0f1116", "#dfe3e9"),
    "SURFACE": ("#14171c", "#f3f5f8"),
    "RAISED": ("#1c2027", "#ffffff"),
    "HOVER": ("#262b34", "#e2e7ef"),
    "BORDER": ("#272c35", "#cfd5de"),
    "EDGE": ("#666e7c", "#76808f"),  # the outline of controls
    "TEXT": ("#e7e9ee", "#171b22"),
    "MUTED": ("#9ba3b0", "#4d5562"),
    "DISABLED": ("#646c79", "#767d89"),
    "ACCENT": ("#6aa5ff", "#1a56bf"),
    "ACCENT_HOVER": ("#8abaff", "#134597"),
    "ACCENT_QUIET": ("#1d2d47", "#d3e2fa"),  # the accent as a surface
    "ON_ACCENT": ("#0b1220", "#fdfeff"),
    "GOOD": ("#56c596", "#0b6a40"),
    "WARNING": ("#e8b75a", "#7a4d00"),
    "DANGER": ("#f27f78", "#a9241c"),
    "SELECTED": ("#1f2a3d", "#d9e5f8"),
    "INFO_GROUND": ("#16202f", "#e0ebfc"),
    "GOOD_GROUND": ("#18302a", "#d8f0e4"),
    "WARNING_GROUND": ("#2a2416", "#faedd0"),
    "DANGER_GROUND": ("#2d1a1c", "#fbe1de"),
    "STAGE": ("#0e1014", "#0f1115"),  # under videos and the colours of classes, which need a dark ground
    "ON_STAGE": ("#e6e8ed", "#e8eaef"),
    "ON_STAGE_MUTED": ("#9aa2af", "#9ca4b1"),
    "ON_STAGE_WARNING": ("#e7b659", "#e9b85b"),
}
"""The only table of colours. Within a theme, no two names have the same colour."""

SPACE: Final = 8
"""The unit of distances in the window, logical pixels."""
MAX_BASE, MIN_BASE = 17, 12


_column = 0
"""The column of ``COLOURS`` for the current theme."""


def use(*, dark: bool) -> None:
    """Set the module's colours to those of a theme."""
    global _column
    _column = 0 if dark else 1


def __getattr__(name: str) -> str:
    """The current colour with this name, or, for VARIANT, the end of the names of the style sheet's icons."""
    if name == "VARIANT":
        return ("", "-light")[_column]
    try:
        return COLOURS[name][_column]
    except KeyError:
        raise AttributeError(name) from None


def colour(name: str) -> str:
    """The current colour with this name. A text that is not a name in the table is a colour already."""
    return COLOURS[name][_column] if name in COLOURS else name


def name_of(colour: str) -> str | None:
    """The name of a colour of either theme; None for a colour that is not in the table."""
    return next((name for name, pair in COLOURS.items() if colour in pair), None)


def base_size() -> int:
    """Height of body text, logical pixels: that of the system, from ``MIN_BASE`` to ``MAX_BASE``."""
    return min(max(QFontInfo(QApplication.font()).pixelSize(), MIN_BASE), MAX_BASE)


def font(step: int = 0, *, bold: bool = False) -> QFont:
    """The system's font, ``step`` pixels larger than body text, with digits of equal width."""
    return QFont(_font(QApplication.font().key(), step, bold))


@lru_cache(maxsize=64)
def _font(_system: str, step: int, bold: bool) -> QFont:
    """A font that rows use for each repaint; its size is looked up once. system: identifies the system's font."""
    made = QFont(QApplication.font())
    made.setPixelSize(base_size() + step)
    made.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    made.setFeature(QFont.Tag("tnum"), 1)
    return made
