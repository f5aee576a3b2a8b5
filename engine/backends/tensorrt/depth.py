"""Several GPUs, each with a stage of the network: for networks and batches that are too large or too slow for one GPU.

TensorRT or cuDNN computes all stages; cuDNN where a whole network would have it.

Each stage is one CUDA graph on the compute stream of its device. Other streams copy values between the stages, and events order all
of them, so that the launching thread never waits. Each batch has its own memory on every device: while one batch is computed, the
previous one may still be copied.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from cuda.core import Event, Stream
from numpy.typing import NDArray

from framefleet.engine.backends.base import Progress, darknet, depth_members, describe_balance, joined_names, reasons, remembered_balance
from framefleet.engine.backends.cudnn.engine import CudnnEngine
from framefleet.engine.backends.memory import check_memory
from framefleet.engine.backends.nvidia.backend import NvidiaBackend
from framefleet.engine.backends.nvidia.engine import PLAN_ONLY, CustomLayers, Outputs, download_heads, in_batches, number_type
from framefleet.engine.backends.nvidia.slot import FrameTable, InputSteps, Marks, OutputSteps, Slot, finish_event
from framefleet.engine.backends.nvidia.trials import Builder
from framefleet.engine.backends.tensorrt.lowering import value_name
from framefleet.engine.backends.tensorrt.plan import Plan
from framefleet.engine.cuda.device import free_memory, open_device, total_memory
from framefleet.engine.cuda.graph import Step, copy, record
from framefleet.engine.cuda.memory import Memory, cuda_errors
from framefleet.engine.cuda.transfer import Arrival, Move, Streams, connect
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.model.network import Network, Yolo
from framefleet.engine.model.onnx.network import Model
from framefleet.engine.model.split import PICTURES, Balance, Part, Rates, StageTime, Transfer, find_balance, split, transfers
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, EngineInfo, Found
from framefleet.plugins.kernels import Kernels, Number


class StageNetwork(Protocol):
    """A part of the network, built for its device, which must be the current one."""

    def allocate(self) -> dict[int, int]:
        """Allocate the memory of one batch. Returns the address of each value, by its key in ``Staged``."""

    def step(self, values: Mapping[int, int]) -> Step:
        """The step that computes the stage with values at these addresses."""


@dataclass(frozen=True, eq=False)
class PlanStage:
    """A stage computed by TensorRT. Keys of values are layers. sizes: bytes of each value that it keeps."""

    plan: Plan
    part: Part
    sizes: Mapping[int, int]
    memory: Memory

    def allocate(self) -> dict[int, int]:
        """Allocate the memory of one batch. Returns the address of each value."""
        return {layer: self.memory.device(nbytes) for layer, nbytes in self.sizes.items()}

    def step(self, values: Mapping[int, int]) -> Step:
        """The step that computes the stage with values at these addresses."""
        return self.plan.step({value_name(layer): values[layer] for layer in (*self.part.inputs, *self.part.outputs)})


@dataclass(frozen=True, eq=False)
class CudnnStage:
    """A stage computed by cuDNN. Keys of values are buffers of the program."""

    engine: CudnnEngine

    def allocate(self) -> dict[int, int]:
        """Allocate the memory of one batch. Returns the address of each value."""
        return {PICTURES: self.engine.new_pictures(), **dict(enumerate(self.engine.new_buffers()))}

    def step(self, values: Mapping[int, int]) -> Step:
        """The step that computes the stage with values at these addresses."""
        buffers = [address for key, address in values.items() if key != PICTURES]
        return _Steps(self.engine.steps_at(buffers, values[PICTURES]))


@dataclass(frozen=True)
class _Steps:
    """Several steps as one."""

    steps: Sequence[Step]

    def launch(self, stream: Stream) -> None:
        """Put the work on a stream."""
        for step in self.steps:
            step.launch(stream)


@dataclass(frozen=True)
class Built:
    """The networks of all stages. Other attributes: see ``Staged``."""

    networks: Sequence[StageNetwork]
    moves: Sequence[Transfer]
    sizes: Mapping[int, int]
    heads: Sequence[int]
    pitches: Sequence[int]


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage on its device."""

    id: DeviceId
    streams: Streams
    network: StageNetwork
    kernels: Kernels
    memory: Memory


