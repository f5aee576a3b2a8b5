"""Each reading through the whole backend: a tiny network with known outputs gives exactly these boxes in the picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from framefleet.engine.backends.create import create_backend, create_depth_backend
from framefleet.engine.model.load import load_model
from framefleet.engine.model.onnx.prepare import without_suppression
from framefleet.engine.notices import DeviceError, ModelError
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import Detections, DeviceId, Image
from tests.support import yolox
from tests.support.onnx_models import (
    CELLS,
    CENTRES,
    KEPT,
    KNOWN,
    LETTERBOXED,
    SCORES,
    SIDE,
    SORTED,
    STRETCHED,
    cells,
    corners,
    objectness_rows,
    save,
    sizes_input,
    write_distances,
    write_known,
    write_model,
    write_nms,
    write_red,
    write_several,
    write_sorted_fractions,
    write_suppressed,
    write_yolox,
)

CPU = DeviceId("cpu", "0")
SETTINGS = EngineSettings(precision=Precision.FP32)
WIDE = np.zeros((64, 128, 3), np.uint8)
"""A picture of twice the input's width: letterboxed by half, with 16 rows of grey above and below; stretched by half across."""


def run(files: ModelFiles, picture: Image = WIDE, settings: EngineSettings = SETTINGS) -> Detections:
    with create_backend(CPU) as backend:
        backend.activate(load_model(files), settings)
        return backend.infer([picture])[0]


def labels(folder: Path) -> Path:
    path = folder / "two.names"
    path.write_text("cat\ndog\n")
    return path


def check(found: Detections, boxes: Sequence[Sequence[float]]) -> None:
    np.testing.assert_allclose(found.boxes, boxes, atol=1e-3)
    np.testing.assert_allclose(found.scores, [0.9, 0.7], atol=1e-6)
    assert found.class_ids.tolist() == [1, 0]


@pytest.mark.parametrize(("reading", "outputs", "boxes"), KNOWN)
def test_boxes_of_each_reading(tmp_path: Path, reading: str, outputs: dict[str, NDArray[Any]], boxes: list[list[float]]) -> None:
    check(run(write_known(tmp_path, reading, outputs)), boxes)


def test_a_box_with_a_negative_size_suppresses_nothing(tmp_path: Path) -> None:
    inverted = np.array([[10, 10, -60, 10, 0.1, 0.95], [40, 40, 10, -60, 0.95, 0.1]], np.float32)
    rows = np.concatenate([inverted, np.hstack([CENTRES, SCORES])])
    check(run(write_known(tmp_path, "yolov8", {"o": cells(rows, CELLS).T[None]})), LETTERBOXED)


def test_operators_in_another_order(tmp_path: Path) -> None:
    files = write_distances(tmp_path / "a.onnx", corner=True)
    model = onnx.load(files.cfg)
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    files.cfg.write_bytes(model.SerializeToString())
    check(run(files), LETTERBOXED)


def test_boxes_that_refer_to_the_sizes_of_pictures(tmp_path: Path) -> None:
    """D-FINE and RT-DETR multiply fractions by an input, width first."""
    nodes = [
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "zero"], ["nothing"]),
        helper.make_node("Add", ["score_values", "nothing"], ["scores"]),
        helper.make_node("Cast", ["orig_target_sizes"], ["sizes"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["sizes", "sizes"], ["both"], axis=1),
        helper.make_node("Mul", ["fractions", "both"], ["boxes"]),
        helper.make_node("Identity", ["label_values"], ["labels"]),
    ]
    size = np.array([128, 64] * 2, np.float32)
    tensors = [
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
        numpy_helper.from_array((corners()[[0, 2]] / size)[None], "fractions"),
        numpy_helper.from_array(KEPT[None, :, 0].copy(), "score_values"),
        numpy_helper.from_array(np.array([[1, 0]]), "label_values"),
    ]
    outputs = [
        helper.make_tensor_value_info("labels", TensorProto.INT64, (1, 2)),
        helper.make_tensor_value_info("boxes", TensorProto.FLOAT, (1, 2, 4)),
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, (1, 2)),
    ]
    files = save(tmp_path / "a.onnx", nodes, tensors, outputs, size=(1, 3, 64, 128), others=[sizes_input()])
    check(run(replace(files, labels=labels(tmp_path))), corners()[[0, 2]].tolist())


