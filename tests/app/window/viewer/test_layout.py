import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.app.window.viewer.layout import fit

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
    boxes = np.array([[100, 50, 200, 150], [-50, -50, 600, 600], [510, 300, 520, 310]], np.float32)
    assert placed.rects(boxes).tolist() == [[200, 350, 200, 200], [0, 250, 1000, 500], [1000, 750, 0, 0]]


def test_an_enlarged_picture_leaves_no_room_beside_it() -> None:
    for centre, corner in (((0.5, 0.5), (-500, 0)), ((0.0, 0.0), (0, 0)), ((1.0, 1.0), (-1000, 0))):
        placed = fit((1000, 1000), (500, 250), 2.0, centre)
        assert (placed.x, placed.y, placed.width, placed.height) == (*corner, 2000, 1000)
    assert fit((1000, 1000), (500, 250), 2.0).visible((1000, 1000)) == (0, 0, 1000, 1000)
