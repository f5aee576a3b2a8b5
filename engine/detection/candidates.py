"""Boxes before non-maximum suppression, and the arithmetic of their scores."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Candidates:
    """The boxes of a picture before non-maximum suppression, in undefined order.

    boxes: float32 (n, 4), x1 y1 x2 y2 in pixels of the network's input, not clipped to it. scores: float32 (n,).
    class_ids: int32 (n,). A box with several classes appears once for each. finite: False if an objectness, or another output of a cell
    with a high objectness, is NaN or infinite: the candidates then mean nothing.
    """

    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int32]
    finite: bool = True

    def __len__(self) -> int:
        return len(self.scores)


_CERTAIN = 10.0
"""A logit below all logits whose logistic rounds to 1 in float32."""


def logistic(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1 / (1 + exp(-v)) for each value, float32."""
    result: NDArray[np.float32] = np.reciprocal(1 + np.exp(-values))
    return result


def logit(confidence: float) -> float:
    """Return the inverse of the logistic, a little lower, so that rounding rejects no box before its score is compared."""
    return math.log(confidence / (1 - confidence)) - 1e-3 if confidence < 1 else _CERTAIN
