"""A network cut into stages on several GPUs, and the memory and graphs of one batch.

Each stage is one CUDA graph on the compute stream of its device. Other streams copy values between the stages, and events order all
of them, so that the launching thread never waits. Each batch has its own memory on every device: while one batch is computed, the
previous one may still be copied.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cuda.core import Event
from numpy.typing import NDArray

from framefleet.engine.backends.nvidia.engine import download_heads, in_batches, number_type
from framefleet.engine.backends.nvidia.slot import FrameTable, InputSteps, Marks, OutputSteps, Slot, finish_event
from framefleet.engine.backends.tensorrt.lowering import value_name
from framefleet.engine.backends.tensorrt.plan import Plan
from framefleet.engine.cuda.graph import Step, copy, record
from framefleet.engine.cuda.memory import Memory
from framefleet.engine.cuda.transfer import Arrival, Move, Streams
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.model.network import Network, Yolo
from framefleet.engine.model.split import PICTURES, Part, StageTime, transfers
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId, Found
from framefleet.plugins.kernels import Kernels


@dataclass(frozen=True, eq=False)
class Stage:
    """A part of the network, built for its device."""

    id: DeviceId
    streams: Streams
    part: Part
    plan: Plan
    kernels: Kernels
    memory: Memory


@dataclass(frozen=True)
class Staged:
    """The built stages. direct: the pairs of devices, by ordinal, of which the first one can read the second one's memory."""

    network: Network
    batch: int
    precision: Precision
    stages: Sequence[Stage]
    direct: set[tuple[int, int]]

    def nbytes(self, layer: int) -> int:
        """Bytes of a batch of this layer's values, or of the network's input for PICTURES."""
        return self.batch * math.prod(self.network.shape_of(layer)) * np.dtype(number_type(self.precision)).itemsize


class StagedSlot(Slot):
    """The memory and the graphs of one batch."""

    def __init__(self, staged: Staged, settings: EngineSettings) -> None:
        """Allocate the memory and record the graphs. Raises OutOfMemoryError if a device's memory does not suffice."""
        self._staged = staged
        network, batch, stages = staged.network, staged.batch, staged.stages
        self._number = number_type(staged.precision)
        first, last = stages[0], stages[-1]
        moves = transfers(network, [stage.part for stage in stages])
        values: list[dict[int, int]] = []
        for place, stage in enumerate(stages):
            held = [*((PICTURES,) if place == 0 else ()), *stage.part.outputs, *(move.layer for move in moves if move.destination == place)]
            values.append({layer: stage.memory.device(staged.nbytes(layer)) for layer in held})
        self._pictures = values[0][PICTURES]
        self._heads = [values[-1][index] for index, layer in enumerate(network.layers) if isinstance(layer, Yolo)]
        self._planes = [0] * len(self._heads)

        first.streams.device.set_current()
        inputs = InputSteps(network, batch, first.kernels, first.memory, self._pictures, self._number)
        self.frames = inputs.frames
        last.streams.device.set_current()
        table = FrameTable(batch, last.memory, inputs.table.host)
        known = network, batch, last.kernels, last.memory, settings, self._heads, self._planes, self._number
        # the last device sends no values, so its outgoing stream is free
        self._outputs = outputs = OutputSteps(*known, table.address, last.streams.outgoing)

        self.legs: list[Leg] = []
        for place, stage in enumerate(stages):
            stage.streams.device.set_current()
            plan = stage.plan.step({value_name(layer): values[place][layer] for layer in (*stage.part.inputs, *stage.part.outputs)})
            marks = Marks(stage.streams.device)
            steps: list[Step] = [marks.begin()]
            if stage is first:
                steps += [*inputs.steps, marks.end("preprocess")]
            steps += [plan, marks.end(f"network {stage.id}")]
            if stage is last:
                steps += [*outputs.steps, marks.end("postprocess"), outputs.download, marks.end("download")]
            leg = Leg(stage.streams, plan, steps, marks, finish_event(stage.streams.device, settings))
            needed = [move for move in moves if move.destination == place]
            if needed:
                arriving = Marks(stage.streams.device)
                carried = [self._move(move.layer, move.source, place, values) for move in needed]
                # the table travels with the values: in a separate copy it would wait for the values of the next batch
                along = [table.copy] if stage is last else []
                leg.receive(Arrival(stage.streams, carried, arriving.begin(), arriving.end(f"transfer {stage.id}"), along), arriving)
            self.legs.append(leg)

    def _move(self, layer: int, source: int, destination: int, values: list[dict[int, int]]) -> Move:
        stages, nbytes = self._staged.stages, self._staged.nbytes(layer)
        origin, target = stages[source], stages[destination]
        direct = (target.streams.device.device_id, origin.streams.device.device_id) in self._staged.direct
        host = None if direct else int(origin.memory.pinned(nbytes).ctypes.data)
        return Move(origin.streams, self.legs[source].done, values[source][layer], values[destination][layer], nbytes, host)

    def launch(self) -> None:
        """See ``Slot``."""
        for leg in self.legs:
            leg.launch()

    def read(self, fits: Sequence[Fit]) -> list[Found]:
        """See ``Slot``."""
        self.legs[-1].done.sync()
        return self._outputs.read(fits)

    def stage_times(self) -> Mapping[str, float]:
        """See ``Slot``: "preprocess", of each device "network cuda:N" and "transfer cuda:N" (to it), "postprocess", "download"."""
        return {stage: ms for leg in self.legs for stage, ms in leg.times().items()}

    def leg_times(self) -> list[StageTime]:
        """The computing and receiving time of each stage."""
        return [leg.total() for leg in self.legs]

    def raw_outputs(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """See ``Engine.raw_outputs``; the slot must be idle."""
        network, batch = self._staged.network, self._staged.batch
        last = self._staged.stages[-1].streams

        def run(pictures: NDArray[Any]) -> list[NDArray[Any]]:
            self.fill(pictures)
            for leg in self.legs:
                leg.launch_network()
            return download_heads(network, batch, self._heads, self._planes, self._number, last.compute)

        return in_batches(inputs, batch, self._number, run)

    def fill(self, pictures: NDArray[Any]) -> None:
        """Copy pictures into the network's input, and wait. A launch with an empty frame table keeps them."""
        streams = self._staged.stages[0].streams
        streams.device.set_current()
        copy(self._pictures, pictures.ctypes.data, pictures.nbytes, streams.compute)
        streams.compute.sync()


class Leg:
    """A batch in one stage. done: the event at its end."""

    def __init__(self, streams: Streams, plan: Step, steps: Sequence[Step], marks: Marks, done: Event) -> None:
        """Record the graph. The stage's device must be the current one."""
        self.steps, self.streams, self.done = steps, streams, done
        self._plan, self._marks = plan, marks
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
        """Put the transfer and the plan on their streams, without pre- and postprocessing."""
        self._begin()
        self._plan.launch(self.streams.compute)
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
