"""A suppression inside a graph is found only where its pattern is known."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from framefleet.engine.model.onnx.structure import read_structure
from framefleet.engine.model.onnx.suppression import find_suppression, lacking_on_gpus
from tests.support.onnx_models import write_nms, write_suppressed


def test_the_values_before_a_suppression(tmp_path: Path) -> None:
    path = write_suppressed(tmp_path / "a.onnx").cfg
    found = find_suppression(read_structure(path).graph)
    assert found is not None
    assert (found.boxes, found.scores, found.iou, found.minima, found.limit) == ("boxes", "scores", "iou", ("minimum",), "limit")
    assert lacking_on_gpus(path) == ()
    assert lacking_on_gpus(write_nms(tmp_path / "b.onnx", 0).cfg) == ()


@pytest.mark.parametrize("change", ["all classes", "two", "centre", "no maximum"])
def test_other_suppressions_stay(tmp_path: Path, change: str) -> None:
    path = write_suppressed(tmp_path / "a.onnx", of_each_class=change != "all classes").cfg
    model = onnx.load(path)
    (place, node), *_ = ((number, each) for number, each in enumerate(model.graph.node) if each.op_type == "NonMaxSuppression")
    if change == "two":
        model.graph.node.insert(place, onnx.helper.make_node("NonMaxSuppression", list(node.input), ["other"]))
    elif change == "centre":
        node.attribute.append(onnx.helper.make_attribute("center_point_box", 1))
    elif change == "no maximum":
        next(each for each in model.graph.node if each.op_type == "ReduceMax").op_type = "ReduceMean"
    path.write_bytes(model.SerializeToString())
    assert find_suppression(read_structure(path).graph) is None
    assert lacking_on_gpus(path) == ("NonMaxSuppression",)
