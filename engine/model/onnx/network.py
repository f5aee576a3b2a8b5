"""A network in an ONNX file, and how its inputs and outputs are to be read."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from framefleet.engine.model.network import Network, Placement, Yolo
from framefleet.engine.notices import Notice


class Reading(StrEnum):
    """How the outputs of a network become boxes. B: pictures, N: cells, Q: queries or boxes, n: classes.

    FRAMEFLEET: the heads of a Darknet network that ``framefleet export`` wrote.
    YOLOV8: (B, 4 + n, N), centre and size in pixels, then a score for each class.
    YOLOV8_CORNERS: as YOLOV8, but corners in pixels.
    YOLOV5: (B, N, 5 + n), centre and size in pixels, objectness, then a score for each class.
    YOLOX: (B, N, 5 + n), as YOLOV5, but the boxes are relative to cells of three or four grids.
    YOLOX_DECODED: (B, N, 5 + n), as YOLOV5, from pictures as YOLOX takes them.
    END2END: (B, Q, 6), corners in pixels, score, class id; suppression is not needed.
    RTDETR: (B, Q, 4 + n), centre and size as fractions, then a score for each class; suppression is not needed.
    RTDETR_SORTED: (B, Q, 6), centre and size as fractions, score, class id; suppression is not needed.
    DETR: class ids (B, Q), corners (B, Q, 4) in pixels of an input with sizes, scores (B, Q); suppression is not needed.
    RF_DETR: centre and size as fractions (B, Q, 4), a logit for each class (B, Q, n); suppression is not needed.
    DETR_LOGITS: as RF_DETR, from pictures in 0..1.
    DETR_SOFTMAX: as RF_DETR, but the last of the n + 1 logits is that of no object. Their Softmax is read, (B, Q, n).
    YOLOV4: corners as fractions (B, N, 1, 4), a score for each class (B, N, n).
    EFFICIENT_NMS: number (B, 1), corners (B, Q, 4) in pixels, scores (B, Q), class ids (B, Q).
    BEFORE_NMS: boxes (B, N, 4) in pixels, a score for each class (B, N, n): what a suppression reads.
    NMS_ROWS: (Q, 7), number of the picture, corners in pixels, class id, score.
    NMS_SCORED_ROWS: as NMS_ROWS, but the score comes before the class id.
    """

    FRAMEFLEET = "framefleet"
    YOLOV8 = "yolov8"
    YOLOV8_CORNERS = "yolov8-corners"
    YOLOV5 = "yolov5"
    YOLOX = "yolox"
    YOLOX_DECODED = "yolox-decoded"
    END2END = "end2end"
    RTDETR = "rtdetr"
    RTDETR_SORTED = "rtdetr-sorted"
    DETR = "detr"
    RF_DETR = "rf-detr"
    DETR_LOGITS = "detr-logits"
    DETR_SOFTMAX = "detr-softmax"
    YOLOV4 = "yolov4"
    EFFICIENT_NMS = "efficient-nms"
    BEFORE_NMS = "before-nms"
    NMS_ROWS = "nms-rows"
    NMS_SCORED_ROWS = "nms-scored-rows"

    @property
    def has_rows(self) -> bool:
        """Whether the only output has the boxes of all pictures."""
        return self in (Reading.NMS_ROWS, Reading.NMS_SCORED_ROWS)

    @property
    def notice(self) -> Notice:
        """What the reading means, for a person who chooses one."""
        return _NOTICES[self]

    @property
    def preprocessing(self) -> "Preprocessing":
        """How pictures are prepared, unless the file says otherwise."""
        return _PREPROCESSING.get(self, _ULTRALYTICS)


_NOTICES = {
    Reading.FRAMEFLEET: Notice("model.reading_framefleet"),
    Reading.YOLOV8: Notice("model.reading_yolov8"),
    Reading.YOLOV8_CORNERS: Notice("model.reading_yolov8_corners"),
    Reading.YOLOV5: Notice("model.reading_yolov5"),
    Reading.YOLOX: Notice("model.reading_yolox"),
    Reading.YOLOX_DECODED: Notice("model.reading_yolox_decoded"),
    Reading.END2END: Notice("model.reading_end2end"),
    Reading.RTDETR: Notice("model.reading_rtdetr"),
    Reading.RTDETR_SORTED: Notice("model.reading_rtdetr_sorted"),
    Reading.DETR: Notice("model.reading_detr"),
    Reading.RF_DETR: Notice("model.reading_rf_detr"),
    Reading.DETR_LOGITS: Notice("model.reading_detr_logits"),
    Reading.DETR_SOFTMAX: Notice("model.reading_detr_softmax"),
    Reading.YOLOV4: Notice("model.reading_yolov4"),
    Reading.EFFICIENT_NMS: Notice("model.reading_efficient_nms"),
    Reading.BEFORE_NMS: Notice("model.reading_before_nms"),
    Reading.NMS_ROWS: Notice("model.reading_nms_rows"),
    Reading.NMS_SCORED_ROWS: Notice("model.reading_nms_scored_rows"),
}


@dataclass(frozen=True)
class Preprocessing:
    """How a picture becomes the network's input: (value - mean) / scale for values 0..255, after resizing.

    Attributes
    ----------
    letterbox
        Whether the picture keeps its aspect ratio, instead of being stretched to the whole input.
    placement
        How the picture is placed in the input.
    bgr
        Whether the channels are blue, green, red.
    mean, scale
        One value per channel of the input.
    """

    letterbox: bool
    placement: Placement
    bgr: bool = False
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scale: tuple[float, float, float] = (255.0, 255.0, 255.0)


_ULTRALYTICS = Preprocessing(True, Placement(grey=114, nearest=True, like_darknet=False))
_YOLOX = Preprocessing(True, Placement(grey=114, corner=True, like_darknet=False), bgr=True, scale=(1.0, 1.0, 1.0))
_STRETCHED = Preprocessing(False, Placement(grey=114, nearest=True, like_darknet=False))
_IMAGENET = replace(_STRETCHED, mean=(123.675, 116.28, 103.53), scale=(58.395, 57.12, 57.375))
"""Mean and standard deviation of ImageNet, for values 0..255."""

_PREPROCESSING: Mapping[Reading, Preprocessing] = MappingProxyType(
    {
        Reading.FRAMEFLEET: Preprocessing(False, Placement()),
        Reading.YOLOX: _YOLOX,
        Reading.YOLOX_DECODED: _YOLOX,
        Reading.RTDETR: _STRETCHED,
        Reading.RTDETR_SORTED: _STRETCHED,
        Reading.YOLOV4: _STRETCHED,
        Reading.DETR: _STRETCHED,
        Reading.DETR_LOGITS: _STRETCHED,
        Reading.RF_DETR: _IMAGENET,
        Reading.DETR_SOFTMAX: _IMAGENET,
    }
)


@dataclass(frozen=True)
class Suppression:
    """A suppression in the graph, and the values before it, for devices that lack its operators.

    Attributes
    ----------
    boxes, scores
        Names of values: corners (B, N, 4) and a score for each class (B, N, n).
    iou
        Boxes of a class overlap above it.
    confidence
        The minimum score.
    limit
        Maximum number of boxes of a picture.
    """

    boxes: str
    scores: str
    iou: float
    confidence: float
    limit: int


@dataclass(frozen=True, eq=False)
class OnnxNetwork:
    """A network in an ONNX file, ready for a backend. Like ``Network`` for everything but backends and decoding.

    Attributes
    ----------
    name
        The file's stem.
    width, height
        Size of the input, pixels.
    labels
        One per class.
    digest
        Identifies the model in caches: SHA-256 of the file and everything that decides how it is read, hexadecimal.
    content
        The model as ONNX. Its outputs are those that ``reading`` needs, in its order.
    input
        Name of the input for pictures, (batch, 3, height, width), float32 or float16.
    sizes_input
        Name of the input for the sizes to which boxes refer, (batch, 2); None if there is none.
    fixed_batch
        Whether it takes one picture at once, and no other number.
    heads
        For ``Reading.FRAMEFLEET``: the YOLO layers, in the order of the outputs.
    centre_boxes
        For ``Reading.BEFORE_NMS``: whether boxes are centre and size, not corners.
    parameters
        Number of values of all constants.
    suppression
        The one in the graph, if it can be cut off; with ``Reading.BEFORE_NMS``, the one that was cut off.
    """

    name: str
    width: int
    height: int
    labels: tuple[str, ...]
    digest: str
    content: bytes
    reading: Reading
    preprocessing: Preprocessing
    input: str
    sizes_input: str | None
    fixed_batch: bool
    parameters: int
    heads: tuple[Yolo, ...] = field(default=())
    centre_boxes: bool = False
    suppression: Suppression | None = None
    channels: int = 3

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.labels)

    def output_shapes(self, batch: int) -> list[tuple[int | None, ...]]:
        """The shapes of the outputs that the reading needs, for a number of pictures; None where any size will do."""
        classes = self.classes
        match self.reading:
            case Reading.FRAMEFLEET:
                return [(batch, *head.shape) for head in self.heads]
            case Reading.YOLOV8 | Reading.YOLOV8_CORNERS:
                return [(batch, 4 + classes, None)]
            case Reading.YOLOV5 | Reading.YOLOX | Reading.YOLOX_DECODED:
                return [(batch, None, 5 + classes)]
            case Reading.END2END | Reading.RTDETR_SORTED:
                return [(batch, None, 6)]
            case Reading.RTDETR:
                return [(batch, None, 4 + classes)]
            case Reading.DETR:
                return [(batch, None), (batch, None, 4), (batch, None)]
            case Reading.YOLOV4:
                return [(batch, None, 1, 4), (batch, None, classes)]
            case Reading.RF_DETR | Reading.DETR_LOGITS | Reading.DETR_SOFTMAX | Reading.BEFORE_NMS:
                return [(batch, None, 4), (batch, None, classes)]
            case Reading.EFFICIENT_NMS:
                return [(batch, 1), (batch, None, 4), (batch, None), (batch, None)]
            case Reading.NMS_ROWS | Reading.NMS_SCORED_ROWS:
                return [(None, 7)]

    @property
    def letter_box(self) -> bool:
        """Whether pictures keep their aspect ratio."""
        return self.preprocessing.letterbox

    @property
    def placement(self) -> Placement:
        """How pictures are placed in the input."""
        return self.preprocessing.placement


Model: TypeAlias = Network | OnnxNetwork
"""What a backend can build."""
