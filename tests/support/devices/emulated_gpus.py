"""Emulates several GPUs on any machine, for tests of code that synchronizes devices by streams and events.

The emulation guarantees only what CUDA guarantees: a stream does its work in order, and events order streams. The order of all other
work is random. A missing event, a wrong device or a buffer that is used too early causes wrong numbers or an AssertionError. Kernels
do nothing; plans compute the layers with NumPy.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from framefleet.engine.backends.nvidia.engine import CustomLayers
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import PICTURES, Part
from framefleet.engine.notices import Notice
from framefleet.engine.settings import Precision
from framefleet.engine.types import AS_ASKED
from tests.support.models import compute_layer

Work = Callable[[], None]


class Gpus:
    """The emulated devices. count: their number. peers: whether they can read each other's memory. seed: of the random order."""

    def __init__(self, count: int, peers: bool = True, seed: int = 0) -> None:
        self.random, self.peers, self.clock = np.random.default_rng(seed), peers, 0.0
        self.streams: list[Stream] = []
        self.buffers: dict[int, tuple[int, Device | None]] = {}
        self.devices = [Device(self, number) for number in range(count)]
        self.current: Device | None = None
        self.direct = self.staged = self.closed_plans = 0

    def run_until(self, over: Callable[[], bool]) -> None:
        """Run work of randomly chosen streams until ``over`` returns True."""
        while not over():
            ready = [stream for stream in self.streams if stream.work and stream.work[0][0]()]
            assert ready, "the streams wait for each other: a deadlock"
            stream = ready[self.random.integers(len(ready))]
            self.clock += 1
            stream.work.popleft()[1]()

    def copy(self, destination: int, source: int, nbytes: int, stream: Stream) -> None:
        """Replaces ``engine.cuda.graph.copy``."""
        ends = [self.owner(address) for address in (destination, source)]
        for device in ends:
            assert device is None or device is stream.device or (self.peers and device.device_id in stream.device.readable), "no access"
        if None not in ends and ends[0] is not ends[1]:
            self.direct += 1
        self.staged += None in ends and nbytes > 100
        stream.put(lambda: ctypes.memmove(destination, source, nbytes) and None)

    def copy_all(self, destinations: Sequence[int], sources: Sequence[int], sizes: Sequence[int], stream: Stream) -> None:
        """Replaces ``engine.cuda.graph.copy_all``."""
        for destination, source, nbytes in zip(destinations, sources, sizes, strict=True):
            self.copy(destination, source, nbytes, stream)

    def owner(self, address: int) -> Device | None:
        """The device whose memory holds this address, None for the host."""
        for start, (nbytes, device) in self.buffers.items():
            if start <= address < start + nbytes:
                return device
        return None

    def install(self, patch: pytest.MonkeyPatch, network: Network) -> None:
        """Replace CUDA and TensorRT by the emulation."""
        from framefleet.engine.backends.nvidia import backend, engine, slot
        from framefleet.engine.backends.tensorrt import depth
        from framefleet.engine.cuda import graph, memory, transfer

        for module in (graph, memory, transfer, slot, engine, depth):
            patch.setattr(module, "copy", self.copy)
        patch.setattr(graph.Mark, "launch", lambda mark, stream: stream.record(mark._event))
        patch.setattr(memory, "LegacyPinnedMemoryResource", lambda: Pool(self, None))
        patch.setattr(depth, "record", Graph)
        patch.setattr("cuda.core.launch", lambda stream, *_: stream.put(lambda: None))
        for module in (backend, depth):
            patch.setattr(module, "open_device", lambda device, **_: self.devices[int(device.name)])
            patch.setattr(module, "free_memory", lambda _: 10**9)
            patch.setattr(module, "Builder", lambda *_: Builder(self, network))


class Device:
    """Replaces ``cuda.core.Device``."""

    pci_bus_id = "none"

    def __init__(self, gpus: Gpus, number: int) -> None:
        self._gpus, self.device_id, self.name = gpus, number, "Emulated GPU"
        self.memory_resource = Pool(gpus, self)
        self.readable: set[int] = set()

    def set_current(self) -> None:
        self._gpus.current = self

    def can_access_peer(self, _peer: Device) -> bool:
        return self._gpus.peers

    def create_stream(self) -> Stream:
        return Stream(self._gpus, self)

    def create_event(self, _options: object = None) -> Event:
        assert self._gpus.current is self
        return Event(self._gpus, self)

    def allocate(self, nbytes: int, stream: Stream) -> Buffer:
        assert stream.device is self
        return self.memory_resource.allocate(nbytes)


class Pool:
    """The memory of a device, or pinned memory."""

    def __init__(self, gpus: Gpus, device: Device | None) -> None:
        self._gpus, self._device = gpus, device

    def allocate(self, nbytes: int) -> Buffer:
        return Buffer(self._gpus, self._device, nbytes)

    def _let(self, readers: Sequence[int]) -> None:
        assert self._device is not None
        for reader in readers:
            self._gpus.devices[reader].readable.add(self._device.device_id)

    peer_accessible_by = property(fset=_let)


class Buffer:
    """Memory that holds NaN before and after use."""

    def __init__(self, gpus: Gpus, device: Device | None, nbytes: int) -> None:
        self._gpus, self._content = gpus, np.full(nbytes, 0xFF, np.uint8)
        self.handle = self._content.ctypes.data
        gpus.buffers[self.handle] = (nbytes, device)

    def close(self) -> None:
        self._content[:] = 0xFF
        del self._gpus.buffers[self.handle]


