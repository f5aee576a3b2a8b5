"""The events of a run come in the recorded order."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.session import DetectionSession
from engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from engine.types import DeviceId
from resources import DEMO
from tests.support.goldens import CLIP, Goldens

Event = Any


def names(event: Event) -> str:
    return type(event).__name__


def run(folder: Path, parallel: str, devices: Sequence[str]) -> list[Event]:
    """The events of two clips, with a file that is missing and one that is cancelled between them."""
    model = ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels)
    ids = tuple(DeviceId.parse(device) for device in devices)
    settings = RunSettings(model, devices=ids, parallel=Parallel(parallel), engine=EngineSettings(precision=Precision.FP32))
    labels = DEMO.labels.read_text().split()
    for name in ("0.mp4", "2.mp4", "3.mp4"):
        shutil.copy(CLIP, folder / name)
    with DetectionSession(settings, folder / "session.sqlite", labels) as session:
        for number in range(4):
            assert session.add(folder / f"{number}.mp4") == number
        session.cancel(2)
        session.finish()
        return list(session.events())


def describe(events: Sequence[Event]) -> list[str]:
    """The events of the run, of each device and of each source, each in order.

    How these three interleave depends on timing, and so does how many frames one event holds: events of the same source in a row are
    one line. Statistics are left out but for the final ones.
    """
    parts: dict[str, list[str]] = {"run": []}
    for event in events:
        name, part, facts = names(event), "run", ""
        if name == "DeviceStats" and not event.final:
            continue
        match name:
            case "StrategyChosen":
                facts = event.strategy
            case "DeviceReady":
                engine = event.engine
                part, facts = f"device {engine.device}", f"{engine.precision} {engine.width}×{engine.height}"
            case "DeviceStats":
                part, facts = f"device {event.device}", "final"
            case "SourceOpened":
                info = event.info
                part = f"source {event.source}"
                facts = f"{Path(info.path).name} {info.kind} {info.codec} {info.width}×{info.height} {info.frames} frames"
            case "FramesDone":
                part = f"source {event.source}"
            case "SourceFinished":
                ledger = event.ledger
                counts = [ledger.decoded, ledger.inferred, dict(ledger.dropped), dict(ledger.failed)]
                part = f"source {event.source}"
                facts = f"{json.dumps(counts)} {'error' if event.error else 'no error'}{', cancelled' if event.cancelled else ''}"
            case _:
                part = f"device {event.device}"
        line = f"  {name} {facts}".rstrip()
        lines = parts.setdefault(part, [])
        if not lines or lines[-1] != line:
            lines.append(line)
    return [line for part in sorted(parts) for line in (part, *parts[part])]


@pytest.mark.parametrize(
    ("parallel", "devices"),
    [("segments", ["cpu:0"]), ("frames", ["cpu:0", "cpu:1"])],
    ids=["one device", "a group of two"],
)
def test_events_come_in_the_recorded_order(goldens: Goldens, tmp_path: Path, parallel: str, devices: list[str]) -> None:
    events = run(tmp_path, parallel, devices)
    assert names(events[0]) == "StrategyChosen", "the strategy is the first event"
    frames = [(event.source, frame.ref) for event in events if names(event) == "FramesDone" for frame in event.frames]
    assert all(source == ref.source for source, ref in frames)
    for source in (0, 3):
        assert [ref.index for number, ref in frames if number == source] == list(range(24)), "every frame, in display order"
    order = list(map(names, events))
    assert order.index("DeviceReady") < order.index("FramesDone"), "an engine comes before its first frame"
    last = [names(event) == "DeviceStats" and event.final for event in events][-len(devices) :]
    assert all(last), "each device's totals are the last events"
    assert all(names(event) != "DeviceStats" or not event.final for event in events[: -len(devices)])
    totals = sum(event.frames for event in events[-len(devices) :])
    assert totals == len(frames)
    goldens.compare_text(f"events.{parallel}.txt", "\n".join(describe(events)) + "\n")
