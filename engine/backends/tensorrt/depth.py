"""TensorRT on several GPUs, each with a stage of the network: for networks and batches that are too large or too slow for one GPU."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.backends.base import Progress, reasons
from framefleet.engine.backends.depth import depth_members, describe_balance, joined_names, remembered_balance
from framefleet.engine.backends.nvidia.backend import NvidiaBackend
from framefleet.engine.backends.nvidia.engine import number_type
from framefleet.engine.backends.nvidia.slot import Slot
from framefleet.engine.backends.nvidia.trials import Builder
from framefleet.engine.backends.tensorrt.stages import Stage, Staged, StagedSlot
from framefleet.engine.cuda.device import free_memory, open_device
from framefleet.engine.cuda.memory import Memory, cuda_errors
from framefleet.engine.cuda.transfer import Streams, connect
from framefleet.engine.model.network import Network
from framefleet.engine.model.split import Balance, Rates, StageTime, find_balance, split
from framefleet.engine.notices import Notice
from framefleet.engine.settings import EngineSettings, Hint, Precision
from framefleet.engine.types import DeviceId, EngineInfo
from framefleet.plugins.launch import Number

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

    def _activate_impl(self, network: Network, settings: EngineSettings, progress: Progress | None) -> EngineInfo:
        self._progress = progress
        info = super()._activate_impl(network, settings, progress)
        return replace(info, device_name=joined_names([streams.device.name for streams in self._streams]))

    def _because(self, batch: int, why: Notice) -> Notice:
        assert self._balance is not None
        how = Notice("backends.move_where_possible")
        if len(self._direct) in (0, len(self._members) * (len(self._members) - 1)):
            how = Notice("backends.move_directly" if self._direct else "backends.move_through_host")
        whole = Notice("backends.cudnn_whole_only") if self._builder.offers_cudnn else None
        return reasons(describe_balance(self._balance, self._network, how), whole, super()._because(batch, why))

    @property
    def cuts(self) -> tuple[int, ...]:
        """The layers at which the stages after the first one begin."""
        return self._balance.cuts if self._balance is not None else ()

    def _open(self) -> None:
        self._builders, self._balance = [], None
        devices = [open_device(member, sleep=self._settings.hint is Hint.THROUGHPUT) for member in self._members]
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
            if self._balance is None:
                situation = "\n".join(each.situation for each in self._builders)
                key = f"{situation}\n{precision}\n{batch}\n{sorted(self._direct)}"
                self._balance = remembered_balance(key, lambda: self._find_balance(precision, batch))
            # one in each stage, one on each transfer, one waiting, one being filled
            count = 2 * len(self._members) + 1 if self._settings.hint is Hint.THROUGHPUT else 1
            return self._build_for(self._balance.cuts, precision, batch, count)
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
                return _time(self._build_for(cuts, precision, batch, len(self._members) + 2), batch, self._network, number_type(precision))
            finally:
                self._release()

        return find_balance(self._network, len(self._members), batch, np.dtype(number_type(precision)).itemsize, rates, measure)

    def _build_for(self, cuts: tuple[int, ...], precision: Precision, batch: int, count: int) -> list[StagedSlot]:
        stages = []
        for number, part in enumerate(split(self._network, *cuts)):
            builder, streams = self._builders[number], self._streams[number]
            streams.device.set_current()
            memory = Memory(streams.device, streams.compute)
            self._memories.append(memory)
            plan = builder.plan(part, precision, batch, number + 1, len(self._members))
            memory.own(plan)
            plan.use_scratch(memory.device(plan.scratch), plan.scratch)
            stages.append(Stage(self._members[number], streams, part, plan, builder.kernels, memory))
        staged = Staged(self._network, batch, precision, stages, self._direct)
        return [StagedSlot(staged, self._settings) for _ in range(count)]

    def _raw_outputs_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        slot = self._places[0].slot
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
