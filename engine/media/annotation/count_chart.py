"""Draws a chart into video frames: how many objects of each class the picture shows over time, with a mark at the present moment."""

from collections.abc import Mapping
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.annotation.colours import DARK_INK, Rgb, class_colour
from framefleet.engine.media.annotation.draw import Annotator, YuvPlanes, paste, yuv

Counts: TypeAlias = Mapping[int, NDArray[np.float64]]
OTHERS: Rgb = (150, 154, 163)
_COVER = 0.75  # of the picture behind the chart
_COMING = 0.5  # how strong bars behind the mark are, so that the chart also shows the progress
_WHITE, _BLACK, _NEUTRAL = 235, 16, 128


class CountChart:
    """A strip at the lower edge of the pictures of a video. It is drawn once; from frame to frame only the mark and the time change.

    annotator: draws texts. size: width and height of the pictures, pixels. counts: by class id, the most frequent class first: mean number
    of objects in equal parts of the time, float64 (n,), the same n for all. span: first and last time, seconds.

    Attributes: height: of the strip, pixels.
    """

    def __init__(self, annotator: Annotator, size: tuple[int, int], counts: Counts, span: tuple[float, float]) -> None:
        self._annotator, self._size, self._span = annotator, size, span
        self._line = annotator.line
        head = annotator.height
        self.height = min(4 * head, size[1] // 4) // 2 * 2
        plot = self.height - head
        every = np.array([*counts.values()] if counts else [[0.0]])
        most = max(float(every.sum(0).max()), 1.0)
        legend, shown = self._legend(counts, most)
        bars = np.cumsum(np.vstack((every[:shown], every[shown:].sum(0))), 0) * (plot / most)
        bars = bars[:, np.arange(size[0]) * bars.shape[1] // size[0]]
        colours = [yuv(colour) for colour in (*map(class_colour, [*counts][:shown]), OTHERS, DARK_INK)]
        # of each pixel, the first bar that is higher than its row; the last colour is that of the ground
        numbers = np.full((self.height, size[0]), len(bars))
        numbers[head:] = (bars[:, None] <= np.arange(plot, 0, -1)[:, None] - 0.5).sum(0)
        layers = []
        for strength in (1.0, _COMING):
            values = np.array(colours) * strength + np.array(colours[-1]) * (1 - strength)
            layers.append([np.rint(values[numbers[::part, ::part], plane]).astype(np.uint8) for plane, part in enumerate((1, 2, 2))])
        mask = np.where(numbers < len(bars), 255, 0).astype(np.uint8)
        masks = mask, mask[::2, ::2].copy(), mask[::2, ::2].copy()
        for left, patch in legend:
            for layer in layers:
                paste((layer[0], layer[1], layer[2]), patch, (left, 0, patch[0].shape[1], head))
            covered = np.full_like(patch[0], 255)
            paste(masks, (covered, covered[::2, ::2], covered[::2, ::2]), (left, 0, *covered.shape[::-1]))
        self._parts = [*zip(*layers, masks, (1, 2, 2), strict=True)]

    def draw(self, planes: YuvPlanes, seconds: float) -> None:
        """Draw the chart into a picture in place. seconds: the time of the picture."""
        begin, end = self._span
        share = (seconds - begin) / (end - begin) if end > begin else 0.0
        mark = int(min(max(share, 0.0), 1.0) * (self._size[0] - self._line)) // 2 * 2
        for plane, (bright, dim, mask, part) in zip(planes, self._parts, strict=True):
            strip, at = plane[-len(mask) :], mark // part
            for columns, layer in ((slice(0, at), bright), (slice(at, None), dim)):
                if strip[:, columns].size:
                    cv2.addWeighted(strip[:, columns], 1 - _COVER, layer[:, columns], _COVER, 0, dst=strip[:, columns])
                    cv2.copyTo(layer[:, columns], mask[:, columns], strip[:, columns])
            rows = strip[self._annotator.height // part :]
            if part == 1:
                rows[:, max(at - 1, 0) : at + self._line + 1] = _BLACK
            rows[:, at : at + max(self._line // part, 1)] = _WHITE if part == 1 else _NEUTRAL
        patch = self._annotator.text(self._time(seconds))
        width = patch[0].shape[1]
        paste(planes, patch, (self._size[0] - width, self._size[1] - self.height, width, self._annotator.height))

    def _legend(self, counts: Counts, most: float) -> tuple[list[tuple[int, YuvPlanes]], int]:
        """The texts of the upper row with their left edges, and how many classes it names: the others share one name."""
        names = [(self._annotator.name_of(class_id), class_colour(class_id)) for class_id in counts]
        title = self._annotator.text(f"Objects, at most {most:.0f}")
        others = self._annotator.text("others", OTHERS)
        found, left = [(0, title)], title[0].shape[1]
        free = self._size[0] - self._annotator.text(self._time(self._span[1]))[0].shape[1]
        for number, (name, colour) in enumerate(names):
            patch = self._annotator.text(name, colour)
            reserved = others[0].shape[1] if number + 1 < len(names) else 0
            if left + patch[0].shape[1] + reserved > free:
                return [*found, (left, others)], number
            found.append((left, patch))
            left += patch[0].shape[1] + 2 * self._line // 2 * 2
        return found, len(names)

    def _time(self, seconds: float) -> str:
        return f"{_clock(seconds)} / {_clock(self._span[1])}"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(max(seconds, 0.0) + 1e-6), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
