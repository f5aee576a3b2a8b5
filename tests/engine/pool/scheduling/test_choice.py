"""Which strategy a run gets, before and after a device has measured what the sources need: without a process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.backends.base import EngineInfo
from engine.errors import UsageError
from engine.media.types import Segment, SourceInfo, SourceKind
from engine.pool.events import StrategyChosen
from engine.pool.protocol import Surveyed
from engine.pool.scheduling.choice import Choice
from engine.pool.scheduling.strategies import choose, frames, may_deal
from engine.settings import Decode, Parallel
from engine.types import DeviceId
from tests.support.pool import CPUS, tiny_settings

GPUS = tuple(DeviceId("cuda", str(number)) for number in range(8))
THREE = tuple(DeviceId("cpu", str(number)) for number in range(3))
AUTO = tiny_settings(Parallel.AUTO)
MANY = 100_000


def known(*, segments: int = 1, count: int = MANY, name: str = "long.mkv", kind: SourceKind = SourceKind.VIDEO) -> SourceInfo:
    pieces = tuple(Segment(number, None, None, count // segments) for number in range(segments))
    return SourceInfo(f"/videos/{name}", kind, "h264", 64, 48, count, None, None, pieces)


def engine(device: DeviceId, images_per_s: float | None = None) -> EngineInfo:
    return EngineInfo(device, "A device", "A library", "fp16", "", 608, 608, 32, 3, 12, images_per_s)


@pytest.mark.parametrize(
    ("parallel", "devices", "name", "words"),
    [
        (Parallel.AUTO, CPUS[:1], "segments", "there is one device"),
        (Parallel.AUTO, THREE, "segments", "all 3 devices"),
        (Parallel.AUTO, CPUS, "segments", "the strategy 'frames' deals its frames to all"),
        (Parallel.AUTO, GPUS[:2], "segments", "if that left others idle from the start, it is measured what is faster"),
        (Parallel.STREAMS, GPUS[:3], "streams", "as the settings say"),
        (Parallel.SEGMENTS, CPUS[:1], "segments", "as the settings say"),
    ],
)
def test_the_choice_before_the_sources_are_known_is_explained(
    parallel: Parallel, devices: tuple[DeviceId, ...], name: str, words: str
) -> None:
    strategy, reason = choose(tiny_settings(parallel), devices)
    assert strategy.name == name
    assert words in reason
    assert "measured" not in choose(tiny_settings(parallel), devices, settled=True)[1]


@pytest.mark.parametrize(
    ("sources", "devices", "may"),
    [
        ([known()], GPUS[:2], True),
        ([known()], (*CPUS[:1], *GPUS[:2]), True),
        ([known()], (DeviceId("openvino", "GPU.0"), GPUS[0]), True),
        ([known()] * 7, GPUS, True),
        ([known(count=frames.LEAST_FRAMES // 2)] * 2, GPUS[:3], True),
        ([known()] * 8, GPUS, False),
        ([known()] * 2, GPUS[:2], False),
        ([known()], GPUS[:1], False),
        ([known()], CPUS, False),
        ([known()], (*CPUS, GPUS[0]), False),
        ([known(), known(segments=2)], GPUS[:3], False),
        ([known(kind=SourceKind.IMAGES)], GPUS[:2], False),
        ([known(count=frames.LEAST_FRAMES - 1)], GPUS[:2], False),
        ([], GPUS[:2], False),
    ],
)
def test_frames_may_be_dealt_where_devices_would_be_idle(sources: list[SourceInfo], devices: tuple[DeviceId, ...], may: bool) -> None:
    assert may_deal(AUTO, devices, sources) is may
    choice = Choice(AUTO, devices)
    for device in devices:
        choice.ready(device, engine(device))
    asked = choice.survey(dict(enumerate(sources)), devices)
    assert (asked is not None) is choice.pending is may
    assert not choice.settled


@pytest.mark.parametrize("parallel", [Parallel.SEGMENTS, Parallel.STREAMS])
def test_what_the_settings_say_stays(parallel: Parallel) -> None:
    choice = Choice(tiny_settings(parallel), GPUS[:2])
    choice.ready(GPUS[0], engine(GPUS[0]))
    assert choice.settled
    assert choice.survey({0: known()}, GPUS[:2]) is None
    assert choice.current == StrategyChosen(parallel, "as the settings say")


def test_nvdec_without_a_gpu_is_refused() -> None:
    settings = replace(AUTO, engine=replace(AUTO.engine, decode=Decode.NVDEC))
    with pytest.raises(UsageError, match=r"NVDEC is part of NVIDIA's GPUs.*cpu:0, cpu:1"):
        Choice(settings, CPUS)
    Choice(settings, (*CPUS, *GPUS))


def test_who_wants_nvdec_gets_it() -> None:
    settings = replace(AUTO, engine=replace(AUTO.engine, decode=Decode.NVDEC))
    assert not may_deal(settings, GPUS[:2], [known()])
    assert "measured" not in choose(settings, GPUS[:2])[1]


def surveyed(own: float | None, shared: float | None, devices: tuple[DeviceId, ...] = GPUS[:4], count: int = 1) -> Choice:
    """A choice after one device has answered."""
    sources = {number: known() for number in range(count)}
    choice = Choice(AUTO, devices)
    assert choice.survey(sources, devices) is None, "nobody is ready"
    assert choice.pending
    choice.ready(devices[1], engine(devices[1], 2500))
    asked = choice.survey(sources, devices)
    assert asked is not None
    assert asked[0] == devices[1]
    assert (asked[1].source, asked[1].info) == (0, known())
    assert choice.survey(sources, devices) is None, "it was asked already"
    assert choice.conclude(sources, devices) is None, "it has not answered"
    choice.surveyed(devices[1], Surveyed(0, own, shared, on_device=True))
    assert choice.pending
    chosen = choice.conclude(sources, devices)
    assert chosen == choice.current
    assert choice.settled
    assert not choice.pending
    return choice


def test_the_faster_strategy_is_chosen_and_told() -> None:
    dealt = surveyed(570, 2000)
    assert dealt.strategy.name == "frames"
    assert "dealt to all 4 devices, as it cannot be cut at keyframes: about 2,000 frames/s" in dealt.reason
    assert not dealt.strategy.elastic
    stays = surveyed(570, 217)
    assert stays.strategy.name == "segments"
    assert "stays on one device: about 570 frames/s" in stays.reason
    assert surveyed(570, 2000, count=3).strategy.name == "frames"
    assert surveyed(700, 2000, count=3).strategy.name == "segments"


@pytest.mark.parametrize(("own", "shared"), [(None, 2000.0), (570.0, None), (None, None)])
def test_what_could_not_be_measured_changes_nothing(own: float | None, shared: float | None) -> None:
    choice = surveyed(own, shared)
    assert choice.strategy.name == "segments"
    assert "could not be measured" in choice.reason


def test_cpus_beside_gpus_are_not_asked_and_do_not_count() -> None:
    devices = (*CPUS[:1], *GPUS[:2])
    choice = Choice(AUTO, devices)
    choice.ready(CPUS[0], engine(CPUS[0]))
    assert choice.survey({0: known()}, devices) is None
    assert choice.pending, "the GPUs come soon"
    choice.ready(GPUS[1], engine(GPUS[1], 100))
    asked = choice.survey({0: known()}, devices)
    assert asked is not None
    assert asked[0] == GPUS[1]
    choice.surveyed(GPUS[1], Surveyed(0, 500, 5000, on_device=True))
    choice.conclude({0: known()}, devices)
    assert "about 200 frames/s (what the network allows) instead of 100" in choice.reason


def test_others_that_are_ready_count_as_fast_as_they_are() -> None:
    choice = Choice(AUTO, GPUS[:3])
    for device, speed in zip(GPUS, (1000, 50), strict=False):
        choice.ready(device, engine(device, speed))
    asked = choice.survey({0: known()}, GPUS[:3])
    assert asked is not None
    choice.surveyed(asked[0], Surveyed(0, 5000, 5000, on_device=True))
    choice.conclude({0: known()}, GPUS[:3])
    assert "about 2,000 frames/s (what the network allows) instead of 1,000" in choice.reason  # 1000 + 50 + 1000


@pytest.mark.parametrize("what", ["lost", "settled", "another source", "the source is gone", "not known", "a device less"])
def test_an_answer_that_comes_too_late_changes_nothing(what: str) -> None:
    sources: dict[int, SourceInfo] | None = {0: known()}
    devices = GPUS[:2]
    choice = Choice(AUTO, devices)
    choice.ready(GPUS[0], engine(GPUS[0]))
    assert choice.survey(sources, devices) is not None
    match what:
        case "lost":
            choice.lost(GPUS[0])
        case "settled":
            choice.settle()
        case "another source":
            sources = {0: known(), 1: known(segments=3)}
        case "the source is gone":
            sources = {1: known()}
        case "not known":
            sources = None
        case "a device less":
            devices = GPUS[:1]
    assert choice.survey(sources, devices) is None
    assert choice.pending is (what not in ("lost", "settled"))
    choice.surveyed(GPUS[0], Surveyed(0, 100, 1000, on_device=True))
    assert choice.conclude(sources, devices) is None
    assert choice.settled
    assert not choice.pending
    assert choice.strategy.name == "segments"
