from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.detection.postprocess import MAX_CANDIDATES, TOO_MANY, detections
from framefleet.engine.detection.preprocess import plan_fit
from framefleet.engine.model.network import Network
from framefleet.engine.settings import EngineSettings
from tests.support.models import tiny_network


@pytest.fixture(scope="module")
def network() -> Network:
    return tiny_network()


def heads(network: Network, *found: tuple[int, int, int, int, float]) -> list[NDArray[np.float32]]:
    """Raw outputs of one picture with nothing but these (row, column, anchor, class id, logit) in the first head."""
    outputs = [np.full((1, *layer.shape), -20, np.float32) for layer in network.heads]
    for row, column, anchor, class_id, logit in found:
        cell = outputs[0].reshape(len(network.heads[0].anchors), 5 + network.classes, *outputs[0].shape[2:])[anchor, :, row, column]
        cell[:4], cell[4], cell[5 + class_id] = 0, 20, logit
    return outputs


def test_boxes_come_in_the_pixels_of_each_picture(network: Network) -> None:
    raw = heads(network, (2, 3, 0, 1, 2.0))
    rows, columns = network.heads[0].shape[1:]
    both = [np.concatenate([head, head]) for head in raw]
    fits = [plan_fit(960, 480, network.width, network.height, False), plan_fit(96, 96, network.width, network.height, False)]
    wide, same = detections(network, both, fits, EngineSettings())
    width, height = network.heads[0].anchors[0]
    expected = [
        (3.5 / columns * 96) - width / 2,
        (2.5 / rows * 96) - height / 2,
        (3.5 / columns * 96) + width / 2,
        (2.5 / rows * 96) + height / 2,
    ]
    np.testing.assert_allclose(same.boxes, np.clip([expected], 0, 96), rtol=1e-5)
    np.testing.assert_allclose(wide.boxes, same.boxes * [10, 5, 10, 5], rtol=1e-5)
    assert same.class_ids.tolist() == [1]
    assert same.scores[0] == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)


def test_neighbours_of_one_class_are_one_object(network: Network) -> None:
    raw = heads(network, (2, 3, 0, 1, 2.0), (2, 3, 1, 1, 1.0), (2, 3, 1, 0, 0.5))
    fit = plan_fit(96, 96, network.width, network.height, False)
    (strict,) = detections(network, raw, [fit], EngineSettings(iou=0.01))
    (loose,) = detections(network, raw, [fit], EngineSettings(iou=1.0))
    assert strict.class_ids.tolist() == [1, 0]
    assert loose.class_ids.tolist() == [1, 1, 0]
    (chosen,) = detections(network, raw, [fit], EngineSettings(iou=1.0, classes=frozenset({0, 7})))
    assert chosen.class_ids.tolist() == [0]


def test_the_suppression_of_the_cfg_is_used(network: Network) -> None:
    """Two boxes beside each other, IoU above the threshold: by DIoU, ``nms_kind=diounms``, their distance keeps them apart."""
    raw = heads(network, (2, 2, 0, 1, 2.0), (2, 3, 0, 1, 1.0))
    fit = plan_fit(96, 96, network.width, network.height, False)
    by_iou, by_diou = (
        detections(
            replace(network, layers=tuple(_with_beta(layer, beta) for layer in network.layers)), raw, [fit], EngineSettings(iou=0.01)
        )
        for beta in (None, 0.6)
    )
    assert len(by_iou[0]) == 1
    assert len(by_diou[0]) == 2


def test_boxes_outside_the_picture_are_dropped(network: Network) -> None:
    raw = heads(network, (0, 3, 0, 1, 2.0), (2, 3, 0, 1, 2.0))
    letterboxed = plan_fit(960, 96, network.width, network.height, True)
    assert letterboxed.top > 40
    small = replace(network, layers=tuple(_with_small_anchors(layer) for layer in network.layers))
    (found,) = detections(small, raw, [letterboxed], EngineSettings())
    assert len(found) == 1
    assert (found.boxes[:, 1] < found.boxes[:, 3]).all()


def _with_small_anchors(layer: object) -> object:
    return replace(layer, anchors=np.full_like(layer.anchors, 20)) if hasattr(layer, "anchors") else layer


def _with_beta(layer: object, beta: float | None) -> object:
    return replace(layer, diou_beta=beta) if hasattr(layer, "diou_beta") else layer


def test_a_picture_with_a_box_in_almost_every_cell_fails_with_the_reason(network: Network) -> None:
    """As with weights that do not fit the cfg: comparing a million boxes with each other takes minutes, and looks like a hang."""
    side = 1 + int((MAX_CANDIDATES / len(network.heads[0].anchors) / network.classes) ** 0.5)
    shape = len(network.heads[0].anchors) * (5 + network.classes), side, side
    raw = [np.zeros((2, *shape), np.float32), *(np.full((2, *head.shape), -20, np.float32) for head in network.heads[1:])]
    raw[0][1] = -20
    fit = plan_fit(96, 96, network.width, network.height, False)
    crowded, empty = detections(network, raw, [fit, fit], EngineSettings())
    assert crowded == TOO_MANY
    assert len(empty) == 0
