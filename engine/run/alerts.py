"""Alerts: a rule of class, zone, number, duration and quiet time writes a line of JSON, and runs a command with it and a still.

Nothing is sent by itself. The rules are checked where events are taken. One thread makes the still and writes the line, another one runs
the command: a command that hangs or fails delays neither a frame nor the line of another alert.
"""

from __future__ import annotations

import json
import math
import queue
import re
import shlex
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import numpy as np

from framefleet.engine.media.types import SourceInfo
from framefleet.engine.model.files import class_ids
from framefleet.engine.notices import FramefleetError, Notice, UsageError
from framefleet.engine.pool.events import AlertRaised, StreamSnapshot
from framefleet.engine.settings.kinds import Moments, items
from framefleet.engine.store.destinations import Purpose, record
from framefleet.engine.store.exporters.base import run_child
from framefleet.engine.types import FrameResult
from framefleet.engine.zones.geometry import distances, reference_points
from framefleet.engine.zones.shapes import Zone, ZoneSet

COMMAND_SECONDS = 30.0
"""A command that takes longer is ended."""

STILL_SECONDS = 3.0
"""How long an alert waits for its still."""

MAX_WAITING = 20
"""Most alerts that wait to be written, and most that wait for a command. Further ones are left out and named."""

INTERRUPTED_SECONDS = 2.0
"""How long an interrupted run, which has to end soon, waits for stills and commands."""

DIP_SECONDS = 0.5
"""For so long, the condition of a rule may fail, because detectors miss an object now and then."""

_KEYS = ("class", "zone", "count", "for", "quiet")
_STILL = Purpose("", "alert.jpg", complete=True)


