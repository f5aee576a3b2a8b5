"""Which strategy a run gets, and its reason, without a process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from framefleet.engine.media.types import Segment
from framefleet.engine.pool.scheduling.strategies import Segments, Strategy, Streams, create_strategy, explain
from framefleet.engine.settings import Isolation, Parallel
from framefleet.engine.types import DeviceId
from tests.support.pool import CPUS, small_settings

CPU = DeviceId("cpu", "0")


@pytest.mark.parametrize("strategy", [Segments([CPU]), Streams([CPU])])
def test_the_oldest_source_comes_first_whichever_was_opened_first(strategy: Strategy) -> None:
    for source in (2, 0, 1):
        strategy.open(source, [Segment(0, None, None, 10)])
    sources = []
    while (work := strategy.next(CPU, 1, lambda _: None)) is not None:
        sources.append(work.source)
        strategy.done(work)
    assert sources == [0, 1, 2]


GPUS = tuple(DeviceId("cuda", str(number)) for number in range(8))
AUTO = small_settings(Parallel.AUTO)
HINT = "--parallel frames"


@pytest.mark.parametrize(
    ("parallel", "devices", "name", "words"),
    [
        (Parallel.AUTO, CPUS[:1], "segments", "cpu:0 is the only device"),
        (Parallel.AUTO, CPUS, "segments", "all 2 devices"),
        (Parallel.AUTO, GPUS[:3], "segments", "all 3 devices"),
        (Parallel.SEGMENTS, CPUS[:1], "segments", "as the settings say"),
        (Parallel.STREAMS, GPUS[:3], "streams", "as the settings say"),
        (Parallel.FRAMES, GPUS[:3], "frames", "as the settings say"),
        (Parallel.TILES, GPUS[:3], "tiles", "as the settings say: tiles of about the network's size"),
        (Parallel.DEPTH, GPUS[:3], "depth", "as the settings say"),
    ],
)
def test_the_strategy_and_its_reason(parallel: Parallel, devices: tuple[DeviceId, ...], name: str, words: str) -> None:
    settings = small_settings(parallel)
    assert create_strategy(settings, devices).name == name
    assert words in str(explain(settings, devices))
    assert HINT not in str(explain(settings, devices))


@pytest.mark.parametrize(
    ("uncut", "devices", "hint"),
    [
        (1, GPUS[:2], True),
        (7, GPUS, True),
        (1, CPUS, True),
        (0, GPUS[:2], False),
        (2, GPUS[:2], False),
        (1, GPUS[:1], False),
        (1, (*CPUS, GPUS[0]), False),
    ],
)
def test_videos_that_leave_devices_idle_give_a_hint(uncut: int, devices: tuple[DeviceId, ...], hint: bool) -> None:
    assert (HINT in str(explain(AUTO, devices, uncut))) is hint
    assert HINT not in str(explain(small_settings(Parallel.SEGMENTS), devices, uncut))


def test_depth_begins_on_each_gpu_once() -> None:
    settings = small_settings(Parallel.DEPTH)
    assert list(map(str, create_strategy(settings, GPUS[:3]).workers)) == [
        "cuda:0+cuda:1+cuda:2",
        "cuda:1+cuda:2+cuda:0",
        "cuda:2+cuda:0+cuda:1",
    ]
    threads = replace(settings, isolation=Isolation.THREAD)
    assert list(map(str, create_strategy(threads, GPUS[:2]).workers)) == ["cuda:0+cuda:1"]
    assert list(map(str, create_strategy(settings, CPUS).workers)) == ["cpu:0+cpu:1"]
