"""What OpenCV's own Darknet importer computes: an implementation of the networks that shares nothing with ours."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.model.network import Network, Yolo


def opencv_heads(cfg: Path, weights: Path, network: Network, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """The inputs of the YOLO layers, as ``Backend.heads`` gives them. network: the same model, to know where its heads are.

    Raises:
        cv2.error: OpenCV cannot read the model.
    """
    opencv = cv2.dnn.readNetFromDarknet(str(cfg), str(weights))
    opencv.setInput(inputs)
    # its YOLO layers give decoded boxes; its names number a convolution as the cfg does
    names = [f"conv_{layer.inputs[0]}" for layer in network.layers if isinstance(layer, Yolo)]
    outputs = [np.asarray(output, np.float32) for output in opencv.forward(names)]
    # with new_coords it leaves the last activation to its YOLO layer
    for layer, output in zip(network.heads, outputs, strict=True):
        if layer.new_coords:
            output[...] = 1 / (1 + np.exp(-output))
    return outputs


def relative_difference(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> float:
    """max |a - b| / max |b|.

    Raises:
        ValueError: of different shapes: they would be broadcast.
    """
    if ours.shape != theirs.shape:
        raise ValueError(f"{ours.shape} cannot be compared with {theirs.shape}")
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
