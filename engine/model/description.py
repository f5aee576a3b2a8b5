"""The description of a network: all layers with their shapes, but without weights. It needs little time and memory."""

from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.model.network import Activation, Architecture, Layer, LocalAveragePool, MaxPool, Shortcut
from framefleet.engine.notices import Notice


@dataclass(frozen=True, eq=False)
class ConvolutionSpec(Layer):
    """A convolution without weights.

    Attributes
    ----------
    channels
        Input channels.
    size
        Kernel width and height.
    padding
        Pixels on each side.
    """

    channels: int
    size: int
    stride: int
    padding: int
    groups: int
    activation: Activation
    batch_normalize: bool

    @property
    def filters(self) -> int:
        """Output channels."""
        return self.shape[0]

    @property
    def kernel_count(self) -> int:
        """Number of elements of the kernel (filters, channels / groups, size, size)."""
        return self.filters * (self.channels // self.groups) * self.size**2

    @property
    def float_count(self) -> int:
        """Number of values in a weight file: biases; with batch normalisation scales, means and variances; the kernel."""
        return self.kernel_count + self.filters * (4 if self.batch_normalize else 1)


@dataclass(frozen=True, eq=False)
class Description(Architecture):
    """A ``Network`` without weights and labels.

    Its convolutions are ``ConvolutionSpec``.

    Attributes
    ----------
    path
        The cfg.
    notes
        What the cfg says that has another effect than its author may expect.
    """

    path: Path
    notes: tuple[Notice, ...] = ()

    @property
    def name(self) -> str:
        """The cfg's stem."""
        return self.path.stem

    @property
    def convolutions(self) -> tuple[ConvolutionSpec, ...]:
        """The layers with weights, in the order of a weight file."""
        return tuple(layer for layer in self.layers if isinstance(layer, ConvolutionSpec))

    @property
    def float_count(self) -> int:
        """Number of values in a weight file after its header."""
        return sum(layer.float_count for layer in self.convolutions)

    @property
    def weights_bytes(self) -> int:
        """Size of a weight file in bytes, with Darknet's current header of 20 bytes."""
        return 20 + 4 * self.float_count

    @property
    def flops(self) -> int:
        """Floating-point operations for one picture, counted like Darknet's BFLOPS."""
        return sum(_flops(layer) for layer in self.layers)


def _flops(layer: Layer) -> int:
    channels, height, width = layer.shape
    match layer:
        case ConvolutionSpec():
            return 2 * layer.kernel_count * height * width
        case MaxPool() | LocalAveragePool():
            return layer.size**2 * channels * height * width
        case Shortcut():
            return (len(layer.inputs) - 1) * channels * height * width
    return 0
