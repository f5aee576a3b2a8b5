"""Which strategy a run gets, and how it changes to ``frames`` when its videos turn out to be uncut."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageError
from engine.media.probe import probe
from engine.media.types import Segment, SourceInfo, SourceKind
from engine.pool import worker
from engine.pool.events import DeviceReady, DeviceStarting, Event, FramesDone, SourceFinished, SourceOpened, StrategyChosen
from engine.pool.pool import EnginePool
from engine.pool.protocol import Setup
from engine.pool.strategies import choose, frames
from engine.settings import Decode, Isolation, Parallel
from engine.types import DeviceId
from tests.support.groups import same_detections
from tests.support.media import make_video, rewrap, truncated
from tests.support.pool import CPUS, Seen, run_pool, tiny_settings, with_worker

GPUS = tuple(DeviceId("cuda", str(number)) for number in range(8))
THREE = tuple(DeviceId("cpu", str(number)) for number in range(3))
FRAMES = 230
AUTO = tiny_settings(Parallel.AUTO, confidence=0.1)


def known(
    *, segments: int = 1, count: int = frames.LEAST_FRAMES, name: str = "long.mkv", kind: SourceKind = SourceKind.VIDEO
) -> SourceInfo:
    pieces = tuple(Segment(number, None, None, count // segments) for number in range(segments))
    return SourceInfo(f"/videos/{name}", kind, "h264", 64, 48, count, None, None, pieces)


@pytest.mark.parametrize(
    ("parallel", "devices", "name", "words"),
    [
        (Parallel.AUTO, CPUS[:1], "segments", "there is one device"),
        (Parallel.AUTO, THREE, "segments", "all 3 devices"),
        (Parallel.AUTO, CPUS, "segments", "--parallel frames deals its frames to all"),
        (Parallel.AUTO, GPUS[:2], "segments", "if that left others idle from the start, its frames are dealt to all"),
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


@pytest.mark.parametrize(
    ("sources", "devices", "name"),
    [
        ([known()], GPUS[:2], "frames"),
        ([known()], (*CPUS[:1], *GPUS[:2]), "frames"),
        ([known()], (DeviceId("openvino", "GPU.0"), GPUS[0]), "frames"),
        ([known()] * 3, GPUS, "frames"),
        ([known(count=frames.LEAST_FRAMES // 2)] * 2, GPUS[:3], "frames"),
        ([known()] * 4, GPUS, "segments"),
        ([known()] * 2, GPUS[:2], "segments"),
        ([known()], GPUS[:1], "segments"),
        ([known()], CPUS, "segments"),
        ([known()], (*CPUS, GPUS[0]), "segments"),
        ([known(), known(segments=2)], GPUS[:3], "segments"),
        ([known(kind=SourceKind.IMAGES)], GPUS[:2], "segments"),
        ([known(count=frames.LEAST_FRAMES - 1)], GPUS[:2], "segments"),
        ([], GPUS[:2], "segments"),
    ],
)
def test_frames_are_dealt_where_devices_would_be_idle(sources: list[SourceInfo], devices: tuple[DeviceId, ...], name: str) -> None:
    strategy, reason = choose(AUTO, devices, sources)
    assert strategy.name == name
    assert ("long.mkv cannot be cut" in reason) is (name == "frames")
    assert "from the start" not in reason  # that is over


@pytest.mark.parametrize("parallel", [Parallel.SEGMENTS, Parallel.STREAMS])
def test_what_the_settings_say_stays(parallel: Parallel) -> None:
    strategy, reason = choose(tiny_settings(parallel), GPUS[:2], [known()])
    assert (strategy.name, reason) == (parallel, "as the settings say")


def test_who_wants_nvdec_gets_it() -> None:
    settings = replace(AUTO, engine=replace(AUTO.engine, decode=Decode.NVDEC))
    strategy, reason = choose(settings, GPUS[:2], [known()])
    assert strategy.name == "segments"
    assert choose(settings, GPUS[:2])[1] == reason


def test_the_words_name_the_files_and_what_no_longer_goes() -> None:
    names = ["a.mp4", "b.ts", "c.mkv"]
    strategy, reason = choose(AUTO, GPUS[:4], [known(name=name) for name in names])
    assert "a.mp4, b.ts and c.mkv cannot be cut at keyframes" in reason
    assert "dealt to all 4 devices" in reason
    assert "none can join or leave" in reason
    assert not strategy.elastic


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """whole.mp4, .mkv and .ts have one keyframe, cut.mp4 has many; cut short they are damaged."""
    folder = tmp_path_factory.mktemp("choice")
    make_video(folder / "cut.mp4", FRAMES, (160, 120))
    make_video(folder / "whole.mp4", FRAMES, (160, 120), gop=10 * FRAMES)
    for suffix in ("mkv", "ts"):
        rewrap(folder / "whole.mp4", folder / f"whole.{suffix}")
    truncated(folder / "whole.mkv", folder / "damaged.mkv", 0.95)
    return folder


@pytest.fixture
def dealing(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU devices count as devices of their own, and small videos as long ones."""
    monkeypatch.setattr(frames, "apart", lambda devices: len(devices) > 1)
    monkeypatch.setattr(frames, "LEAST_FRAMES", 200)


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize(
    ("name", "pays"), [("whole.mp4", True), ("whole.mkv", True), ("whole.ts", True), ("damaged.mkv", True), ("cut.mp4", False)]
)
def test_real_files_are_told_apart(name: str, pays: bool, folder: Path) -> None:
    assert frames.pays([probe(folder / name)], CPUS) is pays


