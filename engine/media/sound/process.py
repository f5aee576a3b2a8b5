"""The sound process: decodes and plays a video's sound, so that neither a decoder nor an audio driver can end the window.

The window says which pts sounds at which time of the monotonic clock, which all processes of a machine share. The process ends when the
window closes its end of the pipe. Importing this module loads no media library.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from framefleet.engine.errors import FramefleetError, SourceError

if TYPE_CHECKING:
    from framefleet.engine.media.sound.feed import Feed
    from framefleet.engine.media.sound.track import Samples, SoundTrack

BACKENDS = ("WASAPI", "DSOUND", "WINMM", "COREAUDIO", "PULSEAUDIO", "ALSA", "JACK", "SNDIO", "AUDIO4", "OSS")
"""The audio systems to try, by their names in miniaudio. Without this list, miniaudio plays into nothing if there is no device."""
PERIOD_MS = 20
AHEAD = 0.5
"""How much sound is decoded ahead, seconds."""
REPORT_SECONDS = 1.0


@dataclass(frozen=True)
class Play:
    """Play the sound of a file. pts: what sounds at the time ``at`` of the monotonic clock, seconds."""

    path: str
    pts: float
    at: float


@dataclass(frozen=True)
class Stop:
    """Be silent."""


@dataclass(frozen=True)
class Silent:
    """There is no sound, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class InStep:
    """Sound plays. error: how far it is ahead of the pictures, seconds; negative = behind."""

    path: str
    error: float


Command: TypeAlias = Play | Stop
Answer: TypeAlias = Silent | InStep


def main(connection: Connection[Answer, Command], backends: tuple[str, ...] = BACKENDS) -> None:
    """Carry out commands until the window closes the pipe: the main function of the process."""
    sound = _Sound(backends)
    with connection, suppress(EOFError, OSError):
        while True:
            if connection.poll(0.02 if sound.playing else None):
                command = connection.recv()
                while connection.poll(0):  # only the last command counts
                    command = connection.recv()
                failed = sound.obey(command)
                if failed is not None:
                    connection.send(failed)
            if (report := sound.decode()) is not None:
                connection.send(report)
    sound.close()


class _Sound:
    def __init__(self, backends: tuple[str, ...]) -> None:
        self._backends = backends
        self._device: Any = None
        self._track: SoundTrack | None = None
        self._path = ""
        self._feed: Feed | None = None
        self._samples: Iterator[tuple[float, Samples]] = iter(())
        self._reported = 0.0

    @property
    def playing(self) -> bool:
        return self._feed is not None

    def obey(self, command: Command) -> Silent | None:
        self._feed = None
        if isinstance(command, Stop):
            return None
        from framefleet.engine.media.sound.feed import LATENCY, Feed
        from framefleet.engine.media.sound.track import SoundTrack

        try:
            if self._device is None:
                self._device = self._open_device()
            if self._track is None or self._path != command.path:
                self._close_track()
                self._track, self._path = SoundTrack(Path(command.path)), command.path
        except FramefleetError as error:
            return Silent(command.path, str(error))
        begin = command.pts + max(time.monotonic() + LATENCY - command.at, 0.0)
        self._samples = self._track.samples(begin)
        feed = Feed(begin, command.at + begin - command.pts)
        self._fill(feed)
        self._feed = feed
        self._reported = time.monotonic()
        return None

    def decode(self) -> InStep | None:
        if self._feed is None:
            return None
        self._fill(self._feed)
        if time.monotonic() - self._reported < REPORT_SECONDS:
            return None
        self._reported = time.monotonic()
        return InStep(self._path, self._feed.error)

    def _fill(self, feed: Feed) -> None:
        while feed.ahead < AHEAD and (more := next(self._samples, None)) is not None:
            feed.add(*more)

    def _open_device(self) -> Any:
        import miniaudio

        from framefleet.engine.media.sound.track import RATE

        try:
            device = miniaudio.PlaybackDevice(
                miniaudio.SampleFormat.SIGNED16,
                2,
                RATE,
                PERIOD_MS,
                backends=[miniaudio.Backend[name] for name in self._backends],
                app_name="Framefleet",
            )
            source = self._source()
            next(source)
            device.start(source)
        except miniaudio.MiniaudioError as error:
            raise SourceError(
                f"there is no audio device ({error}): connect one, or start the sound service of this machine, then press M twice"
            ) from error
        return device

    def _source(self) -> Generator[Samples | bytes, int, None]:
        """What the device's thread takes: samples of the current feed, or silence."""
        count = yield b""
        while True:
            feed = self._feed
            count = yield feed.take(count, time.monotonic()) if feed is not None else b"\0" * 4 * count

    def _close_track(self) -> None:
        if self._track is not None:
            self._track.close()
        self._track = None

    def close(self) -> None:
        if self._device is not None:
            self._device.close()
        self._close_track()
