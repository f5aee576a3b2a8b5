"""A whole detector as one plan of a full TensorRT: from decoded surfaces to detections, without Python at run time. **Never run by us.**

Preprocessing, YOLO layer and suppression as plugins ahead of time (see ``plugins/tensorrt_plugins.py``), for programs that embed a plan.
Such kernels get addresses and whole numbers only: thresholds, anchors and where pictures lie become constants of their code, so that each
``Detector`` has plugins of its own; and each is one launch, so that the YOLO layer is two of them. ::

    surfaces = network.add_input("surfaces", trt.int32, (batch, rows, pitch // 4))
    pictures = add_preprocess(network, surfaces, detector, arch)
    heads = [...]  # the network's layers, from pictures to its FP16 heads
    counts, records = add_detection(network, heads, detector, arch)

``engine/backends/tensorrt/detector.py`` does this for Darknet models. Framefleet's own engine launches the same kernels around its
plans: there every frame may differ, and the host helps out where the room for candidates or detections does not suffice; here what
goes beyond it is counted, no more.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugins import nms, yolo_layer
from plugins.kernels import compile_ptx, source
from plugins.nms import LIMIT, RECORD, class_mask
from plugins.preprocess import BLOCK, NV12, P016, RGB8
from plugins.tensorrt_plugins import add_plugin, is_registered, launch, register_plugin
from plugins.yolo_layer import CAPACITY, Head, head_table, objectness_floor

SOURCES = ("tensorrt_preprocess.cu", "tensorrt_detection.cu")
"""The kernels with the parameters that TensorRT passes."""

_BYTES = {NV12: 1, P016: 2, RGB8: 3}
"""Of one pixel in a row; what NV12 and P016 have of chroma comes in half as many rows of its own."""


@dataclass(frozen=True, eq=False)
class Detector:
    """What the layers behind a network are made for.

    heads: as for ``YoloLayer``, but for their addresses and layouts. size: of the network's input, width and height in pixels. frame: of
    ``describe_frame``, the same for all pictures. confidence, iou, beta, wanted: as for ``YoloLayer``, ``Nms`` and ``class_mask``.
    """

    heads: Sequence[Head]
    classes: int
    size: tuple[int, int]
    frame: NDArray[Any]
    confidence: float
    iou: float
    beta: float | None = None
    wanted: Container[int] | None = None

    def program(self) -> str:
        """The CUDA code of the three kernels behind the network."""
        numbers = dict(zip(("WIDTH", "HEIGHT"), self.size, strict=True)) | {"CONFIDENCE": self.confidence, "IOU": self.iou}
        numbers |= {"FLOOR": objectness_floor(self.confidence), "BETA": -1 if self.beta is None else self.beta}
        frame = self.frame.copy()
        frame["luma"] = 1  # there is one; nobody looks at it
        constants = [
            f"constexpr int HEADS = {len(self.heads)}, CLASSES = {self.classes}, CELLS = {sum(head.cells for head in self.heads)};",
            *(f"constexpr float {name} = {float(np.float32(value)).hex()}f;" for name, value in numbers.items()),
            _words("HEAD_WORDS", head_table(self.heads)),
            _words("WANTED", class_mask(self.classes, self.wanted)),
            _words("FRAME_WORDS", frame),
        ]
        names = [f"head{index}" for index in range(len(self.heads))]
        wrappers = source("tensorrt_detection.cu").replace("HEAD_ADDRESSES", ", ".join(names))
        wrappers = wrappers.replace("HEAD_PARAMETERS", ", ".join(f"const __half* {name}" for name in names))
        return "\n".join([_functions("half.cuh", "preprocess.cu", "yolo_layer.cu", "nms.cu"), *constants, wrappers])


def add_preprocess(network: Any, surfaces: Any, detector: Detector, arch: str) -> Any:
    """The network's input, FP16 (batch, 3, height, width), RGB, 0..1.

    surfaces: INT32 (batch, rows, pitch / 4), the bytes of each picture, four to a number (plugins take no UINT8): rows of luma and right
    below them those of chroma, or rows of RGB. arch: as for ``plugins.tensorrt_plugins.register``.

    Raises:
        ValueError: an odd width, or surfaces that are no tensor of this shape or have no room for such frames.
        KernelError: this TensorRT is too old, or the kernels cannot be compiled.
    """
    import tensorrt as trt
    import tensorrt.plugin as trtp

    frame, (width, height), shape = detector.frame.copy(), detector.size, tuple(surfaces.shape)
    (stored_width, stored_height), kind = frame["size"].tolist(), int(frame["format"])
    rows = stored_height + (0 if kind == RGB8 else -(-stored_height // 2))
    row_bytes = _BYTES[kind] * (stored_width if kind == RGB8 else stored_width + stored_width % 2)
    if len(shape) != 3 or shape[1] < rows or 4 * shape[2] < row_bytes:
        raise ValueError(f"surfaces of shape {shape}: frames like these need (batch, {rows}, {-(-row_bytes // 4)}) and more")
    if width % 2:
        raise ValueError(f"a network of {width} × {height} pixels: the kernel needs an even width")
    frame["pitch"] = 4 * shape[2]
    text = "\n".join([_functions("half.cuh", "preprocess.cu"), _words("FRAME_WORDS", frame), source("tensorrt_preprocess.cu")])
    name = f"preprocess_{_key(text, arch)}_{width}x{height}"
    if not is_registered(name):
        ptx = compile_ptx(text, arch)

        def describe(surfaces: Any) -> Any:
            return trtp.from_shape_expr((surfaces.shape_expr[0], 3, height, width), dtype=trt.float16)

        def formats(_surfaces: Any, _outputs: Any) -> list[Any]:
            return [trtp.AutoTuneCombination("INT32, FP16", "LINEAR, LINEAR*HWC8")]

        def launch_with(surfaces: Any, outputs: Any, _tactic: int) -> Any:
            kernel = "tensorrt_preprocess_hwc8" if outputs[0].format == trt.TensorFormat.HWC8 else "tensorrt_preprocess"
            batch, rows, _ = surfaces.shape_expr
            grid = (-(-width // (2 * BLOCK[0])), -(-height // BLOCK[1]), batch)
            return launch(kernel, ptx, grid, (*BLOCK, 1), [rows, width, height])

        register_plugin(name, ["surfaces"], 1, describe, launch_with, formats)
    return add_plugin(network, name, surfaces)[0]


def add_detection(network: Any, heads: Sequence[Any], detector: Detector, arch: str) -> tuple[Any, Any]:
    """Counts, INT32 (batch, 2): candidates and records of each picture; and records, INT32 (batch, LIMIT, 6): the bytes of RECORD.

    heads: FP16 (batch, anchors · (5 + classes), rows, columns) each, in the order of the detector's. arch: as for ``add_preprocess``.
    Of a picture with more than CAPACITY candidates there are no records, of one with more than LIMIT records the strongest.

    Raises:
        ValueError: there are too many heads or anchors, or the tensors are not those of the detector's heads.
        KernelError: as ``add_preprocess``.
    """
    expected = [(len(head.anchors) * (5 + detector.classes), head.rows, head.columns) for head in detector.heads]
    found = [tuple(head.shape)[1:] for head in heads]
    if found != expected:
        raise ValueError(f"heads of shapes {found}, without the batch: the detector is made for {expected}")
    text = detector.program()
    key = _key(text, arch)
    if not is_registered(f"yolo_count_{key}"):
        _register_detection(key, compile_ptx(text, arch), detector)
    (block_counts,) = add_plugin(network, f"yolo_count_{key}", *heads)
    candidates = add_plugin(network, f"yolo_layer_{key}", *heads, block_counts)
    counts, records = add_plugin(network, f"nms_{key}", *candidates)
    return counts, records


def _register_detection(key: str, ptx: bytes, detector: Detector) -> None:
    import tensorrt as trt
    import tensorrt.plugin as trtp

    blocks = -(-sum(head.cells for head in detector.heads) // yolo_layer.THREADS)
    names = [f"head{index}" for index in range(len(detector.heads))]

    def shaped(like: Any, kind: Any, *shape: int) -> Any:
        return trtp.from_shape_expr((like.shape_expr[0], *shape), dtype=kind)

    def describe_count(head: Any, *_others: Any) -> Any:
        return shaped(head, trt.int32, blocks)

    def describe_layer(head: Any, *_others: Any) -> Any:
        boxes, scores, class_ids, counts = (trt.float32, CAPACITY, 4), (trt.float32, CAPACITY), (trt.int32, CAPACITY), (trt.int32,)
        return tuple(shaped(head, *each) for each in (boxes, scores, class_ids, counts))

    def describe_nms(boxes: Any, *_others: Any) -> Any:
        return shaped(boxes, trt.int32, 2), shaped(boxes, trt.int32, LIMIT, RECORD.itemsize // 4)

    def formats(*others: str) -> Any:
        types, layouts = ["FP16"] * len(names) + list(others), ["LINEAR|HWC8"] * len(names) + ["LINEAR"] * len(others)
        return lambda *_tensors: [trtp.AutoTuneCombination(", ".join(types), ", ".join(layouts))]

    def launch_yolo(kernel: str, *numbers: int) -> Any:
        def launch_with(head: Any, *_others: Any) -> Any:
            side_by_side = int(head.format == trt.TensorFormat.HWC8)
            grid = (blocks, head.shape_expr[0], 1)
            return launch(kernel, ptx, grid, (yolo_layer.THREADS, 1, 1), [side_by_side, *numbers])

        return launch_with

    def launch_nms(boxes: Any, *_others: Any) -> Any:
        grid = (boxes.shape_expr[0], 1, 1)
        return launch("tensorrt_nms", ptx, grid, (nms.THREADS, 1, 1), [CAPACITY, LIMIT], nms.SHARED_BYTES)

    count, layer = launch_yolo("tensorrt_yolo_count"), launch_yolo("tensorrt_yolo_layer", CAPACITY)
    register_plugin(f"yolo_count_{key}", names, 1, describe_count, count, formats("INT32"))
    layer_formats = formats("INT32", "FP32", "FP32", "INT32", "INT32")
    register_plugin(f"yolo_layer_{key}", [*names, "block_counts"], 4, describe_layer, layer, layer_formats)
    register_plugin(f"nms_{key}", ["boxes", "scores", "class_ids", "counts"], 2, describe_nms, launch_nms)


def _functions(*names: str) -> str:
    """What kernels are made of: those of these files have parameters that TensorRT does not pass."""
    return re.sub(r'^extern "C" __global__ .*?^}\n', "", source(*names), flags=re.MULTILINE | re.DOTALL)


def _words(name: str, values: NDArray[Any]) -> str:
    words = np.frombuffer(values.tobytes(), np.uint32).tolist()
    return f"alignas(8) __device__ const unsigned {name}[] = {{{', '.join(f'{word:#x}u' for word in words)}}};"


def _key(text: str, arch: str) -> str:
    return hashlib.sha256(f"{arch}\n{text}".encode()).hexdigest()[:16]
