"""Where the boxes and scores are in the outputs of an ``OnnxNetwork``: what ``engine/detection/readings.py`` reads, for the kernels."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.readings import grid_cells
from framefleet.engine.model.onnx.network import OnnxNetwork, Reading
from framefleet.plugins.rows import NUMBER_BYTES, Rows, Values


def describe_rows(
    network: OnnxNetwork, addresses: Sequence[int], shapes: Sequence[tuple[int, ...]], upload: Callable[[NDArray[Any]], int]
) -> Rows:
    """Describe the outputs for ``RowsLayer``. All of them are float32.

    Parameters
    ----------
    addresses, shapes
        Of the outputs, in the order of the reading; shapes of one picture.
    upload
        Copies an array to the device, and returns its address.

    Raises
    ------
    ValueError
        YOLOX: no grids have as many cells as the output has rows.
    """
    arrays = [_Array(address, shape) for address, shape in zip(addresses, shapes, strict=True)]
    first, count = arrays[0], arrays[0].shape[0]
    factors = float(network.width), float(network.height)
    match network.reading:
        case Reading.YOLOV8:
            return Rows(first.shape[1], first.columns(), first.columns(4), centre=True)
        case Reading.YOLOV8_CORNERS:
            return Rows(first.shape[1], first.columns(), first.columns(4))
        case Reading.YOLOV5 | Reading.YOLOX_DECODED:
            return Rows(count, first.rows(), first.rows(5), objectness=first.rows(4), centre=True)
        case Reading.YOLOX:
            cells = grid_cells(network.width, network.height, count)
            if cells is None:
                raise ValueError(f"{count} cells, which no grids of {network.width} × {network.height} pixels have")
            return Rows(count, first.rows(), first.rows(5), objectness=first.rows(4), cells=upload(cells), centre=True)
        case Reading.END2END:
            return Rows(count, first.rows(), first.rows(4), ids=first.rows(5))
        case Reading.RTDETR:
            return Rows(count, first.rows(), first.rows(4), centre=True, factors=factors)
        case Reading.RTDETR_SORTED:
            return Rows(count, first.rows(), first.rows(4), ids=first.rows(5), centre=True, factors=factors)
        case Reading.DETR:
            ids, boxes, scores = arrays
            return Rows(boxes.shape[0], boxes.rows(), scores.rows(), ids=ids.rows())
        case Reading.RF_DETR | Reading.DETR_LOGITS:
            return Rows(count, first.rows(), arrays[1].rows(), pairs=True, centre=True, factors=factors)
        case Reading.DETR_SOFTMAX:
            return Rows(count, first.rows(), arrays[1].rows(), centre=True, factors=factors)
        case Reading.YOLOV4:
            return Rows(count, first.rows(), arrays[1].rows(), factors=factors)
        case Reading.EFFICIENT_NMS:
            number, boxes, scores, ids = arrays
            return Rows(boxes.shape[0], boxes.rows(), scores.rows(), ids=ids.rows(), number=number.rows())
        case Reading.BEFORE_NMS:
            return Rows(count, first.rows(), arrays[1].rows(), centre=network.centre_boxes)
        case Reading.NMS_ROWS:
            return Rows(count, first.rows(1), first.rows(6), ids=first.rows(5))
        case Reading.NMS_SCORED_ROWS:
            return Rows(count, first.rows(1), first.rows(5), ids=first.rows(6))
        case Reading.FRAMEFLEET:
            raise AssertionError("its outputs are YOLO heads")


class _Array:
    """An output. shape: of one picture."""

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self.address, self.shape = address, shape

    def rows(self, first: int = 0) -> Values:
        """The numbers of each row, from one on."""
        width = int(np.prod(self.shape[1:]))
        return Values(self.address + NUMBER_BYTES * first, self.shape[0] * width, width, 1)

    def columns(self, first: int = 0) -> Values:
        """The numbers of each column, from one on."""
        height, width = self.shape
        return Values(self.address + NUMBER_BYTES * first * width, height * width, 1, width)
