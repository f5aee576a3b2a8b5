import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.window.viewer.layout import fit

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
