"""Places the labels of boxes, in the window and in annotated videos."""

import math
from typing import TypeAlias

Rect: TypeAlias = tuple[float, float, float, float]
"""x, y, width, height"""

VERIFIED = -1
"""In place of the percentage of an object that a person verified: the model was certain of something else, perhaps."""

BARE = -2
"""In place of the percentage of an object whose label has no room for it."""


class LabelPlaces:
    """The labels of one picture, placed so that they do not overlap. bounds: the area for labels. height: of each label."""

    def __init__(self, bounds: Rect, height: float) -> None:
        self._bounds, self._height = bounds, height
        self._bands: dict[int, list[tuple[float, float, float]]] = {}  # by y // height, so that a search looks at three bands only

    def place(self, box: Rect, width: float) -> Rect | None:
        """Return the rectangle of a box's label: above the box, inside its top edge, or below it, but always within the bounds.

        Returns the first of these positions that overlaps no label placed before, None if all overlap one.
        """
        left, upper, across, down = self._bounds
        x = min(max(box[0], left), max(left + across - width, left))
        lower = upper + down - self._height
        tries = (box[1] - self._height, box[1], box[1] + box[3])
        for y in [y for y in tries if upper <= y <= lower] or [min(max(box[1], upper), lower)]:
            if self._is_free(x, y, x + width):
                self._bands.setdefault(int(y // self._height), []).append((x, y, x + width))
                return x, y, width, self._height
        return None

    def reserve(self, place: Rect) -> None:
        """Place no label over this rectangle."""
        x, y, width, height = place
        for number in range(max(math.ceil(height / self._height), 1)):
            top = min(y + number * self._height, y + max(height - self._height, 0.0))
            self._bands.setdefault(int(top // self._height), []).append((x, top, x + width))

    def _is_free(self, x: float, y: float, right: float) -> bool:
        band = int(y // self._height)
        for number in (band - 1, band, band + 1):
            for other, top, end in self._bands.get(number, ()):
                if other < right and x < end and -self._height < top - y < self._height:
                    return False
        return True
