"""What the conversion of a cfg section to a layer needs: the layers before it, and checked access to its options."""

from collections.abc import Sequence
from dataclasses import dataclass

from framefleet.engine.errors import ModelError
from framefleet.engine.model.cfg import Section
from framefleet.engine.model.network import Activation, Layer, Shape

MAX_LAYERS = 4_096
MAX_CHANNELS = 65_536
MAX_WINDOW = 1_024
"""Maximum side of a kernel or pooling window, and maximum stride, pixels."""


@dataclass(frozen=True)
class LayerContext:
    """A section and the layers before it.

    shape: of the previous layer's output, or of the picture for the first section. picture: shape of the network's input.
    """

    section: Section
    layers: Sequence[Layer]
    shape: Shape
    picture: Shape

    @property
    def before(self) -> int:
        """Index of the previous layer; -1 is the picture."""
        return len(self.layers) - 1

    def error(self, message: str, key: str | None = None) -> ModelError:
        """Create a ModelError that names this section and the option's line."""
        return self.section.error(message, key)

    def integer(self, key: str, default: int, *, low: int = 1, high: int) -> int:
        """Return the value of an integer option, as ``Section.integer``."""
        return self.section.integer(key, default, low=low, high=high)

    def stride(self) -> int:
        """Return the option ``stride``, which must be equal in both directions."""
        stride = self.integer("stride", 1, high=MAX_WINDOW)
        across, down = self.integer("stride_x", stride, high=MAX_WINDOW), self.integer("stride_y", stride, high=MAX_WINDOW)
        if across != down:
            raise self.error(f"stride_x={across} and stride_y={down} differ: only equal strides are supported", "stride_x")
        return across

    def slide(self, channels: int, size: int, stride: int, padding: int) -> Shape:
        """Return the output shape of a sliding window. padding: sum of both sides, pixels."""
        _, height, width = self.shape
        if min(height, width) + padding < size:
            raise self.error(f"size={size} is larger than the input of {width}×{height} with its padding of {padding}", "size")
        return channels, (height + padding - size) // stride + 1, (width + padding - size) // stride + 1

    def activation(self, default: str, excluded: tuple[Activation, ...] = ()) -> Activation:
        """Return the option ``activation``. excluded: the activations that this layer does not support."""
        name = self.section.text("activation", default)
        supported = [activation for activation in Activation if activation not in excluded]
        if name not in supported:
            raise self.error(f"activation={name[:40]} is unknown or not supported; supported are {', '.join(supported)}", "activation")
        return Activation(name)

    def sources(self, key: str) -> tuple[int, ...]:
        """Return the indices of the layers that an option names. In the option, negative numbers are relative to this layer."""
        here, found = len(self.layers), []
        for value in self.section.integers(key, low=-MAX_LAYERS, high=MAX_LAYERS):
            index = value + here if value < 0 else value
            if not 0 <= index < here:
                known = f"0 to {here - 1}, or {-here} to -1" if here else "none"
                raise self.error(f"{key}={value} is not an earlier layer: the earlier layers are {known}", key)
            found.append(index)
        return tuple(found)

    def source(self) -> tuple[int, Shape]:
        """Return index and shape of the only layer that the option ``from`` names."""
        sources = self.sources("from")
        if len(sources) != 1:
            raise self.error(f"from= names {len(sources)} layers, but [{self.section.name}] takes one", "from")
        return sources[0], self.layers[sources[0]].shape
