"""Alerts: when rules hold, what is written, and commands that hang or fail."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import StreamSnapshot
from framefleet.engine.run import alerts as module
from framefleet.engine.run.alerts import AlertRule, Alerts, AlertSettings
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from framefleet.engine.zones.shapes import Zone, ZoneSet

LABELS = ("person", "bicycle", "car")
RATE = 10
ZONES = ZoneSet((640, 480), (Zone("door", ((0, 0), (100, 0), (100, 480), (0, 480))),))
INFO = SourceInfo("rtsp://cam/a", SourceKind.LIVE, "h264", 640, 480, 0, None, 25.0, (), created="2026-11-26T12:00:00+00:00", number=0)


def frame(number: int, *objects: tuple[int, float], score: float = 0.9) -> FrameResult:
    """A frame of 10 per second. objects: class id and left edge of each box."""
    boxes = np.array([[x, 100, x + 40, 200] for _, x in objects], np.float32).reshape(-1, 4)
    found = Detections(boxes, np.full(len(objects), score, np.float32), np.array([each for each, _ in objects], np.int32))
    return FrameResult(FrameRef(0, number, number / RATE), DeviceId("cpu", "0"), 640, 480, found)


_made: list[Alerts] = []


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    """Close what a test has made."""
    yield
    while _made:
        _made.pop().close()


def make(folder: Path, *rules: str, command: str | None = None, zones: ZoneSet | None = ZONES) -> Alerts:
    folder.mkdir(exist_ok=True)
    _made.append(Alerts(AlertSettings.of([AlertRule.read(rule) for rule in rules], folder, command), LABELS, 0.25, zones))
    return _made[-1]


def times(alerts: Alerts, frames: list[FrameResult]) -> list[float]:
    """The times at which alerts are raised."""
    return alerts.see(0, "rtsp://cam/a", INFO, frames)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("class=person", AlertRule("class=person", ("person",))),
        ("class=person+car, zone=door", AlertRule("class=person+car, zone=door", ("person", "car"), "door")),
        ("count=2,for=3s,quiet=1:00", AlertRule("count=2,for=3s,quiet=1:00", (), None, 2, 3.0, 60.0)),
    ],
)
def test_rules_are_read(rule: str, expected: AlertRule) -> None:
    assert AlertRule.read(rule) == expected


@pytest.mark.parametrize("rule", ["person", "class=", "count=0", "count=two", "for=3", "size=3", "class=a,class=b", "quiet=-1s"])
def test_what_is_no_rule_is_named(rule: str) -> None:
    with pytest.raises(UsageError, match="is not understood; write"):
        AlertRule.read(rule)


GATE = replace(ZONES, shapes=(replace(ZONES.shapes[0], classes=("car",)),))


@pytest.mark.usefixtures("no_still")
def test_a_zone_limits_the_classes_of_its_alerts(tmp_path: Path) -> None:
    alerts = make(tmp_path, "zone=door, quiet=0s", zones=GATE)
    assert times(alerts, [frame(0, (0, 10)), frame(1, (0, 10), (2, 20))]) == [0.1]


@pytest.mark.parametrize(
    ("rule", "zones", "detected"), [("class=person, zone=door", GATE, None), ("class=person", None, {2}), ("zone=door", GATE, {0, 1})]
)
def test_an_alert_that_can_never_be_raised_is_refused(rule: str, zones: ZoneSet | None, detected: set[int] | None, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the run detects none of its classes, or none of them counts in its zone") as raised:
        Alerts(AlertSettings.of([AlertRule.read(rule)], tmp_path), LABELS, 0.25, zones, None if detected is None else frozenset(detected))
    assert raised.value.notice.code == "live.alert_never"


def test_classes_and_zones_have_to_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="dog"):
        make(tmp_path, "class=dog")
    with pytest.raises(UsageError, match="there is no zone 'gate' for alerts: door"):
        make(tmp_path, "zone=gate")
    with pytest.raises(UsageError, match="give --zones FILE"):
        make(tmp_path, "zone=gate", zones=None)
    with pytest.raises(UsageError, match="cannot be run"):
        make(tmp_path, "class=car", command="'unfinished")


@pytest.fixture
def no_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STILL_SECONDS", 0.01)


@pytest.mark.usefixtures("no_still")
def test_an_alert_needs_class_zone_number_and_confidence(tmp_path: Path) -> None:
    alerts = make(tmp_path, "class=person, zone=door, count=2, quiet=0s")
    assert times(alerts, [frame(0, (0, 10), (0, 300))]) == []  # one of them is elsewhere
    assert times(alerts, [frame(1, (0, 10), (2, 20))]) == []  # one of them is a car
    assert times(alerts, [frame(2, (0, 10), (0, 20), score=0.2)]) == []
    assert times(alerts, [frame(3, (0, 10), (0, 20))]) == [0.3]


@pytest.mark.usefixtures("no_still")
def test_an_alert_needs_its_time_and_is_quiet_afterwards(tmp_path: Path) -> None:
    alerts = make(tmp_path, "class=person, for=2s, quiet=5s")
    assert times(alerts, [frame(number, (0, 10)) for number in range(100)]) == [2.0, 7.0]


@pytest.mark.usefixtures("no_still")
def test_a_missed_frame_does_not_begin_the_time_again_but_an_epoch_does(tmp_path: Path) -> None:
    alerts = make(tmp_path, "class=person, for=2s")
    seen = [frame(number, *([] if number % 5 == 4 else [(0, 10.0)])) for number in range(18)]
    assert times(alerts, seen) == []
    alerts.restart(0)
    assert times(alerts, [frame(number, (0, 10)) for number in range(18, 30)]) == []
    assert times(alerts, [frame(number, (0, 10)) for number in range(30, 45)]) == [3.9]
    alerts = make(tmp_path, "class=person, for=2s")
    gone = [frame(number, *([] if 10 <= number < 17 else [(0, 10.0)])) for number in range(35)]
    assert times(alerts, gone) == []


def written(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "alerts.jsonl").read_text("utf-8").splitlines()]


def test_each_alert_is_a_line_and_goes_to_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STILL_SECONDS", 0.1)
    program = tmp_path / "command.py"
    program.write_text("import sys\nopen(sys.argv[1], 'a').write(sys.stdin.read())\n")
    heard = tmp_path / "it's heard; $(touch nothing)"  # no shell looks at it
    alerts = make(tmp_path, "class=person, quiet=1s", command=f'{sys.executable} {program} "{heard}"')
    times(alerts, [frame(number, (0, 10)) for number in range(15)])
    alerts.close()
    lines = written(tmp_path)
    assert [json.loads(line) for line in heard.read_text().splitlines()] == lines
    assert [line["pts"] for line in lines] == [0.0, 1.0]
    assert lines[1]["source"] == "rtsp://cam/a"
    assert lines[1]["clock"].startswith("20")
    assert lines[1]["detections"] == [{"class_id": 0, "label": "person", "confidence": 0.9, "box": [10.0, 100.0, 40.0, 100.0]}]
    assert lines[1]["still"] is None
    assert [told.reason.code for told in alerts.take()] == ["live.alert", "live.alert"]
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import time; time.sleep(600)", "live.alert_command_hangs"),
        ("raise SystemExit(3)", "live.alert_command_failed"),
    ],
)
def test_a_command_that_hangs_or_fails_is_named(code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STILL_SECONDS", 0.01)
    monkeypatch.setattr(module, "COMMAND_SECONDS", 0.5 if "hangs" in said else 30.0)
    program = tmp_path / "command.py"
    program.write_text(f"{code}\n")
    alerts = make(tmp_path, "class=person", command=f"{sys.executable} {program}")
    times(alerts, [frame(0, (0, 10))])
    deadline = time.monotonic() + 60
    told: list[str] = []
    while said not in told:
        assert time.monotonic() < deadline
        told += [each.reason.code for each in alerts.take()]
        time.sleep(0.02)
    alerts.close()
    assert len(written(tmp_path)) == 1


def test_a_slow_command_delays_no_line_and_what_it_missed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STILL_SECONDS", 0.01)
    alerts = make(tmp_path, "class=person, quiet=1s", command=f'{sys.executable} -c "import time; time.sleep(600)"')
    monkeypatch.setattr(module, "MAX_WAITING", 1)
    deadline = time.monotonic() + 60
    for number in range(4):
        times(alerts, [frame(10 * number, (0, 10))])
        while not (tmp_path / "alerts.jsonl").exists() or len(written(tmp_path)) <= number:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    monkeypatch.setattr(module, "STILL_SECONDS", 30.0)  # the killed command may need it
    alerts.close(0.0)
    codes = [told.reason.code for told in alerts.take()]
    assert codes.count("live.commands_wait") + codes.count("live.alert_command_late") == 4
    assert {"live.commands_wait", "live.alert_command_late"} < {*codes}


def test_a_command_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STILL_SECONDS", 0.01)
    alerts = make(tmp_path, "class=person", command="/no/such/program now")
    times(alerts, [frame(0, (0, 10))])
    alerts.close()
    assert [told.reason.code for told in alerts.take()] == ["live.alert", "live.alert_command"]


def test_a_still_that_cannot_be_decoded_is_named(tmp_path: Path) -> None:
    alerts = make(tmp_path, "class=person")
    times(alerts, [frame(0, (0, 10))])
    alerts.picture(StreamSnapshot(0, 0.0, b"no Matroska file", 0.0))
    alerts.close()
    assert [told.reason.code for told in alerts.take()] == ["live.alert", "live.alert_without_still"]
    assert [line["still"] for line in written(tmp_path)] == [None]


def test_an_alert_whose_still_cannot_be_stored_is_written_and_goes_to_the_command(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    alerts = make(tmp_path, "class=person", command=f"{sys.executable} -c \"import sys; open('{heard}', 'w').write(sys.stdin.read())\"")
    (tmp_path / "alerts").touch()  # instead of the folder
    times(alerts, [frame(0, (0, 10))])
    alerts.picture(StreamSnapshot(0, 0.0, b"", 0.0))
    alerts.close()
    assert [told.reason.code for told in alerts.take()] == ["live.alert", "live.alert_without_still"]
    assert [line["still"] for line in written(tmp_path)] == [None]
    assert json.loads(heard.read_text()) == written(tmp_path)[0]


def test_too_many_alerts_are_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STILL_SECONDS", 0.05)
    alerts = make(tmp_path, "class=person, quiet=0s")
    raised = times(alerts, [frame(number, (0, 10)) for number in range(100)])
    assert module.MAX_WAITING <= len(raised) < 100
    assert "live.alerts_wait" in [told.reason.code for told in alerts.take()]
    alerts.close()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STILL_SECONDS", 0.01)
    alerts = make(tmp_path, "class=person")
    (tmp_path / "alerts.jsonl").mkdir()
    times(alerts, [frame(0, (0, 10))])
    alerts.close()
    assert [told.reason.code for told in alerts.take()] == ["live.alert", "live.alert_not_written"]
