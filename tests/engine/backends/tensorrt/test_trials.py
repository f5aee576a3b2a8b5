"""What is made of trials on a device."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cuda.core")

from engine.backends.precision import Trial
from engine.backends.tensorrt.trials import first_layer_pays
from tests.support.models import tiny_network


@pytest.mark.parametrize(
    ("speed", "error", "pays"),
    [(103.0, 0.001, True), (103.0, 0.5, False), (99.0, 0.0, False)],
    ids=["faster and equal", "faster but different", "equal but slower"],
)
def test_a_layer_of_its_own_has_to_be_faster_and_right(speed: float, error: float, pays: bool) -> None:
    network, random = tiny_network(), np.random.default_rng(3)
    heads = [random.normal(0, 1, (2, *head.shape)).astype(np.float32) for head in network.heads]
    others = [values + error * random.normal(0, 1, values.shape).astype(np.float32) for values in heads]
    verdict, reason = first_layer_pays(Trial(heads, 100.0), Trial(others, speed), network)
    assert verdict is pays
    assert reason == ("3.0% faster with the first convolution in a layer of its own" if pays else "")
