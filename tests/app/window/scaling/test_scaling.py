"""The scaling panel: results of the bench command and of stored runs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from framefleet.app import scaling_results
from framefleet.app.scaling_results import Speed, keep, read_series, read_speeds
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.scaling.chart import tick_step
from framefleet.app.window.scaling.panel import COMMAND, ScalingPanel
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings import RunSettings
from framefleet.engine.settings.kinds import Moments
from framefleet.engine.store.facts import run_facts
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, EngineInfo, FrameRef, FrameResult
from tests.support.cli import TINY, run_main
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.store import video_info

NONE = Path("/nonexistent")
H200 = {"weak": {1: 2356.6, 2: 4683.9, 4: 9455.7}, "strong": {1: 2319.7, 2: 4606.3, 4: 9188.6}}
"""Frames/s on four H200, benchmarks/results/scaling-h200.md."""


def report(rates: Mapping[str, Mapping[int, float]] = H200, name: str = "NVIDIA H200") -> dict[str, object]:
    """A report of the bench command with these rates, with what the panel reads."""
    points = [
        {"mode": mode, "count": count, "frames_per_s": rate, "ideal": count if "NVIDIA" in name else 1, "devices": [{"name": name}] * count}
        for mode, by_count in rates.items()
        for count, rate in by_count.items()
    ]
    return {"model": "yolov4, 608×608, fp16", "source": "a clip", "points": points}


def store_run(path: Path, devices: int, seconds: float, frames: int = 400, every: str = "") -> None:
    """Write the session of a finished run of the tiny model that these CPU devices shared equally."""
    settings = RunSettings.of(tiny_files(), {"every": Moments().read(every)} if every else {})
    with SessionWriter(path, ("car",), run_facts(settings)) as writer:
        info: SourceInfo = video_info("a.mp4", frames)
        writer.add_source(0, "a.mp4", info)
        ids = [DeviceId("cpu", str(number)) for number in range(devices)]
        for device in ids:
            writer.add_device(EngineInfo(device, "Some Processor", "OpenVINO", "bf16", "the fastest", 96, 96, 1, 2))
        nothing = Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int32))
        writer.add_frames([FrameResult(FrameRef(0, n, n / 25), ids[n % devices], 96, 96, nothing) for n in range(frames)])
        writer.finish_source(0, "a.mp4", Ledger(frames, frames), seconds, None, False)


@pytest.mark.usefixtures("short_measurements")
def test_the_bench_command_keeps_its_result_and_the_window_shows_it(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("framefleet.app.cli.bench.scaling.results_folder", lambda: window.scaling.results)
    video = make_video(tmp_path / "video.mp4", 100, (64, 48), gop=50)
    options = ("--precision", "fp32", "--source", video, "--seconds", "0.1", "--mode", "strong", "--devices", "cpu:0,cpu:1")
    run = run_main("bench", "scaling", *TINY, *options, "--json")
    assert run.status == 0, run.err
    measured = {point["count"]: point["frames_per_s"] for point in run.report["points"]}
    qtbot.mouseClick(window.device_tabs.buttons.button(2), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.scaling.choice.count() == 1, timeout=30_000)
    (series,) = read_series(window.scaling.results, NONE)
    assert series.rates == measured
    assert window.scaling.chart.isVisible()
    assert "2 devices" in window.scaling.chart.accessibleName()
    assert "CPU devices share the cores" in window.scaling.about.text()


def test_without_a_measurement_the_panel_says_how_to_measure(qtbot: QtBot, tmp_path: Path) -> None:
    panel = ScalingPanel(tmp_path)
    qtbot.addWidget(panel)
    panel.show()
    assert (panel.measured.isVisible(), panel.hint.isVisible()) == (False, True)
    assert COMMAND in panel.hint.text()
    qtbot.keyClick(panel.copy, Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == COMMAND


def test_the_chart_shows_the_series_the_ideal_and_the_records_that_fit(qtbot: QtBot, tmp_path: Path) -> None:
    keep(report(), tmp_path)
    panel = ScalingPanel(tmp_path)
    qtbot.addWidget(panel)
    panel.resize(260, 300)
    panel.show()
    panel.show_series(read_series(tmp_path, NONE))
    assert panel.choice.count() == 2
    lines = [dict(zip(*map(list, item.getData()), strict=True)) for item in panel.chart.item.listDataItems()]
    assert H200["weak"] in lines
    assert {1: 2356.6, 2: 2 * 2356.6, 4: 4 * 2356.6} in lines  # the ideal
    assert any(line.get(4) == pytest.approx(3.3 * 2356.6) for line in lines)  # Triton
    assert any(line.get(4) == pytest.approx(3.5 * 2356.6) for line in lines)  # Caffe
    assert "Triton Inference Server: 3.3× on 4" in panel.legend.text()
    assert "issues/3326" in panel.legend.text()
    qtbot.keyClick(panel.choice, Qt.Key.Key_Down)
    assert "One video for all devices" in panel.about.text()
    before = panel.choice.currentText()
    assert before.endswith(" · One video for all devices · yolov4, 608×608, fp16")  # the date tells them apart where the end is cut
    panel.show_series(read_series(tmp_path, NONE))
    assert panel.choice.currentText() == before  # a new reading keeps the choice


def test_stored_runs_with_one_and_with_two_devices_are_a_measurement(tmp_path: Path) -> None:
    store_run(tmp_path / "one.sqlite", 1, 40.0)
    store_run(tmp_path / "two.sqlite", 2, 25.0)
    store_run(tmp_path / "sampled.sqlite", 1, 10.0, every="2s")  # the rate of sampled runs is that of another work
    store_run(tmp_path / "short.sqlite", 1, 1.0)
    (tmp_path / "damaged.sqlite").write_bytes(b"no database")
    (series,) = read_series(NONE, tmp_path)
    assert series.rates == {1: 10.0, 2: 16.0}
    assert (series.model, series.hardware, series.how) == ("tiny 96×96, bf16", "Some Processor", "runs")
    assert series.speedup(2) == 1.6


def test_the_speed_of_a_model_is_that_of_its_newest_run(tmp_path: Path) -> None:
    for name, seconds, age in (("old", 40.0, 2), ("new", 20.0, 1)):
        store_run(tmp_path / f"{name}.sqlite", 2, seconds)
        then = (datetime.now() - timedelta(hours=age)).timestamp()
        os.utime(tmp_path / f"{name}.sqlite", (then, then))
    assert read_speeds(tmp_path) == {"tiny": Speed(20.0, "2 × Some Processor")}


def test_unreadable_results_are_left_out_and_old_ones_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "0.json").write_text("{")
    (tmp_path / "1.json").write_text(json.dumps({"points": [{}]}))
    assert read_series(tmp_path, NONE) == []
    monkeypatch.setattr(scaling_results, "KEPT", 2)
    kept = [keep(report({"weak": {1: 1.0, 2: rate}}), tmp_path) for rate in (1.5, 1.6, 1.7)]
    assert sorted(tmp_path.iterdir()) == kept[1:]
    assert sorted(series.rates[2] for series in read_series(tmp_path, NONE)) == [1.6, 1.7]


@pytest.mark.parametrize(("top", "step"), [(9.6, 2.0), (100.0, 20.0), (15834.0, 5000.0), (0.4, 0.1)])
def test_the_axis_has_at_most_five_round_marks(top: float, step: float) -> None:
    assert tick_step(top) == pytest.approx(step)
    assert top / tick_step(top) <= 5
