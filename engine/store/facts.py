"""What decides the results of a run, as texts that the session stores. Two runs with the same texts have the same results."""

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Self

from framefleet.engine.media.live.messages import RecordedFile
from framefleet.engine.model.load import check_model, input_size
from framefleet.engine.notices import ModelError, Notice
from framefleet.engine.settings import ModelFiles, RunSettings
from framefleet.engine.settings.clock import ClockSettings, ClockSource, TimeZone
from framefleet.engine.settings.kinds import items, write
from framefleet.engine.settings.table import TABLE
from framefleet.plugins.cache import FileCache

TRACK = "track"
"""Name of the fact that says which tracker the run uses, or that it uses none."""

_LARGE = 16 * 2**20
"""Size in bytes from which on the cache keeps the digest of a file: those of 256 MB of weights took 0.3 s at each start."""

_NEUTRAL = {
    *("devices", "parallel", "isolation", "batch", "hint", "threads", "decode", "decode_threads", "latency_budget"),
    *("clock", "time_zone", TRACK),
    *("record_minutes", "session_minutes", "record_days", "record_gib"),
}
"""Settings that change how fast results come, or how they are shown, and not the results."""

CREATED = "created"
"""Name of the fact that says when the session was created, ISO 8601. Another run that replaces the session has another one."""

SHARD = "shard"
"""Name of the fact that says which part of the sources the run takes: ``2/8``. Such a session numbers sources as the undivided run."""

SHOWN = "shown_confidence"
"""Name of the fact that says from which confidence detections are exported, if weaker ones are stored for trackers."""

ZONES = "zones"
"""Name of the fact with the lines and zones of the run, as the text of a zones file."""

CLOCK, TIME_ZONE = "clock", "time_zone"
"""Names of the facts that say where clock times come from. A run without ``--clock`` keeps those of an earlier run."""

VIEWS = ("least_seen", "interval", "category_map", "draw", "coco_ids", "bom", "one_table", "pictures", "between")
"""Names of the facts with options of formats that a run was given, fields of ``ExportOptions``. Later views have the same ones."""

REPLACED = (SHARD, SHOWN, TRACK, ZONES, CLOCK, TIME_ZONE, *VIEWS)
"""Names of the facts that a run replaces when it continues a session. They change no stored result."""

DECIDING = ("model_digest", "network", *(name for name in TABLE if name not in _NEUTRAL))
"""Names of the facts that decide the results of a run."""


MAX_CHANGES = 2000
"""Most changes of state that are kept of a live source, the newest ones."""

EPOCH = "epoch"
"""What a change is called that begins an epoch: the frames after it continue none before."""

RECORDED, NOT_RECORDED = "recorded", "not_recorded"
"""What a change is called with which the recording begins, or stops."""


@dataclass(frozen=True)
class LiveChange:
    """A change of a live source. seconds: in its time. reason: why.

    what: its new state, see ``LiveState``, or ``EPOCH``, ``RECORDED`` or ``NOT_RECORDED``.
    """

    seconds: float
    what: str
    reason: Notice


