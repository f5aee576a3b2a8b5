"""Finds the batch size: tries larger ones until the throughput hardly increases."""

from collections.abc import Callable

from framefleet.engine.notices import Notice

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)

WORTH = 1.03
"""Least factor in images/s for twice the batch, which doubles memory and latency."""


def tune_batch(
    measure: Callable[[int], float | None], budget_ms: float | None = None, sizes: tuple[int, ...] = SIZES
) -> tuple[int, Notice]:
    """The batch to use, and the reason. A larger one gains less than 3 %, exceeds ``budget_ms``, or needs too much memory.

    measure: returns the ms of one batch of a size, or None if the device's memory does not suffice. The budget does not limit the
    smallest size.

    Raises MemoryError if the smallest size does not fit.
    """
    best, best_speed = 0, 0.0
    for batch in sizes:
        ms = measure(batch)
        if ms is None:
            if not best:
                raise MemoryError(f"no memory for a batch of {batch}")
            return best, Notice("backends.batch_too_large", batch=batch)
        speed = 1000 * batch / ms
        if best and budget_ms is not None and ms > budget_ms:
            return best, Notice("backends.batch_over_budget", batch=batch, ms=ms, budget_ms=budget_ms)
        if best and speed < WORTH * best_speed:
            return best, Notice("backends.batch_gains_little", batch=batch, gain=speed / best_speed - 1)
        best, best_speed = batch, speed
    return best, Notice("backends.batch_largest")