@dataclass(frozen=True)
class Staged:
    """The built stages. direct: the pairs of devices, by ordinal, of which the first one can read the second one's memory.

    moves: the values that move between stages. sizes: bytes of these, by key. heads: keys of the raw outputs. pitches: see ``Engine``.
    """

    network: Network
    batch: int
    precision: Precision
    stages: Sequence[Stage]
    direct: set[tuple[int, int]]
    moves: Sequence[Transfer]
    sizes: Mapping[int, int]
    heads: Sequence[int]
    pitches: Sequence[int]


class StagedSlot(Slot):
    """The memory and the graphs of one batch."""

    def __init__(self, staged: Staged, settings: EngineSettings) -> None:
        """Allocate the memory and record the graphs. Raises OutOfMemoryError if a device's memory does not suffice."""
        self._staged = staged
        network, batch, stages = staged.network, staged.batch, staged.stages
        self._number = number_type(staged.precision)
        first, last = stages[0], stages[-1]
        values = [stage.network.allocate() for stage in stages]
        self._pictures = values[0][PICTURES]
        self._heads = [values[-1][key] for key in staged.heads]

        first.streams.device.set_current()
        inputs = InputSteps(network, batch, first.kernels, first.memory, self._pictures, self._number)
        self.frames = inputs.frames
        last.streams.device.set_current()
        table = FrameTable(batch, last.memory, inputs.table.host)
        self._raw = Outputs(batch, [head.shape for head in network.heads], staged.pitches, self._number)
        known = network, self._raw, last.kernels, last.memory, settings, self._heads
        # the last device sends no values, so its outgoing stream is free
        self._outputs = outputs = OutputSteps(*known, table.address, last.streams.outgoing)

        self.legs: list[Leg] = []
        for place, stage in enumerate(stages):
            stage.streams.device.set_current()
            computing = stage.network.step(values[place])
            marks = Marks(stage.streams.device)
            steps: list[Step] = [marks.begin()]
            if stage is first:
                steps += [*inputs.steps, marks.end("preprocess")]
            steps += [computing, marks.end(f"network {stage.id}")]
            if stage is last:
                steps += [*outputs.steps, marks.end("postprocess")]
            leg = Leg(stage.streams, computing, steps, marks, finish_event(stage.streams.device, settings))
            needed = [move for move in staged.moves if move.destination == place]
            if needed:
                arriving = Marks(stage.streams.device)
                carried = [self._move(move.layer, move.source, place, values) for move in needed]
                # the table travels with the values: in a separate copy it would wait for the values of the next batch
                along = [table.copy] if stage is last else []
                leg.receive(Arrival(stage.streams, carried, arriving.begin(), arriving.end(f"transfer {stage.id}"), along), arriving)
            self.legs.append(leg)

    def _move(self, layer: int, source: int, destination: int, values: list[dict[int, int]]) -> Move:
        stages, nbytes = self._staged.stages, self._staged.sizes[layer]
        origin, target = stages[source], stages[destination]
        direct = (target.streams.device.device_id, origin.streams.device.device_id) in self._staged.direct
        host = None if direct else int(origin.memory.pinned(nbytes).ctypes.data)
        return Move(origin.streams, self.legs[source].done, values[source][layer], values[destination][layer], nbytes, host)

    def launch(self) -> None:
        """Start the batch with the frames in the table. Does not wait."""
        for leg in self.legs:
            leg.launch()

    def read(self, fits: Sequence[Fit]) -> list[Found]:
        """Wait for the batch and return the detections of its first ``len(fits)`` frames."""
        self.legs[-1].done.sync()
        return self._outputs.read(fits)

    def stage_times(self) -> Mapping[str, float]:
        """ms of the last batch: "preprocess", of each device "network cuda:N" and "transfer cuda:N" (to it), "postprocess"."""
        return {stage: ms for leg in self.legs for stage, ms in leg.times().items()}

    def leg_times(self) -> list[StageTime]:
        """The computing and receiving time of each stage."""
        return [leg.total() for leg in self.legs]

    def raw_outputs(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """The raw outputs of the network for a batch; the slot must be idle."""

        def run(pictures: NDArray[Any]) -> list[NDArray[Any]]:
            self.fill(pictures)
            for leg in self.legs:
                leg.launch_network()
            return self.heads()

        return in_batches(inputs, self._staged.batch, self._number, run)

    def heads(self) -> list[NDArray[Any]]:
        """The raw outputs of the last batch, see ``download_heads``."""
        return download_heads(self._raw, self._heads, self._staged.stages[-1].streams.compute)

    def fill(self, pictures: NDArray[Any]) -> None:
        """Copy pictures into the network's input, and wait. A launch with an empty frame table keeps them."""
        streams = self._staged.stages[0].streams
        streams.device.set_current()
        copy(self._pictures, pictures.ctypes.data, pictures.nbytes, streams.compute)
        streams.compute.sync()


class Leg:
    """A batch in one stage. done: the event at its end."""

    def __init__(self, streams: Streams, computing: Step, steps: Sequence[Step], marks: Marks, done: Event) -> None:
        """Record the graph. The stage's device must be the current one."""
        self.steps, self.streams, self.done = steps, streams, done
        self._computing, self._marks = computing, marks
        self._arrival: Arrival | None = None
        self._arriving: Marks | None = None
        for step in steps:  # the first launch of a kernel may allocate, which a recording forbids
            step.launch(streams.compute)
        streams.compute.sync()
        self._graph = record(steps, streams.compute)
        self._graph.upload(streams.compute)

    def receive(self, arrival: Arrival, marks: Marks) -> None:
        """Set the transfer that must arrive before the stage can compute."""
        self._arrival, self._arriving = arrival, marks

    def launch(self) -> None:
        """Put the transfer and the graph on their streams."""
        self._begin()
        self._graph.launch(self.streams.compute)
        self.streams.compute.record(self.done)

    def launch_network(self) -> None:
        """Put the transfer and the network on their streams, without pre- and postprocessing."""
        self._begin()
        self._computing.launch(self.streams.compute)
        self.streams.compute.record(self.done)

    def _begin(self) -> None:
        if self._arrival is not None:
            self._arrival.launch()
        self.streams.device.set_current()

    def times(self) -> dict[str, float]:
        """ms of each stage of the last launch."""
        return {**(self._arriving.times() if self._arriving else {}), **self._marks.times()}

    def total(self) -> StageTime:
        """The computing and receiving time of the last launch."""
        return StageTime(sum(self._marks.times().values()), sum(self._arriving.times().values()) if self._arriving else 0.0)


_RATES = {Precision.FP16: (4e14, 3e12), Precision.FP32: (4e13, 3e12)}
_DIRECT, _THROUGH_HOST = 2e11, 2e10
"""First estimates for an H200: operations and bytes per second of a device, and bytes per second between devices."""

_WARM_UP_SECONDS, _ROUNDS = 1.0, 12
"""Time for which the stages run before they are timed, and number of timed launches of each batch under way."""


class TensorRtDepthBackend(NvidiaBackend):
    """A network in stages on a group of CUDA devices. The first one preprocesses, the last one runs the YOLO layer and suppression.

    peer: copy values directly between devices where possible, instead of through pinned host memory.
    """

    def __init__(self, device: DeviceId, peer: bool = True) -> None:
        """Raises UsageError: see ``depth_members``."""
        super().__init__(device)
        self._members = depth_members(device)
        self._peer = peer
        self._builders: list[Builder] = []
        self._balance: Balance | None = None

    def _activate_impl(self, network: Model, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
        self._progress = progress
        self._whole = darknet(network, self.device)
        if not self._opened:
            self.open(settings)
        self._check_room(settings)
        return super()._activate_impl(network, settings, progress)

    def _check_room(self, settings: EngineSettings) -> None:
        """Refuse one more engine on these devices, see the strategy ``Depth``, if it may need more than half of a device's memory.

        All of them are built at once, so the memory that is free now does not matter, and the engine that begins on the first device is
        never refused.
        """
        if self._members[0] != min(self._members):
            half = min(total_memory(streams.device) for streams in self._streams) // 2
            check_memory(self._whole, self._count, 4 if settings.precision is Precision.FP32 else 2, half, self.device)

    @property
    def _count(self) -> int:
        """Number of batches under way: one in each stage, one on each transfer, one waiting, one being filled."""
        return self._settings.hint.under_way(1, 2 * len(self._members) + 1)

    @property
    def _name(self) -> str:
        return joined_names([streams.device.name for streams in self._streams])

    def _because(self, batch: int, why: Notice) -> Notice:
        assert self._balance is not None
        how = Notice("backends.move_where_possible")
        if len(self._direct) in (0, len(self._members) * (len(self._members) - 1)):
            how = Notice("backends.move_directly" if self._direct else "backends.move_through_host")
        return reasons(describe_balance(self._balance, self._whole, how), super()._because(batch, why))

    @property
    def cuts(self) -> tuple[int, ...]:
        """The layers at which the stages after the first one begin."""
        return self._balance.cuts if self._balance is not None else ()

    def _open(self) -> None:
        self._builders, self._balance = [], None
        devices = [open_device(member, sleep=not self._settings.hint.spins) for member in self._members]
        self._streams = [Streams.create(device) for device in devices]
        self._direct = connect(devices) if self._peer else set()
        self._cuda, self._stream = devices[0], self._streams[0].compute
        self._copies = self._streams[0].incoming  # the first stage receives nothing from other devices
        self._cuda.set_current()

    def _free_memory(self) -> int | None:
        known = [free_memory(streams.device) for streams in reversed(self._streams)]  # the first one stays the current device
        return None if None in known else sum(filter(None, known))

    def _build_slots(self, builder: Builder, precision: Precision, batch: int) -> Sequence[Slot]:
        try:
            if not self._builders:
                self._builders = [builder, *(self._new_builder(place) for place in range(1, len(self._members)))]
            if self._layers is None:
                layers, self._layers_reason = builder.choose_layers(precision, batch)
                self._layers = layers if layers.cudnn else PLAN_ONLY
            if self._balance is None:
                situation = "\n".join(each.situation for each in self._builders)
                key = f"{situation}\n{precision}\n{batch}\n{sorted(self._direct)}\n{self._layers.names}"
                self._balance = remembered_balance(key, lambda: self._find_balance(precision, batch))
            return self._build_for(self._balance.cuts, precision, batch, self._count)
        finally:
            self._cuda.set_current()

    def _new_builder(self, place: int) -> Builder:
        streams = self._streams[place]
        streams.device.set_current()
        return Builder(self._members[place], streams.device, streams.compute, self._network, self._settings, self._progress)

    def _find_balance(self, precision: Precision, batch: int) -> Balance:
        complete = len(self._direct) == len(self._members) * (len(self._members) - 1)
        rates = Rates(*_RATES[precision], _DIRECT if complete else _THROUGH_HOST)

        def measure(cuts: tuple[int, ...]) -> list[StageTime]:
            try:
                return _time(self._build_for(cuts, precision, batch, len(self._members) + 2), batch, self._whole, number_type(precision))
            finally:
                self._release()

        return find_balance(self._whole, len(self._members), batch, np.dtype(number_type(precision)).itemsize, rates, measure)

    def _build_for(self, cuts: tuple[int, ...], precision: Precision, batch: int, count: int) -> list[StagedSlot]:
        memories = [Memory(streams.device, streams.compute) for streams in self._streams]
        self._memories += memories
        whole = self._whole, batch, precision
        layers = self._layers or PLAN_ONLY
        build = self._build_cudnn if layers.cudnn else self._build_plans
        built = build(cuts, precision, batch, layers, memories)
        stages = [Stage(*each) for each in zip(self._members, self._streams, built.networks, self._kernels, memories, strict=True)]
        staged = Staged(*whole, stages, self._direct, built.moves, built.sizes, built.heads, built.pitches)
        return [StagedSlot(staged, self._settings) for _ in range(count)]

    @property
    def _kernels(self) -> list[Kernels]:
        return [builder.kernels for builder in self._builders]

    def _build_plans(
        self, cuts: tuple[int, ...], precision: Precision, batch: int, _layers: CustomLayers, memories: Sequence[Memory]
    ) -> Built:
        """Stages of TensorRT, and what ``Staged`` says of values."""
        network, parts = self._whole, split(self._whole, *cuts)
        moves, networks = transfers(network, parts), list[StageNetwork]()
        number_bytes = batch * np.dtype(number_type(precision)).itemsize
        for place, (part, streams, builder, memory) in enumerate(zip(parts, self._streams, self._builders, memories, strict=True)):
            streams.device.set_current()
            plan = builder.plan(part, precision, batch, place + 1, len(self._members))
            memory.own(plan)
            plan.use_scratch(memory.device(plan.scratch), plan.scratch)
            held = [*((PICTURES,) if place == 0 else ()), *part.outputs, *(move.layer for move in moves if move.destination == place)]
            sizes = {layer: number_bytes * math.prod(network.shape_of(layer)) for layer in held}
            networks.append(PlanStage(plan, part, sizes, memory))
        heads = [index for index, layer in enumerate(network.layers) if isinstance(layer, Yolo)]
        sizes = {move.layer: number_bytes * math.prod(network.shape_of(move.layer)) for move in moves}
        return Built(networks, moves, sizes, heads, [0] * len(heads))

    def _build_cudnn(
        self, cuts: tuple[int, ...], _precision: Precision, batch: int, layers: CustomLayers, memories: Sequence[Memory]
    ) -> Built:
        """Stages of cuDNN, and what ``Staged`` says of values."""
        program, stages = self._builder.cudnn_stages(cuts, batch, layers)
        networks = list[StageNetwork]()
        for place, (stage, streams, builder, memory) in enumerate(zip(stages, self._streams, self._builders, memories, strict=True)):
            streams.device.set_current()
            networks.append(CudnnStage(builder.build_cudnn_stage(stage, batch, layers, memory, place + 1, len(stages))))
        moves = [Transfer(buffer, place - 1, place) for place, stage in enumerate(stages) for buffer in sorted(stage.arriving)]
        heads = [(buffer.head, index, buffer.channels) for index, buffer in enumerate(program.buffers) if buffer.head is not None]
        _, keys, pitches = zip(*sorted(heads), strict=True)
        sizes = {move.layer: 2 * batch * program.buffers[move.layer].size for move in moves}
        return Built(networks, moves, sizes, keys, pitches)

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        slot = self.slots[0]
        assert isinstance(slot, StagedSlot)
        with cuda_errors(self.device, Notice("backends.run_network")):
            return slot.raw_outputs(inputs)


def _time(slots: Sequence[StagedSlot], batch: int, network: Network, number: Number) -> list[StageTime]:
    """The median times of each stage, with all slots under way."""
    noise = np.random.default_rng(0).random((batch, network.channels, network.height, network.width), np.float32).astype(number)
    for slot in slots:
        slot.fill(noise)
    for slot in slots:
        slot.launch()
    start = time.perf_counter()
    while time.perf_counter() - start < _WARM_UP_SECONDS:
        _next_round(slots)
    found = [times for _ in range(_ROUNDS) for times in _next_round(slots)]
    for slot in slots:
        slot.read([])
    return [
        StageTime(float(np.median([each.computing for each in times])), float(np.median([each.receiving for each in times])))
        for times in zip(*found, strict=True)
    ]


def _next_round(slots: Sequence[StagedSlot]) -> list[list[StageTime]]:
    found = []
    for slot in slots:
        slot.read([])
        found.append(slot.leg_times())
        slot.launch()
    return found
