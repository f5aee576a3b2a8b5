"""The heading of the queue: how many files are done, links that show files of one kind only, and buttons for the whole run."""

from collections import Counter
from enum import StrEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.widgets import formats, painting, theme
from framefleet.app.window.widgets.build import column, label, row, say, tool_button
from framefleet.app.window.widgets.translation import marked, translate


class Found(StrEnum):
    """The kinds of finished files, by what was found in them."""

    OBJECTS = "objects"
    EMPTY = "empty"
    FAILED = "failed"


KINDS = {
    Found.OBJECTS: marked("queue", "{number} with objects"),
    Found.EMPTY: marked("queue", "{number} empty"),
    Found.FAILED: marked("queue", "{number} failed"),
}


def kind_of(model: QueueModel, item: QueueItem) -> Found | None:
    """The kind of a file; None if it has not ended, was cancelled, or its detections are not counted yet."""
    if item.state is ItemState.FAILED:
        return Found.FAILED
    found = model.found(item) if item.state is ItemState.DONE else None
    return None if found is None else Found.OBJECTS if found else Found.EMPTY


def summary_of(model: QueueModel) -> tuple[str, dict[Found, str]]:
    """The queue in one line, ``2 of 5 done`` or ``4 done, 1 cancelled``, and the kinds of files that can be shown alone: ``2 empty``."""
    items = list(model)
    done, failed, ended = (sum(item.state is state for item in items) for state in (ItemState.DONE, ItemState.FAILED, ItemState.CANCELLED))
    stopped = sum(item.state is ItemState.CANCELLED and item.live for item in items)
    cancelled = ended - stopped
    live = sum(item.live and not item.ended for item in items)  # streams are never done
    if not items:
        return "", {}
    all_ended = done + failed + ended == len(items)
    first = (
        translate("queue", "{done} done").format(done=formats.count(done))
        if all_ended
        else translate("queue", "{done} of {count} done").format(done=formats.count(done), count=formats.count(len(items) - live - stopped))
    )
    kinds = Counter(kind_of(model, item) for item in items) if all_ended else Counter({Found.FAILED: failed})
    if not kinds[Found.EMPTY]:
        del kinds[Found.OBJECTS]  # all files have objects
    parts = [first] * ((not all_ended and len(items) > live + stopped) or bool(done) or not live + failed + ended)
    parts += [translate("queue", "{number} live").format(number=formats.count(live))] if live else []
    parts += [translate("queue", "{number} cancelled").format(number=formats.count(cancelled))] if cancelled else []
    parts += [translate("queue", "{number} stopped").format(number=formats.count(stopped))] if stopped else []
    shown = {kind: translate("queue", text).format(number=formats.count(kinds[kind])) for kind, text in KINDS.items() if kinds[kind]}
    return ", ".join(parts), shown


class QueueHeading(QWidget):
    """Sums up the queue. kind: the kind of files that are shown, None = all.

    kind_changed: the user has chosen another kind. pause_requested: whether the run should pause.
    """

    kind_changed = Signal()
    pause_requested = Signal(bool)

    def __init__(self, model: QueueModel) -> None:
        super().__init__()
        self._model = model
        self._paused = False
        self.kind: Found | None = None
        self.summary = label("small", wrap=True, rich=True)
        self.summary.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.summary.linkActivated.connect(self._choose_kind)
        self.stop = tool_button("stop", translate("queue", "Cancel all files that are not finished"))
        self.pause = tool_button("pause", "", clicked=lambda: self.pause_requested.emit(not self._paused))
        self.set_paused(False)
        head = row(label("section", translate("queue", "Queue")), None, self.pause, self.stop, spacing=2, margins=(16, 4, 8, 0))
        policy = self.stop.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # the list below does not move when a run ends
        self.stop.setSizePolicy(policy)
        column(head, row((self.summary, 1), margins=(16, 0, 8, 6)), spacing=0, of=self)

    def refresh(self) -> None:
        """Show the number of completed files and the kinds of files."""
        unfinished = not all(item.ended for item in self._model)
        self.stop.setVisible(unfinished)
        self.pause.setVisible((unfinished and self._paused) or any(item.active and item.results is not None for item in self._model))
        first, kinds = summary_of(self._model)
        if self._paused and unfinished:
            first = translate("queue", "Paused: {summary}").format(summary=first)
        if self.kind not in kinds:
            self.kind = None
        links = [f"<b>{text}</b>" if kind is self.kind else _link(kind, text) for kind, text in kinds.items()]
        links += [_link("", translate("queue", "show all"))] if self.kind is not None else []
        say(self.summary, ", ".join(filter(None, (first, *links))))
        self.summary.setAccessibleName(", ".join(filter(None, (first, *kinds.values()))))

    def use_theme(self) -> None:
        """Show the links in the colours of the theme."""
        self.refresh()

    def _choose_kind(self, link: str) -> None:
        self.kind = Found(link) if link else None
        self.kind_changed.emit()

    def set_paused(self, paused: bool) -> None:
        """Show whether the run is paused."""
        self._paused = paused
        title = translate("queue", "Continue the detection") if paused else translate("queue", "Pause the detection")
        self.pause.setIcon(painting.icon("play" if paused else "pause"))
        self.pause.setToolTip(title)
        self.pause.setAccessibleName(title)
        self.refresh()


def _link(target: str, text: str) -> str:
    """A link in a label, red for failed files."""
    colour = theme.DANGER if target == Found.FAILED else theme.ACCENT
    return f'<a href="{target}" style="color: {colour}; text-decoration: none">{text.replace(" ", "&nbsp;")}</a>'
