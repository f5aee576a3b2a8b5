"""Places the labels of boxes, in the window and in annotated videos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Rect: TypeAlias = tuple[float, float, float, float]
"""x, y, width, height"""


def label_place(box: Rect, label: tuple[float, float], bounds: Rect, taken: Sequence[Rect]) -> Rect:
    """Return the rectangle of a box's label: above the box, inside its top edge, or below it, but always within ``bounds``.

    label: width and height. Returns the first of these three positions that overlaps no rectangle in ``taken``. If all overlap one,
    returns the first position within ``bounds``.
    """
    width, height = label
    x = min(max(box[0], bounds[0]), max(bounds[0] + bounds[2] - width, bounds[0]))
    top, bottom = bounds[1], bounds[1] + bounds[3] - height
    tries = [y for y in (box[1] - height, box[1], box[1] + box[3]) if top <= y <= bottom] or [min(max(box[1], top), bottom)]
    for y in tries:
        if not any(overlap((x, y, width, height), other) for other in taken):
            return x, y, width, height
    return x, tries[0], width, height


def overlap(a: Rect, b: Rect) -> bool:
    """Whether two rectangles overlap."""
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
