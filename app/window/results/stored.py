"""Stored results of an earlier run as items for the queue, and the clock time of pictures."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from threading import Event

from framefleet.app.window.queue.item import ItemState, Part, QueueItem, Results
from framefleet.app.window.timeline.class_counts import Tally, length_of, live_length
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, literal
from framefleet.engine.pool.events import SourceFinished, SourceProgress
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.facts import CREATED, ZONES
from framefleet.engine.store.session import SessionReader, StoredSource


def is_known(item: QueueItem) -> bool:
    """Whether the session knows by now when the video began or pictures were taken, or that this is unknown."""
    return item.results is not None and item.results.source >= 0 and item.progress.info is not None


def read_clock(item: QueueItem) -> Clock | None:
    """Read the clock of a source from its session: that of a stream in local time. None: the session does not hold it.

    Raises ExportError if the session cannot be read.
    """
    assert item.results is not None
    with SessionReader(item.results.database, created=item.results.created) as reader:
        found = [source for source in reader.sources() if source.number == item.results.source]
        clock = Clock.of(reader, found[0]) if found else None
    if clock is not None and clock.started is not None and item.live:
        clock.started = clock.started.astimezone()  # streams are stored in UTC
    return clock


def clock_text(clock: Clock | None, pts: float, dated: bool) -> str:
    """Return the clock time of a picture, "" if unknown. pts: seconds. dated: whether to begin with the date."""
    moment = None if clock is None else clock.at(pts)
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S" if dated else "%H:%M:%S")


NAME = Path("north_20261101_070000.mp4")
"""Shows how a name states the time, while the queue has no file."""


def clock_preview(clock: ClockSettings, item: QueueItem | None) -> dict[str, str]:
    """Return the time at which a file began with this setting, in words, by the setting's name. item: None = an example of a name."""
    path = NAME if item is None else item.path
    if clock.clock is None or (item is None and clock.clock is not ClockSource.NAME):
        return {}
    info = None if item is None else item.progress.info
    if (clock.clock is ClockSource.METADATA and info is None) or (info is not None and info.kind is SourceKind.IMAGES):
        return {}  # not opened yet, or each picture has its own time
    moment = clock.started(path, None if info is None else info.created)
    if moment is None:
        return {"clock": translate("settings", "{name}: no time is found").format(name=path.name)}
    return {"clock": f"{path.name} → {moment:%Y-%m-%d %H:%M:%S}"}


NONE = str(None)
"""How a session's facts write a setting without a value."""


def read_stored(database: Path) -> list[QueueItem]:
    """Read the sources of a session database, also while a session writes it. Their keys are not set yet.

    Raises ExportError if it is missing, damaged, no session database, or without a source.
    """
    with SessionReader(database) as reader:
        found = [_stored(reader, source) for source in reader.sources()]
    if not found:
        raise ExportError(
            literal(
                translate("results", "{database} holds no results: the run ended before it had looked at a file").format(database=database)
            )
        )
    return found


def count_stored(files: Sequence[tuple[QueueItem, Tally]], stop: Event, shown: int | None = None) -> None:
    """Count the stored detections of sources. Raises ExportError if a database cannot be read.

    stop: ends it early. shown: the key of the file that keeps when its detections were. The others keep little, one after the other.
    """

    def session(file: tuple[QueueItem, Tally]) -> tuple[Path, str]:
        assert file[0].results is not None
        return file[0].results.database, file[0].results.created

    for (database, created), of_session in groupby(files, session):
        with SessionReader(database, created=created) as reader:
            reader.stop = stop
            for item, tally in of_session:
                assert item.results is not None
                tally.add_stored(reader, item.results.source, item.progress.info)
                if item.key != shown and tally.complete:
                    tally.compress()


def _stored(reader: SessionReader, source: StoredSource) -> QueueItem:
    state = ItemState.FAILED if source.error else ItemState.DONE if source.complete else ItemState.CANCELLED
    finished = SourceFinished(source.number, source.ledger, source.seconds or 0.0, source.error, source.cancelled)
    frames, failed, head = reader.count(source.number), reader.failed(source.number), reader.last_pts(source.number)
    info, address, part = source.info, None, None
    if info is not None and info.kind is SourceKind.LIVE:
        info, address = replace(info, duration=live_length(head)), source.address or info.path
    else:
        part = _part(reader, source)
    progress = SourceProgress(source.file, info, frames, failed, head, finished, address=address)
    facts = [reader.facts.get(key, "") for key in ("model", ZONES, CREATED)]
    results = Results(reader.path, source.number, reader.labels, *facts)
    return QueueItem(0, progress, state, results, reason=source.error, changed=source.changed(), part=part)


def _part(reader: SessionReader, source: StoredSource) -> Part | None:
    """The part of a source to which its run was limited, None if it was not."""
    begins, ends = (reader.facts.get(name, NONE) != NONE for name in ("begin", "end"))
    info, last = source.info, reader.last_pts(source.number)
    if not (begins or ends) or info is None or last is None:
        return None
    first = float(reader.times(source.number, 1)[0])
    frame = 1 / info.rate if info.rate else 1.0
    return Part(first - info.begin if begins else 0.0, last - info.begin + frame if ends else length_of(info))
