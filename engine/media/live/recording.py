"""Writes what a live source sends into files, without encoding: Matroska, cut at the first keyframe of each part of an hour.

The reading thread hands packets over and never waits. A thread of its own writes them. A disk that is full or slow costs recorded frames,
not detected ones. The times in a file are those of the source minus ``RecordedFile.begin``, so that each stored frame is found in it.
Clusters of one second make a file playable that a crash has left incomplete.
"""

import errno
import io
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import av
import numpy as np
from av.container import OutputContainer
from av.packet import Packet
from av.stream import Stream

from framefleet.engine.media.container.video_file import reason
from framefleet.engine.media.live.messages import FileRecorded, LivePacket, RecordedFile, RecordingChanged, RecordSettings
from framefleet.engine.notices import Notice
from framefleet.engine.processes.child_main import name_thread

QUEUE_BYTES = 32 * 2**20
"""Most bytes that wait for the disk."""

_CHECK_SECONDS = 1.0
_RETRY_SECONDS = 5.0
"""How long recording rests after the disk was full or failed, before it looks again."""

_MAX_APART = 10.0
"""Sound whose time differs by more from that of the picture, seconds, has another clock, and is left out."""

_MAX_REFUSED = 100
"""A file ends with an error after so many packets in a row that the muxer refuses."""

_UNIT = Fraction(1, 1_000_000)
_MUXER = {
    "cluster_time_limit": "1000",
    "flush_packets": "1",
    "avoid_negative_ts": "disabled",  # the times in the file have to be those of the source
    "max_interleave_delta": "1000000",  # an announced sound that never comes must not hold the picture back
}
_G711 = {"pcm_alaw": "alaw", "pcm_mulaw": "mulaw"}


def _expanded(law: str) -> Any:
    """The 16 bit samples of the 256 codes of G.711, int16 (256,)."""
    codes = np.arange(256)
    if law == "alaw":
        codes = codes ^ 0x55
        exponent, mantissa = codes >> 4 & 7, codes & 15
        size = np.where(exponent == 0, (mantissa << 4) + 8, ((mantissa << 4) + 0x108) << np.maximum(exponent - 1, 0))
        return np.where(codes & 0x80, size, -size).astype("<i2")
    codes = ~codes & 0xFF
    size = (((codes & 15) << 3) + 0x84 << (codes >> 4 & 7)) - 0x84
    return np.where(codes & 0x80, -size, size).astype("<i2")


@dataclass(frozen=True)
class _Piece:
    """A packet. track: 0: the picture, 1: the sound. shown, decoded: seconds in the file."""

    track: int
    data: bytes = field(repr=False)
    shown: float
    decoded: float
    keyframe: bool


