"""Threads that wait for a device sleep, or use a processor, as asked."""

from __future__ import annotations

import gc
import weakref

import pytest

from framefleet.engine.types import DeviceId

try:
    from cuda.bindings import driver
    from cuda.core import EventOptions, Stream
    from cuda.core.graph import Graph

    from framefleet.engine.cuda.device import open_device
    from framefleet.engine.cuda.graph import Mark, record
except ImportError:
    pytest.skip("cuda-python is not installed", allow_module_level=True)


@pytest.mark.parametrize(("sleep", "way"), [(True, "CU_CTX_SCHED_BLOCKING_SYNC"), (False, "CU_CTX_SCHED_AUTO")])
def test_a_device_is_waited_for_as_asked(sleep: bool, way: str) -> None:
    device = open_device(DeviceId("cuda", "0"), sleep)
    status, flags, is_active = driver.cuDevicePrimaryCtxGetState(device.device_id)
    assert (status, is_active) == (driver.CUresult.CUDA_SUCCESS, 1)
    assert flags & driver.CUctx_flags.CU_CTX_SCHED_MASK == getattr(driver.CUctx_flags, way)


class _Collected:
    """A step that allocates so much that Python's garbage collector runs."""

    def launch(self, _stream: Stream) -> None:
        assert len([[] for _ in range(20_000)]) == 20_000


def test_garbage_is_not_freed_in_a_recording() -> None:
    """The collector would free graphs of CUDA, which the recording forbids to its thread."""

    class Cycle:
        def __init__(self, graph: Graph) -> None:
            self.graph, self.itself = graph, self

    device = open_device(DeviceId("cuda", "0"), False)
    stream = device.create_stream()
    mark = Mark(device.create_event(EventOptions(timing_enabled=True)))
    gc.collect()
    lost = weakref.ref(Cycle(record([mark], stream)))
    graph = record([_Collected(), mark], stream)
    assert lost() is not None
    assert gc.isenabled()
    graph.launch(stream)
    stream.sync()
