"""Jumps in the shown file: by seconds, to its end, to detections, and playing at growing speed."""

from collections.abc import Callable
from functools import partial

import numpy as np

from framefleet.app.window.player.player import Player
from framefleet.app.window.queue.item import QueueItem, Results
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.transport import SPEEDS, Transport
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
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

        def found(pts: float | None) -> None:
            now = self._item()
            if now is None or now.key != item.key:
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
            lambda said: hint.setText(of_engine(said)),
        )


def next_appearance(results: Results, shown: ViewFilter, pts: float, forward: bool) -> float | None:
    """The first time after ``pts``, or the last time before it, at which shown objects appear, seconds. None if there is none.

    Raises ExportError if the results cannot be read.
    """
    with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
        found, frames = reader.frames_with_detections(results.source), reader.indices(results.source)
        times = reader.times(results.source, len(frames))[np.searchsorted(frames, found)]
    starts = times[np.diff(times, prepend=-np.inf) > GAP]
    there = starts[starts > pts + 1e-6] if forward else starts[starts < pts - 1e-6][::-1]
    return float(there[0]) if len(there) else None
