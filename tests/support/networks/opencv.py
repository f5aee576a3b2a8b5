"""Runs networks with OpenCV's Darknet importer, an independent implementation."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.network import Network, Region, Yolo
from tests.support.models import compute_layer


def opencv_heads(cfg: Path, weights: Path, network: Network, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The raw outputs that OpenCV computes, in the form of ``Backend.raw_outputs``. network: the same model, to find its heads.

    Raises
    ------
    cv2.error
        OpenCV cannot read the model.
    """
    opencv = cv2.dnn.readNetFromDarknet(str(cfg), str(weights))
    opencv.setInput(inputs)
    # OpenCV's YOLO layers return decoded boxes, so take their inputs; a convolution's name has its number in the cfg
    names = [f"conv_{layer.inputs[0]}" for layer in network.layers if isinstance(layer, Yolo)]
    outputs = [np.asarray(output, np.float32) for output in opencv.forward(names)]
    # with new_coords and in [region], OpenCV computes the last activation in its layer for the head
    for layer, output in zip(network.heads, outputs, strict=True):
        if layer.new_coords:
            output[...] = 1 / (1 + np.exp(-output))
        if isinstance(layer, Region):
            output[...] = compute_layer(layer, [output.astype(np.float64)])
    return outputs


def opencv_boxes(cfg: Path, weights: Path, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """The decoded boxes of a network with one head for one picture.

    Returns float32 (cells · anchors, 5 + classes): centre, width and height as shares of the picture, objectness, and a score per class.
    """
    opencv = cv2.dnn.readNetFromDarknet(str(cfg), str(weights))
    opencv.setInput(inputs)
    (boxes,) = opencv.forward(opencv.getUnconnectedOutLayersNames())
    return np.asarray(boxes, np.float32)


def relative_difference(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> float:
    """max |a - b| / max |b|.

    Raises
    ------
    ValueError
        The shapes differ, and would be broadcast.
    """
    if ours.shape != theirs.shape:
        raise ValueError(f"{ours.shape} cannot be compared with {theirs.shape}")
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
