"""Recognises how the outputs of an ONNX file become boxes: by its metadata, then by the shapes of its outputs, else by the user's answer.

Where two readings fit, nothing is guessed: the user chooses, and the answer is kept beside the digest of the file.
"""

import ast
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.engine.model.describe import MAX_SIDE
from framefleet.engine.model.files import coco_labels, is_label, read_labels, read_start
from framefleet.engine.model.network import Shape, Yolo
from framefleet.engine.model.onnx import evidence, structure
from framefleet.engine.model.onnx.network import Preprocessing, Reading
from framefleet.engine.notices import ModelError, Notice, Option, UsageError
from framefleet.engine.settings import ModelFiles
from framefleet.plugins.cache import FileCache

MAX_QUERIES = 1_000
"""Maximum number of boxes of a network that needs no suppression."""

MIN_QUERIES = 100
"""Minimum number of boxes of a network with queries, where another reading fits as well."""

MAX_CLASSES = 10_000

_PRODUCER = "framefleet"
_STRIDES = ((8, 16, 32), (8, 16, 32, 64), (4, 8, 16, 32), (16, 32))
"""Strides of the grids of known detectors."""

_ANCHORS = 3
"""Boxes of a cell of YOLOv5 and YOLOv7. Later networks have one."""

_COCO_GAPS = frozenset({0, 12, 26, 29, 30, 45, 66, 68, 69, 71, 83})
"""COCO's category ids from 0 to 90 that no category has."""

_QUANTIZED = frozenset({"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger"})
"""Operators of networks that compute with 8-bit numbers. On processors without VNNI, their sums overflow in OpenVINO and in onnxruntime."""

_KEYPOINTS = 56
"""Channels of a network for poses with COCO's 17 key points: 4 + 1 + 17 · 3. YOLOv7's has one more, the objectness."""


@dataclass(frozen=True)
class Candidate:
    """A reading that fits the outputs.

    Attributes
    ----------
    outputs
        Names of the values to read, in the order of the reading.
    classes
        Number of classes; None if the shapes do not tell.
    centre_boxes
        See ``OnnxNetwork``.
    transposed
        Whether the only output has rows where the reading has columns.
    """

    reading: Reading
    outputs: tuple[str, ...]
    classes: int | None
    centre_boxes: bool = False
    transposed: bool = False


_SORTED = (
    *(Reading.END2END, Reading.RTDETR, Reading.RTDETR_SORTED, Reading.DETR),
    *(Reading.RF_DETR, Reading.DETR_LOGITS, Reading.DETR_SOFTMAX, Reading.EFFICIENT_NMS),
)
"""Readings of networks that give a fixed number of boxes."""


@dataclass(frozen=True, eq=False)
class OnnxDescription:
    """What is known of an ONNX file before its constants are read.

    Attributes
    ----------
    labels_source
        Where the labels come from.
    licence
        What the file says about its licence; None if it says nothing.
    input
        The input for pictures: float32, float16 or uint8.
    sizes_input, fixed_batch, heads
        See ``OnnxNetwork``.
    """

    file: structure.OnnxFile
    width: int
    height: int
    candidate: Candidate
    preprocessing: Preprocessing
    labels: tuple[str, ...]
    labels_source: Notice
    licence: str | None
    input: structure.Value
    sizes_input: str | None
    fixed_batch: bool
    heads: tuple[Yolo, ...]

    @property
    def channels_last(self) -> bool:
        """Whether the input for pictures has the shape (batch, height, width, 3)."""
        return _is_channels_last(self.input)

    @property
    def most_boxes(self) -> int | None:
        """The most boxes that the network or the NMS in it gives for a picture; None: unknown, or as many as there are cells."""
        if self.file.plugin is not None:
            return self.file.plugin.integers.get("max_output_boxes")
        if self.candidate.reading not in _SORTED:
            return None
        outputs = [value.dims for value in self.file.graph.outputs if value.name in self.candidate.outputs]
        return max((dims[1] or 0 for dims in outputs if dims is not None), default=0) or None


