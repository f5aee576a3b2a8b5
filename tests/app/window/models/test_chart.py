"""The chart of models: names cover neither each other nor marks, and the throughput is that of stored runs."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QLineF
from pytestqt.qtbot import QtBot

from framefleet.app.window.models.chart import MARGIN, NEAR, ModelChart, Speed, read_speeds
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.model.registry.catalogue import FAMILY
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings import RunSettings
from framefleet.engine.settings.kinds import Moments
from framefleet.engine.store.facts import run_facts
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, EngineInfo, FrameRef, FrameResult
from tests.support.models import tiny_files
from tests.support.notices import words
from tests.support.store import video_info


@pytest.mark.parametrize("width", [800, 1040, 1600])
@pytest.mark.parametrize("ran", [False, True])
def test_names_do_not_cover_each_other(qtbot: QtBot, width: int, ran: bool) -> None:
    chart = ModelChart(FAMILY)
    qtbot.addWidget(chart)
    chart.resize(width, chart.height())
    chart.show()
    chart.show_speeds({entry.name: Speed(33.1, "CPU") for entry in FAMILY} if ran else {})
    areas = [name.mapRectToScene(name.boundingRect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)) for name in chart.names]
    assert len(areas) == len(FAMILY)
    for one, other in combinations(areas, 2):
        assert (one & other).isEmpty()


def test_a_name_away_from_its_mark_has_a_line_to_it(qtbot: QtBot) -> None:
    chart = ModelChart(FAMILY)
    qtbot.addWidget(chart)
    chart.resize(1040, chart.height())
    chart.show()
    lengths = []
    for name, leader in chart.names.items():
        end = leader.line().p2()
        area = name.boundingRect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        away = QLineF(0, 0, min(max(0, area.left()), area.right()), min(max(0, area.top()), area.bottom())).length()
        assert leader.line().isNull() == (away <= NEAR)
        assert leader.line().isNull() or area.adjusted(-1, -1, 1, 1).contains(end)
        lengths.append(leader.line().length())
    assert max(lengths) > 0


def test_each_tick_of_the_work_has_room_for_its_number(qtbot: QtBot) -> None:
    chart = ModelChart(FAMILY)
    (least, most), _ = chart.item.vb.viewRange()
    ticks = [place for place, _ in chart.item.getAxis("bottom")._tickLevels[0]]
    assert least + 0.03 < min(ticks)
    assert max(ticks) < most - 0.03


def store_run(path: Path, devices: int, *files: float, frames: int = 400, every: str = "", cancelled: int | None = None) -> None:
    """Write the session of a run of the tiny model that these CPU devices shared equally.

    files: the seconds that each file took. cancelled: the number of one that was cancelled.
    """
    settings = RunSettings.of(tiny_files(), {"every": Moments().read(every)} if every else {})
    with SessionWriter(path, ("car",), run_facts(settings)) as writer:
        info: SourceInfo = video_info("a.mp4", frames)
        ids = [DeviceId("cpu", str(number)) for number in range(devices)]
        for device in ids:
            writer.add_device(EngineInfo(device, "Some Processor", "OpenVINO", "bf16", words("the fastest"), 96, 96, 1, 2))
        nothing = Detections(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int32))
        for number, seconds in enumerate(files):
            writer.add_source(number, f"{number}.mp4", info)
            writer.add_frames([FrameResult(FrameRef(number, n, n / 25), ids[n % devices], 96, 96, nothing) for n in range(frames)])
            writer.finish_source(number, f"{number}.mp4", Ledger(frames, frames), seconds, None, number == cancelled)


def test_the_speed_of_a_model_is_that_of_its_newest_run(tmp_path: Path) -> None:
    for name, seconds, age in (("old", 40.0, 2), ("new", 20.0, 1)):
        store_run(tmp_path / f"{name}.sqlite", 2, seconds)
        then = (datetime.now() - timedelta(hours=age)).timestamp()
        os.utime(tmp_path / f"{name}.sqlite", (then, then))
    assert read_speeds(tmp_path) == {"tiny": Speed(20.0, "2 × Some Processor")}


def test_the_speed_of_a_run_of_several_files_is_that_of_its_fastest_complete_file(tmp_path: Path) -> None:
    store_run(tmp_path / "several.sqlite", 2, 40.0, 25.0, 10.0, cancelled=2)
    assert read_speeds(tmp_path) == {"tiny": Speed(16.0, "2 × Some Processor")}


def test_runs_that_say_nothing_about_the_throughput_do_not_count(tmp_path: Path) -> None:
    store_run(tmp_path / "sampled.sqlite", 1, 10.0, every="2s")  # the rate of sampled runs is that of other work
    store_run(tmp_path / "short.sqlite", 1, 1.0)
    (tmp_path / "damaged.sqlite").write_bytes(b"no database")
    assert read_speeds(tmp_path) == {}
