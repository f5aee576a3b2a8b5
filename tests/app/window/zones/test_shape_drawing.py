"""Where the texts of lines and zones stand."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QPointF, QRectF

from app.window.zones.shape_drawing import place_texts

AREA = QRectF(0, 0, 400, 200)


@pytest.mark.usefixtures("qapp")
def test_texts_never_cover_each_other_and_stay_at_their_lines():
    lines = [(f"line {number}   → 12   ← 7", [QPointF(20, 20 + 3 * number), QPointF(380, 180 - 3 * number)]) for number in range(30)]
    placed = [place for place, _ in place_texts(lines, AREA, 1.0)]
    assert len(placed) >= 4
    assert not any(one.intersects(other) for one, other in combinations(placed, 2))
    assert all(AREA.contains(place) for place in placed)


@pytest.mark.usefixtures("qapp")
def test_a_lonely_text_stands_in_the_middle_also_on_a_sharp_screen():
    for ratio in (1.0, 2.0):
        ((place, _),) = place_texts([("gate", [QPointF(100, 50), QPointF(300, 150)])], AREA, ratio)
        assert (place.center() - QPointF(200, 100)).manhattanLength() <= 1
