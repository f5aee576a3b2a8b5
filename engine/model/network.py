"""A network as a list of typed layers. Every backend builds its engines from it.

Layers are in execution order. ``inputs`` are indices of earlier layers; -1 is the network's input, float32 (batch, channels, height,
width), RGB, 0..1. Batch normalisation is already folded into the convolutions.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Shape: TypeAlias = tuple[int, int, int]
"""channels, height, width"""


class Activation(StrEnum):
    """The activation functions. The values are their names in a cfg."""

    LINEAR = "linear"
    LEAKY = "leaky"  # x if x > 0 else 0.1 x
    RELU = "relu"
    RELU6 = "relu6"
    LOGISTIC = "logistic"
    SWISH = "swish"
    MISH = "mish"


@dataclass(frozen=True)
class Placement:
    """How a picture is placed in a network's input. The defaults are those of Darknet.

    Attributes
    ----------
    grey
        The value around a letterboxed picture, 0..255.
    corner
        Whether a letterboxed picture is at the top left, not in the centre.
    nearest
        Whether sides of a letterboxed picture are rounded to the nearest pixel, not down.
    like_darknet
        Whether sizes are computed in whole numbers, boxes are scaled by the rounded sizes, and single pictures are resized as Darknet's
        ``resize_image`` does. Otherwise, one factor in floating point scales the picture and its boxes.
    """

    grey: float = 127.5
    corner: bool = False
    nearest: bool = False
    like_darknet: bool = True


@dataclass(frozen=True, eq=False)
class Layer:
    """The base of all layers.

    Attributes
    ----------
    inputs
        Indices of the layers whose outputs it reads.
    shape
        Shape of its output.
    """

    inputs: tuple[int, ...]
    shape: Shape


@dataclass(frozen=True, eq=False)
class Convolution(Layer):
    """A convolution.

    Attributes
    ----------
    weights : ndarray
        float32 (filters, channels / groups, size, size).
    bias : ndarray
        float32 (filters,).
    padding
        Pixels on each side.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    stride: int
    padding: int
    groups: int
    activation: Activation


@dataclass(frozen=True, eq=False)
class MaxPool(Layer):
    """Max pooling.

    Attributes
    ----------
    padding
        Sum of both sides, pixels, with the smaller half at the top and left; its value is -∞.
    """

    size: int
    stride: int
    padding: int


@dataclass(frozen=True, eq=False)
class LocalAveragePool(Layer):
    """The mean of each window. padding: as in ``MaxPool``; a mean counts only the values inside the input."""

    size: int
    stride: int
    padding: int


@dataclass(frozen=True, eq=False)
class Reorg(Layer):
    """Space to depth: each square of ``stride`` × ``stride`` values becomes as many channels.

    view: the shape (channels, height, width) in which the layer sees its input's values, in memory order. Darknet's ``[reorg]`` sees
    another shape than the input has, and trained networks depend on it. The values of the result are those of ``view`` as (row in the
    square, column in the square, channel, height / stride, width / stride), in memory order.
    """

    stride: int
    view: Shape


@dataclass(frozen=True, eq=False)
class Upsample(Layer):
    """Upsampling by an integer factor (``stride``) with nearest neighbour."""

    stride: int


@dataclass(frozen=True, eq=False)
class Shortcut(Layer):
    """The sum of its inputs, then the activation.

    The result has the channels of the first input. Of an input with more channels only the first ones are added. An input with fewer
    channels is added to the first ones.
    """

    activation: Activation


@dataclass(frozen=True, eq=False)
class Route(Layer):
    """Concatenation along the channels. Each input is divided into ``groups`` groups of channels; only group ``group`` is used."""

    groups: int
    group: int


@dataclass(frozen=True, eq=False)
class ScaleChannels(Layer):
    """Scaling of channels: a · b for inputs (a, b) with a of shape (channels, 1, 1), then the activation."""

    activation: Activation


@dataclass(frozen=True, eq=False)
class Sam(Layer):
    """Spatial attention: a · b for inputs (a, b) of equal shape, then the activation."""

    activation: Activation


@dataclass(frozen=True, eq=False)
class AveragePool(Layer):
    """The mean over height and width: shape (channels, 1, 1)."""


@dataclass(frozen=True, eq=False)
class Identity(Layer):
    """A layer whose output is its input, such as ``[dropout]``, which has an effect only in training."""


@dataclass(frozen=True, eq=False)
class Yolo(Layer):
    """A detection head.

    Its output is its input (anchors · (5 + classes), height, width): ``engine/detection/postprocess.py`` decodes it.

    Attributes
    ----------
    anchors : ndarray
        float32 (n, 2), width and height in pixels of the network's input, only those of the head's mask.
    scale_x_y
        Factor that extends the range of a box's centre beyond its cell.
    new_coords
        Whether the input went through a logistic activation, and width and height are (2 v)² · anchor instead of exp(v) · anchor.
    diou_beta
        Set if the cfg specifies DIoU suppression (``nms_kind`` diounms or greedynms): the overlap is IoU - (d² / c²)^beta, with d the
        distance of the centres and c the diagonal of the box around both.
    """

    anchors: NDArray[np.float32]
    classes: int
    scale_x_y: float
    new_coords: bool
    diou_beta: float | None = None


@dataclass(frozen=True, eq=False)
class Region(Yolo):
    """A detection head of YOLOv2, in which the probabilities of a box's classes add up to 1 (softmax).

    Its output is its input with the class values replaced by ln(p / (1 - p)), where p is the softmax of the class values. The logistic of
    that is p, so the head is decoded like a ``Yolo``. p and 1 - p are limited to at least ``MIN_PROBABILITY``.
    """


MIN_PROBABILITY = 1e-7
"""The limit for probabilities of a ``Region`` before their logarithm."""


@dataclass(frozen=True, eq=False)
class Architecture:
    """The input and the layers of a network.

    width, height: size of the input, pixels. letter_box: whether pictures keep their aspect ratio.
    """

    width: int
    height: int
    channels: int
    letter_box: bool
    layers: tuple[Layer, ...]

    @property
    def placement(self) -> Placement:
        """How pictures are placed in the input."""
        return Placement()

    @property
    def heads(self) -> tuple[Yolo, ...]:
        """The YOLO layers, in the order of a backend's raw outputs."""
        return tuple(layer for layer in self.layers if isinstance(layer, Yolo))

    @property
    def classes(self) -> int:
        """Number of classes, the same in every head."""
        return self.heads[0].classes

    def shape_of(self, index: int) -> Shape:
        """Return the shape of a layer's output, or of the network's input for -1."""
        return (self.channels, self.height, self.width) if index < 0 else self.layers[index].shape


@dataclass(frozen=True, eq=False)
class Network(Architecture):
    """A network with its weights.

    Attributes
    ----------
    name
        The cfg's stem.
    labels
        One per class.
    digest
        SHA-256 of the description and the weights, hexadecimal; identifies the model in caches.
    """

    name: str
    labels: tuple[str, ...]
    digest: str