def test_sorted_fractions(tmp_path: Path) -> None:
    check(run(replace(write_sorted_fractions(tmp_path / "a.onnx"), labels=labels(tmp_path))), STRETCHED)


@pytest.mark.parametrize("corner", [False, True])
@pytest.mark.parametrize("rows", [False, True])
def test_boxes_from_distances(tmp_path: Path, corner: bool, rows: bool) -> None:
    check(run(write_distances(tmp_path / "a.onnx", corner, rows)), LETTERBOXED)


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.UINT8])
@pytest.mark.parametrize("channels_last", [False, True])
def test_bytes_and_channels_last(tmp_path: Path, kind: int, channels_last: bool) -> None:
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    picture[..., 0] = 204
    found = run(write_red(tmp_path / "a.onnx", kind, channels_last), picture)
    np.testing.assert_allclose(found.scores, [0.8], atol=1e-4)


def test_a_suppression_that_is_cut_off(tmp_path: Path) -> None:
    """The boxes are those of the suppression in the graph, whatever the thresholds of the run are."""
    for number, (iou, minimum, limit) in enumerate([(0.6, 0.3, 100), (0.95, 0.3, 100), (0.6, 0.75, 100), (0.6, 0.3, 1)]):
        network = load_model(write_suppressed(tmp_path / f"{number}.onnx", iou=iou, minimum=minimum, limit=limit))
        found = []
        for each in (network, without_suppression(network)):
            with create_backend(CPU) as backend:
                backend.activate(each, replace(SETTINGS, iou=0.1, stored_confidence=0.1))
                found.append(backend.infer([WIDE])[0])
        inside, cut = found
        assert len(inside.boxes) == (3 if iou == 0.95 else 1 if minimum == 0.75 or limit == 1 else 2)
        np.testing.assert_allclose(cut.boxes, inside.boxes, atol=1e-3)
        np.testing.assert_array_equal(cut.class_ids, inside.class_ids)
        np.testing.assert_allclose(cut.scores, inside.scores, atol=1e-6)


@pytest.mark.parametrize("reading", ["yolov5", "yolox-decoded"])
def test_objectness_times_class_score(tmp_path: Path, reading: str) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": objectness_rows()})
    found = run(replace(files, labels=labels(tmp_path), reading=reading))
    top = 0 if reading == "yolov5" else 32
    np.testing.assert_allclose(found.boxes, np.add(LETTERBOXED, [0, top, 0, top]).clip(0, [128, 64, 128, 64]), atol=1e-3)
    np.testing.assert_allclose(found.scores, [0.5, 0.4], atol=1e-6)


def test_yolox_takes_blue_first_from_0_to_255_at_the_top_left(tmp_path: Path) -> None:
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    picture[8, 24, 0] = 255  # red
    picture[40, 40, 2] = 255  # blue
    found = run(write_yolox(tmp_path / "a.onnx"), picture)
    np.testing.assert_allclose(found.boxes, [[24, 8, 32, 16]], atol=1e-3)
    logistic = 1 / (1 + np.exp([-5.0, -4.0]))
    np.testing.assert_allclose(found.scores, [logistic.prod()], atol=1e-5)
    tall = np.zeros((2 * SIDE, SIDE, 3), np.uint8)
    tall[16:18, 16:18, 0] = 255  # after halving, the pixel at (8, 8)
    found = run(write_yolox(tmp_path / "b.onnx"), tall)
    np.testing.assert_allclose(found.boxes, [[16, 16, 32, 32]], atol=1e-3)


