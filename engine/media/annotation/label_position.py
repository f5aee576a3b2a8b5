"""Finds the position of a box's label, in the window and in annotated videos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Rect: TypeAlias = tuple[float, float, float, float]
"""x, y, width, height"""


def label_place(box: Rect, label: tuple[float, float], bounds: Rect, taken: Sequence[Rect]) -> Rect:
    """The rectangle of a label (width, height): on the box's top edge, or inside it, or below it, but never outside ``bounds``.

    Of these three it takes the first that overlaps no label in ``taken``; if there is none, the first within ``bounds``.
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
