"""The settings and the labels with which each file of the queue is detected."""

from app.window.queue.item import QueueItem
from app.window.session.folding import limited
from app.window.widgets.translation import translate
from engine.settings import RunSettings

Chosen = tuple[RunSettings, tuple[str, ...]]


class ChosenSettings:
    """The common settings, and the files with their own. common: None without a model. own: by the key of the file."""

    def __init__(self) -> None:
        self.common: Chosen | None = None
        self.own: dict[int, Chosen] = {}

    def of(self, item: QueueItem) -> Chosen | None:
        """The settings of a file, limited to its part; None without a model."""
        chosen = self.own.get(item.key, self.common)
        return None if chosen is None else (limited(chosen[0], item), chosen[1])

    def waits_for(self, key: int) -> str | None:
        """What a file waits for before it can be passed to a session; None = nothing."""
        return None if key in self.own or self.common is not None else translate("session", "Needs a model")
