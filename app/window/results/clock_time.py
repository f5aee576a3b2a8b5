"""The clock time of pictures in the window."""

from pathlib import Path

from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.session import SessionReader


def is_known(item: QueueItem) -> bool:
    """Whether the session knows by now when the video began or pictures were taken, or that this is unknown."""
    return item.results is not None and item.results.source >= 0 and item.progress.info is not None


def read_clock(item: QueueItem) -> Clock | None:
    """Read the clock of a source from its session. None: the session does not hold it. Raises ExportError if the session cannot be read."""
    assert item.results is not None
    with SessionReader(item.results.database, created=item.results.created) as reader:
        found = [source for source in reader.sources() if source.number == item.results.source]
        return Clock.of(reader, found[0]) if found else None


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
