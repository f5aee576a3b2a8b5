"""Finds the test files that ``-k`` may select from. To collect all tests takes seconds, because it imports them and what they test."""

from __future__ import annotations

import re
from pathlib import Path


def may_select(expression: str, place: Path, tests: Path) -> bool:
    """Whether the expression of ``-k`` may select a test of this file or folder. tests: the folder of all tests.

    The answer is certain only for one word that begins with ``test_``: such a word is part of the name of a file or a function.
    For other expressions, every place may have a test.
    """
    word = expression.strip().lower()
    if re.fullmatch(r"test_\w+", word) is None or word in str(place.relative_to(tests)).lower():
        return True
    files = place.rglob("*.py") if place.is_dir() else [place]
    return any(word in file.name.lower() or word in file.read_text("utf-8").lower() for file in files)
