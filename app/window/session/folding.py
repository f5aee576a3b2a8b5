"""Converts items of the queue into settings of a session, and the progress of a session into items."""

from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from app.window.queue.intake import SESSION
from app.window.queue.item import ItemState, QueueItem
from engine.pool.progress import SourceProgress
from engine.settings import RunSettings
from engine.settings.kinds import Moment

_NAME = 40
"""Characters of the first file's name in a session's name. Each has at most four bytes, and file systems allow 255 in all."""


def session_name(first: Path) -> str:
    """The file name of a session that starts now with this source: the time and the source's name."""
    what = "".join(character if character.isprintable() else "_" for character in first.stem)
    return f"{datetime.now().astimezone():%Y%m%d-%H%M%S-%f} {what[:_NAME]}{SESSION}"


def limited(settings: RunSettings, item: QueueItem) -> RunSettings:
    """The settings for one file, limited to its part if it has one."""
    if item.part is None:
        return settings
    begin, end = (_moment(time, item.pictures) for time in (item.part.begin, item.part.end))
    return replace(settings, begin=begin, end=end)


def _moment(time: float, pictures: bool) -> Moment:
    """A place in a source, as settings describe it: the time in a video, or the position of a picture."""
    # the fraction is that of the frame's own time, so that rounding adds no frame
    return Moment(frames=round(time)) if pictures else Moment(seconds=Fraction(time).limit_denominator(1_000_000))


def folded(item: QueueItem, progress: SourceProgress, rate: float | None) -> QueueItem:
    """A queue item with the progress from its session. rate: frames/s."""
    item = replace(item, progress=replace(progress, path=item.path, info=progress.info or item.progress.info), rate=rate)
    finished = progress.finished
    if finished is None:
        return replace(item, state=ItemState.RUNNING if progress.frames else ItemState.WAITING)
    state = ItemState.FAILED if finished.error else ItemState.CANCELLED if finished.cancelled else ItemState.DONE
    return replace(item, state=state, reason=finished.error, rate=None)
