"""Runs networks with OpenCV's Darknet importer, an independent implementation."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.model.network import Network, Yolo


def opencv_heads(cfg: Path, weights: Path, network: Network, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The raw outputs that OpenCV computes, in the form of ``Backend.raw_outputs``. network: the same model, to find its heads.

    Raises:
        cv2.error: OpenCV cannot read the model.
    """
    opencv = cv2.dnn.readNetFromDarknet(str(cfg), str(weights))
    opencv.setInput(inputs)
    # OpenCV's YOLO layers return decoded boxes, so take their inputs; a convolution's name has its number in the cfg
    names = [f"conv_{layer.inputs[0]}" for layer in network.layers if isinstance(layer, Yolo)]
    outputs = [np.asarray(output, np.float32) for output in opencv.forward(names)]
    # with new_coords, OpenCV computes the last activation in its YOLO layer
    for layer, output in zip(network.heads, outputs, strict=True):
        if layer.new_coords:
            output[...] = 1 / (1 + np.exp(-output))
    return outputs


def relative_difference(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> float:
    """max |a - b| / max |b|.

    Raises:
        ValueError: the shapes differ, and would be broadcast.
    """
    if ours.shape != theirs.shape:
        raise ValueError(f"{ours.shape} cannot be compared with {theirs.shape}")
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
