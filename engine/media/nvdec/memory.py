"""Memory of a GPU for decoded frames."""

from cuda.core import Device, Stream

from framefleet.engine.cuda.memory import Memory, cuda_errors
from framefleet.engine.media.nvdec.surfaces import SurfaceRing
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId


def device_surfaces(index: int, count: int, budget: int) -> SurfaceRing:
    """A ring on a CUDA device: at most ``count`` frames and ``budget`` bytes."""
    device = Device(index)
    device.set_current()
    stream = device.create_stream()
    return SurfaceRing(count, budget, lambda nbytes: _DeviceMemory(index, stream, nbytes))


class _DeviceMemory:
    """An ``Allocation`` on a GPU."""

    def __init__(self, index: int, stream: Stream, nbytes: int) -> None:
        device = Device(index)
        device.set_current()
        self._memory = Memory(device, stream)
        with cuda_errors(DeviceId("cuda", str(index)), Notice("cuda.hold_frames")):
            self.address = self._memory.device(nbytes)

    def close(self) -> None:
        self._memory.close()
