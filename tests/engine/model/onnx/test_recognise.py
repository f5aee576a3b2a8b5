"""The order of evidence: metadata, shapes, the user's answer. A shape that two readings fit decides nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from framefleet.engine.model.load import check_model
from framefleet.engine.model.onnx.network import Reading
from framefleet.engine.model.onnx.recognise import describe_onnx, remember_reading
from framefleet.engine.notices import ModelError, UsageError
from framefleet.engine.settings import ModelFiles
from tests.support.onnx_models import (
    CELLS,
    SIDE,
    save,
    sizes_input,
    write_damo_yolo,
    write_distances,
    write_joined,
    write_model,
    write_nms,
    write_probabilities,
    write_raw,
    write_sorted_fractions,
    write_suppressed,
    write_yolox,
)

NAMES = "{0: 'cat', 1: 'dog'}"
ULTRALYTICS = {"names": NAMES, "stride": "32", "task": "detect", "imgsz": "[64, 64]", "author": "Ultralytics"}


def zeros(*shape: int, kind: Any = np.float32) -> np.ndarray[Any, np.dtype[Any]]:
    return np.zeros(shape, kind)


def labels(folder: Path, number: int) -> Path:
    path = folder / "some.names"
    path.write_text("\n".join(f"name {index}" for index in range(number)))
    return path


SHAPES = {
    Reading.YOLOV8: {"output0": zeros(1, 7, CELLS)},
    Reading.YOLOV5: {"output0": zeros(1, 3 * CELLS, 8)},
    Reading.DETR: {"labels": zeros(1, 9, kind=np.int64), "boxes": zeros(1, 9, 4), "scores": zeros(1, 9)},
    Reading.RF_DETR: {"dets": zeros(1, 9, 4), "labels": zeros(1, 9, 3)},
    Reading.EFFICIENT_NMS: {
        "num_dets": zeros(1, 1, kind=np.int32),
        "boxes": zeros(1, 9, 4),
        "scores": zeros(1, 9),
        "classes": zeros(1, 9, kind=np.int32),
    },
    Reading.YOLOV4: {"boxes": zeros(1, 3 * CELLS, 1, 4), "confs": zeros(1, 3 * CELLS, 3)},
    Reading.RTDETR: {"output0": zeros(1, 9, 7)},
}


@pytest.mark.parametrize("reading", SHAPES)
def test_shapes_alone(tmp_path: Path, reading: Reading) -> None:
    others = [sizes_input()] if reading is Reading.DETR else []
    files = write_model(tmp_path / "a.onnx", SHAPES[reading], others=others)
    summary = check_model(ModelFiles(files.cfg, files.weights, labels(tmp_path, 3)))
    assert summary.reading is reading
    assert (summary.width, summary.height, summary.labels) == (SIDE, SIDE, ("name 0", "name 1", "name 2"))


def test_boxes_that_are_not_decoded_are_those_of_yolox(tmp_path: Path) -> None:
    assert check_model(write_yolox(tmp_path / "a.onnx")).reading is Reading.YOLOX


def test_two_readings_of_one_shape_are_for_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEFLEET_CACHE", str(tmp_path / "cache"))
    files = write_model(tmp_path / "a.onnx", {"output0": zeros(1, 300, 6)})
    with pytest.raises(ModelError) as error:
        check_model(files)
    notice = error.value.notice
    assert notice.code == "model.onnx_ambiguous"
    assert [each.fields["name"] for each in notice.fields["candidates"]] == ["end2end", "rtdetr"]
    assert "--reading NAME" in str(notice)

    chosen = ModelFiles(files.cfg, files.weights, labels(tmp_path, 2), reading="end2end")
    assert check_model(chosen).reading is Reading.END2END
    with pytest.raises(ModelError, match="more than one way"):
        check_model(files)
    remember_reading(files.cfg, Reading.RTDETR)
    assert check_model(files).reading is Reading.RTDETR, "the answer is kept"
    remember_reading(files.cfg, Reading.END2END)
    assert check_model(ModelFiles(files.cfg, files.weights, labels(tmp_path, 2))).reading is Reading.END2END, "a new answer"


@pytest.mark.parametrize(
    ("outputs", "readings"),
    [
        ({"rows": zeros(9, 7)}, ["nms-rows", "nms-scored-rows"]),
        ({"logits": zeros(1, 100, 92), "pred_boxes": zeros(1, 100, 4)}, ["rf-detr", "detr-logits", "detr-softmax"]),
    ],
)
def test_other_shapes_that_several_readings_fit(tmp_path: Path, outputs: Any, readings: list[str]) -> None:
    with pytest.raises(ModelError) as error:
        check_model(write_model(tmp_path / "a.onnx", outputs))
    assert [each.fields["name"] for each in error.value.notice.fields["candidates"]] == readings


def test_operators_tell_what_a_shape_leaves_open(tmp_path: Path) -> None:
    two = labels(tmp_path, 2)
    sorted_rows = write_sorted_fractions(tmp_path / "a.onnx")
    assert check_model(ModelFiles(sorted_rows.cfg, sorted_rows.weights, two)).reading is Reading.RTDETR_SORTED
    assert check_model(write_distances(tmp_path / "b.onnx", corner=False)).reading is Reading.YOLOV8
    assert check_model(write_distances(tmp_path / "c.onnx", corner=True)).reading is Reading.YOLOV8_CORNERS
    assert check_model(write_distances(tmp_path / "d.onnx", corner=False, rows=True)).reading is Reading.YOLOV8
    assert check_model(write_suppressed(tmp_path / "e.onnx")).reading is Reading.NMS_ROWS
    unknown = write_distances(tmp_path / "f.onnx", corner=True, output=("batch", "a", "b"))
    with pytest.raises(ModelError, match="does not say how many classes"):
        check_model(unknown)
    assert check_model(ModelFiles(unknown.cfg, unknown.weights, two)).reading is Reading.YOLOV8_CORNERS
    probable = write_probabilities(tmp_path / "g.onnx")
    assert check_model(ModelFiles(probable.cfg, probable.weights, two)).reading is Reading.BEFORE_NMS


@pytest.mark.parametrize(
    ("parts", "rows", "message"),
    [
        ([(2, True), (32, False)], True, "distributions of distances, as NanoDet, not boxes: o"),
        ([(2, True), (32, False)], False, "distributions of distances, as NanoDet, not boxes: o"),
        ([(64, False), (80, True)], True, "raw outputs of a network"),
        ([(64, False), (80, True)], False, "raw outputs of a network"),
        ([(64, False), (80, False)], False, "raw outputs of a network"),
    ],
    ids=["NanoDet", "NanoDet in columns", "YOLOv8 in rows", "YOLOv8", "YOLOv8 without a logistic function"],
)
def test_distributions_of_distances_are_no_boxes(tmp_path: Path, parts: list[tuple[int, bool]], rows: bool, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        check_model(write_raw(tmp_path / "a.onnx", parts, rows))
    assert check_model(write_raw(tmp_path / "b.onnx", [(4, False), (1, True), (2, True)])).reading is Reading.YOLOX


def test_the_objectness_of_yolov6_is_no_score(tmp_path: Path) -> None:
    candidate = describe_onnx(write_distances(tmp_path / "a.onnx", corner=False, rows=True, ones=1)).candidate
    assert (candidate.reading, candidate.classes, candidate.transposed) == (Reading.YOLOV5, 2, False)
    for corner, ones in ((True, 1), (False, 2)):  # none has corners and an objectness, and an angle may be beside it
        with pytest.raises(ModelError, match="no supported detector has: o"):
            check_model(write_distances(tmp_path / "b.onnx", corner=corner, rows=True, ones=ones))


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("behind", ["Mul", "Conv"])
def test_channels_that_are_no_scores(tmp_path: Path, behind: str, rows: bool) -> None:
    """Networks for other tasks that have no metadata: points and angles are scaled, coefficients of masks come from a convolution."""
    with pytest.raises(ModelError, match="no supported detector has: o"):
        check_model(write_distances(tmp_path / "a.onnx", corner=False, rows=rows, behind=behind))


def test_scores_of_other_boxes_are_not_those_before_suppression(tmp_path: Path) -> None:
    """SSD and RetinaNet have several boxes for each cell, relative to it; others have fractions of the picture."""
    for files in (write_probabilities(tmp_path / "a.onnx", count=CELLS + 2), write_probabilities(tmp_path / "b.onnx", fractions=True)):
        with pytest.raises(ModelError, match="no supported detector has: o"):
            check_model(files)


def test_damo_yolo_needs_other_pictures_than_yolo_nas(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="has the outputs of DAMO-YOLO, and does not say how pictures are to be prepared"):
        check_model(write_damo_yolo(tmp_path / "a.onnx"))


def test_the_most_boxes_of_a_network_are_said(tmp_path: Path) -> None:
    """A person who sees that a crowded picture lacks boxes looks for the reason in the run."""
    suppressed = write_nms(tmp_path / "a.onnx", coding=1)
    yolo26 = {**ULTRALYTICS, "end2end": "True", "description": "Ultralytics YOLO26n model"}
    fixed = write_model(tmp_path / "b.onnx", {"output0": zeros(1, 300, 6)}, yolo26)
    for files, most in ((suppressed, 100), (fixed, 300)):
        assert f"at most {most} boxes of a picture: the network gives no more" in map(str, check_model(files).notes)
    cells = write_model(tmp_path / "c.onnx", {"o": zeros(1, 6, CELLS)})
    assert [note.code for note in check_model(cells).notes] == ["model.onnx_read_as"]


def test_other_columns_are_no_fractions_and_scores(tmp_path: Path) -> None:
    """EfficientDet: the number of the picture, four sides, score, class. YOLO26 for poses: box, score, class, points."""
    efficientdet = write_joined(tmp_path / "a.onnx", [("Relu", 1)] * 7, 100)
    poses = write_joined(tmp_path / "b.onnx", [("Relu", 4), ("Sigmoid", 1), ("Relu", 1), ("Relu", 51)], 300)
    for files in (efficientdet, poses):
        with pytest.raises(ModelError, match="no supported detector has: o"):
            check_model(files)
    assert check_model(write_joined(tmp_path / "c.onnx", [("Sigmoid", 4), ("Sigmoid", 3)], 300)).reading is Reading.RTDETR


def test_rtdetr_of_ultralytics_since_its_rows_are_sorted(tmp_path: Path) -> None:
    metadata = {**ULTRALYTICS, "description": "Ultralytics rtdetr-l model", "head": "RTDETRDecoder", "end2end": "False"}
    assert check_model(write_sorted_fractions(tmp_path / "a.onnx", metadata)).reading is Reading.RTDETR_SORTED


def test_yolov9_as_it_is_trained_has_the_better_boxes_second(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": zeros(1, 6, CELLS), "p": zeros(1, 6, CELLS)}, {"names": NAMES, "stride": "32"})
    assert describe_onnx(files).candidate.outputs == ("p",)


@pytest.mark.parametrize(
    ("outputs", "known"),
    [
        ({"dets": zeros(1, 9, 4), "labels": zeros(1, 9, 4)}, ("rf-detr", ("dets", "labels"))),
        ({"labels": zeros(1, 9, 4), "dets": zeros(1, 9, 4)}, ("rf-detr", ("dets", "labels"))),
        ({"logits": zeros(1, 300, 4), "pred_boxes": zeros(1, 300, 4)}, ("detr-logits", ("pred_boxes", "logits"))),
    ],
)
def test_scores_of_four_classes_have_the_shape_of_boxes(tmp_path: Path, outputs: Any, known: tuple[str, tuple[str, ...]]) -> None:
    files = write_model(tmp_path / "a.onnx", outputs)
    candidate = describe_onnx(ModelFiles(files.cfg, files.weights, labels(tmp_path, 4), reading=known[0])).candidate
    assert (candidate.reading, candidate.outputs) == known


def test_probabilities_of_four_classes_are_no_boxes(tmp_path: Path) -> None:
    candidate = describe_onnx(write_probabilities(tmp_path / "a.onnx", classes=4)).candidate
    assert (candidate.reading, candidate.outputs) == (Reading.BEFORE_NMS, ("o", "p"))
    for count in (9, CELLS):
        with pytest.raises(ModelError, match="no supported detector has"):  # neither names nor operators tell
            check_model(write_model(tmp_path / "b.onnx", {"o": zeros(1, count, 4), "p": zeros(1, count, 4)}))


def test_maps_of_cells_beside_the_boxes(tmp_path: Path) -> None:
    maps = {f"map{side}": zeros(1, 66, side, side) for side in (8, 4, 2)}
    assert describe_onnx(write_model(tmp_path / "a.onnx", {"o": zeros(1, 6, CELLS), **maps})).candidate.outputs == ("o",)


def test_the_background_of_rf_detr(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"dets": zeros(1, 9, 4), "labels": zeros(1, 9, 3)})
    assert check_model(ModelFiles(files.cfg, files.weights, labels(tmp_path, 2))).labels == ("name 0", "name 1", "background")
    named = write_model(tmp_path / "b.onnx", {"dets": zeros(1, 9, 4), "labels": zeros(1, 9, 3)}, {"names": NAMES})
    assert check_model(named).labels == ("cat", "dog", "background")
    other = write_model(tmp_path / "c.onnx", {"logits": zeros(1, 9, 3), "boxes": zeros(1, 9, 4)}, {"names": NAMES})
    assert check_model(other).reading is Reading.DETR_SOFTMAX, "which has one for no object"
    chosen = check_model(ModelFiles(other.cfg, other.weights, reading="rf-detr"))
    assert chosen.labels == ("cat", "dog", "background")


def test_an_answer_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"output0": zeros(1, 300, 6)})
    with pytest.raises(UsageError, match=r"cannot be read as 'yolox', only as end2end \("):
        check_model(ModelFiles(files.cfg, files.weights, reading="yolox"))


@pytest.mark.parametrize(
    ("metadata", "reading"),
    [
        ({"end2end": "True", "description": "Ultralytics YOLO26n model"}, Reading.END2END),
        ({"args": "{'nms': True}", "description": "Ultralytics YOLO11n model"}, Reading.END2END),
        ({"description": "Ultralytics YOLOv10n model trained on coco.yaml"}, Reading.END2END),
        ({"description": "Ultralytics rt-detr-l model"}, Reading.RTDETR),
    ],
)
def test_metadata_of_ultralytics_decides(tmp_path: Path, metadata: dict[str, str], reading: Reading) -> None:
    licence = "AGPL-3.0 License (https://ultralytics.com/license)"
    files = write_model(tmp_path / "a.onnx", {"output0": zeros(1, 300, 6)}, {**ULTRALYTICS, **metadata, "license": licence})
    summary = check_model(files)
    assert (summary.reading, summary.labels, summary.licence) == (reading, ("cat", "dog"), licence)


def test_more_boxes_than_queries_where_metadata_say_that_they_are_sorted(tmp_path: Path) -> None:
    outputs = {"output0": zeros(1, 2000, 6)}
    assert check_model(write_model(tmp_path / "a.onnx", outputs, {**ULTRALYTICS, "args": "{'nms': True}"})).reading is Reading.END2END
    with pytest.raises(ModelError, match="no supported detector has"):
        check_model(write_model(tmp_path / "b.onnx", outputs, ULTRALYTICS))


def test_metadata_that_contradicts_the_outputs(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": zeros(1, 56, CELLS)}, {"names": "['person']"})
    with pytest.raises(ModelError, match=r"contradicts its outputs, which fit only yolov8 \("):
        check_model(files)
    assert len(check_model(ModelFiles(files.cfg, files.weights, reading="yolov8")).labels) == 52


def test_outputs_of_d_fine_without_shapes(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", SHAPES[Reading.DETR], others=[sizes_input()])
    model = onnx.load(files.cfg)
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    files.cfg.write_bytes(model.SerializeToString())
    assert check_model(ModelFiles(files.cfg, files.weights, labels(tmp_path, 3))).reading is Reading.DETR


def test_yolov5_of_its_own_repository_without_shapes(tmp_path: Path) -> None:
    """Its ``--dynamic`` leaves all sizes of the output open."""
    own = {"stride": "32", "names": "{0: 'a', 1: 'b', 2: 'c'}"}
    files = write_model(tmp_path / "a.onnx", {"output0": zeros(1, 3 * CELLS, 8)}, own, declared={"output0": ("batch", "anchors", "n")})
    assert check_model(files).reading is Reading.YOLOV5
    other = write_model(tmp_path / "b.onnx", {"o": zeros(1, 3 * CELLS, 8)}, declared={"o": ("batch", "anchors", "n")})
    with pytest.raises(ModelError, match="no supported detector has: o"):
        check_model(other)


@pytest.mark.parametrize("shape", [(1, 3, 8, 8, 9), (1, 27, 8, 8)])
def test_raw_outputs_are_named(tmp_path: Path, shape: tuple[int, ...]) -> None:
    maps = {f"map{side}": zeros(*(side if size == 8 else size for size in shape)) for side in (8, 4, 2)}
    with pytest.raises(ModelError, match=r"raw outputs of a network, not boxes: map8 .* as YOLOv7 does with --grid"):
        check_model(write_model(tmp_path / "a.onnx", maps))


def test_a_number_of_names_that_rules_out_a_reading(tmp_path: Path) -> None:
    three = {**ULTRALYTICS, "names": "['a', 'b', 'c']"}
    assert check_model(write_model(tmp_path / "a.onnx", {"output0": zeros(1, 300, 6)}, three)).reading is Reading.END2END


def test_model_info_changes_the_preprocessing(tmp_path: Path) -> None:
    info = {
        "model_type": "YOLO11",
        "labels": "traffic_light dog",
        "reverse_input_channels": "NO",
        "mean_values": "1 2 3",
        "scale_values": "4.0 5.0 6.0",
        "pad_value": "7",
        "resize_type": "fit_to_window",
    }
    files = write_model(tmp_path / "a.onnx", {"o": zeros(1, 6, CELLS)}, {f"model_info {key}": value for key, value in info.items()})
    described = describe_onnx(files)
    prepared = described.preprocessing
    assert described.labels == ("traffic light", "dog")
    assert (prepared.bgr, prepared.mean, prepared.scale) == (True, (1, 2, 3), (4, 5, 6))
    assert (prepared.letterbox, prepared.placement.grey, prepared.placement.corner) == (True, 7, True)
    stretched = write_model(tmp_path / "b.onnx", {"o": zeros(1, 6, CELLS)}, {"model_info resize_type": "standard"})
    assert not describe_onnx(stretched).preprocessing.letterbox


@pytest.mark.parametrize("embedded", [False, True])
@pytest.mark.parametrize(
    ("operator", "number", "scaled"),
    [("Div", 255, True), ("Mul", 1 / 255, True), ("Sub", 127.5, True), ("Div", 0.225, False), ("Mul", 2, False), ("Sub", 0.485, False)],
)
def test_pictures_that_the_network_scales(tmp_path: Path, operator: str, number: float, scaled: bool, embedded: bool) -> None:
    constant = numpy_helper.from_array(np.array(number, np.float32), "constant")
    nodes = [helper.make_node("Constant", [], ["number"], value=constant)] if embedded else []
    nodes += [
        helper.make_node("Transpose", ["images"], ["turned"], perm=[0, 1, 2, 3]),
        helper.make_node(operator, ["turned", "number" if embedded else "constant"], ["scaled"]),
        helper.make_node("ReduceMean", ["scaled"], ["mean"], keepdims=0),
        helper.make_node("Add", ["values", "mean"], ["o"]),
    ]
    tensors = [constant, numpy_helper.from_array(zeros(1, 6, CELLS), "values")]
    files = save(tmp_path / "a.onnx", nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))])
    assert describe_onnx(files).preprocessing.scale == ((1.0, 1.0, 1.0) if scaled else (255.0, 255.0, 255.0))


@pytest.mark.parametrize(
    "constant",
    [
        {"value": numpy_helper.from_array(np.array(255, np.float16))},
        {"value": helper.make_tensor("", TensorProto.FLOAT16, (3,), [255] * 3)},
        {"value": numpy_helper.from_array(np.array(255, np.float64))},
        {"value": helper.make_tensor("", TensorProto.DOUBLE, (3,), [255] * 3)},
        {"value_float": 255.0},
        {"value_floats": [255.0, 255.0, 255.0]},
    ],
)
def test_constants_of_all_types_that_scale_pictures(tmp_path: Path, constant: dict[str, Any]) -> None:
    nodes = [
        helper.make_node("Constant", [], ["number"], **constant),
        helper.make_node("Split", ["images"], ["red", "green", "blue"], axis=1),
        helper.make_node("Concat", ["blue", "green", "red"], ["turned"], axis=1),
        helper.make_node("Gather", ["turned", "places"], ["picked"], axis=1),
        helper.make_node("Slice", ["picked", "first", "last"], ["cut"]),
        helper.make_node("Div", ["cut", "number"], ["scaled"]),
        helper.make_node("ReduceMean", ["scaled"], ["mean"], keepdims=0),
        helper.make_node("Add", ["values", "mean"], ["o"]),
    ]
    tensors = [numpy_helper.from_array(np.array(value), name) for name, value in (("places", [2, 1, 0]), ("first", [0]), ("last", [1]))]
    tensors.append(numpy_helper.from_array(zeros(1, 6, CELLS), "values"))
    files = save(tmp_path / "a.onnx", nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))])
    assert describe_onnx(files).preprocessing.scale == (1.0, 1.0, 1.0)


def test_a_size_that_the_file_leaves_open(tmp_path: Path) -> None:
    shape = ("batch", 3, "height", "width")
    outputs, declared = {"o": zeros(1, 6, CELLS)}, {"o": ("batch", 6, "anchors")}
    files = write_model(tmp_path / "a.onnx", outputs, size=shape, declared=declared)
    with pytest.raises(UsageError, match="give --size"):
        check_model(files)
    sized = ModelFiles(files.cfg, files.weights, size=(96, 64))
    assert (check_model(sized).width, check_model(sized).height) == (96, 64)
    with pytest.raises(UsageError, match="multiples of 32"):
        check_model(ModelFiles(files.cfg, files.weights, size=(50, 64)))
    named = write_model(tmp_path / "b.onnx", outputs, ULTRALYTICS, size=shape, declared=declared)
    assert (check_model(named).width, check_model(named).height) == (64, 64)
    fixed = write_model(tmp_path / "c.onnx", outputs)
    with pytest.raises(UsageError, match="only pictures of 64×64"):
        check_model(ModelFiles(fixed.cfg, fixed.weights, size=(96, 96)))


def test_labels_beside_the_file(tmp_path: Path) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": zeros(1, 6, CELLS)}, ULTRALYTICS)
    assert check_model(files).labels == ("cat", "dog")
    (tmp_path / "a.yaml").write_text("train: x\nnames:\n  0: hare\n  1: fox\n")
    assert check_model(files).labels == ("hare", "fox")
    (tmp_path / "a.yaml").write_text("nc: 80\nbackbone: []\n")  # describes a network, and has no labels
    assert check_model(files).labels == ("cat", "dog")
    with pytest.raises(ModelError, match="not a list of labels"):
        check_model(ModelFiles(files.cfg, files.weights, tmp_path / "a.yaml"))
    (tmp_path / "a.yaml").write_text("names: [a")
    with pytest.raises(ModelError, match="not a list of labels"):
        check_model(files)
    (tmp_path / "a.names").write_text("owl\nmouse\n")
    assert check_model(files).labels == ("owl", "mouse")
    (tmp_path / "a.names").write_text("owl\n")
    with pytest.raises(ModelError, match="1 labels, but the model has 2 classes"):
        check_model(files)


@pytest.mark.parametrize(
    ("content", "message"), [("names: [", "not a list of labels"), ("names: [a, b, c]", "has 3 labels"), ("[]", "not a list")]
)
def test_wrong_descriptions_of_data_sets(tmp_path: Path, content: str, message: str) -> None:
    files = write_model(tmp_path / "a.onnx", {"o": zeros(1, 6, CELLS)})
    (tmp_path / "b.yaml").write_text(content)
    with pytest.raises(ModelError, match=message):
        check_model(ModelFiles(files.cfg, files.weights, tmp_path / "b.yaml"))


def test_labels_without_a_list(tmp_path: Path) -> None:
    assert check_model(write_model(tmp_path / "a.onnx", {"o": zeros(1, 84, 189)}, {"names": "{0: 1"}, (1, 3, 96, 96))).labels[:2] == (
        "person",
        "bicycle",
    )
    coco = check_model(write_model(tmp_path / "b.onnx", {"dets": zeros(1, 9, 4), "labels": zeros(1, 9, 91)})).labels
    assert (coco[0], coco[1], coco[13], coco[90]) == ("class 0", "person", "stop sign", "toothbrush")
    assert check_model(write_model(tmp_path / "c.onnx", {"o": zeros(1, 6, CELLS)})).labels == ("class 0", "class 1")
    spaced = write_model(tmp_path / "e.onnx", {"o": zeros(1, 6, CELLS)}, {"names": "{0: 'cat', 1: 'polar\N{NO-BREAK SPACE}bear'}"})
    assert check_model(spaced).labels == ("cat", "polar\N{NO-BREAK SPACE}bear")
    half = write_model(tmp_path / "f.onnx", {"o": zeros(1, 6, CELLS)}, {"names": '["cat", "\\ud800"]'})
    assert check_model(half).labels == ("class 0", "class 1")
    with pytest.raises(ModelError, match="does not say how many classes"):
        check_model(ModelFiles(*(write_model(tmp_path / "d.onnx", {"o": zeros(1, 99, 6)}).cfg,) * 2, reading="end2end"))


@pytest.mark.parametrize(
    ("outputs", "metadata", "message"),
    [
        ({"o": zeros(1, 38, CELLS), "p": zeros(1, 32, 16, 16)}, {}, "segmentation"),
        ({"o": zeros(1, 38, CELLS)}, {"task": "segment"}, "segmentation"),
        ({"o": zeros(1, 56, CELLS)}, {}, "poses"),
        ({"o": zeros(1, 56, CELLS)}, {"task": "pose"}, "poses"),
        ({"o": zeros(1, 3 * CELLS, 57)}, {}, "poses"),
        ({"o": zeros(1, 7, CELLS)}, {"task": "obb"}, "rotated boxes"),
        ({"o": zeros(1, 1000)}, {}, "classification"),
        ({"o": zeros(1, 1000)}, {"task": "classify"}, "classification"),
        ({"o": zeros(1, 7, CELLS)}, {"task": "depth"}, "'depth'"),
        ({"boxes": zeros(1, 9, 1, 4), "confs": zeros(1, 9, 3)}, {}, "no supported detector has: boxes"),
        ({"o": zeros(1, 7, 3)}, {}, "no supported detector has: o"),
        ({"o": zeros(7)}, {}, "no supported detector has: o"),
    ],
)
def test_other_networks_are_refused_by_name(tmp_path: Path, outputs: Any, metadata: dict[str, str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        check_model(write_model(tmp_path / "a.onnx", outputs, metadata))


@pytest.mark.parametrize(("anchors", "attributes"), [(True, {}), (False, {"class_agnostic": 1})])
def test_other_suppressions_of_tensorrt_are_refused(tmp_path: Path, anchors: bool, attributes: dict[str, int]) -> None:
    with pytest.raises(ModelError, match=r"NMS that is not supported \(EfficientNMS_TRT with anchors.*: export it without NMS"):
        check_model(write_nms(tmp_path / "a.onnx", 0, anchors=anchors, **attributes))


def test_numbers_of_8_bits_are_refused(tmp_path: Path) -> None:
    nodes = [helper.make_node("QuantizeLinear", ["images", "scale"], ["q"]), helper.make_node("DequantizeLinear", ["q", "scale"], ["o"])]
    tensors = [numpy_helper.from_array(np.array(0.1, np.float32), "scale")]
    files = save(tmp_path / "a.onnx", nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 6, CELLS))])
    with pytest.raises(ModelError, match=r"a\.onnx computes with 8-bit numbers, .*: export it in float32 or float16"):
        describe_onnx(files)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ((4, 3, 64, 64), "exactly 4 pictures"),
        ((1, 1, 64, 64), "no colour pictures"),
        ((1, 3, 64, 99_999), "no colour pictures"),
        ((3, 64, 64), "inputs that no supported"),
    ],
)
def test_other_inputs_are_refused(tmp_path: Path, size: tuple[int, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        check_model(write_model(tmp_path / "a.onnx", {"o": zeros(1, 6, CELLS)}, size=size))
