"""The place in a source where an earlier run stopped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from framefleet.engine.media.types import Segment
from framefleet.engine.notices import Notice


@dataclass(frozen=True)
class Position:
    """The place in a source where an earlier run stopped, and what that run counted before it.

    frames: number of frames before the place. pts: of the last of them, seconds. segment: number of the segment that it belongs to.
    start: of this segment, as in ``Segment``. skip: number of the frames that belong to this segment. failed: failed frames by reason.
    """

    frames: int
    pts: float
    segment: int
    start: int | None
    skip: int
    failed: Mapping[Notice, int] = field(default_factory=dict)

    def fits(self, segments: Sequence[Segment]) -> bool:
        """Whether a source with these segments has this place."""
        return self.segment < len(segments) and segments[self.segment].start == self.start
