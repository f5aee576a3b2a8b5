from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.app.cli.bench.pipeline import as_text
from framefleet.app.cli.bench.scaling import Facts, as_json, markdown, summary
from framefleet.engine.bench.scaling import Mode, Point
from framefleet.engine.devices.discovery import default_devices
from tests.support.cli import FAST, TINY, run_main
from tests.support.media import make_video
from tests.support.scaling import pool_run

RATES = {Mode.WEAK: {1: 2200, 2: 4356, 4: 8580}, Mode.STRONG: {1: 2200, 2: 4290, 4: 8360}}
POINTS = [
    Point(mode, count, (pool_run(count, rate),), (pool_run(1, rates[1]),)) for mode, rates in RATES.items() for count, rate in rates.items()
]
FACTS = Facts("framefleet bench scaling", "a clip", "yolov4, random weights")


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("videos") / "video.mp4", 100, (64, 48), gop=50)


@pytest.mark.usefixtures("short_measurements")
def test_scaling_writes_its_report(tmp_path: Path, video: Path) -> None:
    options = ("--precision", "fp32", "--source", video, "--seconds", "0.1", "--out", tmp_path / "report", "--mode", "strong")
    run = run_main("bench", "scaling", *TINY, *options, "--devices", "cpu:0", "--json")
    assert run.status == 0, run.err
    report = run.report
    assert [(point["mode"], point["count"]) for point in report["points"]] == [("strong", 1)]
    for point in report["points"]:
        assert point["frames_per_s"] > 0
        assert len(point["devices"]) == point["count"]
        assert point["devices"][0]["stages_ms"]["infer"] > 0
        assert point["bottleneck"]
    assert json.loads((tmp_path / "report" / "scaling.json").read_text()) == report
    assert "| strong | 1 |" in (tmp_path / "report" / "scaling.md").read_text()


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path: Path, video: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    run = run_main("bench", "scaling", *TINY, "--source", video, "--out", tmp_path / "file")
    assert run.status == 2
    assert f"cannot make {tmp_path / 'file'}: {tmp_path / 'file'} is a file: choose another folder" in run.err
    assert "a trial" not in run.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_a_measurement_that_is_terminated_leaves_no_videos(tmp_path: Path, video: Path) -> None:
    command = [sys.executable, "-m", "framefleet.app.main", "bench", "scaling", *TINY, "--source", str(video), "--seconds", "30"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 60
            while not [*tmp_path.glob("framefleet-*/*.mp4")] and process.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            assert [*tmp_path.glob("framefleet-*/*.mp4")]
            process.send_signal(signal.SIGHUP)
            assert process.wait(60) == 128 + signal.SIGHUP
        finally:
            process.kill()
    assert [*tmp_path.glob("framefleet-*")] == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_an_interrupted_measurement_reports_its_finished_runs(tmp_path: Path, video: Path) -> None:
    options = ("--source", video, "--seconds", "0.1", "--rounds", "100", "--mode", "strong", "--devices", "cpu:0", "--precision", "fp32")
    command = [sys.executable, "-m", "framefleet.app.main", "bench", "scaling", *TINY, *map(str, options), "--json", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert any(line.startswith("round 2") for line in process.stderr), "the first round has not finished"
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 128 + signal.SIGINT
    assert [(point["mode"], point["count"]) for point in json.loads(out)["points"]] == [("strong", 1)]
    assert json.loads((tmp_path / "scaling.json").read_text()) == json.loads(out)


def test_pipeline(video: Path) -> None:
    run = run_main("bench", "pipeline", video, *FAST, "--times", "2", "--json")
    assert run.status == 0, run.err
    assert run.report["frames"] == 200
    assert run.report["devices"][0]["frames"] == 200


def test_the_text_of_pipeline_names_each_device_and_the_bottleneck() -> None:
    lines = as_text(pool_run(2, 4000)).splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["device", "cuda:0", "cuda:1"]
    assert lines[-1].startswith("bottleneck: network on 2 of 2 devices (")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scaling", *TINY, "--counts", "2,4"], "beginning with 1"),
        (["scaling", *TINY, "--mode", "sideways"], "'sideways' is unknown; choose from: weak, strong"),
        (["scaling"], "no model"),
        (["pipeline", "none.mp4", *TINY], "none.mp4"),
        (["scaling", *TINY, "--source", "none.mp4"], "none.mp4 does not exist"),
        (["scaling", *TINY, "--source", "rtsp://camera/1"], "rtsp://camera/1 is the address"),
        (["scaling", *TINY, "--source", "app"], "app cannot be repeated"),
        (["scaling", *TINY, "--rounds", "0"], "argument --rounds: '0' cannot be used: give a whole number from 1 to 100"),
        (
            ["pipeline", "none.mp4", *TINY, "--times", "many"],
            "argument --times: 'many' cannot be used: give a whole number from 1 to 10000",
        ),
    ],
)
def test_unusable_options(arguments: list[str], message: str) -> None:
    run = run_main("bench", *arguments)
    assert run.status == 2
    assert message in run.err


def test_the_report_names_the_outcome() -> None:
    assert summary(POINTS) == (
        "weak scaling 3.90× on 4 (98% of ideal), bottleneck: network on 4 of 4 devices;"
        " strong scaling 3.80× on 4 (95% of ideal, 3.80× over the whole file), bottleneck: network on 4 of 4 devices"
    )
    page = markdown(POINTS, FACTS)
    assert "| weak | 4 | 8580.0 | **3.90×** |" in page
    assert "device: network" in page
    assert "12 segments at once in each device;" in page
    assert "share the cores" not in page
    assert as_json(POINTS, FACTS)["points"][-1]["efficiency"] == 0.95


def test_the_report_counts_one_segment_as_one() -> None:
    run = pool_run(1, 270)
    alone = replace(run, devices=tuple(replace(device, engine=replace(device.engine, decode_threads=1)) for device in run.devices))
    assert "1 segment at once in each device;" in markdown([Point(Mode.WEAK, 1, (alone,), (alone,))], FACTS)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system binds no processes")
def test_a_process_that_may_use_one_core_has_one_cpu_device() -> None:
    if default_devices()[0].kind != "cpu":
        pytest.skip("this machine has a GPU, which is measured instead of the CPU")
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(mine)})
    try:
        run = run_main("bench", "scaling", *TINY, "--counts", "1,2", "--seconds", "0.1")
    finally:
        os.sched_setaffinity(0, mine)
    assert run.status == 2
    assert "2 devices are to be measured, and there is 1: cpu:0" in run.err