class Event:
    """An event. recorded: number of times it was put on a stream. passed: number of the last one that the stream has reached."""

    def __init__(self, gpus: Gpus, device: Device) -> None:
        self._gpus, self.device, self.recorded, self.passed, self.time = gpus, device, 0, 0, 0.0

    def sync(self) -> None:
        self._gpus.run_until(lambda: self.passed == self.recorded)

    def __sub__(self, other: Event) -> float:
        return self.time - other.time

    def pass_by(self, number: int) -> None:
        self.passed, self.time = number, self._gpus.clock


class Stream:
    """A queue of (condition, work): each piece of work runs in order, as soon as its condition is true."""

    def __init__(self, gpus: Gpus, device: Device) -> None:
        self._gpus, self.device = gpus, device
        self.work: deque[tuple[Callable[[], bool], Work]] = deque()
        gpus.streams.append(self)

    def put(self, work: Work) -> None:
        self.work.append((lambda: True, work))

    def record(self, event: Event) -> None:
        assert event.device is self.device
        event.recorded += 1
        number = event.recorded
        self.put(lambda: event.pass_by(number))

    def wait(self, other: Event | Stream) -> None:
        event = other
        if isinstance(other, Stream):
            other.record(event := Event(self._gpus, other.device))
        assert isinstance(event, Event)
        number = event.recorded
        self.work.append((lambda: event.passed >= number, lambda: None))

    def sync(self) -> None:
        self._gpus.run_until(lambda: not self.work)


class Graph:
    """Replaces ``engine.cuda.graph.record``."""

    def __init__(self, steps: Sequence[Any], _stream: Stream) -> None:
        self._steps = list(steps)

    def upload(self, _stream: Stream) -> None:
        pass

    def launch(self, stream: Stream) -> None:
        for step in self._steps:
            step.launch(stream)


class Builder:
    """Replaces TensorRT's ``trials.Builder``: precision and batch are fixed, plans are ``Plan``."""

    library, situation = "Emulation", "emulated"

    def __init__(self, gpus: Gpus, network: Network) -> None:
        self._gpus, self._network = gpus, network
        self.kernels: dict[str, str] = {name: name for name in ("preprocess_fp32", "yolo_count_fp32", "yolo_layer_fp32", "nms")}

    def choose_precision(self) -> tuple[Precision, Notice]:
        return Precision.FP32, AS_ASKED

    def choose_batch(self, _precision: Precision) -> tuple[int, Notice]:
        return 2, AS_ASKED

    def choose_layers(self, _precision: Precision, _batch: int) -> tuple[CustomLayers, list[Notice]]:
        return CustomLayers(), []

    def library_of(self, _layers: object) -> str:
        return self.library

    def plan(self, part: Part, _precision: Precision, batch: int, _number: int, _count: int) -> Plan:
        return Plan(self._gpus, self._network, part, batch)


class Plan:
    """Replaces TensorRT's ``plan.Plan``. All numbers are FP32."""

    scratch = 16

    def __init__(self, gpus: Gpus, network: Network, part: Part, batch: int) -> None:
        assert gpus.current is not None
        self._gpus, self._network, self._part, self._batch, self._device = gpus, network, part, batch, gpus.current

    def use_scratch(self, address: int, nbytes: int) -> None:
        assert nbytes >= self.scratch
        assert self._gpus.owner(address) is self._device

    def step(self, addresses: Mapping[str, int]) -> PlanStep:
        return PlanStep(self, {-1 if name == "pictures" else int(name.removeprefix("layer")): each for name, each in addresses.items()})

    def close(self) -> None:
        """A library releases what it holds on the current device."""
        assert self._gpus.current is self._device
        self._gpus.closed_plans += 1

    def view(self, index: int, address: int) -> Any:
        """The values of a layer at an address, (batch, channels, height, width)."""
        layers, network = self._network.layers, self._network
        shape = (network.channels, network.height, network.width) if index == PICTURES else layers[index].shape
        content = (ctypes.c_float * (self._batch * int(np.prod(shape)))).from_address(address)
        return np.frombuffer(content, np.float32).reshape(self._batch, *shape)

    def run(self, addresses: Mapping[int, int]) -> None:
        """Compute the layers of the part. addresses: of each input and output, by layer."""
        values = {index: self.view(index, addresses[index]).astype(np.float64) for index in self._part.inputs}
        with np.errstate(all="ignore"):  # memory that is not written yet holds NaN
            for index in self._part.layers:
                layer = self._network.layers[index]
                values[index] = compute_layer(layer, [values[i] for i in layer.inputs])
            for index in self._part.outputs:
                self.view(index, addresses[index])[:] = values[index]

    def launch(self, addresses: Mapping[int, int], stream: Stream) -> None:
        """Put the computation on the stream. All memory must be on the device that the plan was built for."""
        assert self._gpus.current is stream.device is self._device
        assert all(self._gpus.owner(address) is self._device for address in addresses.values())
        stream.put(lambda: self.run(addresses))


class PlanStep:
    """A plan with the addresses of its tensors."""

    def __init__(self, plan: Plan, addresses: Mapping[int, int]) -> None:
        self._plan, self._addresses = plan, addresses

    def launch(self, stream: Stream) -> None:
        self._plan.launch(self._addresses, stream)