def strategies(seen: Seen) -> list[str]:
    return [event.strategy for event in seen.events if isinstance(event, StrategyChosen)]


def check_complete(seen: Seen, source: int = 0) -> None:
    assert seen.finished[source].error is None
    assert seen.finished[source].ledger.inferred == len(seen.frames[source]) == FRAMES
    assert sum(isinstance(event, SourceOpened) and event.source == source for event in seen.events) == 1


@pytest.fixture(scope="module")
def alone(folder: Path) -> Seen:
    """One device, nothing shared."""
    return run_pool([folder / "whole.mp4"], CPUS[:1], AUTO)


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize("isolation", [*Isolation])
def test_a_video_that_cannot_be_cut_is_dealt(isolation: Isolation, folder: Path, alone: Seen) -> None:
    refusals: list[str] = []

    def change(pool: EnginePool, event: Event, _: Seen) -> None:
        if isinstance(event, FramesDone) and not refusals:
            for call, device in ((pool.remove_device, CPUS[0]), (pool.add_device, THREE[2])):
                with pytest.raises(UsageError) as caught:
                    call(device)
                refusals.append(str(caught.value))

    seen = run_pool([folder / "whole.mp4"], CPUS, replace(AUTO, isolation=isolation), change)
    assert strategies(seen) == ["segments", "frames"]
    check_complete(seen)
    same_detections(seen.frames[0], alone.frames[0])
    assert {frame.device for frame in seen.frames[0]} == set(CPUS)
    assert not seen.failures
    assert not seen.left
    done = {device: sum(frame.device == device for frame in seen.frames[0]) for device in CPUS}
    assert {stats.device: stats.frames for stats in seen.stats if stats.final} == done
    assert all("no device can join or leave" in refusal for refusal in refusals)


@pytest.mark.usefixtures("dealing")
def test_a_file_that_can_be_cut_starts_nobody_twice(folder: Path) -> None:
    seen = run_pool([folder / "cut.mp4"], CPUS, AUTO)
    check_complete(seen)
    assert strategies(seen) == ["segments"]
    assert sum(isinstance(event, DeviceStarting) for event in seen.events) == 2


def endless_build_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker whose engine, unless it is a member of a group, is not ready before the run ends."""
    from engine.backends.openvino import OpenVinoBackend

    def endless(*_: object) -> Any:
        while True:
            time.sleep(1)

    OpenVinoBackend._activate_impl = endless  # type: ignore[method-assign]
    worker.main(connection, setup)


@pytest.mark.usefixtures("dealing")
def test_engines_under_way_are_given_up_and_a_file_that_cannot_be_opened_does_not_count(folder: Path) -> None:
    seen = run_pool([folder / "missing.mp4", folder / "whole.mkv"], CPUS, AUTO, pool_type=with_worker(endless_build_main))
    assert "does not exist" in (seen.finished[0].error or "")
    assert strategies(seen) == ["segments", "frames"]
    check_complete(seen, 1)


@pytest.mark.usefixtures("dealing")
def test_engines_that_are_ready_first_are_built_again(folder: Path) -> None:
    seen = run_pool([folder / "whole.mp4"], CPUS, AUTO, when_ready=True)
    check_complete(seen)
    assert strategies(seen) == ["segments", "frames"]
    assert len(seen.ready) == 4


@pytest.mark.usefixtures("dealing")
def test_a_file_that_comes_later_keeps_the_strategy(folder: Path) -> None:
    """Also where it would have been another one."""
    for first, later, chosen in (("whole.mp4", "cut.mp4", ["segments", "frames"]), ("cut.mp4", "whole.mp4", ["segments"])):
        added: list[int] = []

        def add(pool: EnginePool, event: Event, _: Seen, path: Path = folder / later, added: list[int] = added) -> None:
            if isinstance(event, FramesDone) and not added:
                added.append(pool.add(path))
                pool.finish()

        with EnginePool(AUTO, CPUS) as pool:
            pool.add(folder / first)
            seen = Seen()
            for event in pool.events():
                seen.add(event)
                add(pool, event, seen)
        assert strategies(seen) == chosen
        check_complete(seen, 0)
        check_complete(seen, 1)


@pytest.mark.usefixtures("dealing")
def test_a_run_that_a_device_has_joined_stays_open_to_them(folder: Path) -> None:
    def join(pool: EnginePool, event: Event, _: Seen) -> None:
        if isinstance(event, DeviceStarting) and event.device == CPUS[1]:
            pool.add_device(THREE[2])

    seen = run_pool([folder / "whole.mp4"], CPUS, AUTO, join)
    check_complete(seen)
    assert set(strategies(seen)) == {"segments"}


def cancel(pool: EnginePool) -> None:
    pool.cancel()


def close(pool: EnginePool) -> None:
    pool.close()


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize("end", [cancel, close])
@pytest.mark.parametrize("phase", [StrategyChosen, DeviceStarting, DeviceReady])
def test_it_may_end_while_the_devices_change(end: Callable[[EnginePool], None], phase: type[Event], folder: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, phase) and strategies(seen) == ["segments", "frames"]:
            end(pool)

    seen = run_pool([folder / "whole.mp4"], CPUS, AUTO, react)
    assert strategies(seen) == ["segments", "frames"]
    assert [event.cancelled for event in seen.events if isinstance(event, SourceFinished)] == ([True] if end is cancel else [])
