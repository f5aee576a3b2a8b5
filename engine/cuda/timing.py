"""Times work on a device by its own clock."""

import statistics
import time
from collections.abc import Sequence

from cuda.core import Device, EventOptions, Stream

from framefleet.engine.cuda.graph import Step, record

_WARM_UP_SECONDS = 0.2
"""Time for which steps run before they are timed, so that the device raises its clocks."""


def time_steps(device: Device, stream: Stream, steps: Sequence[Step], rounds: int, warm_up: float = _WARM_UP_SECONDS) -> float:
    """ms of the steps as one CUDA graph: the median of some rounds, after a warm-up of at least one launch."""
    for step in steps:  # the first launch of a kernel may allocate, which a recording forbids
        step.launch(stream)
    stream.sync()
    graph = record(steps, stream)
    start = time.perf_counter()
    while True:
        graph.launch(stream)
        stream.sync()
        if time.perf_counter() - start >= warm_up:
            break
    begun, done = (device.create_event(EventOptions(timing_enabled=True)) for _ in range(2))
    times = []
    for _ in range(rounds):
        stream.record(begun)
        graph.launch(stream)
        stream.record(done)
        done.sync()
        times.append(float(done - begun))
    return statistics.median(times)
