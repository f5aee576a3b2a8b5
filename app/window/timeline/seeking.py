"""Jumps in the shown file, and the card above the timeline that shows what is under the mouse."""

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QLabel

from framefleet.app.window.player.player import Player
from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.queue.item import QueueItem, Results
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.transport import SPEEDS, Transport
from framefleet.app.window.widgets import build, formats
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.store.session import SessionReader

GAP = 0.5
"""Objects appear where there was none for longer than this, seconds (or positions, of pictures)."""


class Seeking:
    """Moves a player. item: returns the shown file. shown: returns the filter of the shown detections."""

    def __init__(
        self,
        player: Player,
        transport: Transport,
        background: Background,
        item: Callable[[], QueueItem | None],
        shown: Callable[[], ViewFilter],
    ) -> None:
        self._player, self._transport, self._background = player, transport, background
        self._item, self._shown = item, shown

    def shuttle(self, direction: int) -> None:
        """Play forwards (1) or backwards (-1), twice as fast if it does so already; 0 pauses."""
        player = self._player
        same = player.playing and player.speed * direction > 0
        self._transport.choose_speed(direction * min(max(2 * abs(player.speed), 1.0), SPEEDS[-1]) if same else float(direction or 1))
        player.play() if direction else player.pause()

    def by(self, seconds: float) -> None:
        """Jump forward, or back if negative."""
        info = self._player.info
        end = info.begin + info.duration if info is not None and info.duration else float("inf")
        self._player.seek(min(self._player.position + seconds, end))

    def to_end(self) -> None:
        """Jump to the last picture."""
        info = self._player.info
        if info is not None:
            self._player.seek(float(info.frames) if info.duration is None else info.begin + info.duration)

    def to_detection(self, forward: bool) -> None:
        """Jump to the next or previous time at which shown objects appear."""
        item, hint = self._item(), self._transport.hint
        if item is None or item.results is None or item.results.source < 0:
            return

        def shown() -> bool:
            return (now := self._item()) is not None and now.key == item.key

        def found(pts: float | None) -> None:
            if not shown():
                return
            after = translate("timeline", "Nothing that is shown appears after this")
            before = translate("timeline", "Nothing that is shown appears before this")
            hint.setText("" if pts is not None else after if forward else before)
            if pts is not None:
                self._player.pause()
                self._player.seek(pts)

        self._background.start(
            self._player,
            partial(next_appearance, item.results, self._shown(), self._player.position, forward),
            found,
            lambda said: hint.setText(of_engine(said)) if shown() else None,
        )


def next_appearance(results: Results, shown: ViewFilter, pts: float, forward: bool) -> float | None:
    """The first time after ``pts``, or the last time before it, at which objects of a shown class appear, seconds. None: there is none.

    Raises ExportError if the results cannot be read.
    """
    starts: list[float] = []
    last: dict[int, float] = {}  # when each class was seen last
    with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
        for block in reader.blocks(results.source):
            times = np.array([frame.pts for frame in block.frames])[block.frame]
            for class_id in np.unique(block.class_ids).tolist():
                seen = np.unique(times[block.class_ids == class_id])
                starts += seen[np.diff(seen, prepend=last.get(class_id, -np.inf)) > GAP].tolist()
                last[class_id] = float(seen[-1])
            if forward and len(block.frames) and max(starts, default=-np.inf) > pts + 1e-6:
                break
    there = [start for start in starts if (start > pts + 1e-6 if forward else start < pts - 1e-6)]
    return None if not there else min(there) if forward else max(there)


APART = 0.5
"""The least difference of the picture's time from that under the mouse which is said, seconds."""
SIZE = QSize(176, 99)
"""The largest size of the picture, logical pixels."""


class HoverCard(QFrame):
    """Follows the mouse over the timeline. ``path``: of the shown source, None = none.

    The picture is the keyframe before the time under the mouse, which takes little time to decode; its own time is beside it.
    """

    def __init__(self, transport: Transport, client: PreviewClient) -> None:
        super().__init__(transport.timeline, Qt.WindowType.ToolTip)
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.path: str | None = None
        self._transport, self._client = transport, client
        self._asked: float | None = None
        self._shown: float | None = None
        self.picture, self.text = QLabel(), build.label("small")
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        build.column(self.picture, self.text, spacing=4, margins=(6, 6, 6, 6), of=self)
        transport.timeline.hovered.connect(self._hover)
        client.near_arrived.connect(self._arrived)
        transport.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hide when the timeline moves away from the mouse, in full screen for example: it tells nothing until the mouse moves."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self.hide()
        return super().eventFilter(watched, event)

    def _hover(self, time: float | None) -> None:
        if time is None or self.path is None:
            self.hide()
            return
        if time != self._asked:
            self._asked = time
            size = SIZE * self.devicePixelRatio()
            self._client.fetch_near(self.path, self._transport.begin + time, (size.width(), size.height()))
        self._write()
        self._place()
        self.show()

    def _write(self) -> None:
        if self._asked is None:
            return
        text = self._transport.timeline.text_at(self._asked)
        if self._shown is not None and abs(self._shown - self._asked) >= APART:
            text += "\n" + translate("timeline", "picture of {time}").format(time=formats.clock(self._shown, 1))
        self.text.setText(text)

    def _arrived(self, path: str, pts: float | None, image: QImage | None) -> None:
        if path != self.path:
            return
        self._shown = None if pts is None else pts - self._transport.begin
        self._write()
        if image is None:
            self.picture.clear()
        else:
            pixmap = QPixmap.fromImage(image)
            pixmap.setDevicePixelRatio(self.devicePixelRatio())
            self.picture.setPixmap(pixmap)
        if self.isVisible():
            self._place()

    def set_path(self, path: str | None) -> None:
        """Show pictures of this source from now on, None = of none."""
        if path != self.path:
            self.path, self._asked, self._shown = path, None, None
            self.picture.clear()
            self.hide()

    def _place(self) -> None:
        """Stand above the mouse, within the timeline's width."""
        self.adjustSize()
        timeline = self._transport.timeline
        middle = timeline.mapFromGlobal(self.cursor().pos()).x()
        left = min(max(middle - self.width() // 2, 0), max(timeline.width() - self.width(), 0))
        self.move(timeline.mapToGlobal(QPoint(left, -self.height() - 4)))
