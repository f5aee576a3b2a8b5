from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.bench.pool_run import Clips, PoolRun, RunWatch, run_pool
from framefleet.engine.bench.scaling import Experiment, Mode, Point, measure_scaling
from framefleet.engine.media.types import Segment, SourceInfo, SourceKind
from framefleet.engine.notices import DeviceError, SourceError, UsageError
from framefleet.engine.pool.events import DeviceReady, DeviceStarting, DeviceStats, Event, FramesDone, SourceFinished, SourceOpened
from framefleet.engine.settings import EngineSettings, Parallel, Precision, RunSettings
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from tests.support.media import make_video
from tests.support.models import small_files
from tests.support.scaling import pool_run

CPUS = (DeviceId("cpu", "0"), DeviceId("cpu", "1"))
SETTINGS = RunSettings(small_files(), parallel=Parallel.SEGMENTS, engine=EngineSettings(precision=Precision.FP32))
SHORT = 50


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("videos") / "video.mp4", 300, (64, 48), gop=50)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("videos") / "short.mp4", SHORT, (64, 48), gop=50)


def test_a_source_named_from_here(video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(video.parent)
    clips = Clips(tmp_path, Path(video.name))
    assert clips.of(700).stat().st_size > video.stat().st_size
    assert clips.name == video.name


def test_a_run_is_measured_from_events(video: Path) -> None:
    seen: list[Event] = []
    run = run_pool(SETTINGS, CPUS, [video], show=seen.append)
    assert run.strategy == "segments"
    assert run.frames == run.announced == 300
    assert run.segments == 3
    assert [device.engine.device for device in run.devices] == [*CPUS]
    assert sum(device.frames for device in run.devices) == 300
    assert run.frames_per_s > 0
    assert run.seconds > 0
    assert 0 <= run.pool_load < 2
    assert run.bottleneck != "unknown"
    assert run.host_cost is None or run.host_cost > 0
    assert {"decode", "infer"} <= run.devices[0].stages.keys()
    assert any(isinstance(event, DeviceStats) and event.final for event in seen)


def test_streams_are_measured_until_the_first_ends(short: Path, video: Path) -> None:
    ended: list[SourceFinished] = []
    streams = RunSettings(SETTINGS.model, parallel=Parallel.STREAMS, engine=SETTINGS.engine)
    run = run_pool(
        streams,
        CPUS,
        [short, video],
        until_first=True,
        show=lambda event: ended.append(event) if isinstance(event, SourceFinished) else None,
    )
    assert [event.cancelled for event in ended] == [False, True]
    assert run.frames < SHORT + 300


def test_a_run_can_be_stopped_after_some_time(video: Path) -> None:
    run = run_pool(SETTINGS, CPUS[:1], [video] * 5, most_seconds=0.1)
    assert run.frames < 5 * 300


def test_what_cannot_be_measured(tmp_path: Path, video: Path) -> None:
    (tmp_path / "broken.mp4").write_text("no video")
    with pytest.raises(SourceError, match="source 1 cannot be measured"):
        run_pool(SETTINGS, CPUS[:1], [tmp_path / "broken.mp4"])
    with pytest.raises(DeviceError, match="failed during the measurement"):
        run_pool(SETTINGS, [DeviceId("openvino", "GPU.9")], [video])


@pytest.mark.usefixtures("short_measurements")
def test_every_mode_and_count(short: Path, tmp_path: Path) -> None:
    experiment = Experiment(SETTINGS, CPUS, (1, 2), seconds=0.1)
    points = list(measure_scaling(experiment, Clips(tmp_path, short)))
    assert [(point.mode, point.count) for point in points] == [(Mode.WEAK, 1), (Mode.WEAK, 2), (Mode.STRONG, 1), (Mode.STRONG, 2)]
    for one, two in (points[:2], points[2:]):
        assert one.run.strategy == two.run.strategy == ("streams" if one.mode is Mode.WEAK else "segments")
        assert (len(one.run.devices), len(two.run.devices)) == (1, 2)
        assert one.ideal == two.ideal == 1  # they share the cores
        assert two.speedup == two.run.frames_per_s / one.run.frames_per_s
    weak, strong = points[1].run, points[3].run
    assert strong.announced == strong.frames == pytest.approx(weak.announced, abs=2 * SHORT), "videos are multiples of the short one"


@pytest.mark.slow
@pytest.mark.usefixtures("short_measurements")
def test_rounds_come_one_after_the_other_and_one_device_runs_the_whole_network(short: Path, tmp_path: Path) -> None:
    experiment = Experiment(replace(SETTINGS, parallel=Parallel.DEPTH), CPUS[:1], (1,), (Mode.STRONG,), seconds=0.1, rounds=2)
    first, second = measure_scaling(experiment, Clips(tmp_path, short))
    assert len(first.runs) == 1
    assert second.runs == second.ones
    assert second.runs[:1] == first.runs
    assert second.speedups == [1, 1]
    assert {run.strategy for run in second.runs} == {"segments"}


def test_speedup_is_of_the_same_round() -> None:
    runs: list[PoolRun] = [pool_run(2, 180), pool_run(2, 400)]
    point = Point(Mode.STRONG, 2, tuple(runs), (pool_run(1, 100), pool_run(1, 200)))
    assert point.speedups == [1.8, 2.0]
    assert point.whole_speedups == pytest.approx([1.8, 2.0])
    assert (point.speedup, point.ideal) == (pytest.approx(1.9), 2)
    assert point.efficiency == pytest.approx(0.95)


def test_devices_of_a_group_count() -> None:
    run = pool_run(1, 100)
    for kind, ideal in (("cuda", 2), ("cpu", 1)):
        group = DeviceId.group(DeviceId(kind, "0"), DeviceId(kind, "1"))
        device = replace(run.devices[0], engine=replace(run.devices[0].engine, device=group))
        assert Point(Mode.STRONG, 2, (replace(run, devices=(device,)),), (run,)).ideal == ideal


def test_a_run_that_becomes_faster_is_seen() -> None:
    watch = RunWatch(1)
    device = CPUS[0]
    engine = pool_run(1, 1, kind="cpu").devices[0].engine
    with pytest.MonkeyPatch.context() as patch:
        now = 0.0
        patch.setattr("framefleet.engine.bench.pool_run.time.perf_counter", lambda: now)
        info = SourceInfo("video", SourceKind.VIDEO, "h264", 64, 48, 1000, None, None, (Segment(0, None, None, 1000),))
        result = FrameResult(FrameRef(0, 0, 0.0), device, 64, 48, Detections())
        for event in (DeviceStarting(device, 1), DeviceReady(engine), SourceOpened(0, info), FramesDone(0, (result,) * 100)):
            watch.see(event)
        for second, frames in enumerate((100, 150, 200, 250, 350, 450, 550)):
            now = 1.0 + second
            watch.see(DeviceStats(device, frames, 0.0, None, None))
        now = 7.5
        watch.end()
    run = watch.result()
    assert run.drift == pytest.approx(100 / 50, rel=0.3)
    assert run.frames_per_s == pytest.approx(450 / 6)
    assert run.seconds == pytest.approx(7.5)


def test_frames_out_of_order_do_not_make_a_short_run_faster() -> None:
    watch = RunWatch(1)
    engine = pool_run(1, 1, kind="cpu").devices[0].engine
    with pytest.MonkeyPatch.context() as patch:
        now = 0.0
        patch.setattr("framefleet.engine.bench.pool_run.time.perf_counter", lambda: now)
        info = SourceInfo("video", SourceKind.VIDEO, "h264", 64, 48, 1000, None, None, (Segment(0, None, None, 1000),))
        result = FrameResult(FrameRef(0, 0, 0.0), CPUS[0], 64, 48, Detections())
        for event in (DeviceStarting(CPUS[0], 1), DeviceReady(engine), SourceOpened(0, info)):
            watch.see(event)
        for frames in (100, 900):  # the frames of other segments were finished in the first second, too
            now += 1.0
            watch.see(FramesDone(0, (result,) * frames))
        watch.end()
    run = watch.result()
    assert run.frames_per_s == run.whole_per_s == 500


def test_the_bottleneck_in_words() -> None:
    assert pool_run(4, 100).bottleneck == "network on 4 of 4 devices"
    assert pool_run(1, 100, host_load=0.95).bottleneck == "network; the host's processors are 95% busy"
    assert pool_run(8, 100, pool_load=0.97).bottleneck == "the pool's own process (97% of a processor)"


@pytest.mark.parametrize(
    ("counts", "message"),
    [((2,), "beginning with 1"), ((1, 4, 2), "growing numbers"), ((), "growing"), ((1, 3), "3 devices are to be measured")],
)
def test_counts_that_cannot_be(counts: tuple[int, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Experiment(SETTINGS, CPUS, counts)


def test_a_source_that_cannot_be_repeated(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no video to measure with: .*none\.mp4"):
        Clips(tmp_path, tmp_path / "none.mp4").of(10)