@pytest.mark.parametrize("coding", [0, 1])
def test_a_suppression_of_tensorrt_is_cut_off(tmp_path: Path, coding: int) -> None:
    check(run(write_nms(tmp_path / "a.onnx", coding)), LETTERBOXED)


@pytest.mark.parametrize(
    ("of_classes", "attributes"),
    [(False, {"box_coding": [1], "background_class": [-1]}), (True, {}), (False, {"score_activation": 1})],
    ids=["as YOLOv7", "as YOLOv9", "logits"],
)
def test_inputs_of_a_suppression_of_tensorrt(tmp_path: Path, of_classes: bool, attributes: dict[str, Any]) -> None:
    check(run(write_nms(tmp_path / "a.onnx", 1, of_classes, **attributes)), LETTERBOXED)


@pytest.mark.parametrize(
    ("attributes", "classes"),
    [
        ({"iou_threshold": 0.95}, [1, 1, 0]),
        ({"score_threshold": 0.75}, [1]),
        ({"max_output_boxes": 1}, [1]),
        ({"background_class": 1}, [0]),
        ({"background_class": 1, "score_activation": 1}, [0]),
    ],
)
def test_a_suppression_of_tensorrt_has_its_own_thresholds(tmp_path: Path, attributes: dict[str, Any], classes: list[int]) -> None:
    found = run(write_nms(tmp_path / "a.onnx", 0, **attributes), settings=replace(SETTINGS, iou=0.1, stored_confidence=0.15))
    assert found.class_ids.tolist() == classes


def nonzero_rows(path: Path, rows: NDArray[np.float32]) -> ModelFiles:
    """A network whose number of boxes depends on the picture: those with a score above the mean of the picture ÷ 255."""
    nodes = [
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Greater", ["scores", "mean"], ["strong"]),
        helper.make_node("Compress", ["rows", "strong"], ["o"], axis=0),
    ]
    tensors = [numpy_helper.from_array(rows, "rows"), numpy_helper.from_array(np.ascontiguousarray(rows[:, 6]), "scores")]
    return save(path, nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, ("n", 7))])


def test_a_number_of_boxes_that_depends_on_the_picture(tmp_path: Path) -> None:
    rows = np.hstack([np.zeros((2, 1)), SORTED[:, :4], KEPT[:, ::-1]]).astype(np.float32)
    nodes = nonzero_rows(tmp_path / "a.onnx", rows)
    files = replace(nodes, labels=labels(tmp_path), reading="nms-rows")
    with create_backend(CPU) as backend:
        backend.activate(load_model(files), SETTINGS)
        for level, expected in ((0, 2), (205, 1), (255, 0), (0, 2)):
            assert len(backend.infer([np.full((SIDE, SIDE, 3), level, np.uint8)])[0]) == expected


def test_several_pictures_at_once(tmp_path: Path) -> None:
    open_batch = write_several(tmp_path / "a.onnx")
    with create_backend(CPU) as backend:
        assert backend.activate(load_model(open_batch), replace(SETTINGS, batch=2)).batch == 2
        for found in backend.infer([WIDE, np.full((64, 128, 3), 255, np.uint8)]):
            check(found, LETTERBOXED)
    values = {"o": np.zeros((1, 6, CELLS), np.float32)}
    inside = write_model(tmp_path / "c.onnx", values, size=("batch", 3, SIDE, SIDE), declared={"o": ("batch", 6, CELLS)})
    for fixed in (write_model(tmp_path / "b.onnx", values), inside):
        with create_backend(CPU) as backend, pytest.raises((DeviceError, ModelError), match="takes one picture at once: leave out --batch"):
            backend.activate(load_model(fixed), replace(SETTINGS, batch=2))


def test_outputs_that_are_no_numbers(tmp_path: Path) -> None:
    broken = np.zeros((1, 6, CELLS), np.float32)
    broken[0, 4] = np.nan
    with pytest.raises(DeviceError, match="outputs are not finite"):
        run(write_model(tmp_path / "a.onnx", {"o": broken}))


