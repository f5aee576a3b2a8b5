"""The language of the window: which texts are translated, and into which language."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

translate = QCoreApplication.translate
"""Takes a context, which is the folder's name, and the English text. "%n" in a text stands for the fourth argument."""


def marked(_context: str, text: str) -> str:
    """Mark the text of a constant for translation. ``translate`` must translate it where it is shown."""
    return text
