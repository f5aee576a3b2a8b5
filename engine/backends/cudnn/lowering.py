"""Lowers a ``Network`` to a ``Program``: which convolutions run together, what they fuse, and where their values lie.

- A sum follows its convolution's activation in the same operation.
- Values of a concatenation are written into its buffer; a group of channels is read from there.
- Two convolutions of the same input, as at the start of a CSP block, become one if their values can lie side by side.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from framefleet.engine.backends.cudnn.program import Buffer, Convolve, Enlarge, FirstConvolve, Operation, Pool, Program, View
from framefleet.engine.model.network import (
    Activation,
    Convolution,
    Identity,
    Layer,
    MaxPool,
    Network,
    Region,
    Route,
    Shape,
    Shortcut,
    Upsample,
    Yolo,
)
from framefleet.engine.notices import Notice
from framefleet.plugins.first_convolution import suits

UNIT = 8
"""Values lie in multiples of this number of channels: 16 bytes."""

ACTIVATIONS = (Activation.LINEAR, Activation.LEAKY, Activation.RELU, Activation.MISH, Activation.LOGISTIC, Activation.SWISH)


class UnsupportedError(Exception):
    """cuDNN cannot compute the network. The notice says which layer."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)
        self.notice = notice


def lower(network: Network) -> Program:
    """Lower a network. Raises UnsupportedError as there."""
    return _Lowering(network).lower()


