"""Finds the batch size: larger ones are tried until throughput hardly rises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)

WORTH = 1.03
"""The least gain in images/s for twice the batch, which doubles memory and latency."""


@dataclass(frozen=True)
class Tuning:
    """The batch to use, and why in words. images_per_s: of each size that was tried."""

    batch: int
    reason: str
    images_per_s: dict[int, float] = field(default_factory=dict)


def tune_batch(measure: Callable[[int], float | None], budget_ms: float | None = None, sizes: tuple[int, ...] = SIZES) -> Tuning:
    """Try growing batches until images/s rise by less than 3 %, a batch takes longer than ``budget_ms``, or memory is short.

    measure: ms of one batch of this size, None where the device has not enough memory for it. The smallest size is taken
    whatever the budget says.

    Raises:
        MemoryError: not even the smallest size fits.
    """
    speeds: dict[int, float] = {}
    best = 0
    for batch in sizes:
        ms = measure(batch)
        if ms is None:
            if not best:
                raise MemoryError(f"no memory for a batch of {batch}")
            return Tuning(best, f"the device's memory is too small for {batch}", speeds)
        speeds[batch] = 1000 * batch / ms
        if best and budget_ms is not None and ms > budget_ms:
            return Tuning(best, f"{batch} would take {ms:.1f} ms, longer than {budget_ms:g} ms", speeds)
        if best and speeds[batch] < WORTH * speeds[best]:
            return Tuning(best, f"{batch} brings {speeds[batch] / speeds[best] - 1:+.0%} images/s only", speeds)
        best = batch
    return Tuning(best, "the largest that is tried", speeds)
