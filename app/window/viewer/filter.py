"""The filter of the detections that are shown. It works on stored results, without another run."""

from dataclasses import dataclass

from framefleet.engine.types import Detections


@dataclass(frozen=True)
class ViewFilter:
    """Detections at or above a confidence, and of these classes (None = all)."""

    confidence: float = 0.25
    classes: frozenset[int] | None = None

    def apply(self, detections: Detections) -> Detections:
        """The detections to show, strongest first.

        Non-maximum suppression removes a box only because of stronger boxes. Filtering afterwards therefore has the same result
        as detection with the higher threshold.
        """
        return detections.filter(self.confidence, self.classes)
