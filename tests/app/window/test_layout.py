import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.window.layout import fit, label_place

sides = st.integers(1, 8000)


@given(sides, sides, sides, sides)
def test_a_picture_is_shown_whole_centred_and_undistorted(width: int, height: int, across: int, down: int) -> None:
    placed = fit((across, down), (width, height))
    assert placed.width <= across + 1e-6
    assert placed.height <= down + 1e-6
    assert placed.width == pytest.approx(across) or placed.height == pytest.approx(down)
    assert placed.width * height == pytest.approx(placed.height * width)
    assert (placed.x * 2 + placed.width, placed.y * 2 + placed.height) == (pytest.approx(across), pytest.approx(down))


def test_boxes_land_where_the_picture_shows_them() -> None:
    placed = fit((1000, 1000), (500, 250))  # 1000×500, bars of 250 above and below
    assert placed.rect((100, 50, 200, 150)) == (200, 350, 200, 200)
    assert placed.rect((-50, -50, 600, 300)) == (0, 250, 1000, 500)


def test_a_label_sits_on_the_box_or_in_it_at_the_top_edge_or_below_it() -> None:
    bounds = (0.0, 0.0, 300.0, 200.0)
    assert label_place((50, 60, 80, 80), (60, 14), bounds, []) == (50, 46, 60, 14)
    assert label_place((50, 5, 80, 80), (60, 14), bounds, []) == (50, 5, 60, 14)
    above = (50.0, 46.0, 60.0, 14.0)
    assert label_place((50, 60, 80, 80), (60, 14), bounds, [above]) == (50, 60, 60, 14)
    assert label_place((50, 60, 80, 80), (60, 14), bounds, [above, (50, 60, 60, 14)]) == (50, 140, 60, 14)


@given(st.floats(-50, 400), st.floats(-50, 300), st.floats(0, 400), st.floats(0, 300))
def test_a_label_never_leaves_the_picture(x: float, y: float, width: float, height: float) -> None:
    left, top, across, down = label_place((x, y, width, height), (60, 14), (10, 20, 300, 200), [])
    assert left >= 10
    assert left + across <= 310 + 1e-9
    assert top >= 20
    assert top + down <= 220 + 1e-9