class _File(io.RawIOBase):
    """A file that is created with the first byte, by the thread that writes. Keeps other files: a name that exists gets a number."""

    def __init__(self, settings: RecordSettings, began: datetime) -> None:
        super().__init__()
        self._stem = f"{settings.name}_{began:%Y-%m-%d_%H-%M-%S}"
        self._folder = Path(settings.folder)
        self._file: io.FileIO | None = None
        self.path: Path | None = None
        self.size = 0
        self.error: OSError | None = None
        self.name = f"{self._stem}.mkv"

    def writable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Write all bytes."""
        left = memoryview(data)
        try:
            while left:
                left = left[self._open().write(left) or 0 :]
            self.size = max(self.size, self._open().tell())
        except OSError as error:
            self.error = error
            raise
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._open().seek(offset, whence)

    def tell(self) -> int:
        """Return the place."""
        return 0 if self._file is None else self._file.tell()

    def _open(self) -> io.FileIO:
        if self._file is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            for number in count(1):
                path = self._folder / f"{self._stem}{f'-{number}' if number > 1 else ''}.mkv"
                with suppress(FileExistsError):
                    self._file = io.FileIO(path, "xb")
                    self.path = path
                    break
        assert self._file is not None
        return self._file

    def close(self) -> None:
        """Close the file. A file without content is removed."""
        if self._file is not None and not self._file.closed:
            self._file.close()
            if not self.size and self.path is not None:
                self.path.unlink(missing_ok=True)
        super().close()


@dataclass(eq=False)
class _Part:
    """A file to write, its muxer and its streams. begin: time of its first frame. told: what was said of it, None: nothing yet."""

    file: _File
    output: OutputContainer
    streams: list[Any]
    begin: float
    began: datetime
    told: RecordedFile | None = None
    last: list[float] = field(default_factory=lambda: [0.0, 0.0])  # decoding time of each track
    refused: int = 0  # packets in a row


_Item: TypeAlias = "_Part | _Piece | None"
"""None: the part ends."""


class Recording:
    """Records one live source. ``begin``, ``put``, ``sound`` and ``close`` belong to the reading thread and never wait for the disk.

    Parameters
    ----------
    settings : RecordSettings
        Where to.
    origin : float
        ``perf_counter`` at time 0 of the source.
    tell : callable
        Called by the writing thread with ``FileRecorded`` and ``RecordingChanged``.
    free : callable
        Returns the free bytes of the disk of a folder.
    """

    def __init__(
        self,
        settings: RecordSettings,
        origin: float,
        tell: Callable[[FileRecorded | RecordingChanged], None],
        free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self.settings = settings
        self._origin = origin
        self._tell = tell
        self._free = free
        self._changed = threading.Condition()
        self._queue: deque[_Item] = deque()
        self._bytes = 0
        self._closed = False
        # of the reading thread
        self._templates: list[Stream] = []
        self._law: Any = None
        self._part: _Part | None = None
        self._slot: object = None
        self._resting = False  # until the next keyframe, because the disk could not keep up
        self._left_out = 0
        self._shown = 0.0
        # of the writing thread; the reading one begins a part when recording is possible
        self._possible = True
        self._on = False
        self._why: Notice | None = None  # why it is not possible
        self._thread = threading.Thread(target=self._run, daemon=True, name="record")
        self._thread.start()

    # the reading thread

    def begin(self, picture: Stream, sounds: Sequence[Stream]) -> Stream | None:
        """Begin another connection or epoch: what follows continues nothing. Returns the sound that is recorded, None if there is none."""
        self.end()
        self._templates, self._law = [picture], None
        for sound in sounds:
            codec = sound.codec_context
            name = "" if codec is None else codec.name
            if name in _G711:
                self._law = _expanded(_G711[name])
            try:
                self._add_sound(self._muxer(io.BytesIO()), sound)
            except (ValueError, av.FFmpegError, OSError):
                self._tell(RecordingChanged(self._on, Notice("live.no_sound", codec=name or "?")))
                continue
            self._templates.append(sound)
            return sound
        return None

    def end(self) -> None:
        """End the file: what follows continues nothing."""
        if self._part is not None:
            self._part, self._slot = None, None
            self._queued(None, 0)

    def put(self, data: bytes, shown: float, decoded: float, keyframe: bool) -> None:
        """Record a packet of the picture. shown, decoded: in the time of the source, seconds."""
        if keyframe and self._possible and (slot := self._slot_of(shown)) != self._slot:
            self.end()
            self._slot, self._part = slot, self._new_part(shown)
            self._queued(self._part, 0)
        self._shown = shown
        self._add(0, data, shown, decoded, keyframe)

    def sound(self, data: bytes, shown: float) -> None:
        """Record a packet of the sound. shown: in the time of the source, seconds."""
        if len(self._templates) < 2 or abs(shown - self._shown) > _MAX_APART:
            return
        if self._law is not None:
            data = self._law[np.frombuffer(data, np.uint8)].tobytes()
        self._add(1, data, shown, shown, True)

    def close(self) -> None:
        """End recording, as soon as the disk has taken what is queued."""
        self.end()
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait for the disk after ``close``."""
        self._thread.join(seconds)

    def _add(self, track: int, data: bytes, shown: float, decoded: float, keyframe: bool) -> None:
        part = self._part
        if part is None or shown < part.begin:  # shown before the keyframe: it depends on frames that the file does not have
            return
        if self._bytes > QUEUE_BYTES or (self._resting and (track or not keyframe)):
            self._resting = True
            self._left_out += track == 0
            return
        if self._resting and track == 0:
            self._resting = False
            self._tell(RecordingChanged(self._on, Notice("live.disk_slow", count=self._left_out)))
            self._left_out = 0
        self._queued(_Piece(track, data, shown - part.begin, decoded - part.begin, keyframe), len(data))

    def _queued(self, item: _Item, size: int) -> None:
        with self._changed:
            self._queue.append(item)
            self._bytes += size
            self._changed.notify_all()

    def _slot_of(self, seconds: float) -> object:
        """The part of the day to which a time belongs, by the clock on the wall."""
        wall = self._wall(seconds)
        return wall.date(), (wall.hour * 60 + wall.minute) // self.settings.minutes

    def _wall(self, seconds: float) -> datetime:
        return datetime.fromtimestamp(time.time() - (time.perf_counter() - self._origin) + seconds).astimezone()

    def _new_part(self, begin: float) -> _Part:
        """Prepare a file. It touches no disk: the templates belong to the reading thread, which may close them later."""
        began = self._wall(begin)
        file = _File(self.settings, began)
        output = self._muxer(file)
        picture, *sounds = self._templates
        streams = [output.add_stream_from_template(picture, opaque=True), *(self._add_sound(output, sound) for sound in sounds)]
        output.metadata["creation_time"] = began.isoformat()
        return _Part(file, output, streams, begin, began)

    @staticmethod
    def _muxer(file: Any) -> OutputContainer:
        output: OutputContainer = av.open(file, "w", format="matroska", container_options=dict(_MUXER), options=dict(_MUXER))
        return output

    @staticmethod
    def _add_sound(output: OutputContainer, sound: Any) -> Any:
        """Add the stream of a sound. Matroska holds no G.711: its samples are written as 16 bit, without loss."""
        codec = sound.codec_context
        if codec is not None and codec.name in _G711:
            return output.add_stream("pcm_s16le", rate=codec.sample_rate, layout=codec.layout.name)
        return output.add_stream_from_template(sound, opaque=True)

    # the writing thread

    def _run(self) -> None:
        name_thread("record")
        part: _Part | None = None
        check = 0.0
        while True:
            with self._changed:
                if not self._queue and not self._closed:
                    self._changed.wait(_CHECK_SECONDS)
                if not self._queue and self._closed:
                    break
                item = self._queue.popleft() if self._queue else False
                if isinstance(item, _Piece):
                    self._bytes -= len(item.data)
            now = time.monotonic()
            try:
                if part is None and not self._possible and now >= check:  # it rests
                    check = now + _RETRY_SECONDS
                    self._check_space()
                    self._possible = True
                if part is not None and now >= check:
                    check = now + _CHECK_SECONDS
                    self._check_space()
                if isinstance(item, bool):
                    continue
                if item is None or isinstance(item, _Part):
                    self._finish(part)
                    part = item
                    if part is not None:
                        self._check_space()
                        part.output.start_encoding()
                        self._say_begun(part)
                elif part is not None:
                    self._write(part, item)
            except _FullError as full:
                check = now + _RETRY_SECONDS
                self._stop(part, full.why)
                part = None
            except (OSError, av.FFmpegError, ValueError) as error:
                check = now + _RETRY_SECONDS
                error = (part.file.error if part is not None else None) or error
                no_room = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
                detail = reason(error) if isinstance(error, OSError) else str(error)
                self._stop(part, Notice("live.disk_full") if no_room else Notice("live.not_written", detail=detail))
                part = None
        self._finish(part)
        if self._on:
            self._on = False
            self._tell(RecordingChanged(False, Notice("live.recording_ended")))

    def _check_space(self) -> None:
        folder = Path(self.settings.folder)
        folder.mkdir(parents=True, exist_ok=True)
        if self._free(folder) < self.settings.min_free * (1 if self._on else 1.1):
            raise _FullError(Notice("live.disk_nearly_full", gib=round(self.settings.min_free / 2**30, 2)))

    def _stop(self, part: _Part | None, why: Notice) -> None:
        """Stop, because files cannot be written. The reading thread begins again when it is possible."""
        news = self._on or why != self._why
        self._possible, self._on, self._why = False, False, why
        self._finish(part)
        self._slot = None  # so that the reading thread begins another part as soon as it is possible
        if news:
            self._tell(RecordingChanged(False, why))

    def _write(self, part: _Part, piece: _Piece) -> None:
        packet = Packet(piece.data)
        decoded = max(part.last[piece.track], min(piece.decoded, piece.shown))
        part.last[piece.track] = decoded
        packet.time_base, packet.stream, packet.is_keyframe = _UNIT, part.streams[piece.track], piece.keyframe
        packet.pts, packet.dts = round(max(piece.shown, decoded) / _UNIT), round(decoded / _UNIT)
        try:
            part.output.mux(packet)
        except (av.FFmpegError, OSError, ValueError):
            part.refused += 1
            if part.file.error is not None:
                raise part.file.error from None
            if part.refused > _MAX_REFUSED:
                raise
            return
        part.refused = 0
        if part.told is not None and piece.track == 0:
            part.told = replace(part.told, end=part.begin + piece.shown)

    def _say_begun(self, part: _Part) -> None:
        assert part.file.path is not None
        if not self._on:
            self._on, self._why = True, None
            self._tell(RecordingChanged(True, Notice("live.recording", folder=self.settings.folder)))
        part.told = RecordedFile(str(part.file.path), part.began.isoformat(timespec="milliseconds"), part.begin)
        self._tell(FileRecorded(part.told))

    def _finish(self, part: _Part | None) -> None:
        if part is None:
            return
        with suppress(OSError, av.FFmpegError, ValueError):
            part.output.close()
        with suppress(OSError):
            part.file.close()
        if part.told is None and part.file.path is not None:
            with suppress(OSError):
                part.file.path.unlink()  # nothing of it is known
        if part.told is not None:
            end = part.begin if part.told.end is None else part.told.end
            self._tell(FileRecorded(replace(part.told, end=end, size=part.file.size)))


def snapshot(picture: Stream, packets: Sequence[LivePacket]) -> bytes:
    """Return a Matroska file of a group of pictures. Its times are those of the source behind the first one.

    picture: the stream that the packets belong to, which is open.
    """
    file = io.BytesIO()
    with av.open(file, "w", format="matroska", options=dict(_MUXER)) as output:
        stream = output.add_stream_from_template(picture, opaque=True)
        for number, packet in enumerate(packets):
            data = Packet(packet.data)
            data.time_base, data.stream, data.is_keyframe = _UNIT, stream, packet.keyframe
            data.pts, data.dts = round(max(0.0, packet.seconds - packets[0].seconds) / _UNIT), number - len(packets)
            output.mux(data)
    return file.getvalue()


class _FullError(Exception):
    def __init__(self, why: Notice) -> None:
        super().__init__(str(why))
        self.why = why
