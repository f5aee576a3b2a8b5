"""What the controller knows of each file of the queue besides its item: settings, and how it is removed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from framefleet.app.window.queue.item import SESSION, ItemState, QueueItem
from framefleet.app.window.timeline.class_counts import Tally, live_length
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.pool.events import SourceProgress
from framefleet.engine.settings import RunSettings
from framefleet.engine.settings.kinds import Moment

SettingsAndLabels = tuple[RunSettings, tuple[str, ...]]
"""The settings and the labels with which a file is detected."""
_NAME = 40
"""Characters of the first file's name in a session's name. Each has at most four bytes, and file systems allow 255 in all."""


@dataclass(frozen=True)
class Removed:
    """A file that was removed from the queue. settings: those for this file only."""

    row: int
    item: QueueItem
    tally: Tally | None
    settings: SettingsAndLabels | None


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


class FileSettings:
    """The common settings, and the files with their own.

    common: None without a model. by_file: by the key of the file.
    """

    def __init__(self) -> None:
        self.common: SettingsAndLabels | None = None
        self.by_file: dict[int, SettingsAndLabels] = {}

    def of(self, item: QueueItem) -> SettingsAndLabels | None:
        """The settings of a file, limited to its part; None without a model."""
        chosen = self.by_file.get(item.key, self.common)
        return None if chosen is None else (_limited(chosen[0], item), chosen[1])

    def waiting(self, items: Iterable[QueueItem]) -> list[tuple[QueueItem, SettingsAndLabels]]:
        """The files that no session has yet, with their settings."""
        found = (item for item in items if item.state is ItemState.WAITING and item.results is None)
        return [(item, settings) for item in found if (settings := self.of(item)) is not None]

    def waits_for(self, key: int) -> str | None:
        """What a file waits for before it can be passed to a session; None = nothing."""
        return None if key in self.by_file or self.common is not None else translate("run", "Needs a model")


def with_progress(item: QueueItem, progress: SourceProgress, rate: float | None) -> QueueItem:
    """A queue item with the progress of its session. rate: frames/s."""
    info = progress.info or item.progress.info
    if info is not None and info.kind is SourceKind.LIVE:
        info = replace(info, duration=live_length(progress.head))
    address = progress.address or item.progress.address
    item = replace(item, progress=replace(progress, path=item.path, info=info, address=address), rate=rate)
    finished = progress.finished
    if finished is None:
        return replace(item, state=ItemState.RUNNING if progress.frames else ItemState.WAITING)
    state = ItemState.FAILED if finished.error else ItemState.CANCELLED if finished.cancelled else ItemState.DONE
    return replace(item, state=state, reason=finished.error, rate=None)