def describe_onnx(files: ModelFiles) -> OnnxDescription:
    """Recognise an ONNX file.

    Raises
    ------
    ModelError
        The file is damaged or unsupported, its labels do not fit, or several readings fit: the notice ``model.onnx_ambiguous`` lists them.
    UsageError
        The size or the reading of ``files`` does not suit the file.
    """
    file = structure.read_structure(files.cfg)
    picture, sizes = _inputs(file)
    width, height = _size(file, picture, files.size)
    _refuse_other_tasks(file, width, height)
    if any(node.operator in _QUANTIZED for node in file.graph.nodes):
        raise ModelError(Notice("model.onnx_quantized", path=file.path))
    found = tuple(_candidates(file, width, height, sizes is not None))
    if not found:
        outputs = file.graph.outputs
        raw = len(outputs) > 1 and all(len(value.dims or ()) == 5 or _is_map(value, width, height) for value in outputs)
        raw = raw or any(evidence.is_raw(file, value.name) for value in outputs)
        code = "model.onnx_raw_outputs" if raw else "model.onnx_unknown_outputs"
        if any(evidence.starts_with_scores(file, value.name) for value in outputs):
            code = "model.onnx_distances"
        raise ModelError(Notice(code, path=file.path, outputs=tuple(map(str, outputs[:8]))))
    candidate = _choose(file, found, files.reading)
    labels, source = _labels(files, candidate, _names(file))
    suppressed = any(node.operator == "NonMaxSuppression" for node in file.graph.nodes)  # exporters repeat it for each picture
    fixed = suppressed or (picture.dims is not None and picture.dims[0] == 1)
    heads = _heads(file) if candidate.reading is Reading.FRAMEFLEET else ()
    return OnnxDescription(
        file,
        width,
        height,
        candidate,
        _preprocessing(file, candidate.reading, picture),
        labels,
        source,
        file.metadata.get("license") or file.metadata.get("licence") or None,
        picture,
        None if sizes is None else sizes.name,
        fixed,
        heads,
    )


def find_data(path: Path) -> Path:
    """Return the file with the constants of an ONNX file: itself, or the file beside it that it names.

    Raises
    ------
    ModelError
        The file is damaged or unsupported, or the other one is missing or a link.
    """
    name = structure.read_structure(path).data
    if name is None:
        return path
    data = path.with_name(name)
    check_data(path, data)
    return data


def check_data(path: Path, data: Path) -> None:
    """Check the file beside an ONNX file that has its constants. A link could lead to any file of the machine.

    Raises
    ------
    ModelError
        It is a link, or missing.
    """
    if data.is_symlink():
        raise ModelError(Notice("model.onnx_data_link", path=path, data=data))
    if not data.is_file():
        raise ModelError(Notice("model.onnx_no_data", path=path, data=data))


def remember_reading(path: Path, reading: Reading) -> None:
    """Keep the user's answer how this file is to be read, for later runs."""
    FileCache().write(_answer_key(structure.read_structure(path)), json.dumps(reading.value).encode())


def _answer_key(file: structure.OnnxFile) -> str:
    return f"reading of {file.digest}"


# inputs


def _inputs(file: structure.OnnxFile) -> tuple[structure.Value, structure.Value | None]:
    """The input for pictures, and the one for the sizes that boxes refer to."""
    pictures = [value for value in file.graph.inputs if value.dims is not None and len(value.dims) == 4]
    others = [value for value in file.graph.inputs if value not in pictures]
    known = not others or (len(others) == 1 and others[0].name == "orig_target_sizes" and _fit(others[0].dims, (None, 2)))
    if len(pictures) != 1 or not known:
        raise ModelError(Notice("model.onnx_inputs", path=file.path, inputs=tuple(map(str, file.graph.inputs[:8]))))
    (picture,) = pictures
    batch, channels = (picture.dims or ())[0], (picture.dims or ())[-1 if _is_channels_last(picture) else 1]
    if channels not in (3, None) or picture.element_type not in (structure.FLOAT, structure.FLOAT16, structure.UINT8):
        raise ModelError(Notice("model.onnx_no_pictures", path=file.path, input=str(picture)))
    if batch not in (1, None):
        raise ModelError(Notice("model.onnx_fixed_batch", path=file.path, batch=batch))
    return picture, others[0] if others else None


def _is_channels_last(picture: structure.Value) -> bool:
    return picture.dims is not None and picture.dims[3] == 3 and picture.dims[1] != 3


