"""The events of a run come in the recorded order."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO
from tests.support.events import name_of
from tests.support.goldens import CLIP, Goldens


def run(folder: Path, parallel: str, devices: Sequence[str]) -> list[Any]:
    """The events of two clips, with a file that is missing and one that is cancelled between them."""
    model = ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels, (320, 192))
    ids = tuple(DeviceId.parse(device) for device in devices)
    settings = RunSettings(model, devices=ids, parallel=Parallel(parallel), engine=EngineSettings(precision=Precision.FP32))
    labels = DEMO.labels.read_text().split()
    for name in ("0.mp4", "2.mp4", "3.mp4"):
        shutil.copy(CLIP, folder / name)
    with DetectionRun(settings, folder / "session.sqlite", labels) as session:
        for number in range(4):
            assert session.add(folder / f"{number}.mp4") == number
        session.cancel(2)
        session.finish()
        return list(session.events())


@pytest.mark.parametrize(
    ("parallel", "devices"),
    [("segments", ["cpu:0"]), pytest.param("frames", ["cpu:0", "cpu:1"], marks=pytest.mark.slow)],
    ids=["one device", "a group of two"],
)
def test_events_come_in_the_recorded_order(goldens: Goldens, tmp_path: Path, parallel: str, devices: list[str]) -> None:
    events = run(tmp_path, parallel, devices)
    assert name_of(events[0]) == "StrategyChosen", "the strategy is the first event"
    frames = [(event.source, frame.ref) for event in events if name_of(event) == "FramesDone" for frame in event.frames]
    assert all(source == ref.source for source, ref in frames)
    for source in (0, 3):
        assert [ref.index for number, ref in frames if number == source] == list(range(24)), "every frame, in display order"
    order = list(map(name_of, events))
    assert order.index("DeviceReady") < order.index("FramesDone"), "an engine comes before its first frame"
    last = [name_of(event) == "DeviceStats" and event.final for event in events][-len(devices) :]
    assert all(last), "each device's totals are the last events"
    assert all(name_of(event) != "DeviceStats" or not event.final for event in events[: -len(devices)])
    totals = sum(event.frames for event in events[-len(devices) :])
    assert totals == len(frames)
    goldens.compare_events(parallel, events)
