"""The visible part of the timeline. Plain numbers, no Qt."""

from __future__ import annotations

from dataclasses import dataclass

LEAST = 1 / 2000
"""The smallest part of a source's length that the timeline shows: 1.8 seconds of an hour."""


@dataclass(frozen=True)
class TimeView:
    """A part of a source's length, from ``start`` to ``end``, both 0..1."""

    start: float = 0.0
    end: float = 1.0

    @property
    def span(self) -> float:
        """The length of the part, 0..1."""
        return self.end - self.start

    def place(self, fraction: float) -> float:
        """Where a fraction of the length lies in the view: 0 = at its start, 1 = at its end."""
        return (fraction - self.start) / self.span

    def fraction(self, place: float) -> float:
        """The fraction of the length at a place of the view."""
        return self.start + place * self.span

    def zoomed(self, factor: float, at: float) -> TimeView:
        """The view enlarged by a factor, where the fraction ``at`` keeps its place. It never exceeds the length."""
        span = min(max(self.span / factor, LEAST), 1.0)
        return TimeView(at - self.place(at) * span, at - self.place(at) * span + span).moved(0.0)

    def moved(self, by: float) -> TimeView:
        """The view moved by a fraction of the length, at most to its start or end."""
        start = min(max(self.start + by, 0.0), 1.0 - self.span)
        return TimeView(start, start + self.span)

    def showing(self, fraction: float) -> TimeView:
        """The view, moved on by its own length until it contains this fraction."""
        return self if self.start <= fraction <= self.end else self.moved(fraction - self.start - 0.1 * self.span)
