"""Compares the memory that a network needs with the free memory of a device, before anything is built."""

import math

from framefleet.engine.model.network import Convolution, Identity, Layer, Route, Shortcut, Yolo
from framefleet.engine.model.onnx.network import Model, OnnxNetwork
from framefleet.engine.notices import DeviceError, Notice, Option
from framefleet.engine.types import DeviceId, of_device


def check_memory(network: Model, batch: int, value_bytes: int, free: int | None, device: DeviceId) -> None:
    """Refuse a network that cannot fit into the memory of a device.

    batch: pictures at once. value_bytes: size of one number between layers. free: free memory of the device, bytes; None = unknown.

    Raises DeviceError if the network needs more; the message says how much, and what to do.
    """
    needed = least_bytes(network, batch, value_bytes)
    if free is None or needed <= free:
        return
    problem = Notice(
        "backends.network_too_large",
        name=network.name,
        width=network.width,
        height=network.height,
        needed=needed / 1e9,
        count=batch,
        free=free / 1e9,
        batch=Option("batch"),
        size=Option("size"),
    )
    raise DeviceError(of_device(device, problem))


def least_bytes(network: Model, batch: int, value_bytes: int) -> int:
    """Estimate from below the memory that a network needs on any device, bytes.

    It consists of the weights, and of the values that exist at the same time while the layer with the most of them is computed.
    """
    if isinstance(network, OnnxNetwork):  # the values between its operators are not known
        return value_bytes * (network.parameters + batch * network.channels * network.width * network.height)
    weights = sum(layer.weights.size + layer.bias.size for layer in network.layers if isinstance(layer, Convolution))
    last_use = {index: position for position, layer in enumerate(network.layers) for index in layer.inputs}
    storage: dict[int, set[int]] = {-1: {-1}}  # the layers whose memory holds the values of a layer
    live, most = {-1}, 0
    for position, layer in enumerate(network.layers):
        storage[position] = set().union(*(storage[index] for index in _shared_inputs(layer))) or {position}
        live |= storage[position]
        most = max(most, sum(math.prod(network.shape_of(index)) for index in live))
        outlived = [
            index for index in storage if last_use.get(index, -1) > position or (index >= 0 and isinstance(network.layers[index], Yolo))
        ]
        live = set().union(*(storage[index] for index in outlived))
    return value_bytes * (weights + batch * most)


def _shared_inputs(layer: Layer) -> tuple[int, ...]:
    """The inputs whose memory a library may use for a layer's output: it writes over one, or takes them as they are."""
    if isinstance(layer, Identity | Yolo | Route):
        return layer.inputs
    return layer.inputs[:1] if isinstance(layer, Shortcut) else ()
