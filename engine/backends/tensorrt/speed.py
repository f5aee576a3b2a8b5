"""What a built engine does on its device, measured in a moment: how many pictures it takes, and how many bytes reach it."""

from __future__ import annotations

import time

from cuda.core import Device, EventOptions, Stream

from engine.backends.tensorrt.slot import Slot
from engine.cuda.graph import copy
from engine.cuda.memory import Memory

_SECONDS = 0.05
_UPLOAD_BYTES, _UPLOADS = 4 * 2**20, 4


def images_per_s(slot: Slot, batch: int) -> float:
    """Images/s of batches without pictures, one after the other. The slot is not in use."""
    launches, started = 0, time.perf_counter()
    while launches == 0 or time.perf_counter() - started < _SECONDS:
        slot.launch()
        slot.read(())
        launches += 1
    return batch * launches / (time.perf_counter() - started)


def upload_bytes_per_s(device: Device, stream: Stream) -> float:
    """Bytes/s from pinned memory to the current device.

    Raises:
        Exception: of CUDA, see ``cuda_errors``.
    """
    memory = Memory(device, stream)
    try:
        host, address = memory.pinned(_UPLOAD_BYTES), memory.device(_UPLOAD_BYTES)
        begun, done = (device.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
        copy(address, host.ctypes.data, host.nbytes, stream)  # a link that had nothing to do wakes up first
        stream.record(begun)
        for _ in range(_UPLOADS):
            copy(address, host.ctypes.data, host.nbytes, stream)
        stream.record(done)
        done.sync()
        return 1000 * _UPLOADS * _UPLOAD_BYTES / float(done - begun)
    finally:
        stream.sync()
        memory.close()
