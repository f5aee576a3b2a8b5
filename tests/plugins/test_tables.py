"""What the layers are given beside tensors: heads, wanted classes, room for results."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from framefleet.engine.detection.postprocess import NO_PROBABILITY
from framefleet.engine.detection.preprocess import plan_fit
from framefleet.engine.model.load import load_model
from framefleet.engine.model.network import Yolo
from framefleet.engine.settings import EngineSettings
from framefleet.plugins.mish import Mish
from framefleet.plugins.nms import LIMIT, RECORD, Nms, class_mask, read_results, result_bytes
from framefleet.plugins.yolo_layer import CANDIDATE_BYTES, CAPACITY, Candidates, Head, head_table
from tests.support.devices.candidates import read_candidates
from tests.support.models import tiny_network
from tests.support.onnx_models import CELLS, SIDE, write_model

ANCHORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_heads_follow_each_other() -> None:
    table = head_table([Head(64, 13, 13, ANCHORS, 1.05, False), Head(128, 26, 20, ANCHORS[:2], 2.0, True)])
    assert table["values"].tolist() == [64, 128]
    assert table["first"].tolist() == [0, 3 * 13 * 13]
    assert table["anchors"].tolist() == [3, 2]
    np.testing.assert_allclose(table["shift"], [0.025, 0.5])
    assert table["sizes"][0, :7].tolist() == [0, 1, 2, 3, 4, 5, 0]


def test_too_much_for_the_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="9 heads"):
        head_table([Head(0, 1, 1, ANCHORS, 1.0, False)] * 9)
    with pytest.raises(ValueError, match="17 anchors"):
        head_table([Head(0, 1, 1, np.ones((17, 2), np.float32), 1.0, False)])


@pytest.mark.parametrize("wanted", [None, frozenset(), frozenset({0}), frozenset({31, 32, 79}), frozenset({5, 80, 4000})])
def test_one_bit_a_class(wanted: frozenset[int] | None) -> None:
    mask = class_mask(80, wanted)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    assert set(np.flatnonzero(bits).tolist()) == {c for c in range(80) if wanted is None or c in wanted}


def test_results_are_views_of_their_bytes() -> None:
    values = np.zeros(result_bytes(3), np.uint8)
    counts, records = read_results(values, 3)
    counts[2] = 7, 5
    records[2, LIMIT - 1] = ((1, 2, 3, 4), 0.5, 6)
    assert counts.shape == (3, 2)
    assert values[16:24].view(np.int32).tolist() == [7, 5]
    assert values[-RECORD.itemsize :].view(RECORD)[0].item()[1:] == (0.5, 6)


def test_candidates_are_views_of_their_bytes() -> None:
    values = np.zeros(2 * CAPACITY * CANDIDATE_BYTES, np.uint8)
    boxes, scores, class_ids = read_candidates(values, 2)
    addresses = Candidates(1 << 40, 0).addresses(2)
    for view, address in zip((boxes, scores, class_ids), addresses, strict=True):
        assert view.ctypes.data - values.ctypes.data == int(address) - (1 << 40)
    assert (boxes.shape, scores.shape, class_ids.shape) == ((2, CAPACITY, 4), (2, CAPACITY), (2, CAPACITY))


def test_sorting_needs_a_power_of_two() -> None:
    assert CAPACITY & (CAPACITY - 1) == 0
    assert CAPACITY * 10 + 4096 <= 48 * 1024  # shared memory that every device gives without being asked


def test_mish_refuses_what_it_cannot_count() -> None:
    pytest.importorskip("cuda.core")
    for count in (0, 2**31 - 4):
        with pytest.raises(ValueError, match=str(count)):
            Mish({"mish": None}, 0, count)  # type: ignore[arg-type]


@pytest.mark.parametrize("beta", [None, 0.6])
def test_the_kernel_is_told_the_suppression_of_the_cfg(beta: float | None) -> None:
    pytest.importorskip("cuda.core", reason="cuda-python is not installed")
    from framefleet.engine.backends.nvidia.engine import Outputs
    from framefleet.engine.backends.nvidia.slot import OutputSteps

    network = tiny_network()
    layers = tuple(replace(layer, diou_beta=beta) if isinstance(layer, Yolo) else layer for layer in network.layers)
    addresses = [64 * number for number in range(1, 1 + len(network.heads))]
    names = defaultdict[str, str](str)  # of kernels: none is launched
    memory = SimpleNamespace(device=lambda _: 64, constant=lambda _: 64, pinned=lambda nbytes: np.zeros(nbytes, np.uint8))
    raw = Outputs(1, [layer.shape for layer in network.heads], (0, 0), np.float32)
    parts: Any = (replace(network, layers=layers), raw, names, memory, EngineSettings(iou=0.3), addresses, 64, None)
    (nms,) = (step for step in OutputSteps(*parts).steps if isinstance(step, Nms))
    threshold, exponent = (value for value in nms.arguments if isinstance(value, np.float32))
    assert (threshold, exponent) == (np.float32(0.3), np.float32(-1 if beta is None else beta))


@pytest.mark.parametrize(("count", "score", "decoded"), [(1, 0.9, False), (1, 1.5, True), (0, 1.5, False)])
def test_scores_that_are_no_probabilities_are_for_the_cpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, count: int, score: float, decoded: bool
) -> None:
    pytest.importorskip("cuda.core", reason="cuda-python is not installed")
    from framefleet.engine.backends.nvidia import slot
    from framefleet.engine.backends.nvidia.engine import Outputs

    raw = np.zeros((1, 6, CELLS), np.float32)
    raw[0, :5, 0] = 32, 32, 16, 16, 1.5
    network = load_model(write_model(tmp_path / "a.onnx", {"o": raw}))
    results = np.zeros(result_bytes(1), np.uint8)
    memory = SimpleNamespace(device=lambda _: 64, constant=lambda _: 64, pinned=lambda _: results)
    names = defaultdict[str, str](str)  # of kernels: none is launched
    parts: Any = (network, Outputs(1, [raw.shape[1:]], [0], np.float32), names, memory, EngineSettings(), [64], 64, None)
    steps = slot.OutputSteps(*parts)
    counts, records = read_results(results, 1)
    counts[:], records["score"][0, 0] = count, score
    monkeypatch.setattr(slot, "download_heads", lambda *_: [raw])
    (found,) = steps.read([plan_fit(SIDE, SIDE, SIDE, SIDE, letterbox=False)])
    assert (found == NO_PROBABILITY) is decoded
    assert decoded or len(found) == count
