import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.media.preview.screen import MOST_PIXELS, for_screen, shown_size

sides = st.integers(16, 4000)


@given(sides, sides, sides, sides)
def test_a_picture_fills_its_canvas_up_to_a_maximum_size(width: int, height: int, wide: int, high: int) -> None:
    shown = shown_size((width, height), (wide, high))
    assert shown[0] <= max(wide, 1) + 1
    assert shown[1] <= max(high, 1) + 1
    assert shown[0] * shown[1] <= max(MOST_PIXELS, width * height) * 1.01
    if wide * high < MOST_PIXELS:
        assert abs(shown[0] - wide) <= 1 or abs(shown[1] - high) <= 1


@pytest.mark.parametrize("size", [(40, 20), (100, 50), (10, 10), (17, 900)])
def test_colours_come_in_the_screen_s_order(size: tuple[int, int]) -> None:
    image = np.zeros((20, 40, 3), np.uint8)
    image[...] = (10, 120, 250)
    shown = for_screen(image, size)
    assert (shown.shape[1], shown.shape[0]) == shown_size((40, 20), size)
    assert (shown == (250, 120, 10, 255)).all()
    assert shown.flags.c_contiguous


@pytest.mark.parametrize("size", [(40, 20), (100, 50), (10, 10)])
@pytest.mark.parametrize("shared", [False, True])
def test_a_picture_that_is_ready_for_the_screen_is_only_scaled(size: tuple[int, int], shared: bool) -> None:
    image = np.zeros((20, 40, 4), np.uint8)
    image[...] = (250, 120, 10, 255)
    memory = memoryview(bytearray(4 * 100 * 50)) if shared else None
    shown = for_screen(image, size, memory)
    assert (shown.shape[1], shown.shape[0]) == shown_size((40, 20), size)
    assert (shown == (250, 120, 10, 255)).all()
    assert memory is None or memory[:4].tobytes() == bytes((250, 120, 10, 255))


def test_pixels_of_padded_rows_are_made_contiguous() -> None:
    padded = np.zeros((20, 48, 4), np.uint8)[:, :40]
    assert for_screen(padded, (40, 20)).flags.c_contiguous
