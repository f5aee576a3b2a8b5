"""Counts where the frames of one source went.

``decoded`` is counted when a result arrives, the other counts when it is handed on. The ledger therefore shows frames lost in between.
"""

from collections import Counter
from collections.abc import Iterable

from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.pool.position import Position
from framefleet.engine.types import FrameResult

MAX_REASONS = 50
"""Most reasons that are counted separately. Reasons may contain a frame's time, so that the ledger would grow with the video."""


_OTHER = Notice("pool.other_reasons")


class LedgerBook:
    """Counts the frames of one source. arrived: number of frames from a decoder, also of those that cannot be decoded."""

    def __init__(self) -> None:
        self.arrived = 0
        self._inferred = 0
        self._failed: Counter[Notice] = Counter()

    def resume(self, position: Position) -> None:
        """Count the frames of an earlier run."""
        self.arrived = position.frames
        self._inferred = position.frames - sum(position.failed.values())
        self._failed = Counter(position.failed)

    def handed_on(self, results: Iterable[FrameResult]) -> None:
        """Count results that were handed to the consumer of the events."""
        for result in results:
            if result.failure is None:
                self._inferred += 1
            else:
                known = result.failure in self._failed or len(self._failed) < MAX_REASONS
                self._failed[result.failure if known else _OTHER] += 1

    def close(self, wanted_of: int | None = None) -> Ledger:
        """The final ledger. wanted_of: the number of frames of the source, if only some of them were wanted.

        Raises RuntimeError if the counts do not balance, which is a bug.
        """
        skipped = 0 if wanted_of is None else max(0, wanted_of - self.arrived)
        ledger = Ledger(self.arrived, self._inferred, {}, dict(self._failed), skipped)  # files never drop frames
        if not ledger.balanced:
            raise RuntimeError(f"frames are unaccounted for: {ledger}")
        return ledger
