"""Builds engines of one network with cuDNN."""

import hashlib

from cuda.core import Device, Stream

from framefleet.engine.backends.base import Progress
from framefleet.engine.backends.cudnn.chains import chained
from framefleet.engine.backends.cudnn.engine import KERNELS, CudnnEngine
from framefleet.engine.backends.cudnn.library import Library
from framefleet.engine.backends.cudnn.lowering import lower
from framefleet.engine.backends.cudnn.plans import Plans
from framefleet.engine.cuda.memory import Memory
from framefleet.engine.model.network import Network
from framefleet.plugins.cache import FileCache
from framefleet.plugins.kernels import Kernels, source


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
        self._plain = lower(network)
        self._paired = chained(self._plain)
        self._plans = Plans(library, cache, situation)
        self.has_pairs = self._paired != self._plain
        self.key = f"{library} {hashlib.sha256(source(*KERNELS).encode()).hexdigest()}"

    def build(self, batch: int, pairs: bool, memory: Memory, progress: Progress) -> CudnnEngine:
        """Build an engine. pairs: use our kernels for pairs of pointwise convolutions.

        Raises:
            OutOfMemoryError: the device's memory does not suffice.
            DeviceError: cuDNN or NVRTC cannot build it.
            ModelError: a weight is too large for FP16.
            KernelError: the kernels cannot be compiled.
        """
        kernels = Kernels(self._arch, self._cache, KERNELS)
        program = self._paired if pairs else self._plain
        engine = CudnnEngine(self.library, self._network, program, batch, memory, self._device, kernels)
        engine.prepare(self._plans, self._stream, progress)
        return engine