def test_confidences_above_1(tmp_path: Path) -> None:
    values = np.zeros((1, 6, CELLS), np.float32)
    values[0, :5, 0] = 32, 32, 16, 16, 1.005
    assert len(run(write_model(tmp_path / "a.onnx", {"o": values}))) == 1, "a rounding error"
    values[0, 4, 0] = 1.05
    with pytest.raises(DeviceError, match=r"confidences above 1, so its outputs mean something else: .* with --reading NAME"):
        run(write_model(tmp_path / "b.onnx", {"o": values}))


def test_a_class_without_a_label(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": np.array([[[8, 8, 16, 16, 0.9, 7]]], np.float32)})
    with pytest.raises(DeviceError, match="a class that has no label"):
        run(replace(files, labels=labels(tmp_path), reading="end2end"))


def test_a_file_that_claims_other_shapes(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": np.zeros((1, 9, 5), np.float32)}, declared={"o": (1, 6, CELLS)})
    with create_backend(CPU) as backend, pytest.raises(ModelError, match=r"no supported detector has: \[1,9,5\]"):
        backend.activate(load_model(files), SETTINGS)


def test_an_operator_that_openvino_lacks(tmp_path: Path) -> None:
    nodes = [helper.make_node("NoSuchOperator", ["images"], ["o"])]
    files = save(tmp_path / "a.onnx", nodes, [], [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))])
    with create_backend(CPU) as backend, pytest.raises(ModelError, match=r"a\.onnx cannot be loaded.*NoSuchOperator"):
        backend.activate(load_model(files), SETTINGS)


def test_stages_and_gpus_are_refused(tmp_path: Path) -> None:
    network = load_model(write_model(tmp_path / "a.onnx", {"o": np.zeros((1, 6, CELLS), np.float32)}))
    with create_depth_backend(DeviceId.parse("cpu:0+cpu:1")) as backend, pytest.raises(DeviceError, match="cannot be cut into stages"):
        backend.activate(network, SETTINGS)


def frames(data: Path) -> Iterator[NDArray[np.uint8]]:
    """The pictures, and nine frames of the video; blue, green, red."""
    for path in sorted((data / "images").glob("*.jpg")):
        yield np.asarray(cv2.imread(str(path)), np.uint8)
    with av.open(data / "video" / "people.mp4") as video:
        for frame in islice(video.decode(video=0), 0, 540, 60):
            yield np.ascontiguousarray(frame.to_ndarray(format="bgr24"))


@pytest.mark.data
def test_yolox_against_another_runtime_and_an_independent_decoder(data: Path) -> None:
    """At least 99.5 % of the boxes, both ways. ``benchmarks/detection/onnx.py`` compares all frames, with onnxruntime."""
    path = data / "models" / "yolox_nano.onnx"
    other = cv2.dnn.readNetFromONNX(str(path))
    ours_found = theirs_found = ours_count = theirs_count = 0
    with create_backend(CPU) as backend:
        backend.activate(load_model(ModelFiles(path, path)), SETTINGS)
        for picture in frames(data):
            given, scale = yolox.prepare(picture, 416)
            other.setInput(given)
            size = (picture.shape[1], picture.shape[0])
            theirs = yolox.decode(other.forward(), 416, scale)
            theirs = [box for box in theirs if box[2][0] < size[0] and box[2][1] < size[1]]
            found = backend.infer([np.ascontiguousarray(picture[:, :, ::-1])])[0]
            ours = list(zip(found.class_ids.tolist(), found.scores.tolist(), found.boxes.tolist(), strict=True))
            ours_found += yolox.matched(ours, theirs, size)
            theirs_found += yolox.matched(theirs, ours, size)
            ours_count += len(ours)
            theirs_count += len(theirs)
    assert ours_count > 25
    assert ours_found >= 0.995 * ours_count
    assert theirs_found >= 0.995 * theirs_count
