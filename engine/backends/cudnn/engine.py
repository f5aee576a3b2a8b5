"""A network built for one GPU and one batch size from cuDNN's convolutions and our own kernels, on one stream."""

import hashlib
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
from cuda.core import Device, Stream
from numpy.typing import NDArray

from framefleet.engine.backends.base import Progress
from framefleet.engine.backends.cudnn import convolution, lowering
from framefleet.engine.backends.cudnn.build_plans import build_plans
from framefleet.engine.backends.cudnn.library import Library
from framefleet.engine.backends.cudnn.program import (
    Chain,
    Convolve,
    Enlarge,
    FirstConvolve,
    Operation,
    Pool,
    Program,
    Stage,
    View,
    chained,
    cut_operations,
    plan_memory,
)
from framefleet.engine.backends.nvidia.engine import Engine
from framefleet.engine.cuda.graph import Step, time_steps
from framefleet.engine.cuda.memory import Memory
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.model.network import Activation, Convolution, Network
from framefleet.engine.notices import DeviceError, ModelError, Notice, Option
from framefleet.plugins import channels_last, first_convolution, pointwise
from framefleet.plugins.cache import FileCache
from framefleet.plugins.kernels import Kernels, source

TRIED = 4
"""Most plans that a trial of one shape compares. More than five gain less than 1 % on an H200."""


class Plans:
    """The serialized plans for one device. situation: key of the device and its driver. tried: plans of a shape that a trial compares."""

    def __init__(self, library: Library, cache: FileCache, situation: str, tried: int) -> None:
        self._library, self._cache, self._situation, self._tried = library, cache, situation, tried
        self._chosen: dict[convolution.Shape, bytes] = {}
        self._offered: dict[convolution.Shape, list[bytes]] = {}

    def build(self, shapes: Iterable[convolution.Shape], device: int) -> None:
        """Build the plans that trials of these shapes will need. device: ordinal."""
        unknown = [shape for shape in dict.fromkeys(shapes) if shape not in self._offered and not self._read(shape)]
        if unknown:
            self._offered |= build_plans(unknown, device, self._tried)

    def choose(self, handle: int, shape: convolution.Shape, time: Callable[[convolution.Plan], float]) -> convolution.Plan:
        """The fastest plan of a shape for which ``build`` was called. time: returns the ms of a plan on the device.

        Raises DeviceError if cuDNN supports no plan.
        """
        if not self._read(shape):
            times: dict[bytes, float] = {}
            offered = self._offered.get(shape) or list(
                islice(convolution.candidates(self._library, handle, shape), self._tried)
            )  # if a process failed
            for serialized in offered:
                with suppress(DeviceError):
                    plan = convolution.Plan(self._library, handle, serialized)
                    times[serialized] = time(plan) if len(offered) > 1 else 0.0
            if not times:
                raise DeviceError(Notice("backends.cudnn_no_plan", library=str(self._library), shape=str(shape)))
            self._chosen[shape] = min(times, key=lambda each: times[each])
            self._cache.write(self._key(shape), self._chosen[shape])
        return convolution.Plan(self._library, handle, self._chosen[shape])

    def _read(self, shape: convolution.Shape) -> bool:
        """Whether the plan is chosen, in this process or an earlier one."""
        if shape not in self._chosen:
            serialized = self._cache.read(self._key(shape))
            if serialized is not None:
                self._chosen[shape] = serialized
        return shape in self._chosen

    def _key(self, shape: convolution.Shape) -> str:
        return f"{self._library}\n{self._situation}\n{shape}\n{self._tried} plans"


KERNELS = (*pointwise.SOURCES, "channels_last.cu")
"""The sources of the kernels that an engine needs."""

MAX_CONVERTERS = 8
"""Most threads that convert weights to FP16."""

_REPEATS, _ROUNDS = 8, 3
"""Launches of a convolution that a trial times together, and number of such rounds."""