@dataclass(frozen=True)
class LiveRecord:
    """What a session knows of a live source beside its frames. address: without user and password. changes: the newest last."""

    address: str
    changes: tuple[LiveChange, ...] = ()

    @staticmethod
    def key(source: int) -> str:
        """The name of the fact that holds the record of a source."""
        return f"live {source}"

    def text(self) -> str:
        """The record as the session stores it."""
        rows = [[round(change.seconds, 3), change.what, change.reason.as_json()] for change in self.changes]
        return json.dumps({"address": self.address, "changes": rows})

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what ``text`` returned. Raises ValueError if it is something else."""
        match json.loads(text):
            case {"address": str(address), "changes": list(rows)}:
                return cls(address, tuple(LiveChange(float(row[0]), str(row[1]), Notice.from_json(row[2])) for row in rows))
        raise ValueError("not the record of a live source")


MAX_FILES = 20_000
"""Most files of a recording that a session knows, the newest ones. Those of 10 minutes cover 138 days."""


@dataclass(frozen=True)
class RecordedFiles:
    """The files in which a recording of a live source has the pictures of its frames, ordered by time."""

    files: tuple[RecordedFile, ...] = ()

    @staticmethod
    def key(source: int) -> str:
        """The name of the fact that holds the files of a source."""
        return f"recorded {source}"

    @classmethod
    def of(cls, facts: Mapping[str, str], source: int) -> Self:
        """The files of a source by the facts of a session; none if it was not recorded."""
        rows = json.loads(facts.get(cls.key(source), "[]"))
        return cls(tuple(RecordedFile(*row) for row in rows))

    def text(self) -> str:
        """The files as the session stores them."""
        return json.dumps([astuple(file) for file in self.files])

    def after(self, file: RecordedFile) -> Self:
        """The files after a file began or is complete."""
        others = tuple(each for each in self.files if each.path != file.path)
        return replace(self, files=(*others, file)[-MAX_FILES:])

    def closed(self) -> Self:
        """The files after a run that could not tell the end of the last one: its last change is its end."""

        def close(file: RecordedFile) -> RecordedFile:
            try:
                state = Path(file.path).stat()
            except OSError:
                return replace(file, end=file.begin)
            seconds = state.st_mtime - datetime.fromisoformat(file.began).timestamp()
            return replace(file, end=file.begin + max(0.0, seconds), size=state.st_size)

        return replace(self, files=tuple(close(file) if file.end is None else file for file in self.files))

    def without(self, paths: Collection[str]) -> Self:
        """The files after some of them were removed."""
        return replace(self, files=tuple(file for file in self.files if file.path not in paths))

    def at(self, seconds: float) -> tuple[RecordedFile, float] | None:
        """The file that has the picture of a moment, and its time in the file; None if the moment was not recorded.

        seconds: in the time of the source, as ``FrameRef.pts``.
        """
        found = [file for file in self.files if file.begin - _ROUNDING <= seconds and (file.end is None or seconds <= file.end + _ROUNDING)]
        return (found[-1], max(0.0, seconds - found[-1].begin)) if found else None

    def between(self, start: float, end: float) -> list[tuple[RecordedFile, float, float]]:
        """The files that have a part of a time, and the begin and end of that part in each file, seconds."""
        found = []
        for file in self.files:
            begin, until = max(start, file.begin), end if file.end is None else min(end, file.end + _ROUNDING)
            if begin < until:
                found.append((file, begin - file.begin, until - file.begin))
        return found


OF_SOURCE = (LiveRecord.key, RecordedFiles.key)
"""The names of the facts of one source."""

_ROUNDING = 0.002  # seconds: Matroska counts milliseconds


def run_facts(settings: RunSettings) -> dict[str, str]:
    """Return the facts of a run: names of files, and what decides its results.

    ``model_digest`` identifies the content of cfg and weights. ``network`` is the size of the network's input in pixels. The other
    deciding facts are settings as the user gave them.

    Raises ModelError if a file of the model cannot be read.
    """
    model, values = settings.model, settings.values
    width, height = input_size(model)
    facts = {
        "folder": str(Path.cwd()),
        "model": model.cfg.stem,
        "cfg": str(model.cfg.absolute()),
        "weights": str(model.weights.absolute() if isinstance(model.weights, Path) else model.weights),
        "parallel": settings.parallel.value,
        "isolation": settings.isolation.value,
        TRACK: settings.track.value,
        "model_digest": _digest(model),
        "network": f"{width}x{height}",
    }
    for name, setting in TABLE.items():
        used, value = setting.only_with is None or values[setting.only_with[0]] == setting.only_with[1], values[name]
        if name in DECIDING:
            facts[name] = write(tuple(sorted(value)) if isinstance(value, frozenset) else value) if used else "unused"
    if isinstance(values[CLOCK], ClockSource):  # a time that is given is that of the sources of its run only
        facts |= {CLOCK: write(values[CLOCK]), TIME_ZONE: write(values[TIME_ZONE])}
    return facts


def clock_of(facts: Mapping[str, str]) -> ClockSettings:
    """Return where the clock times of a session's sources come from, as far as a run has said so."""
    if CLOCK not in facts:
        return ClockSettings()
    zone = facts[TIME_ZONE]
    return ClockSettings(ClockSource(facts[CLOCK]), None if zone == write(None) else TimeZone().read(zone))


def looked_for(facts: Mapping[str, str]) -> frozenset[int] | None:
    """Return the ids of the classes that a run looked for (``--classes``); None if it looked for all."""
    text = facts.get("classes", str(None))
    return None if text == str(None) else frozenset(map(int, items(text)))


def differences(stored: Mapping[str, str], facts: Mapping[str, str]) -> tuple[Notice, ...]:
    """Return the deciding facts in which two runs differ. stored: of the earlier run."""
    found = []
    for name in DECIDING:
        was, now = stored.get(name, "unknown"), facts.get(name, "unknown")
        if was == now:
            continue
        if name == "model_digest":
            found.append(Notice("store.model_changed"))
        else:
            found.append(Notice("store.setting_differs", name=name, now=_shown(now), was=_shown(was)))
    return tuple(found)


def _shown(value: str) -> Notice | str:
    return Notice("store.not_given") if value == str(None) else value


def _digest_of(path: Path) -> bytes:
    """The digest of a file's content. The cache keeps that of a large file until the file changes."""
    with path.open("rb") as file:

        def compute() -> str:
            return file_digest(file, blake2b).hexdigest()

        state = os.fstat(file.fileno())
        if state.st_size < _LARGE:
            return bytes.fromhex(compute())
        # the time of the last change of the file's state, too: unlike the other one, programs cannot set it
        key = f"content of {path.absolute()}\n{state.st_size}\n{state.st_mtime_ns}\n{state.st_ctime_ns}\n{state.st_ino}"
        return bytes.fromhex(FileCache().remember(key, compute))


def _digest(model: ModelFiles) -> str:
    digest = blake2b(digest_size=16)
    for part in (model.cfg, model.weights):
        if isinstance(part, Path):
            try:
                digest.update(_digest_of(part))
            except OSError as error:
                raise ModelError(Notice("general.unreadable", path=part, detail=error.strerror or str(error))) from error
        else:
            digest.update(part.encode())
    if model.is_onnx:
        digest.update(str(check_model(model).reading).encode())
    return digest.hexdigest()
