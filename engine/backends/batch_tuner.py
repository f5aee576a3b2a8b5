"""Finds the batch size: tries larger ones until the throughput hardly increases."""

from collections.abc import Callable

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)

WORTH = 1.03
"""Least factor in images/s for twice the batch, which doubles memory and latency."""


def tune_batch(measure: Callable[[int], float | None], budget_ms: float | None = None, sizes: tuple[int, ...] = SIZES) -> tuple[int, str]:
    """The batch to use, and the reason in words. A larger one gains less than 3 %, exceeds ``budget_ms``, or needs too much memory.

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
            return best, f"the device's memory is too small for {batch}"
        speed = 1000 * batch / ms
        if best and budget_ms is not None and ms > budget_ms:
            return best, f"{batch} would take {ms:.1f} ms, longer than {budget_ms:g} ms"
        if best and speed < WORTH * best_speed:
            return best, f"{batch} brings {speed / best_speed - 1:+.0%} pictures/s only"
        best, best_speed = batch, speed
    return best, "the largest that is tried"
