"""The comparison of the window's pictures notices one vanished button and one wrong digit, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QAbstractButton, QLabel

from framefleet.app.window.main_window import MainWindow
from tests.support.desktop.pictures import differences, picture_of
from tests.support.desktop.screens import FONTS
from tests.support.desktop.settling import settle


@pytest.fixture
def family(window: MainWindow) -> Iterator[str]:
    """The font of the recorded pictures."""
    number = QFontDatabase.addApplicationFont(str(FONTS / "DejaVuSans.ttf"))
    yield QFontDatabase.applicationFontFamilies(number)[0]
    QFontDatabase.removeApplicationFont(number)


def test_each_vanished_button_is_noticed(window: MainWindow) -> None:
    settle()
    before = picture_of(window)
    assert differences(before, picture_of(window)) == []
    shown = [button for button in window.findChildren(QAbstractButton) if not button.visibleRegion().isEmpty()]
    buttons = [button for button in shown if button.accessibleName() or button.text()]  # a field's own buttons may be transparent
    assert len(buttons) > 10
    for button in buttons:
        policy = button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        button.setSizePolicy(policy)
        button.hide()
        assert differences(before, picture_of(window)), button.accessibleName() or button.text()
        button.show()


@pytest.mark.parametrize("role", ["", "small"])
def test_each_wrong_digit_is_noticed(window: MainWindow, family: str, role: str) -> None:
    label = QLabel(window)
    label.setProperty("role", role)
    label.setFont(QFont(family, 10))
    label.setFixedSize(120, 24)
    pictures = {}
    for digit in "0123456789":
        label.setText(f"12{digit}4 frames/s")
        pictures[digit] = picture_of(label)
    for one, other in combinations(pictures, 2):
        assert differences(pictures[one], pictures[other]), (one, other)
