from itertools import pairwise

from app.window.widgets import theme
from engine.media.annotation.colours import Rgb, class_colour, oklch


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


def test_white_and_black_come_out_of_oklch_exactly() -> None:
    assert oklch(1.0, 0.0, 0.0) == (255, 255, 255)
    assert oklch(0.0, 0.2, 120.0) == (0, 0, 0)
    assert oklch(0.627955, 0.257683, 29.2339) == (255, 0, 0)  # sRGB red, by the author's own converter


def test_the_text_on_a_label_is_readable_in_every_colour() -> None:
    assert min(contrast(class_colour(number), rgb(theme.ON_ACCENT)) for number in range(200)) >= 4.5


def test_classes_next_to_each_other_differ_clearly() -> None:
    for first, second in pairwise(class_colour(number) for number in range(80)):
        assert max(abs(a - b) for a, b in zip(first, second, strict=True)) > 60


def test_a_class_has_the_same_colour_in_every_run() -> None:
    assert class_colour(0) == class_colour(0) == (114, 216, 139)


def test_body_text_and_states_are_readable_on_every_surface() -> None:
    for ground in (theme.BACKGROUND, theme.SURFACE, theme.RAISED):
        for text in (theme.TEXT, theme.MUTED, theme.ACCENT, theme.GOOD, theme.WARNING, theme.DANGER):
            assert contrast(rgb(text), rgb(ground)) >= 4.5, (text, ground)
    assert contrast(rgb(theme.ON_ACCENT), rgb(theme.ACCENT)) >= 4.5
    assert contrast(rgb(theme.EDGE), rgb(theme.SURFACE)) >= 1.5
