"""What of the results of an earlier run counts for a run: which sources are finished, where others go on, and which are detected again."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from framefleet.engine.media.sources import begins_with, is_unchanged
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.pool.events import Position
from framefleet.engine.pool.scheduling.strategies import DIED_TWICE
from framefleet.engine.settings import RunSettings, Track, clock, table
from framefleet.engine.store import schema, sources
from framefleet.engine.store.facts import RecordedFiles, clock_of, differences, run_facts
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.tracking.follow import MIN_CONFIDENCE
from framefleet.engine.types import EngineChoice

ADJUSTABLE_CONFIDENCE = 0.05
"""From this confidence on, a run stores detections if the user can lower the shown confidence later without another run."""


def stored_confidence(confidence: float, track: Track, adjustable: bool = False) -> float:
    """Return the confidence from which on a run stores detections: a tracker or the user may need weaker ones than those that are shown.

    Parameters
    ----------
    confidence : float
        From which on views show detections.
    track : Track
        The tracker of the run.
    adjustable : bool
        Whether the user can lower the shown confidence during the run and after it.
    """
    floors = [confidence]
    if track is not Track.NONE:
        floors.append(MIN_CONFIDENCE)
    if adjustable:
        floors.append(ADJUSTABLE_CONFIDENCE)
    return min(floors)


def storing(settings: RunSettings, earlier: Path | None = None) -> RunSettings:
    """Return the settings of a run whose views show what a run with ``settings`` would store. See ``stored_confidence`` above.

    earlier: the session that the run may continue. If it can, and the session has still weaker detections, the run stores these, too.
    """
    lowest = stored_confidence(settings.engine.stored_confidence, settings.track)
    if earlier is not None and earlier.exists():
        with suppress(ExportError, KeyError, ValueError), SessionReader(earlier) as reader:  # the run says what is wrong with it
            weaker = _as_stored(settings, reader)
            if weaker.engine.stored_confidence < lowest and not differences(reader.facts, run_facts(weaker)):
                return weaker
    return _from(settings, lowest)


def continuing(settings: RunSettings, labels: Sequence[str], session: SessionReader) -> RunSettings | None:
    """Return the settings of a run that continues a session and stores the detections that the session stores. None: they differ.

    A run of the command line stores fewer detections than one of the window, which lets the user lower the confidence later. The window
    continues it all the same, unless the command line was given a higher confidence than the default.
    """
    with suppress(KeyError, ValueError):
        same = _as_stored(settings, session)
        lowest = max(settings.engine.stored_confidence, table.DEFAULTS["confidence"])
        known = session.labels == tuple(map(sources.readable, labels)) and not differences(session.facts, run_facts(same))
        return same if known and same.engine.stored_confidence <= lowest else None
    return None


def _as_stored(settings: RunSettings, session: SessionReader) -> RunSettings:
    """The settings with the confidence from which on a session stores detections."""
    return _from(settings, float(session.facts["confidence"]))


def _from(settings: RunSettings, confidence: float) -> RunSettings:
    return replace(settings, engine=replace(settings.engine, stored_confidence=confidence))


@dataclass(frozen=True)
class SourceResume:
    """How a run begins a source.

    number: in the session. kept: the stored source, if it is complete and has not changed. position: the place behind the stored frames,
    if it has not changed. again: whether the source has changed, so that its stored frames are deleted. stored: number of stored frames.
    """

    number: int
    kept: StoredSource | None = None
    position: Position | None = None
    again: bool = False
    stored: int = 0


class ResumePlan:
    """The sources of a session that an earlier run wrote. database: None = there is none, so that all sources are new.

    Attributes: joined_or_split: numbers of the sources whose tracks a person joined or split. clock: where clock times come from, by the
    last run that said so. engines: what the earlier run chose for its engines. recorded: the files of recordings, by source.

    Raises ExportError if the session cannot be read.
    """

    def __init__(self, database: Path | None) -> None:
        self._kept = 0
        self._notes: list[Notice] = []
        self._folder = str(Path.cwd())
        self._added = 0
        self._used: set[int] = set()
        self._next = 0  # the number behind the highest one
        self._stored: dict[str, list[StoredSource]] = defaultdict(list)
        self._positions: dict[int, Position | None] = {}
        self._frames: dict[int, int] = {}
        self._crashed: dict[int, tuple[int, Position | None]] = {}  # how many frames workers crashed on, and the first place
        self.joined_or_split: set[int] = set()
        self.clock = clock.ClockSettings()
        self.engines: tuple[EngineChoice, ...] = ()
        self.recorded: dict[int, RecordedFiles] = {}
        if database is None:
            return
        with SessionReader(database) as reader:
            self._folder = reader.facts.get("folder", self._folder)
            self.clock = clock_of(reader.facts)
            self.engines = tuple(reader.engines())
            for source in reader.sources():
                self._stored[schema.absolute("", str(source.file))].append(source)
                self._use(source.number)
                if (recorded := RecordedFiles.of(reader.facts, source.number)).files:
                    self.recorded[source.number] = recorded.closed()
                self._frames[source.number] = reader.count(source.number)
                if reader.is_corrected(source.number, tracks=True):
                    self.joined_or_split.add(source.number)
                if not source.succeeded or source.kind is SourceKind.IMAGES:
                    self._positions[source.number] = reader.position(source.number, before_failed=source.error is not None)
                # a worker may have crashed on a frame because of the machine: a later run tries the frame again
                if (not source.succeeded or DIED_TWICE.reason in source.ledger.failed) and not reader.is_corrected(source.number):
                    count, first = reader.failed_with(source.number, DIED_TWICE.reason)
                    if first is not None:
                        self._crashed[source.number] = count, reader.position(source.number, source.error is not None, first)

    @property
    def notes(self) -> list[Notice]:
        """What the run takes over, for the user."""
        return [Notice("run.sources_kept", count=self._kept)] * (self._kept > 0) + self._notes

    def path_of(self, path: Path) -> Path:
        """Return the path under which the session stores a source: relative paths refer to the folder of the first run."""
        return path if self._folder == str(Path.cwd()) else path.absolute()

    def start(self, path: Path, number: int | None = None, again: bool = False) -> SourceResume:
        """Return how the run begins a source, and add a note if it does not begin at its start.

        number: of the stored source to continue, -1 = the newest one with this path, None = the first one. If this path has no source
        with that number, a new one begins, with the number if it is free. again: begin a new source, whatever is stored of this path.
        """
        stored = [] if again else self._stored.get(schema.absolute(str(Path.cwd()), str(path)), [])
        if number == -1:
            number = stored[-1].number if stored else None
        fitting = [each for each in stored if number in (None, each.number)]
        index, self._added = self._added if number is None else number, self._added + 1
        if not fitting:
            number = index if index not in self._used else self._next
            self._use(number)
            return SourceResume(number)
        source = fitting[0]
        stored.remove(source)
        frames = self._frames[source.number]
        position = self._positions.get(source.number)
        if not is_unchanged(path, source.stamp):
            if position is not None and _has_grown(path, source, position):
                self._notes.append(Notice("run.more_pictures", path=path, picture=position.frames))
                return SourceResume(source.number, position=position, stored=frames)
            if source.info is not None and path.exists():
                self._notes.append(Notice("run.source_has_changed", path=path))
            return SourceResume(source.number, again=True, stored=frames)
        if (crashed := self._crashed.get(source.number)) is not None:
            count, position = crashed
            self._notes.append(Notice("run.crashed_frames", path=path, count=count))
            return SourceResume(source.number, position=position, stored=frames)
        if source.succeeded:
            self._kept += 1
            return SourceResume(source.number, kept=source, stored=frames)
        if position is not None:
            self._notes.append(Notice("run.goes_on", path=path, frame=position.frames))
        return SourceResume(source.number, position=position, stored=frames)

    def start_live(self) -> SourceResume:
        """Return how the run begins a live source: as a new one."""
        number = self._added if self._added not in self._used else self._next
        self._added += 1
        self._use(number)
        return SourceResume(number)

    def _use(self, number: int) -> None:
        self._used.add(number)
        self._next = max(self._next, number + 1)


def removed_corrections(database: Path, path: Path, number: int) -> int:
    """Return the number of corrected detections that a run removes if it continues a source. number: of the source in the session.

    Raises ExportError if the session cannot be read.
    """
    with SessionReader(database) as reader:
        if not reader.is_corrected(number):
            return 0
        resume = ResumePlan(database).start(path, number)
        if resume.kept is not None:
            return 0
        return reader.affected_corrections(number, 0 if resume.position is None else resume.position.frames)


def _has_grown(path: Path, source: StoredSource, position: Position) -> bool:
    """Whether pictures were only added behind those that an earlier run opened. position: behind the stored frames."""
    if source.kind is not SourceKind.IMAGES or source.info is None or source.info.frames is None or source.stamp is None:
        return False
    if source.succeeded and position.frames != source.info.frames:  # the run took a part of the pictures
        return False
    return begins_with(path, source.stamp, source.info.frames)