class _Lowering:
    def __init__(self, network: Network) -> None:
        self._network, self._layers = network, network.layers
        self._uses = Counter(self._origin(index) for layer in self._layers for index in layer.inputs)
        self._sums: dict[int, int] = {}  # convolution: the shortcut that is fused into it
        self._place: dict[int, tuple[int, int]] = {}  # layer: the concatenation in whose buffer it lies, and the first channel there
        self._roots: dict[int, int] = {}  # layer: its buffer
        self._buffers: list[Buffer] = []
        self._copies: dict[int, list[tuple[int, int]]] = {}  # concatenation: layers to copy, and their first channels
        self._twins: dict[int, int] = {}  # convolution: a later one that is computed with it
        heads = [layer for layer in self._layers if isinstance(layer, Yolo)]
        self._heads = {self._origin(layer.inputs[0]): number for number, layer in enumerate(heads)}  # layer: the number of its YOLO layer

    def lower(self) -> Program:
        for index, layer in enumerate(self._layers):
            self._check(index, layer)
        for index, layer in enumerate(self._layers):
            if isinstance(layer, Shortcut):
                self._fuse(index, layer)
        for index, layer in enumerate(self._layers):
            if isinstance(layer, Route) and len(layer.inputs) > 1:
                self._concatenate(index, layer)
        for index, layer in enumerate(self._layers):
            if isinstance(layer, Convolution):
                self._find_twin(index, layer)
        operations = tuple(operation for index, layer in enumerate(self._layers) for operation in self._operations(index, layer))
        return Program(operations, tuple(self._buffers))

    def _check(self, index: int, layer: Layer) -> None:
        if isinstance(layer, Region) or not isinstance(layer, Convolution | MaxPool | Upsample | Shortcut | Route | Yolo | Identity):
            raise UnsupportedError(Notice("backends.unsupported_layer", index=index, kind=type(layer).__name__))
        if isinstance(layer, Route) and len(layer.inputs) > 1 and layer.groups > 1:
            raise UnsupportedError(Notice("backends.unsupported_concatenation", index=index))
        if not isinstance(layer, Yolo) and index not in self._heads and layer.shape[0] % UNIT:
            raise UnsupportedError(Notice("backends.unsupported_channels", index=index, channels=layer.shape[0], unit=UNIT))
        if isinstance(layer, Yolo) and not isinstance(self._layers[self._origin(index)], Convolution):
            raise UnsupportedError(Notice("backends.unsupported_yolo", index=index))
        if isinstance(layer, Convolution):
            if index == 0:
                size = self._network.height, self._network.width
                if not suits(layer.weights.shape, layer.stride, layer.padding, layer.groups, layer.activation, *size):
                    raise UnsupportedError(Notice("backends.layer_first"))
            elif layer.groups > 1 or layer.activation not in ACTIVATIONS or layer.inputs[0] < 0:
                how = {"groups": layer.groups, "activation": layer.activation.value}
                raise UnsupportedError(Notice("backends.unsupported_convolution", index=index, **how))

    def _origin(self, index: int) -> int:
        """The layer that computes a layer's value, or part of whose channels it is."""
        while index >= 0:
            layer = self._layers[index]
            if not (isinstance(layer, Identity | Yolo) or (isinstance(layer, Route) and len(layer.inputs) == 1)):
                break
            index = layer.inputs[0]
        return index

    def _fuse(self, index: int, layer: Shortcut) -> None:
        """Fuse a sum into the convolution before it."""
        last, others = self._origin(layer.inputs[0]), layer.inputs[1:]
        before = self._layers[last]
        shapes = {self._network.shape_of(other) for other in (*others, layer.inputs[0])}
        fits = isinstance(before, Convolution) and last > 0 and self._uses[last] == 1 and last not in self._sums
        if not fits or len(others) != 1 or len(shapes) > 1 or layer.activation is not Activation.LINEAR:
            raise UnsupportedError(Notice("backends.unsupported_sum", index=index))
        self._sums[last] = index

    def _concatenate(self, index: int, layer: Route) -> None:
        """Put the inputs of a concatenation into its buffer, as far as possible."""
        first = 0
        for source in layer.inputs:
            origin = self._origin(source)
            whole = origin > 0 and self._layers[origin].shape == self._layers[source].shape
            if whole and origin not in self._place and not self._inside(index, origin):
                self._place[origin] = (index, first)
            else:
                self._copies.setdefault(index, []).append((source, first))
            first += self._layers[source].shape[0]

    def _inside(self, index: int, other: int) -> bool:
        """Whether a layer lies in the buffer of another one."""
        route, _ = self._place.get(index, (None, 0))
        return route is not None and (route == other or self._inside(route, other))

    def _find_twin(self, index: int, layer: Convolution) -> None:
        """Compute two convolutions at once, if the second one's value fits beside the first one's in a concatenation.

        Its place there belongs to a layer that is computed only after the last use of the second one's value.
        """
        if index == 0 or index not in self._place or index in self._sums or index in self._twins.values():
            return
        (route, first), count = self._place[index], layer.shape[0]
        for other in range(index + 1, len(self._layers)):
            if other in self._place or other in self._sums or other in self._heads or not self._are_alike(layer, self._layers[other]):
                continue
            last_use = self._last_use(other)
            for neighbour, place in self._place.items():
                beside = place in ((route, first - count), (route, first + count)) and self._layers[neighbour].shape[0] == count
                if beside and last_use < self._computed(neighbour) and not isinstance(self._layers[neighbour], Route):
                    self._place[other], self._twins[index] = place, other
                    return

    def _are_alike(self, one: Convolution, other: Layer) -> bool:
        """Whether two layers are convolutions of the same input that differ only in their weights."""
        if not isinstance(other, Convolution) or self._origin(other.inputs[0]) != self._origin(one.inputs[0]):
            return False
        how, other_how = ((each.weights.shape, each.stride, each.padding, each.activation) for each in (one, other))
        return how == other_how and self._is_whole(one.inputs[0]) and self._is_whole(other.inputs[0])

    def _is_whole(self, index: int) -> bool:
        """Whether a layer's value is that of the layer which computes it, not a group of its channels."""
        return self._network.shape_of(index) == self._network.shape_of(self._origin(index))

    def _computed(self, index: int) -> int:
        """The position at which a layer's value is computed; a sum is computed with its convolution."""
        return next((convolution for convolution, total in self._sums.items() if total == index), index)

    def _last_use(self, index: int) -> int:
        users = [place for place, layer in enumerate(self._layers) if index in map(self._origin, layer.inputs)]
        return max(map(self._computed, users), default=len(self._layers))

    def _view(self, index: int) -> View:
        """Where a layer's value lies."""
        layer, origin = self._layers[index], self._origin(index)
        assert origin >= 0, "pictures have 3 channels, and only a first convolution takes them"
        if index != origin:
            before = self._view(layer.inputs[0])
            if isinstance(layer, Route) and layer.groups > 1:
                return replace(before, offset=before.offset + layer.group * layer.shape[0], channels=layer.shape[0])
            return before
        if index in self._place:
            route, first = self._place[index]
            whole = self._view(route)
            return replace(whole, offset=whole.offset + first, channels=layer.shape[0])
        if index not in self._roots:
            self._roots[index] = len(self._buffers)
            self._buffers.append(self._buffer(index, layer.shape))
        buffer = self._buffers[self._roots[index]]
        return View(self._roots[index], 0, buffer.channels, buffer.height, buffer.width, buffer.channels)

    def _buffer(self, index: int, shape: Shape) -> Buffer:
        return Buffer(-(-shape[0] // UNIT) * UNIT, shape[1], shape[2], self._heads.get(index))

    def _operations(self, index: int, layer: Layer) -> list[Operation]:
        match layer:
            case Convolution() if index == 0:
                return [FirstConvolve(index, self._view(index))]
            case Convolution():
                return [] if index in self._twins.values() else [self._convolve(index, layer)]
            case MaxPool():
                return [self._pool(index, layer)]
            case Upsample():
                return [Enlarge(self._view(layer.inputs[0]), self._view(index), layer.stride)]
            case Route() if len(layer.inputs) > 1:
                whole = self._view(index)
                return [
                    Enlarge(source, replace(whole, offset=whole.offset + first, channels=source.channels), 1)
                    for source, first in ((self._view(source), first) for source, first in self._copies.get(index, []))
                ]
            case _:
                return []

    def _convolve(self, index: int, layer: Convolution) -> Convolve:
        total = self._sums.get(index)
        twins = (index, self._twins[index]) if index in self._twins else (index,)
        layers = sorted(twins, key=lambda each: self._place[each][1]) if len(twins) > 1 else twins
        views = [self._view(each if total is None else total) for each in layers]
        output = replace(views[0], channels=sum(view.channels for view in views))
        parts = [part for part in (self._layers[each] for each in layers) if isinstance(part, Convolution)]
        weights, bias = parts[0].weights, parts[0].bias
        if len(parts) > 1:  # else without a copy: all weights of a network take a part of a second
            weights, bias = np.concatenate([part.weights for part in parts]), np.concatenate([part.bias for part in parts])
        missing = output.channels - len(bias)  # of a head
        residual = None if total is None else self._view(self._layers[total].inputs[1])
        return Convolve(
            tuple(layers),
            self._view(layer.inputs[0]),
            output,
            np.pad(weights, ((0, missing), (0, 0), (0, 0), (0, 0))) if missing else weights,
            np.pad(bias, (0, missing)) if missing else bias,
            layer.stride,
            layer.padding,
            layer.activation,
            residual,
        )

    def _pool(self, index: int, layer: MaxPool) -> Pool:
        """A maximum pool. In a pyramid (SPP) each pool continues from the next smaller one: 9 = 5 of 5, 13 = 5 of 9."""
        source, size = self._view(layer.inputs[0]), layer.size
        if _keeps_size(layer):
            smaller = [
                (other.size, place)
                for place, other in enumerate(self._layers[:index])
                if isinstance(other, MaxPool)
                and _keeps_size(other)
                and other.size < size
                and self._origin(other.inputs[0]) == self._origin(layer.inputs[0])
                and self._view(other.inputs[0]) == source
            ]
            if smaller:
                known, place = max(smaller)
                source, size = self._view(place), size - known + 1
        return Pool(source, self._view(index), size, layer.stride, (size - 1) // 2 if _keeps_size(layer) else layer.padding // 2)


def _keeps_size(layer: MaxPool) -> bool:
    return layer.stride == 1 and layer.padding == layer.size - 1 and layer.size % 2 == 1
