"""Stores the events of a run in its session, and has the objects of videos tracked."""

import logging
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from framefleet.engine.media.live.messages import RecordedFile
from framefleet.engine.media.sources import Stamp, has_same_content, is_unchanged, stamp_of
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool import events
from framefleet.engine.run.resume import ResumePlan, SourceResume
from framefleet.engine.settings import table
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store import live_tracking, tracks
from framefleet.engine.store.facts import EPOCH, MAX_CHANGES, NOT_RECORDED, RECORDED, LiveChange, LiveRecord, RecordedFiles
from framefleet.engine.store.files import session_parts
from framefleet.engine.store.parts import PartMover, end_of_part
from framefleet.engine.store.session import SessionWriter, StoredSource

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class RecordLimits:
    """When recorded files and parts of the session are removed. age: of their last frame. size: of all of them, bytes.

    minutes: clock time in a part of the session.
    """

    age: timedelta = timedelta.max
    size: float = math.inf
    minutes: int = table.DEFAULTS["session_minutes"]


class Recorder:
    """Stores what a run finds. Use it from one thread.

    writer: of the run's session. plan: what counts of an earlier run. clock: where clock times come from. tracking: None = no objects are
    tracked. limits: of recordings.
    """

    def __init__(
        self,
        writer: SessionWriter,
        plan: ResumePlan,
        clock: ClockSettings,
        tracking: live_tracking.LiveTracking | None,
        limits: RecordLimits,
    ) -> None:
        self._writer = writer
        self._plan = plan
        self._clock = clock
        self._tracking = tracking
        self._opened: dict[int, SourceInfo] = {}
        self._stamps: dict[int, Stamp | None] = {}  # of videos, when they were opened
        self._segment: dict[int, int | None] = {}  # the last one of each source
        self._live: dict[int, LiveRecord] = {}
        self._begun: set[int] = set()  # live sources with a frame
        self._limits = limits
        self._recorded = dict(plan.recorded)
        self._mover: PartMover | None = None

    @property
    def notes(self) -> list[Notice]:
        """What happened to earlier results, for the user."""
        return list(self._writer.notes)

    def queue(self, sources: Iterable[tuple[int, Path]]) -> None:
        """Store sources that no device has opened. sources: number and path."""
        self._writer.add_queued((number, str(self._plan.path_of(path))) for number, path in sources)

    def begin_live(self, source: int, address: str) -> None:
        """Store a live source that is being opened. Called by the thread that stores events."""
        self._live[source] = LiveRecord(address)
        self._writer.set_live(source, self._live[source])
        if self._mover is None:
            self._mover = PartMover(self._writer.path, self._limits.minutes, self._writer.continued)

    def keep(self, stored: StoredSource, path: Path) -> None:
        """Take over a source that an earlier run has finished: set its clock and track its objects, if this run asks for it."""
        if stored.info is not None:
            self._set_clock(self._clock, stored.number, path, stored.info.kind, stored.created)
        if self.needs_tracks(stored) and stored.number not in self._plan.joined_or_split:
            assert self._tracking is not None
            self._tracking.begin(stored.number)
            self._tracking.end(stored.number)

    def needs_tracks(self, stored: StoredSource) -> bool:
        """Whether this run would track the objects of a video that an earlier run has finished."""
        if self._tracking is None or stored.kind is not SourceKind.VIDEO:
            return False
        return not tracks.has_current_tracks(self._writer.path, stored.number)

    def checked(self, event: events.SourceEvent, path: Path) -> events.SourceEvent:
        """The event. If it ends a video whose file has changed since the run opened it, the event has an error. path: of its source."""
        if not isinstance(event, events.SourceFinished) or event.cancelled or event.error is not None:
            return event
        stamp = self._stamps.pop(event.source, None)
        if stamp is None or is_unchanged(path, stamp) or (now := stamp_of(path)) is None or has_same_content(now, stamp):
            return event
        return replace(event, error=Notice("run.changed_while_read", path=path))

    def store(self, event: events.Event, path: Path | None, resume: SourceResume | None) -> None:
        """Store an event. path, resume: of its source, None if the event has none."""
        match event:
            case events.FramesDone(source, frames, segment):
                if self._segment.get(source, -1) != segment:
                    self._segment[source] = segment
                    if self._opened[source].kind is SourceKind.LIVE:
                        self._begin_epoch(source, frames[0].ref.pts)
                    pts = self._start_of(source, segment)
                    self._writer.begin_segment(source, segment, pts, frames[0].ref.index)
                self._writer.add_frames(frames)
            case events.SourceOpened(source, info):
                assert path is not None
                assert resume is not None
                self._open(source, info, path, resume)
            case events.SourceFinished():
                assert path is not None
                assert resume is not None
                self._finish(event, path, resume)
            case events.StreamChanged(source, state, reason, seconds):
                self._note(source, LiveChange(seconds, state.value, reason))
            case events.EpochStarted(source, _, reason, seconds):
                self._note(source, LiveChange(seconds, EPOCH, reason))
            case events.StreamRecording(source, on, reason, seconds):
                self._note(source, LiveChange(seconds, RECORDED if on else NOT_RECORDED, reason))
            case events.StreamFile(source, file):
                self._recorded[source] = self._recorded.get(source, RecordedFiles()).after(file)
                self._writer.set_recorded(source, self._recorded[source])
                if file.end is not None:
                    self._remove_oldest()
            case events.DeviceReady(engine):
                self._writer.add_device(engine)
        self._writer.commit_due()
        for answer in () if self._mover is None else self._mover.look():
            if isinstance(answer, Notice):
                _LOG.warning("%s", answer)
            elif answer:
                self._remove_oldest()

    def _note(self, source: int, change: LiveChange) -> None:
        record = self._live[source]
        self._live[source] = replace(record, changes=(*record.changes[1 - MAX_CHANGES :], change))
        self._writer.set_live(source, self._live[source])

    def _remove_oldest(self) -> None:
        """Remove the oldest recorded files and parts of the session, as far as the limits of age and size say so."""
        now, removed = datetime.now(UTC), set[str]()
        files = [file for recorded in self._recorded.values() for file in recorded.files if file.end is not None]
        found = [(_end_of(file), file.size, file.path) for file in files]
        for part in session_parts(self._writer.path):
            with suppress(OSError):
                found.append((end_of_part(part, self._writer.path, self._limits.minutes), part.stat().st_size, str(part)))
        size = sum(size for _, size, _ in found)
        for end, bytes_, path in sorted(found):
            if now - end <= self._limits.age and size <= self._limits.size:
                break
            try:
                Path(path).unlink(missing_ok=True)
            except OSError:  # tried again with the next file
                continue
            removed.add(path)
            size -= bytes_
        for source, recorded in list(self._recorded.items()) if removed else ():
            self._recorded[source] = recorded.without(removed)
            self._writer.set_recorded(source, self._recorded[source])

    def _start_of(self, source: int, segment: int | None) -> int | None:
        segments = self._opened[source].segments
        return None if segment is None or not segments else segments[segment].start

    def _begin_epoch(self, source: int, pts: float) -> None:
        """Store the clock time of the first frame of a live source. pts: its time in the source, seconds."""
        created = self._opened[source].created
        if source not in self._begun and created is not None:
            self._begun.add(source)
            self._writer.set_start(source, datetime.fromisoformat(created) + timedelta(seconds=pts))

    def _open(self, source: int, info: SourceInfo, path: Path, resume: SourceResume) -> None:
        if info.kind is SourceKind.LIVE:
            self._writer.add_source(source, str(path), info)
            self._opened[source] = info
            return
        if resume.again:
            self._writer.discard(source)
        elif resume.stored:
            self._writer.go_on(source, 0 if resume.position is None else resume.position.frames)
        stamp = stamp_of(path)
        self._writer.add_source(source, str(self._plan.path_of(path)), info, stamp)
        self._set_clock(self._plan.clock if self._clock.clock is None else self._clock, source, path, info.kind, info.created)
        if info.kind is SourceKind.VIDEO:
            self._stamps[source] = stamp
            self._writer.describe_source(source, info=info)
            if self._tracking is not None:
                self._tracking.begin(source)
        self._opened[source] = info

    def _finish(self, event: events.SourceFinished, path: Path, resume: SourceResume) -> None:
        source = event.source
        opened = self._opened.pop(source, None) is not None
        if not opened and resume.stored:
            return  # the stored results of an earlier run stay
        self._writer.describe_source(source, decoder=event.decoder.notice)
        stored = str(self._plan.path_of(path))
        self._writer.finish_source(source, stored, event.ledger, event.seconds, event.error, event.cancelled)
        if self._tracking is not None:
            if source in self._live:  # what it stored in past intervals is tracked in their parts
                if opened:
                    self._tracking.begin(source)
                self._tracking.end(source)
            elif event.cancelled or event.error is not None:
                self._tracking.cancel(source)
            else:
                self._tracking.end(source)

    def _set_clock(self, clock: ClockSettings, number: int, path: Path, kind: SourceKind, created: str | None) -> None:
        """Store when a video begins or pictures were taken, if a setting says where the time comes from. created: a video's metadata."""
        if kind is SourceKind.IMAGES and clock.for_pictures is not None:
            self._writer.set_picture_clock(number, path, clock)
        elif kind is SourceKind.VIDEO and clock.clock is not None:
            self._writer.set_start(number, clock.started(path, created))

    def finish(self, cancelled: bool) -> None:
        """Store the last frames, and wait until all complete sources are tracked, unless the run was cancelled."""
        self._writer.commit()
        if self._tracking is not None and not cancelled:
            self._tracking.finish()

    def withdraw(self) -> bool:
        """Put the session back that this run has replaced, see ``SessionWriter.withdraw``."""
        if self._tracking is not None:
            self._tracking.close()
        return self._writer.withdraw()

    def close(self, complete: bool) -> None:
        """Store the last frames and close the session. complete: whether all sources are complete."""
        if self._tracking is not None:
            self._tracking.close()
        if self._mover is not None:
            self._mover.close()
        self._writer.close(complete)


def _end_of(file: RecordedFile) -> datetime:
    return datetime.fromisoformat(file.began) + timedelta(seconds=(file.end or file.begin) - file.begin)
