"""Random pictures for networks, and checks of what a backend finds in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from framefleet.engine.backends.base import Backend
from framefleet.engine.detection.postprocess import detections
from framefleet.engine.detection.preprocess import fit
from framefleet.engine.model.network import Network
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import Detections, Image
from tests.support.models import run_by_definition
from tests.support.networks.detections import compare

CONFIDENCE = 0.05
"""The threshold at which ``assert_same`` expects detections."""


def pictures(count: int, seed: int = 0) -> list[Image]:
    """Pictures of squares, each of another size."""
    random = np.random.default_rng(seed)
    sizes = [(int(random.integers(40, 400)), int(random.integers(40, 400))) for _ in range(count)]
    return [np.kron(random.integers(0, 256, (h // 8 + 1, w // 8 + 1, 3)), np.ones((8, 8, 1))).astype(np.uint8) for w, h in sizes]


def by_definition(network: Network, images: list[Image], settings: EngineSettings) -> list[Detections]:
    """The detections of each picture, computed with NumPy only: slow."""
    found = []
    for image in images:
        out = np.empty((network.height, network.width, 3), np.float32)
        placed = fit(image, out, network.letter_box)
        heads = run_by_definition(network, out.transpose(2, 0, 1)[None] / 255)
        found += detections(network, [head.astype(np.float32) for head in heads], [placed], settings)
    return found


def assert_same(reference: list[Detections], ours: list[Detections], share: float = 0.99) -> None:
    """Fails unless this share of the boxes of each side is found by the other one."""
    total = sum(
        (compare(theirs, found, CONFIDENCE) for theirs, found in zip(reference, ours, strict=True)),
        compare(Detections(), Detections(), 0),
    )
    assert total.reference > 20
    assert min(total.recovered, total.confirmed) >= share


def assert_batches_stay_apart(backend: Backend, images: Sequence[Image]) -> None:
    """Fails unless each picture gives the same bytes alone as in one of many batches of three under way. images: a multiple of three."""
    one_by_one = [backend.infer([image])[0] for image in images]
    futures = [backend.submit(images[start : start + 3]) for start in range(0, len(images), 3)]
    together = [each for future in futures for each in future.result()]
    for alone, along in zip(one_by_one, together, strict=True):
        np.testing.assert_array_equal(alone.boxes, along.boxes)
        np.testing.assert_array_equal(alone.scores, along.scores)