@dataclass(frozen=True)
class AlertRule:
    """An alert is raised when ``count`` objects were there for ``seconds``, but not within ``quiet`` seconds after the last one.

    text: as a person wrote it. classes: labels, () = all. zone: its name, None: anywhere in the picture.
    """

    text: str
    classes: tuple[str, ...] = ()
    zone: str | None = None
    count: int = 1
    seconds: float = 0.0
    quiet: float = 60.0

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a rule such as ``class=person, zone=door, count=2, for=3s, quiet=60s``. A class may be several: ``class=car+truck``.

        Raises
        ------
        UsageError
            A part is not understood. The message says which one.
        """
        found: dict[str, str] = {}
        for part in items(text):
            key, equals, value = (each.strip() for each in part.partition("="))
            if not equals or not value or key not in _KEYS or key in found:
                raise UsageError(Notice("live.alert_part", text=text, part=part, keys=_KEYS))
            found[key] = value
        count = found.get("count", "1")
        if not re.fullmatch(r"[1-9]\d{0,3}", count):
            raise UsageError(Notice("live.alert_part", text=text, part=f"count={count}", keys=_KEYS))
        classes = tuple(found["class"].split("+")) if "class" in found else ()
        times = [_seconds(text, found, key, default) for key, default in (("for", 0.0), ("quiet", 60.0))]
        return cls(text, classes, found.get("zone"), int(count), *times)


def _seconds(text: str, found: dict[str, str], key: str, default: float) -> float:
    if key not in found:
        return default
    try:
        moment = Moments().read(found[key])
    except UsageError:
        moment = None
    if moment is None or moment.seconds is None:
        raise UsageError(Notice("live.alert_part", text=text, part=f"{key}={found[key]}", keys=_KEYS))
    return float(moment.seconds)


@dataclass(frozen=True)
class AlertSettings:
    """The alerts of a run. file: for the lines of JSON. stills: the folder for pictures. command: words, () = none.

    database: the session, which records the stills, None = nothing does.
    """

    rules: tuple[AlertRule, ...]
    file: Path
    stills: Path
    command: tuple[str, ...] = ()
    database: Path | None = None

    @classmethod
    def of(cls, rules: Sequence[AlertRule], folder: Path, command: str | None = None, database: Path | None = None) -> Self:
        """The alerts whose files go to a folder. command: as in a shell, but no shell runs it. Raises UsageError if it is unusable."""
        try:
            words = tuple(shlex.split(command or ""))
        except ValueError as error:
            raise UsageError(Notice("live.alert_command", command=command or "", detail=str(error))) from error
        if command is not None and not words:
            raise UsageError(Notice("live.alert_command", command=command, detail="it is empty"))
        return cls(tuple(rules), folder / "alerts.jsonl", folder / "alerts", words, database)


@dataclass
class _State:
    """A rule in one source. since, seen: when its condition began to hold, and last held. last: time of the last alert. Seconds."""

    since: float | None = None
    seen: float = 0.0
    last: float | None = None


@dataclass(eq=False)
class _Alert:
    rule: AlertRule
    source: int
    facts: dict[str, Any]
    still: queue.Queue[StreamSnapshot | None] = field(default_factory=lambda: queue.Queue(1))


class Alerts:
    """Checks the rules of a run. ``see``, ``restart``, ``picture`` and ``take`` belong to the thread that takes the events.

    Parameters
    ----------
    settings : AlertSettings
        The rules, and where alerts go.
    labels : sequence of str
        The model's.
    confidence : float
        Weaker detections do not count.
    zones : ZoneSet, optional
        Where the rules' zones come from. Classes that do not count in a zone raise no alert there.
    detected : set of int, optional
        The class ids in which the run detects; None: all.

    Raises
    ------
    UsageError
        A rule names an unknown class or zone, or its zone and ``detected`` leave it no class.
    """

    def __init__(
        self,
        settings: AlertSettings,
        labels: Sequence[str],
        confidence: float,
        zones: ZoneSet | None = None,
        detected: frozenset[int] | None = None,
    ) -> None:
        self._settings, self._labels, self._confidence, self._zones = settings, tuple(labels), confidence, zones
        self._places = [self._place(rule) for rule in settings.rules]
        self._classes = [self._allowed(rule, place, detected) for rule, place in zip(settings.rules, self._places, strict=True)]
        self._states: dict[tuple[int, int], _State] = {}
        self._pending: list[_Alert] = []
        self._told: deque[AlertRaised] = deque()
        self._queue: queue.Queue[_Alert | None] = queue.Queue(MAX_WAITING)
        self._commands: queue.SimpleQueue[tuple[_Alert, str] | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None  # the command that runs now
        self._until = math.inf  # ``time.monotonic`` after which no still is made and no command is run
        self._writing = threading.Thread(target=self._write, daemon=True, name="alerts")
        self._running = threading.Thread(target=self._run, daemon=True, name="alert commands")
        self._writing.start()
        self._running.start()

    def _place(self, rule: AlertRule) -> Zone | None:
        if rule.zone is None:
            return None
        zones = [shape for shape in self._zones.shapes if isinstance(shape, Zone)] if self._zones is not None else []
        for zone in zones:
            if zone.name == rule.zone:
                return zone
        raise UsageError(Notice("live.alert_zone", zone=rule.zone, names=tuple(zone.name for zone in zones) or Notice("live.no_zones")))

    def _allowed(self, rule: AlertRule, place: Zone | None, detected: frozenset[int] | None) -> frozenset[int] | None:
        """The class ids that raise an alert, None: all."""
        named = (class_ids(names or None, self._labels) for names in (rule.classes, () if place is None else place.classes))
        limits = [ids for ids in (*named, detected) if ids is not None]
        allowed = frozenset.intersection(*limits) if limits else None
        if allowed is not None and not allowed:
            raise UsageError(Notice("live.alert_never", text=rule.text))
        return allowed

    def restart(self, source: int) -> None:
        """Begin an epoch: what was there before does not count."""
        for (_, other), state in self._states.items():
            if other == source:
                state.since = None

    def see(self, source: int, name: str, info: SourceInfo, frames: Sequence[FrameResult]) -> list[float]:
        """Check frames. Returns the times, seconds, of which ``picture`` has to get a still. name: of the source, for people."""
        wanted = []
        for frame in frames:
            if frame.detections is None:
                continue
            for number, rule in enumerate(self._settings.rules):
                state = self._states.setdefault((number, source), _State())
                places = self._matching(number, frame)
                now = frame.ref.pts
                if len(places) < rule.count:
                    if state.since is not None and now - state.seen > DIP_SECONDS:
                        state.since = None
                    continue
                state.since, state.seen = now if state.since is None else state.since, now
                if now - state.since < rule.seconds or (state.last is not None and now - state.last < rule.quiet):
                    continue
                state.last = now
                if self._raise(_Alert(rule, source, self._facts(rule, name, info, frame, places))):
                    wanted.append(now)
        return wanted

    def _matching(self, number: int, frame: FrameResult) -> np.ndarray:
        """The places of the detections that a rule counts."""
        found, allowed, zone = frame.detections, self._classes[number], self._places[number]
        assert found is not None
        keep = found.scores >= self._confidence
        if allowed is not None:
            keep &= np.isin(found.class_ids, sorted(allowed))
        if zone is not None and self._zones is not None:
            scale = np.tile(np.divide(self._zones.size, (frame.width, frame.height)), 2)
            points = reference_points(found.boxes * scale, self._zones.reference)
            keep &= distances(points, zone) > 0
        return np.flatnonzero(keep)

    def _facts(self, rule: AlertRule, name: str, info: SourceInfo, frame: FrameResult, places: np.ndarray) -> dict[str, Any]:
        found = frame.detections
        assert found is not None
        clock = None
        if info.created is not None:
            clock = (
                (datetime.fromisoformat(info.created) + timedelta(seconds=frame.ref.pts)).astimezone().isoformat(timespec="milliseconds")
            )
        detections = []
        for place in places.tolist():
            x1, y1, x2, y2 = (round(float(value), 2) for value in found.boxes[place])
            class_id = int(found.class_ids[place])
            label = self._labels[class_id] if class_id < len(self._labels) else str(class_id)
            box = [x1, y1, round(x2 - x1, 2), round(y2 - y1, 2)]
            detections.append({"class_id": class_id, "label": label, "confidence": round(float(found.scores[place]), 4), "box": box})
        times = {"clock": clock, "pts": round(frame.ref.pts, 6)}
        return {"alert": rule.text, "source": name, "frame": frame.ref.index, **times, "zone": rule.zone, "detections": detections}

    def _raise(self, alert: _Alert) -> bool:
        try:
            self._queue.put_nowait(alert)
        except queue.Full:
            self._told.append(AlertRaised(alert.source, alert.rule.text, Notice("live.alerts_wait", count=MAX_WAITING)))
            return False
        self._pending.append(alert)
        labels = tuple(sorted({each["label"] for each in alert.facts["detections"]}))
        count = len(alert.facts["detections"])
        self._told.append(AlertRaised(alert.source, alert.rule.text, Notice("live.alert", count=count, labels=labels)))
        return True

    def picture(self, snapshot: StreamSnapshot) -> None:
        """Take the still of an alert."""
        for alert in self._pending:
            if alert.source == snapshot.source and alert.facts["pts"] == round(snapshot.seconds, 6):
                alert.still.put(snapshot)
                self._pending.remove(alert)
                return

    def take(self) -> list[AlertRaised]:
        """What happened since the last call."""
        told = []
        while self._told:
            told.append(self._told.popleft())
        return told

    def close(self, seconds: float = COMMAND_SECONDS) -> None:
        """Write the alerts that were raised, and wait for their commands. ``take`` then says what was left out.

        seconds: how long to wait for stills and commands. Then no still is made, no further command is run and the running one is ended.
        """
        if self._until != math.inf:
            return
        self._until = time.monotonic() + seconds
        for alert in self._pending:
            alert.still.put(None)  # no picture comes any more
        self._pending.clear()
        with suppress(queue.Full):  # it is full only while the disk hangs
            self._queue.put(None, timeout=COMMAND_SECONDS)
        self._writing.join(COMMAND_SECONDS)
        self._commands.put(None)
        self._running.join(max(0.0, self._until - time.monotonic()))
        if (process := self._process) is not None:
            process.kill()
        self._running.join(STILL_SECONDS)

    # threads of their own

    def _write(self) -> None:
        while (alert := self._queue.get()) is not None:
            try:
                alert.facts["still"] = self._still(alert)
            except OSError as error:
                alert.facts["still"] = None
                self._fails(alert, Notice("live.alert_without_still", why=Notice("general.detail", detail=error.strerror or str(error))))
            line = json.dumps(alert.facts, ensure_ascii=False)
            try:
                with self._settings.file.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
            except OSError as error:
                self._fails(alert, Notice("live.alert_not_written", detail=error.strerror or str(error)))
            if self._settings.command and self._commands.qsize() >= MAX_WAITING:
                self._fails(alert, Notice("live.commands_wait", count=MAX_WAITING))
            elif self._settings.command:
                self._commands.put((alert, line))
            if self._settings.database is not None and alert.facts["still"] is not None:
                record(self._settings.database, Path(alert.facts["still"]), _STILL)

    def _run(self) -> None:
        while (item := self._commands.get()) is not None:
            if time.monotonic() > self._until:
                self._fails(item[0], Notice("live.alert_command_late", command=self._settings.command[0]))
            else:
                self._command(*item)

    def _fails(self, alert: _Alert, why: Notice) -> None:
        self._told.append(AlertRaised(alert.source, alert.rule.text, why))

    def _still(self, alert: _Alert) -> str | None:
        """Write the still, and return its path; None if there is none."""
        from framefleet.engine.store.clips import Cut, CutsJob  # few runs need it

        try:
            snapshot = alert.still.get(timeout=STILL_SECONDS)
        except queue.Empty:
            snapshot = None
        if snapshot is None or time.monotonic() > self._until:
            return None
        self._settings.stills.mkdir(parents=True, exist_ok=True)
        moment = (alert.facts["clock"] or "")[:23].replace(":", "-").replace("T", "_") or f"{alert.facts['pts']:.3f}"
        target = self._settings.stills / f"{alert.source}_{moment}.jpg"
        with tempfile.TemporaryDirectory() as folder:
            video = Path(folder) / "group.mkv"
            video.write_bytes(snapshot.data)
            job = CutsJob(str(video), (Cut(str(target), snapshot.at, near=True),), exact=False)
            try:
                crash = run_child("still", Notice("store.writes_clips"), "framefleet.engine.store.clips_process", job, lambda _: None)
            except FramefleetError as error:
                crash = error.notice
        if crash is not None:
            self._fails(alert, Notice("live.alert_without_still", why=crash))
            return None
        return str(target.absolute())

    def _command(self, alert: _Alert, line: str) -> None:
        name = self._settings.command[0]
        try:
            with subprocess.Popen(
                self._settings.command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as process:
                self._process = process
                try:
                    process.communicate(f"{line}\n".encode(), COMMAND_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    self._fails(alert, Notice("live.alert_command_hangs", command=name, seconds=COMMAND_SECONDS))
                    return
        except OSError as error:
            self._fails(alert, Notice("live.alert_command", command=name, detail=error.strerror or str(error)))
            return
        finally:
            self._process = None
        if process.returncode and time.monotonic() > self._until:
            self._fails(alert, Notice("live.alert_command_late", command=name))
        elif process.returncode:
            self._fails(alert, Notice("live.alert_command_failed", command=name, status=process.returncode))
