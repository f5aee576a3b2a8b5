"""The clock time of pictures in the window."""

from app.window.queue.item import QueueItem
from engine.store.clock import Clock
from engine.store.session import SessionReader


def is_known(item: QueueItem) -> bool:
    """Whether the session knows by now when the video began, or that this is unknown."""
    return item.results is not None and item.results.source >= 0 and item.progress.info is not None


def read_clock(item: QueueItem) -> Clock | None:
    """Read the clock of a video from its session. None: the session does not hold it. Raises ExportError if the session cannot be read."""
    assert item.results is not None
    with SessionReader(item.results.database) as reader:
        found = [source for source in reader.sources() if source.number == item.results.source]
        return Clock.of(reader, found[0]) if found else None


def clock_text(clock: Clock | None, pts: float, dated: bool) -> str:
    """Return the clock time of a picture, "" if unknown. pts: seconds. dated: whether to begin with the date."""
    moment = None if clock is None else clock.at(pts)
    return "" if moment is None else moment.strftime("%Y-%m-%d %H:%M:%S" if dated else "%H:%M:%S")