class ConvolveStep:
    """A convolution: its plan, and the addresses of its tensors."""

    def __init__(self, plan: convolution.Plan, addresses: Mapping[int, int], workspace: int) -> None:
        self._plan, self._addresses, self._workspace = plan, addresses, workspace

    def launch(self, stream: Stream) -> None:
        """Put the work on a stream."""
        self._plan.launch(self._addresses, self._workspace, stream)


class CudnnEngine(Engine):
    """The whole network in cuDNN. Raw outputs are stored channels last, with a multiple of 8 channels."""

    number = np.float16

    network: Network

    def __init__(
        self,
        library: Library,
        network: Network,
        program: Program,
        batch: int,
        memory: Memory,
        device: Device,
        kernels: Kernels,
        stage: Stage | None = None,
    ) -> None:
        """Allocate the memory and load the weights. ``prepare`` must follow. stage: what the engine computes, None = the whole program.

        Raises
        ------
        OutOfMemoryError
            The device's memory does not suffice.
        DeviceError
            cuDNN cannot use the device.
        ModelError
            A weight is too large for FP16.
        """
        self.network, self.batch = network, batch
        self._program, self._memory, self._device, self._kernels = program, memory, device, kernels
        self._stage = stage or Stage(range(len(program.operations)))
        try:
            self._handle: int = library.cudnn.create_handle()
        except Exception as problem:
            raise DeviceError(Notice("backends.cudnn_cannot_use", library=str(library), problem=str(problem))) from problem
        weakref.finalize(self, library.cudnn.destroy_handle, self._handle).atexit = False
        self._places, self._total = plan_memory(program, batch, self._stage)
        self._workspace = memory.device(convolution.WORKSPACE)
        self._numbers = {number: memory.constant(np.array([value], np.float32)) for number, value in convolution.CONSTANTS.items()}
        operations = [program.operations[number] for number in self._stage.operations]
        with ThreadPoolExecutor(min(MAX_CONVERTERS, usable_cores()), "convert weights") as threads:  # NumPy converts without Python's lock
            self._weights = dict(zip(self._stage.operations, map(self._upload, threads.map(self._constants_of, operations)), strict=True))
        heads = sorted((buffer.head, buffer) for buffer in program.buffers if buffer.head is not None)
        self._heads = [buffer for _, buffer in heads]
        self.pitches = [buffer.channels for buffer in self._heads]
        self._plans: dict[convolution.Shape, convolution.Plan] = {}
        self.pictures, self._values = self.new_pictures(), memory.device(self._total)

    def prepare(self, plans: Plans, stream: Stream, progress: Progress) -> None:
        """Choose a plan for each convolution. Raises DeviceError if cuDNN does not support a convolution."""
        operations, buffers = self._stage.operations, self.buffers(self._values, self.new_heads())
        for number in operations:
            operation = self._program.operations[number]
            if isinstance(operation, Convolve):
                shape = convolution.Shape.of(operation, self.batch)
                if shape not in self._plans:
                    progress(Notice("backends.choose_cudnn_plans"), (number - operations.start) / len(operations))
                    addresses = self._addresses(operation, number, buffers)

                    def time(plan: convolution.Plan, addresses: Mapping[int, int] = addresses) -> float:
                        steps = [ConvolveStep(plan, addresses, self._workspace)] * _REPEATS
                        return time_steps(self._device, stream, steps, _ROUNDS, warm_up=0.0)

                    self._plans[shape] = plans.choose(self._handle, shape, time)
            self._step(number, buffers, self.pictures).launch(stream)  # so that trials run on real values
        stream.sync()

    def new_heads(self) -> list[int]:
        """Addresses for raw outputs."""
        return [self._memory.device(2 * self.batch * buffer.size) for buffer in self._heads]

    def steps(self, heads: Sequence[int]) -> list[Step]:
        """The steps that compute the raw outputs at these addresses from ``pictures``."""
        return self.steps_at(self.buffers(self._values, heads), self.pictures)

    def new_pictures(self) -> int:
        """The address of new memory for the network's input; 0 if the engine does not read it."""
        network = self.network
        reads_pictures = self._stage.operations.start == 0
        return self._memory.device(2 * self.batch * network.channels * network.height * network.width) if reads_pictures else 0

    def new_buffers(self) -> list[int]:
        """The addresses of all buffers in new memory, for one more batch under way."""
        return self.buffers(self._memory.device(self._total), self.new_heads())

    def buffers(self, values: int, heads: Sequence[int]) -> list[int]:
        """The addresses of all buffers. values: of the memory between the layers. heads: of the raw outputs."""
        known = zip(self._program.buffers, self._places, strict=True)
        return [values + place if buffer.head is None else heads[buffer.head] for buffer, place in known]

    def steps_at(self, buffers: Sequence[int], pictures: int) -> list[Step]:
        """The steps that compute values at these addresses."""
        return [self._step(number, buffers, pictures) for number in self._stage.operations]

    def _upload(self, constants: Sequence[NDArray[Any]]) -> tuple[int, int]:
        """Copy the weights and the biases of an operation to the device. Returns their addresses, 0 for what it does not have."""
        addresses = [*map(self._memory.constant, constants), 0, 0]
        return addresses[0], addresses[1]

    def _constants_of(self, operation: Operation) -> Sequence[NDArray[Any]]:
        """The weights and the biases of an operation, as the device needs them."""
        match operation:
            case FirstConvolve():
                layer = self._first()
                return (first_convolution.packed(layer.weights, layer.bias),)
            case Convolve():
                weights, layers = operation.weights.transpose(0, 2, 3, 1), operation.layers
                halves = _halves(weights, layers)
            case Chain():
                kept = 0, operation.form.kept
                ordered = [pointwise.packed(each, known) for each, known in zip(operation.weights, kept, strict=False)]
                halves = np.concatenate([_halves(each, operation.layers).ravel() for each in ordered])
            case _:
                return ()
        return halves, operation.bias.astype(np.float32)

    def _first(self) -> Convolution:
        layer = self.network.layers[0]
        assert isinstance(layer, Convolution)
        return layer

    def _step(self, number: int, buffers: Sequence[int], pictures: int) -> Step:
        operation, (weights, bias) = self._program.operations[number], self._weights[number]
        target = self._slice(operation.output, buffers)
        match operation:
            case FirstConvolve():
                layer = self._first()
                size = self.batch, self.network.height, self.network.width, len(layer.bias)
                return first_convolution.FirstConvolution(
                    self._kernels, pictures, weights, target.address, *size, layer.stride, layer.activation
                )
            case Pool():
                how = operation.size, operation.stride, operation.before
                return channels_last.MaxPool(self._kernels, self._slice(operation.input, buffers), target, self.batch, *how)
            case Enlarge():
                return channels_last.Enlarge(self._kernels, self._slice(operation.input, buffers), target, self.batch, operation.factor)
            case Chain():
                views = operation.residual, operation.side, operation.middle
                more = [None if view is None else self._slice(view, buffers) for view in views]
                where = self._slice(operation.input, buffers), target, self.batch, weights, bias
                activations = operation.input_activation, *operation.activations
                processors = self._device.properties.multiprocessor_count
                return pointwise.Pointwise(self._kernels, operation.form, *where, activations, processors, *more)
            case Convolve():
                plan = self._plans[convolution.Shape.of(operation, self.batch)]
                return ConvolveStep(plan, self._addresses(operation, number, buffers), self._workspace)

    def _addresses(self, operation: Convolve, number: int, buffers: Sequence[int]) -> dict[int, int]:
        weights, bias = self._weights[number]
        addresses = {convolution.INPUT: self._slice(operation.input, buffers).address, convolution.WEIGHTS: weights, convolution.BIAS: bias}
        addresses[convolution.OUTPUT] = self._slice(operation.output, buffers).address
        if operation.residual is not None:
            addresses[convolution.RESIDUAL] = self._slice(operation.residual, buffers).address
        return addresses | (self._numbers if operation.activation is Activation.MISH else {})

    def _slice(self, view: View, buffers: Sequence[int]) -> channels_last.Slice:
        return channels_last.Slice(buffers[view.buffer] + 2 * view.offset, view.channels, view.height, view.width, view.pitch)


