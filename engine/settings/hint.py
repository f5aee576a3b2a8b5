"""What ``--hint`` changes: each decision that follows from it, for the places that carry it out."""

from enum import StrEnum


class Hint(StrEnum):
    """What an engine is built for: most frames per second, or the shortest time for one frame. OpenVINO gets it as its own hint."""

    THROUGHPUT = "throughput"
    LATENCY = "latency"

    @property
    def batch(self) -> int | None:
        """The automatic batch of a GPU, and the number of pictures that are cut into tiles at once; None = the fastest number."""
        return 1 if self is Hint.LATENCY else None

    def under_way(self, least: int, fast: int) -> int:
        """How many batches an engine has under way. least: which it needs to work at all. fast: which keep its device busy."""
        return least if self is Hint.LATENCY else fast

    @property
    def spins(self) -> bool:
        """Whether the thread that gives a batch to a GPU also waits for it, and spins: 50 µs faster, but it occupies a core."""
        return self is Hint.LATENCY

    @property
    def decodes_in_parallel(self) -> bool:
        """Whether a GPU's worker decodes several segments at once, if the number of threads is automatic."""
        return self is Hint.THROUGHPUT
