"""The window's side of sound: keeps the sound process in step with the player."""

import math

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.player.player import Player
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.sound import process
from framefleet.engine.media.sound.process import InStep, Play, Silent, Stop
from framefleet.engine.processes.child import ChildProcess

LOOK_MS = 250
"""Time between looks for answers of the process."""
SAME = 0.015
"""Smaller differences from what the process plays need no new command, seconds."""


class Sound(QObject):
    """Plays the sound of the shown video at normal speed, while it is on. The process starts when it is needed first.

    silent: why there is no sound, once for each file and reason.
    """

    silent = Signal(str)

    def __init__(self, player: Player, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._player = player
        self._on = False
        self._process: ChildProcess | None = None
        self.wanted: Play | None = None
        """What plays, None = nothing."""
        self._refused: str | None = None
        self._looking = QTimer(self, interval=LOOK_MS)
        self._looking.timeout.connect(self._look)
        self.error = math.nan
        """How far the sound is ahead of the pictures, seconds; NaN while none plays."""
        player.shown.connect(self._follow)
        player.changed.connect(self._follow)

    @property
    def process_id(self) -> int | None:
        """The id of the sound process, None if it does not run."""
        return self._process.pid if self._process is not None else None

    def set_on(self, on: bool) -> None:
        """Turn the sound on or off."""
        self._on, self._refused = on, None
        self._follow()

    def stop(self) -> None:
        """End the process."""
        self._looking.stop()
        self.wanted = None
        self.error = math.nan
        if self._process is not None:
            ended, self._process = self._process, None
            ended.end(1.0)

    def _follow(self, *_: object) -> None:
        wanted = self._wanted()
        if wanted is None:
            if self.wanted is not None:
                self.wanted, self.error = None, math.nan
                self._send(Stop())
        elif self.wanted is None or wanted.path != self.wanted.path or not self._agrees(wanted):
            self.wanted = wanted
            self._send(wanted)

    def _wanted(self) -> Play | None:
        anchor, path = self._player.anchor, self._player.path
        if not self._on or anchor is None or path is None or path == self._refused or self._player.speed != 1 or self._player.is_pictures:
            return None
        at, pts = anchor
        return Play(path, pts, at)

    def _agrees(self, wanted: Play) -> bool:
        assert self.wanted is not None
        return abs((wanted.pts - self.wanted.pts) - (wanted.at - self.wanted.at)) < SAME

    def _send(self, command: Play | Stop) -> None:
        if self._process is None:
            if isinstance(command, Stop):
                return
            self._process = ChildProcess("sound", process.main, process.BACKENDS, words="the sound process", nice=0)
            self._looking.start()
        self._process.send(command)

    def _look(self) -> None:
        """Take the answers of the process; turn the sound off if it ended."""
        while self._process is not None and self._process.connection.poll(0):
            answer = self._process.receive()
            if isinstance(answer, InStep):
                self.error = answer.error
            elif isinstance(answer, Silent):
                self._refuse(answer.path, answer.reason)
            else:
                path = self.wanted.path if self.wanted is not None else ""
                self.stop()
                self._refuse(path, translate("viewer", "the sound process ended: press M twice to start it again"))

    def _refuse(self, path: str, reason: str) -> None:
        self._refused, self.wanted, self.error = path, None, math.nan
        self.silent.emit(translate("viewer", "No sound: {reason}").format(reason=of_engine(reason)))