def _halves(weights: NDArray[np.floating], layers: Sequence[int]) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):
        halves = np.ascontiguousarray(weights, np.float16)
    if not np.isfinite(halves).all():
        raise ModelError(Notice("backends.too_large_for_fp16", index=layers[0], option=Option("precision", "fp32")))
    return halves


class CudnnBuilder:
    """Builds engines of one network for one device. situation: key of the device and its driver. arch: such as "sm_90".

    key: everything that the speed of an engine depends on, besides the situation, the network and the batch. has_pairs: whether the network
    has pairs of pointwise convolutions that our kernels can compute.
    """

    def __init__(
        self, library: Library, network: Network, device: Device, stream: Stream, cache: FileCache, situation: str, arch: str
    ) -> None:
        """Lower the network. Raises UnsupportedError if cuDNN cannot compute it."""
        self.library = library
        self._network, self._device, self._stream, self._cache, self._arch = network, device, stream, cache, arch
        self._plain = lowering.lower(network)
        self._first, self._fastest = (Plans(library, cache, situation, tried) for tried in (1, TRIED))
        self.has_pairs = chained(self._plain, 1) is not self._plain
        self.key = f"{library} {hashlib.sha256(source(*KERNELS).encode()).hexdigest()}"

    def build(self, batch: int, pairs: bool, fastest: bool, memory: Memory, progress: Progress) -> CudnnEngine:
        """Build an engine.

        pairs: use our kernels for pairs of pointwise convolutions, and for single ones in large batches. fastest: take the fastest of
        several plans of each convolution, which a trial finds, instead of the first one.

        Raises
        ------
        OutOfMemoryError
            The device's memory does not suffice.
        DeviceError
            cuDNN or NVRTC cannot build it.
        ModelError
            A weight is too large for FP16.
        KernelError
            The kernels cannot be compiled.
        """
        return self._build(None, batch, pairs, fastest, memory, progress)

    def stages(self, cuts: Sequence[int], batch: int, pairs: bool) -> tuple[Program, list[Stage]]:
        """The program for batches of this size, and its stages. cuts: see ``cut_operations``."""
        program = self._program(batch, pairs)
        return program, cut_operations(program, cuts)

    def build_stage(self, stage: Stage, batch: int, pairs: bool, fastest: bool, memory: Memory, progress: Progress) -> CudnnEngine:
        """Build the engine of a stage. Parameters and errors: see ``build``."""
        return self._build(stage, batch, pairs, fastest, memory, progress)

    def _build(self, stage: Stage | None, batch: int, pairs: bool, fastest: bool, memory: Memory, progress: Progress) -> CudnnEngine:
        program, plans = self._program(batch, pairs), self._fastest if fastest else self._first
        progress(Notice("backends.build_cudnn_plans"), 0.0)
        operations = program.operations if stage is None else [program.operations[number] for number in stage.operations]
        shapes = [convolution.Shape.of(each, batch) for each in operations if isinstance(each, Convolve)]
        with ThreadPoolExecutor(1, "build plans") as thread:  # other processes do the work
            built = thread.submit(plans.build, shapes, self._device.device_id)
            kernels = Kernels(self._arch, self._cache, KERNELS)
            engine = CudnnEngine(self.library, self._network, program, batch, memory, self._device, kernels, stage)
            built.result()
        engine.prepare(plans, self._stream, progress)
        return engine

    def _program(self, batch: int, pairs: bool) -> Program:
        return chained(self._plain, batch) if pairs else self._plain
