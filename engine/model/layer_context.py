"""What the conversion of a cfg section to a layer needs: the layers before it, and checked access to its options."""

from collections.abc import Sequence
from dataclasses import dataclass

from framefleet.engine.errors import ModelError
from framefleet.engine.model.cfg import Section
from framefleet.engine.model.network import Activation, Layer, Shape
from framefleet.engine.notices import Notice

MAX_LAYERS = 4_096
MAX_CHANNELS = 65_536
MAX_WINDOW = 1_024
"""Maximum side of a kernel or pooling window, and maximum stride, pixels."""

_OTHER_NAMES = {"silu": Activation.SWISH.value}
"""Names that authors of cfgs for other Darknets use."""


@dataclass(frozen=True)
class LayerContext:
    """A section and the layers before it.

    shape: of the previous layer's output, or of the picture for the first section. picture: shape of the network's input. notes: what a
    person should know about the cfg; layers add to it.
    """

    section: Section
    layers: Sequence[Layer]
    shape: Shape
    picture: Shape
    notes: list[Notice]

    @property
    def before(self) -> int:
        """Index of the previous layer; -1 is the picture."""
        return len(self.layers) - 1

    def error(self, problem: Notice, key: str | None = None) -> ModelError:
        """Create a ModelError that names this section and the option's line."""
        return self.section.error(problem, key)

    def integer(self, key: str, default: int, *, low: int = 1, high: int) -> int:
        """Return the value of an integer option, as ``Section.integer``."""
        return self.section.integer(key, default, low=low, high=high)

    def stride(self) -> int:
        """Return the option ``stride``, which must be equal in both directions."""
        stride = self.integer("stride", 1, high=MAX_WINDOW)
        across, down = self.integer("stride_x", stride, high=MAX_WINDOW), self.integer("stride_y", stride, high=MAX_WINDOW)
        if across != down:
            raise self.error(Notice("model.unequal_strides", across=across, down=down), "stride_x")
        return across

    def slide(self, channels: int, size: int, stride: int, padding: int) -> Shape:
        """Return the output shape of a sliding window. padding: sum of both sides, pixels."""
        _, height, width = self.shape
        if min(height, width) + padding < size:
            raise self.error(Notice("model.window_too_large", size=size, width=width, height=height, padding=padding), "size")
        return channels, (height + padding - size) // stride + 1, (width + padding - size) // stride + 1

    def activation(self, default: str, excluded: tuple[Activation, ...] = ()) -> Activation:
        """Return the option ``activation``. excluded: the activations that this layer does not support."""
        name = self.section.text("activation", default)
        name = _OTHER_NAMES.get(name, name)
        supported = tuple(activation.value for activation in Activation if activation not in excluded)
        if name not in supported:
            raise self.error(Notice("model.unknown_activation", name=name[:40], supported=supported), "activation")
        return Activation(name)

    def sources(self, key: str) -> tuple[int, ...]:
        """Return the indices of the layers that an option names. In the option, negative numbers are relative to this layer."""
        here, found = len(self.layers), []
        for value in self.section.integers(key, low=-MAX_LAYERS, high=MAX_LAYERS):
            index = value + here if value < 0 else value
            if not 0 <= index < here:
                if not here:
                    raise self.error(Notice("model.no_earlier_layer", key=key, value=value), key)
                raise self.error(Notice("model.not_earlier_layer", key=key, value=value, last=here - 1, first=-here), key)
            found.append(index)
        return tuple(found)

    def source(self) -> tuple[int, Shape]:
        """Return index and shape of the only layer that the option ``from`` names."""
        sources = self.sources("from")
        if len(sources) != 1:
            raise self.error(Notice("model.takes_one_layer", count=len(sources), section=self.section.name), "from")
        return sources[0], self.layers[sources[0]].shape
