from hypothesis import given
from hypothesis import strategies as st

from engine.media.annotation.label_position import label_place


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
