"""Converts items of the queue into settings of a session, and the progress of a session into items."""

from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from framefleet.app.window.queue.intake import SESSION
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.pool.progress import SourceProgress
from framefleet.engine.settings import RunSettings
from framefleet.engine.settings.kinds import Moment

Chosen = tuple[RunSettings, tuple[str, ...]]
"""The settings and the labels with which a file is detected."""
_NAME = 40
"""Characters of the first file's name in a session's name. Each has at most four bytes, and file systems allow 255 in all."""


def session_name(first: Path) -> str:
    """The file name of a session that starts now with this source: the time and the source's name."""
    what = "".join(character if character.isprintable() else "_" for character in first.stem)
    return f"{datetime.now().astimezone():%Y%m%d-%H%M%S-%f} {what[:_NAME]}{SESSION}"


def _limited(settings: RunSettings, item: QueueItem) -> RunSettings:
    """The settings for one file, limited to its part if it has one."""
    if item.part is None:
        return settings
    begin, end = (_moment(time, item.pictures) for time in (item.part.begin, item.part.end))
    return replace(settings, begin=begin, end=end)


def _moment(time: float, pictures: bool) -> Moment:
    """A place in a source, as settings describe it: the time in a video, or the position of a picture."""
    # the fraction is that of the frame's own time, so that rounding adds no frame
    return Moment(frames=round(time)) if pictures else Moment(seconds=Fraction(time).limit_denominator(1_000_000))


class ChosenSettings:
    """The common settings, and the files with their own. common: None without a model. own: by the key of the file."""

    def __init__(self) -> None:
        self.common: Chosen | None = None
        self.own: dict[int, Chosen] = {}

    def of(self, item: QueueItem) -> Chosen | None:
        """The settings of a file, limited to its part; None without a model."""
        chosen = self.own.get(item.key, self.common)
        return None if chosen is None else (_limited(chosen[0], item), chosen[1])

    def waits_for(self, key: int) -> str | None:
        """What a file waits for before it can be passed to a session; None = nothing."""
        return None if key in self.own or self.common is not None else translate("session", "Needs a model")


def folded(item: QueueItem, progress: SourceProgress, rate: float | None) -> QueueItem:
    """A queue item with the progress from its session. rate: frames/s."""
    item = replace(item, progress=replace(progress, path=item.path, info=progress.info or item.progress.info), rate=rate)
    finished = progress.finished
    if finished is None:
        return replace(item, state=ItemState.RUNNING if progress.frames else ItemState.WAITING)
    state = ItemState.FAILED if finished.error else ItemState.CANCELLED if finished.cancelled else ItemState.DONE
    return replace(item, state=state, reason=finished.error, rate=None)
