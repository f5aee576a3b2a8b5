"""Decides what a run takes over from the session that it continues."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.media.stamp import begins_with, is_unchanged
from framefleet.engine.media.types import SourceKind
from framefleet.engine.pool.position import Position
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store import schema
from framefleet.engine.store.facts import clock_of
from framefleet.engine.store.reading.reader import SessionReader
from framefleet.engine.store.stored_source import StoredSource


@dataclass(frozen=True)
class Start:
    """How a run begins a source.

    number: in the session. kept: the stored source, if it is complete and has not changed. position: the place behind the stored frames,
    if it has not changed. again: whether the source has changed, so that its stored frames are deleted. stored: number of stored frames.
    """

    number: int
    kept: StoredSource | None = None
    position: Position | None = None
    again: bool = False
    stored: int = 0


class GoingOn:
    """The sources of a session that an earlier run wrote. database: None = there is none, so that all sources are new.

    Attributes: joined_or_split: numbers of the sources whose tracks a person joined or split. clock: where clock times come from, by the
    last run that said so.

    Raises ExportError if the session cannot be read.
    """

    def __init__(self, database: Path | None) -> None:
        self._kept = 0
        self._notes: list[str] = []
        self._folder = str(Path.cwd())
        self._added = 0
        self._used: set[int] = set()
        self._stored: dict[str, list[StoredSource]] = defaultdict(list)
        self._positions: dict[int, Position | None] = {}
        self._frames: dict[int, int] = {}
        self.joined_or_split: set[int] = set()
        self.clock = ClockSettings()
        if database is None:
            return
        with SessionReader(database) as reader:
            self._folder = reader.facts.get("folder", self._folder)
            self.clock = clock_of(reader.facts)
            for source in reader.sources():
                self._stored[schema.absolute("", str(source.file))].append(source)
                self._used.add(source.number)
                self._frames[source.number] = reader.count(source.number)
                if reader.is_corrected(source.number, tracks=True):
                    self.joined_or_split.add(source.number)
                if not source.succeeded or source.kind is SourceKind.IMAGES:
                    self._positions[source.number] = reader.position(source.number, before_failed=source.error is not None)

    @property
    def notes(self) -> list[str]:
        """Sentences for the user about what the run takes over."""
        one = "1 source finished by an earlier run: the results stay (--restart detects again)"
        several = f"{self._kept} sources finished by an earlier run: the results stay (--restart detects again)"
        return [one if self._kept == 1 else several] * (self._kept > 0) + self._notes

    def path_of(self, path: Path) -> Path:
        """Return the path under which the session stores a source: relative paths refer to the folder of the first run."""
        return path if self._folder == str(Path.cwd()) else path.absolute()

    def start(self, path: Path, number: int | None = None) -> Start:
        """Return how the run begins a source, and add a note if it does not begin at its start.

        number: of a source that is not stored, if it is not the next one and is free.
        """
        stored = self._stored.get(schema.absolute(str(Path.cwd()), str(path)))
        index, self._added = self._added if number is None else number, self._added + 1
        if not stored:
            number = index if index not in self._used else max(self._used) + 1
            self._used.add(number)
            return Start(number)
        source = stored.pop(0)
        frames = self._frames[source.number]
        position = self._positions.get(source.number)
        if not is_unchanged(path, source.stamp):
            if position is not None and _has_grown(path, source, position):
                self._notes.append(f"{path} has more pictures than in an earlier run: it goes on at picture {position.frames}")
                return Start(source.number, position=position, stored=frames)
            if source.info is not None and path.exists():
                self._notes.append(f"{path} has changed since an earlier run: it is detected again")
            return Start(source.number, again=True, stored=frames)
        if source.succeeded:
            self._kept += 1
            return Start(source.number, kept=source, stored=frames)
        if position is not None:
            self._notes.append(f"{path} goes on at frame {position.frames}, where an earlier run stopped")
        return Start(source.number, position=position, stored=frames)


def _has_grown(path: Path, source: StoredSource, position: Position) -> bool:
    """Whether pictures were only added behind those that an earlier run opened. position: behind the stored frames."""
    if source.kind is not SourceKind.IMAGES or source.info is None or source.info.frames is None or source.stamp is None:
        return False
    if source.succeeded and position.frames != source.info.frames:  # the run took a part of the pictures
        return False
    return begins_with(path, source.stamp, source.info.frames)
