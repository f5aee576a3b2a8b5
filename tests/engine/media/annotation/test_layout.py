from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from framefleet.app.window.widgets import theme
from framefleet.engine.media.annotation.layout import LabelPlaces, Rect, Rgb, arrow_points, class_colour, class_pattern, ink_on, place_texts
from framefleet.engine.zones.shapes import Point

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


Halves = st.integers(-100, 800).map(lambda value: value / 2)  # exact sums: edges that touch do not overlap
Edges = st.lists(st.tuples(Halves, Halves, st.integers(0, 90), st.integers(0, 90)), max_size=12)


@given(Edges, st.lists(st.tuples(st.integers(5, 120), st.integers(5, 60), st.booleans()), min_size=12, max_size=12), Edges)
def test_all_labels_at_once_get_the_places_that_they_get_one_after_the_other(
    boxes: list[Rect], texts: list[tuple[float, float, bool]], reserved: list[Rect]
) -> None:
    widths, inside = [text[:2] for text in texts[: len(boxes)]], [text[2] for text in texts[: len(boxes)]]
    single = LabelPlaces(BOUNDS, 14)
    for rect in reserved:
        single.reserve(rect)
    expected: list[tuple[int, Rect] | None] = []
    for box, wide, within in zip(boxes, widths, inside, strict=True):
        found = ((text, single.place(box, width, within)) for text, width in enumerate(wide))
        expected.append(next(((text, place) for text, place in found if place is not None), None))
    kept = np.array(reserved).reshape(-1, 4)
    shape = np.array(boxes).reshape(-1, 4)
    assert LabelPlaces(BOUNDS, 14).place_all(shape, np.array(widths).reshape(-1, 2), np.array(inside, np.bool_), kept) == expected


@given(st.lists(st.floats(20, 150), min_size=1, max_size=20))
def test_a_label_stands_on_its_own_low_box_wherever_that_is(tops: list[float]) -> None:
    for top in tops:
        box = np.array([[50.0, top, 30.0, 8.0]])
        (place,) = LabelPlaces(BOUNDS, 14).place_all(box, np.array([[60.0]]), np.array([False]), box)
        assert place == (0, (50, top - 14, 60, 14))


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


XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
BLINDNESS = {
    "red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = (int(text[start : start + 2], 16) for start in (1, 3, 5))
    return red, green, blue


def contrast(first: Rgb, second: Rgb) -> float:
    """Contrast ratio 1..21 (WCAG 2.1, success criterion 1.4.3)."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Rgb) -> float:
    red, green, blue = ((c / 255 / 12.92) if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def simulated(colour: Rgb, kind: str | None) -> NDArray[np.float64]:
    """CIELAB of a colour as such eyes see it (Machado, Oliveira, Fernandes 2009, severity 1)."""
    share = np.array(colour) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(BLINDNESS[kind]) @ linear, 0, 1) if kind else linear
    ratio = (XYZ @ seen) / (0.95047, 1.0, 1.08883)
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array((116 * y - 16, 500 * (x - y), 200 * (y - z)))


@pytest.mark.parametrize("kind", [None, "red", "green", "blue"])
def test_the_twenty_colours_stay_apart_for_colour_blind_eyes(kind: str | None) -> None:
    seen = [simulated(class_colour(number), kind) for number in range(20)]
    assert min(float(np.linalg.norm(first - second)) for first, second in combinations(seen, 2)) >= 20


def test_the_first_eight_colours_have_different_hues() -> None:
    seen = [simulated(class_colour(number), None) for number in range(8)]
    assert min(float(np.linalg.norm(first - second)) for first, second in combinations(seen, 2)) >= 40


def test_each_class_of_coco_has_its_own_colour() -> None:
    for kind, least in ((None, 16), *((blind, 6) for blind in BLINDNESS)):
        seen = [simulated(class_colour(number), kind) for number in range(80)]
        assert min(float(np.linalg.norm(first - second)) for first, second in combinations(seen, 2)) >= least


def test_classes_with_the_same_colour_have_different_patterns() -> None:
    assert len({(class_colour(number), class_pattern(number)) for number in range(320)}) == 320


@pytest.mark.parametrize("place", [0, 1], ids=["dark", "light"])
def test_the_lines_of_every_class_can_be_seen_where_they_are_drawn(place: int) -> None:
    for number in range(80):
        assert contrast(class_colour(number), rgb(theme.COLOURS["STAGE"][place])) >= 3


def test_the_text_on_a_label_is_readable_in_every_colour() -> None:
    assert min(contrast(class_colour(number), ink_on(class_colour(number))) for number in range(80)) >= 4.5


def test_classes_next_to_each_other_differ_clearly() -> None:
    for first, second in pairwise(class_colour(number) for number in range(80)):
        assert max(abs(a - b) for a, b in zip(first, second, strict=True)) > 60


def test_a_class_has_the_same_colour_in_every_run() -> None:
    assert class_colour(0) == class_colour(80) == (33, 255, 102)


@pytest.mark.parametrize("place", [0, 1], ids=["dark", "light"])
def test_text_and_lines_are_readable_on_every_surface_of_both_themes(place: int) -> None:
    table = {name: rgb(pair[place]) for name, pair in theme.COLOURS.items()}
    texts = {
        **dict.fromkeys(("BACKGROUND", "SURFACE", "RAISED"), ("TEXT", "MUTED", "ACCENT", "ACCENT_HOVER", "GOOD", "WARNING", "DANGER")),
        **dict.fromkeys(("HOVER", "SELECTED"), ("TEXT", "MUTED", "ACCENT_HOVER")),
        "ACCENT_QUIET": ("TEXT", "ACCENT_HOVER"),
        "STAGE": ("ON_STAGE", "ON_STAGE_MUTED", "ON_STAGE_WARNING"),
        "INFO_GROUND": ("TEXT", "ACCENT"),
        "GOOD_GROUND": ("TEXT", "GOOD"),
        "WARNING_GROUND": ("TEXT", "WARNING"),
        "DANGER_GROUND": ("TEXT", "DANGER"),
        "ACCENT": ("ON_ACCENT",),
        "ACCENT_HOVER": ("ON_ACCENT",),
    }
    dim = [
        f"{text} on {ground}: {contrast(table[text], table[ground]):.2f}"
        for ground, each in texts.items()
        for text in each
        if contrast(table[text], table[ground]) < 4.5
    ]
    dim += [
        f"{line} on {ground}"
        for ground in ("SURFACE", "RAISED", "HOVER")
        for line in ("ACCENT", "GOOD", "MUTED")
        if contrast(table[line], table[ground]) < 3
    ]
    assert not dim
    for ground in ("BACKGROUND", "SURFACE", "RAISED"):  # outlines of fields, grooves of sliders and progress bars
        assert contrast(table["EDGE"], table[ground]) >= 3


def test_within_a_theme_a_colour_has_one_name() -> None:
    for place in (0, 1):
        assert len({pair[place] for pair in theme.COLOURS.values()}) == len(theme.COLOURS)
