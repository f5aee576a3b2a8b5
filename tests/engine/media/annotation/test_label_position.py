from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.media.annotation.label_position import LabelPlaces, Rect

BOX, BOUNDS = (50.0, 60.0, 80.0, 80.0), (0.0, 0.0, 300.0, 200.0)
Numbers = st.floats(-50, 400)


def test_a_label_sits_on_the_box_or_in_it_at_the_top_edge_or_below_it() -> None:
    places = LabelPlaces(BOUNDS, 14)
    assert [places.place(BOX, 60) for _ in range(4)] == [(50, 46, 60, 14), (50, 60, 60, 14), (50, 140, 60, 14), None]
    assert LabelPlaces(BOUNDS, 14).place((50, 5, 80, 80), 60) == (50, 5, 60, 14)


@given(Numbers, st.floats(-50, 300), st.floats(0, 400), st.floats(0, 300))
def test_a_label_never_leaves_the_picture(x: float, y: float, width: float, height: float) -> None:
    place = LabelPlaces((10, 20, 300, 200), 14).place((x, y, width, height), 60)
    assert place is not None
    left, top, across, down = place
    assert left >= 10
    assert left + across <= 310 + 1e-9
    assert top >= 20
    assert top + down <= 220 + 1e-9


@given(st.lists(st.tuples(Numbers, Numbers, st.floats(0, 90), st.floats(0, 90), st.floats(5, 120)), max_size=40))
def test_labels_never_overlap(boxes: list[tuple[float, float, float, float, float]]) -> None:
    places = LabelPlaces(BOUNDS, 14)
    placed: list[Rect] = [found for *box, width in boxes if (found := places.place((box[0], box[1], box[2], box[3]), width)) is not None]
    for number, (x, y, width, height) in enumerate(placed):
        for left, top, across, down in placed[:number]:
            assert not (x < left + across - 1e-9 and left < x + width - 1e-9 and y < top + down - 1e-9 and top < y + height - 1e-9)
