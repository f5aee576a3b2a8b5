from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.media.annotation.label_position import Rect
from framefleet.engine.media.annotation.shape_position import arrow_points, place_texts
from framefleet.engine.zones.shapes import Point

AREA = (20.0, 10.0, 400.0, 200.0)
SIZE = (90.0, 20.0)
ARROW = 22.0
Lines = st.lists(
    st.tuples(*[st.tuples(st.floats(20, 420), st.floats(10, 210))] * 2).filter(lambda line: abs(complex(*line[0]) - complex(*line[1])) > 2),
    max_size=6,
)


def overlap(one: Rect, other: Rect) -> bool:
    return min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0]) > 1e-6 and (
        min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1]) > 1e-6
    )


def around(points: list[Point]) -> Rect:
    (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*points, strict=True))
    return left, top, right - left, bottom - top


def place(*points: Point) -> Rect | None:
    return place_texts(((points, SIZE),), AREA, ARROW)[0]


def test_the_text_of_a_line_stands_behind_its_end_or_beside_it_if_there_is_no_room() -> None:
    assert place((100, 100), (200, 100)) == (200 + ARROW / 3, 90, *SIZE)
    assert place((200, 100), (350, 100)) == (200 - ARROW / 3 - SIZE[0], 90, *SIZE)
    assert place((30, 100), (410, 100)) == (410 - SIZE[0], 100 - ARROW / 3 - SIZE[1], *SIZE)


def test_the_text_of_a_zone_stands_in_its_middle() -> None:
    assert place((100, 100), (200, 100), (200, 180), (100, 180)) == (105, 130, *SIZE)


@given(Lines)
def test_texts_cover_no_arrow_and_no_other_text_and_stay_in_the_picture(lines: list[tuple[Point, Point]]) -> None:
    placed = [each for each in place_texts(tuple((line, SIZE) for line in lines), AREA, ARROW) if each is not None]
    assert not any(overlap(one, other) for one, other in combinations(placed, 2))
    assert not any(overlap(one, around(arrow_points(line, ARROW))) for one in placed for line in lines)
    for x, y, width, height in placed:
        assert AREA[0] <= x <= AREA[0] + AREA[2] - width
        assert AREA[1] <= y <= AREA[1] + AREA[3] - height