def _size(file: structure.OnnxFile, picture: structure.Value, asked: tuple[int, int] | None) -> tuple[int, int]:
    """Width and height of the input."""
    if asked is not None and not all(32 <= side <= MAX_SIDE and side % 32 == 0 for side in asked):
        raise UsageError(Notice("model.wrong_size", width=asked[0], height=asked[1], most=MAX_SIDE))
    rows, columns = (picture.dims or ())[1:3] if _is_channels_last(picture) else (picture.dims or ())[2:]
    fixed = (columns, rows)
    stored = _read_list(file.metadata.get("imgsz", ""))
    default = (stored[-1], stored[0]) if stored and all(isinstance(side, int) for side in stored) else (None, None)
    sides = []
    for given, own, usual in zip(asked or (None, None), fixed, default, strict=True):
        if own is not None and given not in (own, None):
            raise UsageError(Notice("model.onnx_fixed_size", path=file.path, width=columns, height=rows, option=Option("size")))
        side = own or given or usual
        if side is None:
            raise UsageError(Notice("model.onnx_size_needed", path=file.path, option=Option("size")))
        if not 1 <= side <= MAX_SIDE:
            raise ModelError(Notice("model.onnx_no_pictures", path=file.path, input=str(picture)))
        sides.append(side)
    return sides[0], sides[1]


# outputs


def _refuse_other_tasks(file: structure.OnnxFile, width: int, height: int) -> None:
    """Refuse networks that find something else than upright boxes."""
    task = file.metadata.get("task", "detect")
    if task != "detect":
        raise ModelError(Notice("model.onnx_task", path=file.path, task=_TASKS.get(task, Notice("model.task_other", name=task[:40]))))
    outputs = [value.dims for value in _with_boxes(file, width, height) if value.dims is not None]
    if any(len(dims) == 4 and 1 not in dims[1:3] for dims in outputs) and file.producer != _PRODUCER:
        raise ModelError(Notice("model.onnx_task", path=file.path, task=_TASKS["segment"]))
    if [len(dims) for dims in outputs] == [2] and (outputs[0][1] or 0) >= 2 and not _ends_in_nms(outputs[0]):
        raise ModelError(Notice("model.onnx_task", path=file.path, task=_TASKS["classify"]))


_TASKS = {
    "segment": Notice("model.task_segment"),
    "pose": Notice("model.task_pose"),
    "obb": Notice("model.task_obb"),
    "classify": Notice("model.task_classify"),
}


_DETR_OUTPUTS = ("labels", "boxes", "scores")
_RF_DETR_OUTPUTS = ("dets", "labels")
"""What the exports of D-FINE and RF-DETR call them."""


def _ends_in_nms(dims: structure.Dims) -> bool:
    return dims[1] == 7 and dims[0] != 1


def _candidates(file: structure.OnnxFile, width: int, height: int, sized: bool) -> Iterator[Candidate]:
    """The readings that fit the outputs' number, shapes and types. sized: whether there is an input for sizes."""
    if file.producer == _PRODUCER and "heads" in file.metadata:
        yield Candidate(Reading.FRAMEFLEET, tuple(value.name for value in file.graph.outputs), _heads(file)[0].classes)
        return
    plugin = file.plugin
    if plugin is not None:
        if len(plugin.inputs) != 2 or plugin.integers.get("class_agnostic"):
            raise ModelError(Notice("model.onnx_unknown_nms", path=file.path, operator=plugin.operator))
        classes = _scores_of(file, plugin)
        yield Candidate(Reading.BEFORE_NMS, plugin.inputs[:2], classes, plugin.integers.get("box_coding", 0) == 1)
        return
    if sized and {value.name for value in file.graph.outputs} == set(_DETR_OUTPUTS):
        yield Candidate(Reading.DETR, _DETR_OUTPUTS, None)
        return
    outputs = _with_boxes(file, width, height)
    match [len(value.dims or ()) for value in outputs]:
        case [3]:
            yield from _of_one_output(file, outputs[0], width, height)
        case [2] if _ends_in_nms(outputs[0].dims or ()):
            yield from _of_rows(file, outputs[0].name)
        case [3, 3] if outputs[0].dims == outputs[1].dims and (outputs[0].dims or ())[2:] != (4,):
            # YOLOv9 as it is trained: the second one is the better one
            yield from _of_one_output(file, outputs[1], width, height)
        case [3, 3]:
            yield from _of_boxes_and_scores(file, outputs, width, height)
        case [4, 3] | [3, 4]:
            yield from _of_yolov4(sorted(outputs, key=lambda value: -len(value.dims or ())), width, height)
        case [_, _, _] if sized:
            yield from _of_sorted_boxes(outputs)
        case [2, 3, 2, 2] if (outputs[1].dims or ())[2] == 4:
            yield Candidate(Reading.EFFICIENT_NMS, tuple(value.name for value in outputs), None)


