"""A plan on its device: deserialized, with its execution context, ready for a stream."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from cuda.core import Device, Stream

from framefleet.engine.backends.tensorrt.library import Library, logger
from framefleet.engine.errors import DeviceError
from framefleet.engine.notices import Notice
from framefleet.engine.types import Closing
from framefleet.plugins.cache import FileCache


@cache
def _runtime(trt: Any, _device: int) -> Any:
    """The one runtime of a library for a device, which must be the current one. It lives as long as the process, like the context."""
    return trt.Runtime(logger(trt))


class Plan(Closing):
    """One deserialized plan. cache, key: for the kernels that TensorRT-RTX compiles for the device when a plan is loaded.

    scratch: bytes of device memory that the plan needs while it runs; set it with ``use_scratch``. Plans that run one after the other
    may share the memory.
    """

    def __init__(self, library: Library, serialized: bytes, cache: FileCache, key: str) -> None:
        """Load the plan onto the current device.

        Raises DeviceError if the library refuses the plan or the device, or the device's memory does not suffice.
        """
        self._library = library
        self._engine = _runtime(library.trt, Device().device_id).deserialize_cuda_engine(serialized)
        if self._engine is None:
            raise DeviceError(Notice("backends.plan_not_loaded", library=str(library)))
        self._context = self._create_context(cache, f"{key}\nkernels")
        if self._context is None:
            raise DeviceError(Notice("backends.plan_not_prepared", library=str(library)))
        self.scratch = int(self._engine.device_memory_size_v2)

    def use_scratch(self, address: int, nbytes: int) -> None:
        """Set the working memory: at least ``scratch`` bytes, aligned to 256."""
        self._context.set_device_memory(address, nbytes)

    def step(self, addresses: Mapping[str, int]) -> PlanStep:
        """The plan as a step. addresses: device addresses of its inputs and outputs, by name."""
        return PlanStep(self._library, self, dict(addresses))

    def run(self, addresses: Mapping[str, int], stream: Stream) -> bool:
        """Put the plan on a stream. Returns whether the library accepted it."""
        for name, address in addresses.items():
            self._context.set_tensor_address(name, address)
        return bool(self._context.execute_async_v3(int(stream.handle)))

    def close(self) -> None:
        """Release the execution context, then the engine. The plan's device must be the current one; see ``Memory.own``."""
        self._context = None
        self._engine = None

    def _create_context(self, cache: FileCache, key: str) -> Any:
        trt = self._library.trt
        by_user = trt.ExecutionContextAllocationStrategy.USER_MANAGED
        if self._library.full:
            return self._engine.create_execution_context(by_user)
        config = self._engine.create_runtime_config()
        config.set_execution_context_allocation_strategy(by_user)
        kernels = config.create_runtime_cache()
        known = cache.read(key)
        if known is not None and not kernels.deserialize(known):
            known = None
        config.set_runtime_cache(kernels)
        context = self._engine.create_execution_context(config)
        if context is not None and known is None:
            cache.write(key, bytes(kernels.serialize()))
        return context


class PlanStep:
    """A plan with the addresses of its inputs and outputs: a ``Step``."""

    def __init__(self, library: Library, plan: Plan, addresses: Mapping[str, int]) -> None:
        self._library, self._plan, self._addresses = library, plan, addresses

    def launch(self, stream: Stream) -> None:
        """See ``Step.launch``."""
        if not self._plan.run(self._addresses, stream):
            raise DeviceError(Notice("backends.plan_not_run", library=str(self._library)))
