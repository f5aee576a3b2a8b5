"""One further video of the grid: its own preview process, player and canvas."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from framefleet.app.window.player.playback_clock import FollowingClock, PlaybackClock
from framefleet.app.window.player.player import Player
from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.queue.item import QueueItem
from framefleet.app.window.results.stored import is_known, read_clock
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.store.clock import Clock

OUT_OF_STEP = 0.5
"""Distance from the wanted time at which a playing video jumps there, seconds of the clock."""
PATIENCE = 3.0
"""The same while it jumps already: each jump replaces the one before."""


class Cell(QObject):
    """Shows one item of the queue in step with another player. chosen: the user clicked it."""

    chosen = Signal(int)

    def __init__(self, item: QueueItem, leader: PlaybackClock, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self.item = item
        self.canvas: VideoCanvas = VideoCanvas()
        self.clock: Clock | None = None
        self._background = background
        self._clock_read = False
        self._following = FollowingClock(leader)
        self._client = PreviewClient(self)
        self.player = Player(self._client, self, self._following)
        self.player.set_wait(False)
        self._wanted: float | None = None
        self.canvas.resized.connect(self.player.set_viewport)
        self.canvas.pressed.connect(lambda: self.chosen.emit(self.item.key))
        self.player.shown.connect(self._shown)
        self.player.result.connect(self.canvas.show_result)
        self.player.failed.connect(self.canvas.show_message)
        self.canvas.show_message(translate("viewer", "Opening…"))
        self.update_item(item)
        self.player.set_viewport(self.canvas.device_size())
        self.player.open(item, play=False)

    @property
    def position(self) -> float:
        """The pts of the shown picture, seconds."""
        return self.player.position

    def update_item(self, item: QueueItem) -> None:
        """Use a changed state of the file."""
        self.item = item
        self.canvas.set_labels(item.results.labels if item.results else ())
        self.player.update_item(item, queue_busy=True)
        if not self._clock_read and is_known(item):
            self._clock_read = True
            self._background.start(self, partial(read_clock, item), self._set_clock, lambda _: None)

    def _set_clock(self, clock: Clock | None) -> None:
        self.clock = clock

    def follow(self, leader: Player, offset: float | None) -> None:
        """Show the picture that belongs to the leader's. offset: of its time since the first one, seconds; None = unknown."""
        if offset is None:
            self._leave(translate("viewer", "The clock time of this video is unknown"))
            return
        shift = offset + self.player.begin - leader.begin
        self._following.offset = shift
        target = leader.position + shift
        info, time = self.player.info, target - self.player.begin
        if offset and (time < 0 or (info is not None and info.duration is not None and time > info.duration)):
            self._leave(translate("viewer", "This video has no picture at this time"))
            return
        playing = leader.anchor is not None
        allowed = OUT_OF_STEP * max(leader.speed, 1.0) if playing else 0.5 / (info.rate if info is not None and info.rate else 25.0)
        expected = self.position if self._wanted is None else self._wanted
        if abs(expected - target) > (allowed if self._wanted is None or not playing else PATIENCE):
            self._wanted = target
            self.player.seek(target)
        if playing != self.player.playing:
            self.player.toggle()

    def _leave(self, note: str) -> None:
        self.player.pause()
        self.canvas.show_message(note)
        self._wanted = float("inf")  # the next time in the video is a jump

    def _shown(self, shown: Shown) -> None:
        info = self.player.info
        size = (info.width, info.height) if info is not None else (shown.image.width(), shown.image.height())
        self.canvas.show_picture(shown.image, size, shown.result)
        self._wanted = None

    def close(self) -> None:
        """Remove the canvas, and end the preview process in the background, which takes as long as decoding a picture."""
        self.player.close_file()
        self.canvas.hide()
        self.canvas.deleteLater()
        self._background.start(self, self._client.release(), lambda _: self.deleteLater(), lambda _: self.deleteLater())