def _with_boxes(file: structure.OnnxFile, width: int, height: int) -> list[structure.Value]:
    """The outputs without the maps of cells of which some exporters compute them."""
    outputs = [value for value in file.graph.outputs if value.dims is not None and len(value.dims) != 5]
    maps = [value for value in outputs if _is_map(value, width, height)]
    return outputs if len(maps) < 2 else [value for value in outputs if value not in maps]


def _is_map(value: structure.Value, width: int, height: int) -> bool:
    """Whether an output has the shape (B, channels, rows, columns) of a grid of cells."""
    grids = {(height // stride, width // stride) for stride in (8, 16, 32, 64)}
    return value.dims is not None and len(value.dims) == 4 and value.dims[2:] in grids


def _of_one_output(file: structure.OnnxFile, value: structure.Value, width: int, height: int) -> Iterator[Candidate]:
    found = list(_of_cells(file, value, width, height))
    yield from found
    if any(candidate.reading is Reading.YOLOX or candidate.transposed for candidate in found):
        return
    _, rows, columns = value.dims or (None, None, None)
    if columns == 6 and (rows is None or rows <= MAX_QUERIES or _is_sorted(file)):
        yield from _of_six_columns(file, value.name)
    cells = _cells(width, height, 1) | _cells(width, height, _ANCHORS)
    if rows is None or columns is None or rows > MAX_QUERIES or rows in cells or evidence.ends_with_class_ids(file, value.name):
        return
    if evidence.is_raw(file, value.name) or evidence.starts_with_fractions(file, value.name) is False:
        return
    if 5 <= columns <= 4 + MAX_CLASSES and (not found or rows >= MIN_QUERIES):
        yield Candidate(Reading.RTDETR, (value.name,), columns - 4)


def _of_six_columns(file: structure.OnnxFile, output: str) -> Iterator[Candidate]:
    """The readings of a score and a class id behind each box."""
    sorted_fractions = evidence.ends_with_class_ids(file, output) and evidence.starts_with_fractions(file, output)
    yield Candidate(Reading.RTDETR_SORTED if sorted_fractions else Reading.END2END, (output,), None)


def _of_rows(file: structure.OnnxFile, output: str) -> Iterator[Candidate]:
    """The readings of seven columns: the class id comes before the score, or after it."""
    if not evidence.ends_with_class_ids(file, output):
        yield Candidate(Reading.NMS_ROWS, (output,), None)
    if not evidence.ends_with_scores(file, output):
        yield Candidate(Reading.NMS_SCORED_ROWS, (output,), None)


def _of_cells(file: structure.OnnxFile, value: structure.Value, width: int, height: int) -> Iterator[Candidate]:
    """The readings with a box for each cell of a grid, or several."""
    _, rows, columns = value.dims or (None, None, None)
    one, several = _cells(width, height, 1), _cells(width, height, _ANCHORS)
    corners, raw = evidence.has_corners(file, value.name), evidence.is_raw(file, value.name)
    if not raw and evidence.lacks_scores(file, value.name):
        return
    known = rows is not None or corners is not None
    if not raw and known and (rows is None or 5 <= rows <= 4 + MAX_CLASSES) and (columns is None or columns in one):
        if rows == _KEYPOINTS and not _names(file):
            raise ModelError(Notice("model.onnx_task", path=file.path, task=_TASKS["pose"]))
        yield Candidate(Reading.YOLOV8_CORNERS if corners else Reading.YOLOV8, (value.name,), None if rows is None else rows - 4)
    if corners is not None and rows in one and columns is not None and columns >= 5:
        parts = evidence.number_of_parts(file, value.name)
        if parts == 2:
            yield Candidate(Reading.YOLOV8_CORNERS if corners else Reading.YOLOV8, (value.name,), columns - 4, transposed=True)
        elif parts == 3 and not corners and columns > 5:
            yield Candidate(Reading.YOLOV5, (value.name,), columns - 5)
        return
    if (columns is None and rows is None and not _is_of_yolov5(file)) or (columns is not None and not 6 <= columns <= 5 + MAX_CLASSES):
        return
    if evidence.ends_with_class_ids(file, value.name):
        return
    classes = None if columns is None else columns - 5
    if raw and evidence.joins_boxes_objectness_scores(file, value.name) and (rows is None or rows in one):
        yield Candidate(Reading.YOLOX, (value.name,), classes)
    if not raw and rows in several and columns == _KEYPOINTS + 1 and not _names(file):
        raise ModelError(Notice("model.onnx_task", path=file.path, task=_TASKS["pose"]))
    if not raw and (rows is None or rows in one or rows in several):
        yield Candidate(Reading.YOLOV5, (value.name,), classes)
    if not raw and (rows is None or rows in one):
        yield Candidate(Reading.YOLOX_DECODED, (value.name,), classes)


def _of_boxes_and_scores(file: structure.OnnxFile, outputs: Sequence[structure.Value], width: int, height: int) -> Iterator[Candidate]:
    cells = _cells(width, height, 1) | _cells(width, height, _ANCHORS)
    for box in _boxes(file, outputs, cells):
        (other,) = (value for value in outputs if value is not box)
        _, rows, columns = other.dims or (None, None, None)
        if not _fit(other.dims, (None, (box.dims or ())[1], None)) or columns is None:
            continue
        names = (box.name, other.name)
        if names == _RF_DETR_OUTPUTS:
            yield Candidate(Reading.RF_DETR, names, columns)
            return
        if evidence.are_probabilities(file, other.name):
            if box is outputs[1] and evidence.stacks_sides(file, box.name):
                raise ModelError(Notice("model.onnx_damo_yolo", path=file.path))
            raw = evidence.is_raw(file, box.name) or evidence.are_probabilities(file, box.name)  # not in pixels
            if not raw and (rows is None or rows in cells):
                yield Candidate(Reading.BEFORE_NMS, names, columns)
        elif rows is None or rows not in cells:
            yield Candidate(Reading.RF_DETR, names, columns)
            yield Candidate(Reading.DETR_LOGITS, names, columns)
            if columns > 1:
                yield Candidate(Reading.DETR_SOFTMAX, names, columns - 1)


def _boxes(file: structure.OnnxFile, outputs: Sequence[structure.Value], cells: Collection[int]) -> list[structure.Value]:
    """The outputs that may be boxes. The scores of four classes have the same shape: only the names or the operators tell them apart."""
    fitting = [value for value in outputs if _fit(value.dims, (None, None, 4))]
    if len(fitting) < 2:
        return fitting
    chosen = [value for value in fitting if value.name == "dets" or value.name.endswith("boxes")]
    if not chosen and fitting[0].dims is not None and fitting[0].dims[1] in cells:  # elsewhere, boxes may be from a logistic function
        chosen = [value for value in fitting if not evidence.are_probabilities(file, value.name)]
    return chosen if len(chosen) == 1 else []


def _of_yolov4(outputs: Sequence[structure.Value], width: int, height: int) -> Iterator[Candidate]:
    boxes, scores = outputs
    rows, classes = (scores.dims or ())[1:]
    if _fit(boxes.dims, (None, rows, 1, 4)) and classes is not None and (rows is None or rows in _cells(width, height, _ANCHORS)):
        yield Candidate(Reading.YOLOV4, (boxes.name, scores.name), classes)


def _of_sorted_boxes(outputs: Sequence[structure.Value]) -> Iterator[Candidate]:
    boxes = next((value for value in outputs if _fit(value.dims, (None, None, 4))), None)
    flat = [value for value in outputs if value.dims is not None and len(value.dims) == 2]
    ids = [value for value in flat if value.element_type in (structure.INT32, structure.INT64)]
    scores = [value for value in flat if value.element_type in (structure.FLOAT, structure.FLOAT16)]
    if boxes is not None and len(ids) == len(scores) == 1:
        yield Candidate(Reading.DETR, (ids[0].name, boxes.name, scores[0].name), None)


def _scores_of(file: structure.OnnxFile, plugin: structure.Node) -> int | None:
    """The number of classes of a suppression: of the constant or attribute that names it, else unknown."""
    return plugin.integers.get("num_classes") or (len(_names(file)) or None)


def _fit(dims: structure.Dims | None, wanted: structure.Dims) -> bool:
    """Whether a shape has this number of axes, and these sizes where both are fixed."""
    return (
        dims is not None and len(dims) == len(wanted) and all(None in pair or pair[0] == pair[1] for pair in zip(dims, wanted, strict=True))
    )


def _cells(width: int, height: int, each: int) -> frozenset[int]:
    """The numbers of boxes that known detectors have for this input. each: boxes per cell."""
    return frozenset(each * sum(-(-width // stride) * -(-height // stride) for stride in strides) for strides in _STRIDES)


# metadata


def _choose(file: structure.OnnxFile, found: Sequence[Candidate], asked: str | None) -> Candidate:
    if asked is not None:
        for candidate in found:
            if candidate.reading == asked:
                return candidate
        raise UsageError(Notice("model.onnx_reading_unfit", path=file.path, name=asked[:40], candidates=_named(found)))
    fitting = [candidate for candidate in found if all(test(file, candidate) for test in _TESTS)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise ModelError(Notice("model.onnx_contradiction", path=file.path, candidates=_named(found), option=Option("reading", "NAME")))
    answer = FileCache().recall(_answer_key(file))
    for candidate in fitting:
        if candidate.reading == answer:
            return candidate
    raise ModelError(Notice("model.onnx_ambiguous", path=file.path, candidates=_named(fitting), option=Option("reading", "NAME")))


def _named(candidates: Sequence[Candidate]) -> tuple[Notice, ...]:
    return tuple(Notice("model.onnx_candidate", name=each.reading.value, meaning=each.reading.notice) for each in candidates)


def _agrees_with_names(file: structure.OnnxFile, candidate: Candidate) -> bool:
    names = _names(file)
    if candidate.outputs == _RF_DETR_OUTPUTS:
        names = _with_background(names, candidate)
    return not names or candidate.classes in (None, len(names))


def _with_background(names: tuple[str, ...], candidate: Candidate) -> tuple[str, ...]:
    """The names for the classes of a network. RF-DETR's trainer adds one."""
    added = candidate.reading is Reading.RF_DETR and len(names) + 1 == candidate.classes
    return (*names, "background") if added and names else names


def _agrees_with_ultralytics(file: structure.OnnxFile, candidate: Candidate) -> bool:
    """Whether a reading is one that the exporter of ultralytics makes, and the one that it says."""
    if not {"names", "stride"} <= file.metadata.keys():
        return True
    reading = candidate.reading
    if _is_of_yolov5(file):
        return reading in (Reading.YOLOV5, Reading.YOLOV8, Reading.END2END)
    kind = file.metadata.get("description", "").casefold().replace("-", "")
    if "rtdetr" in kind:
        return reading in (Reading.RTDETR, Reading.RTDETR_SORTED)
    if reading in (Reading.RTDETR, Reading.RTDETR_SORTED):
        return "yolo" not in kind
    if _is_sorted(file):
        return reading is Reading.END2END
    if file.metadata.get("end2end") == "False" and reading is Reading.END2END:
        return False
    return reading in (Reading.YOLOV8, Reading.YOLOV5, Reading.END2END)


def _is_sorted(file: structure.OnnxFile) -> bool:
    """Whether ultralytics' metadata say that boxes come without overlaps. Their number is the exporter's ``max_det``."""
    return file.metadata.get("end2end") == "True" or _read_dict(file.metadata.get("args", "")).get("nms") is True


def _is_of_yolov5(file: structure.OnnxFile) -> bool:
    """Whether the metadata are those of YOLOv5's own repository, which writes no more than this."""
    return {"names", "stride"} <= file.metadata.keys() and "task" not in file.metadata


def _agrees_with_model_info(file: structure.OnnxFile, candidate: Candidate) -> bool:
    kind = (_model_info(file, "model_type") or file.metadata.get("model_family", "")).casefold()
    wanted = next((readings for start, readings in _MODEL_TYPES if kind.startswith(start)), None)
    return wanted is None or candidate.reading in wanted


_TESTS: tuple[Callable[[structure.OnnxFile, Candidate], bool], ...] = (
    _agrees_with_names,
    _agrees_with_ultralytics,
    _agrees_with_model_info,
)

_MODEL_TYPES = (
    ("rfdetr", (Reading.RF_DETR,)),
    (("dfine", "deim", "rtdetr"), (Reading.DETR_LOGITS,)),
    ("yolox", (Reading.YOLOX, Reading.YOLOX_DECODED)),
    ("yolonas", (Reading.BEFORE_NMS,)),
    ("yolo", (Reading.YOLOV8, Reading.YOLOV8_CORNERS, Reading.END2END, Reading.YOLOV5)),
)
"""Readings for the starts of ``model_type`` in OpenVINO's model API, whose "YOLOv5" also has YOLOv8's outputs, or of ``model_family``."""


def _model_info(file: structure.OnnxFile, name: str) -> str:
    """A value of OpenVINO's model API."""
    return file.metadata.get(f"model_info {name}", "")


def _preprocessing(file: structure.OnnxFile, reading: Reading, picture: structure.Value) -> Preprocessing:
    """How pictures are prepared: by the reading, the input's type, and what OpenVINO's model API has written into the file."""
    prepared = reading.preprocessing
    if picture.element_type == structure.UINT8 or evidence.scales_pictures(file, picture.name):
        prepared = replace(prepared, mean=(0.0, 0.0, 0.0), scale=(1.0, 1.0, 1.0))
    if reading is Reading.FRAMEFLEET:
        return replace(prepared, letterbox=file.metadata.get("letter_box") == "1")
    swapped = _model_info(file, "reverse_input_channels").casefold()
    if swapped:
        prepared = replace(prepared, bgr=swapped not in ("yes", "true", "1"))
    mean, scale = (_triple(_model_info(file, name)) for name in ("mean_values", "scale_values"))
    pad = _numbers(_model_info(file, "pad_value"))
    placement = replace(prepared.placement, grey=pad[0]) if pad else prepared.placement
    letterbox, kind = prepared.letterbox, _model_info(file, "resize_type")
    if kind == "standard":
        letterbox = False
    elif kind.startswith("fit_to_window"):
        letterbox, placement = True, replace(placement, corner=kind == "fit_to_window")
    scale = scale if scale is not None and all(scale) else prepared.scale
    return replace(prepared, letterbox=letterbox, placement=placement, mean=mean or prepared.mean, scale=scale)


def _triple(text: str) -> tuple[float, float, float] | None:
    """A number for each channel, from three or one."""
    match _numbers(text):
        case [value]:
            return value, value, value
        case [first, second, third]:
            return first, second, third
    return None


def _heads(file: structure.OnnxFile) -> tuple[Yolo, ...]:
    """The YOLO layers of a Darknet network that ``framefleet export`` wrote."""
    try:
        heads = tuple(_head(entry) for entry in json.loads(file.metadata["heads"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ModelError(Notice("model.onnx_wrong_heads", path=file.path)) from error
    fitting = len(heads) == len(file.graph.outputs) > 0 and all(
        _fit(value.dims, (None, *head.shape)) for value, head in zip(file.graph.outputs, heads, strict=True)
    )
    if not fitting or len({head.classes for head in heads}) > 1:
        raise ModelError(Notice("model.onnx_wrong_heads", path=file.path))
    return heads


def _head(entry: Mapping[str, Any]) -> Yolo:
    anchors = np.array(entry["anchors"], np.float32)
    channels, rows, columns = map(int, entry["shape"])
    classes, beta = int(entry["classes"]), entry["diou_beta"]
    if anchors.ndim != 2 or anchors.shape[1] != 2 or channels != len(anchors) * (5 + classes) or min(rows, columns, classes) < 1:
        raise ValueError("these numbers do not fit")
    shape: Shape = (channels, rows, columns)
    scale = float(entry["scale_x_y"])
    return Yolo((), shape, anchors, classes, scale, bool(entry["new_coords"]), None if beta is None else float(beta))


def heads_as_json(heads: Sequence[Yolo]) -> str:
    """Write YOLO layers as the metadata of an exported network."""
    return json.dumps(
        [
            {
                "shape": list(head.shape),
                "anchors": head.anchors.tolist(),
                "classes": head.classes,
                "scale_x_y": head.scale_x_y,
                "new_coords": head.new_coords,
                "diou_beta": head.diou_beta,
            }
            for head in heads
        ]
    )


def _read_literal(text: str) -> Any:
    """A value as JSON or Python writes it; None if the text is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def _read_list(text: str) -> list[Any]:
    found = _read_literal(text)
    return list(found) if isinstance(found, list | tuple) else [found, found] if isinstance(found, int) else []


def _read_dict(text: str) -> dict[Any, Any]:
    found = _read_literal(text)
    return found if isinstance(found, dict) else {}


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").strip("[]() ").split()]
    except ValueError:
        return []


# labels


def _names(file: structure.OnnxFile) -> tuple[str, ...]:
    """The labels in the file; empty if there are none, or they are not one for each class."""
    if file.producer == _PRODUCER:
        return tuple(file.metadata.get("labels", "").splitlines())
    if words := _model_info(file, "labels").split():
        return tuple(word.replace("_", " ") for word in words)
    return _checked(_read_literal(file.metadata.get("names", "")))


def _checked(names: Any) -> tuple[str, ...]:
    """Names from a list, or from a mapping of class ids 0, 1, …; empty if they are something else."""
    if isinstance(names, dict):
        ids = {int(key) if str(key).isdecimal() else -1: name for key, name in names.items()}
        if sorted(ids) != list(range(len(names))):
            return ()
        names = [ids[number] for number in range(len(ids))]
    if not isinstance(names, list | tuple) or len(names) > MAX_CLASSES:
        return ()
    texts = tuple(str(name).strip() for name in names)
    return texts if all(map(is_label, texts)) else ()


def _labels(files: ModelFiles, candidate: Candidate, names: tuple[str, ...]) -> tuple[tuple[str, ...], Notice]:
    """The labels: of the user's file, of a file beside the model, of the model, else COCO's or numbers. With their source."""
    classes, path = candidate.classes, files.cfg
    beside = [path.with_suffix(suffix) for suffix in (".names", ".yaml", ".yml")]
    chosen = files.labels or next((each for each in beside if each.is_file() and _may_be_labels(each)), None)
    if chosen is not None:
        labels = _read_yaml(chosen) if _is_yaml(chosen) else read_labels(chosen, None)
        labels = _with_background(labels, candidate)
        if classes not in (None, len(labels)):
            raise ModelError(Notice("model.wrong_labels", path=chosen, labels=len(labels), classes=classes))
        return labels, Notice("model.labels_of_file", path=chosen, number=len(labels))
    names = _with_background(names, candidate)
    if names and classes in (None, len(names)):
        return names, Notice("model.labels_of_file", path=path, number=len(names))
    if classes is None:
        raise ModelError(Notice("model.onnx_labels_needed", path=path, option=Option("labels")))
    reason = Notice("model.no_labels_beside")
    if classes == 80:
        return coco_labels(), Notice("model.labels_of_coco", number=classes, reason=reason)
    if classes == 91 and candidate.reading in (Reading.RF_DETR, Reading.DETR_LOGITS, Reading.DETR_SOFTMAX):
        coco = iter(coco_labels())
        by_id = tuple(f"class {number}" if number in _COCO_GAPS else next(coco) for number in range(91))
        return by_id, Notice("model.labels_of_coco", number=classes, reason=reason)
    source = Notice("model.labels_numbered", number=classes, reason=reason, option=Option("labels"))
    return tuple(f"class {number}" for number in range(classes)), source


def _is_yaml(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml")


def _may_be_labels(path: Path) -> bool:
    """Whether a file beside the model is for labels. A description of the network, such as ultralytics' ``yolov8n.yaml``, has no names."""
    content = _load_yaml(path) if _is_yaml(path) else None
    return not isinstance(content, dict) or "names" in content


def _read_yaml(path: Path) -> tuple[str, ...]:
    """The ``names`` of a description of a data set."""
    content = _load_yaml(path)
    labels = _checked(content.get("names")) if isinstance(content, dict) else ()
    if not labels:
        raise ModelError(Notice("model.no_labels", path=path))
    return labels


def _load_yaml(path: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(read_start(path, 1 << 22))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(Notice("model.no_labels", path=path)) from error
