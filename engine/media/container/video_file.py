"""Opens video files safely, reads their packets even if they are damaged, and seeks exactly.

A video file can never make FFmpeg open another file or a network connection. Playlists, concat scripts, image sequences and devices are
not among the allowed formats, and the only allowed protocol is ``file``.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import av
from av.bitstream import BitStreamFilterContext
from av.codec.context import Flags, ThreadType
from av.container import InputContainer
from av.packet import Packet
from av.stream import Discard
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from framefleet.engine.media.container import hidden_packets, structure
from framefleet.engine.media.sources import PLAYLIST_SUFFIXES, missing
from framefleet.engine.media.types import Segment
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.types import Closing

# Opens video files safely.
#
# A video file can never make FFmpeg open another file or a network connection. Playlists, concat scripts, image sequences and devices are
# not among the allowed formats, and the only allowed protocol is ``file``.

av.logging.set_level(None)  # a log call from a decoder thread can deadlock on the interpreter lock

MAX_SIDE = 16384
"""Maximum width and height, pixels. A forged header could otherwise make the decoder use all memory."""

DEMUXERS = (
    "mov,matroska,webm,avi,asf,flv,mpegts,mpeg,mpegvideo,m4v,h264,hevc,vvc,obu,av1,ivf,mjpeg,mxf,nut,ogg,gif,apng,dv,rm,wtv,gxf,pva,dhav,"
    "vc1,vc1test,h261,h263,dirac,cavsvideo,avs2,avs3,yuv4mpegpipe,"
    "aac,ac3,eac3,aiff,amr,ape,au,caf,dts,flac,mp3,tta,w64,wav,wv"  # sound: opened only to report that there is no video track
)
MAX_PIXELS = str(MAX_SIDE * MAX_SIDE)
"""An option of FFmpeg's decoders."""

_OPTIONS = {"protocol_whitelist": "file", "format_whitelist": DEMUXERS, "max_pixels": MAX_PIXELS}
_RAW_JPEGS = (".mjpeg", ".mjpg")  # FFmpeg recognises only some of these files by their content
METADATA: Any = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}  # PyAV 19 removed the option


def check_readable(path: Path) -> None:
    """Check that there is a file with content at a path. Raises SourceError if it is missing, not a regular file, unreadable or empty."""
    try:
        if not path.exists():
            raise SourceError(missing(path))
        if not path.is_file():
            raise SourceError(Notice("media.not_a_file", path=path))
        with path.open("rb") as file:
            empty = not os.fstat(file.fileno()).st_size  # reading some of the system's files, which have no size, waits for ever
    except OSError as error:
        raise SourceError(Notice("media.file_not_read", path=path, detail=error.strerror or str(error))) from error
    if empty:
        raise SourceError(Notice("media.empty_file", path=path))


def open_container(path: Path) -> InputContainer:
    """Open a video file of an allowed format for reading. Raises SourceError if FFmpeg cannot read it, or its format is not allowed."""
    url = str(path.absolute())  # FFmpeg cannot mistake it for a protocol ("concat:…", "pipe:0")
    try:
        return open_local(url)
    except (av.FFmpegError, ValueError, OSError) as error:
        if path.suffix.lower() in _RAW_JPEGS:
            with contextlib.suppress(av.FFmpegError, ValueError, OSError):
                return open_local(url, "mjpeg")
        if _is_playlist(path):
            raise SourceError(Notice("media.playlist", path=path)) from error
        raise SourceError(Notice("media.no_video", path=path, detail=reason(error))) from error


def open_local(url: str, form: str | None = None) -> InputContainer:
    """Open a local video file of an allowed format for reading. form: FFmpeg's name of the format, None: recognised by the content.

    Raises av.FFmpegError, ValueError, OSError: the URL is not a local file, its format is not allowed, or FFmpeg cannot read it.
    """
    container: InputContainer = av.open(url, format=form, options=_OPTIONS, **METADATA)
    return container


def _is_playlist(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    return path.suffix.lower() in PLAYLIST_SUFFIXES or head.startswith((b"#EXTM3U", b"ffconcat", b"[playlist]", b"v=0"))


def reason(error: BaseException) -> str:
    """Return the text of an FFmpeg error, without its number and function."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


VideoPacket: TypeAlias = "Packet[VideoStream]"

_GENERATE_PTS = 0x1  # AVFMT_FLAG_GENPTS, which PyAV sets
_DEFAULT = 0x1  # AV_DISPOSITION_DEFAULT: the track that players show
_ATTACHED_PICTURE = 0x400  # AV_DISPOSITION_ATTACHED_PIC: an album cover
_PART = 0x80000  # AV_DISPOSITION_DEPENDENT: a tile of a picture, or an addition to another track
_PICTURE_BRANDS = frozenset(("avif", "heic", "heim", "heis", "heix", "mif1", "mif2"))
"""What an MP4 with pictures states as its kind (ISO 23008-12, annex B, and AV1 Image File Format, 8)."""
_READ_ATTEMPTS = 16
_WRAPPING = ("mpegts", "mpeg")
"""Containers whose times have 33 bits and begin again at 0."""
_JOINABLE = (*_WRAPPING, "ogg", "matroska,webm")
"""Containers of which FFmpeg reads joined files to the end, each with its own clock."""
_DTS_ONLY = ("avi", "asf")
"""Containers that store decoding times only. The presentation times that FFmpeg guesses from them are wrong with B-frames."""
_RESTART_SECONDS = 1  # if times jump back by more, the clock has restarted
_CLOCK_PERIOD = 1 << 33  # ticks of 1/90,000 s: times have 33 bits (ITU-T H.222.0, 2.4.3.7)
_CREATED = ("com.apple.quicktime.creationdate", "creation_time", "date_time_original", "date")
"""Keys of metadata, the most exact first."""

SEEK_BACK = (0, 1, 4, 16)
"""Distances before a wanted position, seconds. A seek tries them in order, because in MPEG-TS it often ends after its target."""

_VP8_HEADER, _THEORA_HEADER = b"OVP80", b"theora"
_THEORA_DECODED = (b"\x80", b"\x82")
"""The identification and the setup, from which the decoder begins anew (Theora specification, 6.1). It refuses the comment between them."""
_REPORTING = frozenset(("h264", "mpeg1video", "mpeg2video"))
"""Codecs whose decoder reports a frame without its end. That of HEVC does not."""

_SKIPPED = 2000  # packets read in search of the keyframe; beyond that, reading the whole file is as fast


class VideoFile(Closing):
    """The video track that players show of a file, with its packets and decoder. Not thread-safe.

    threads: number of decoder threads. other_tracks: whether ``packets`` yields the packets of all tracks. seekable: False makes all
    seeks fail, for files in which they find other frames.
    error: the last error of reading or decoding, None if there was none. empty_packets: number of packets read without data.
    tracks: number of video tracks.
    clock_restarts: number of restarts of the clock before the last packet, as in MPEG-TS of interrupted broadcasts, and in joined files.
    """

    def __init__(self, path: Path, threads: int = 1, other_tracks: bool = False, seekable: bool = True) -> None:
        """Open the file. Raises SourceError if the file is missing, empty, unreadable or not a video, or its pictures are too large."""
        self.path = path
        self.error: str | None = None
        self.empty_packets = 0
        self._incomplete: frozenset[int] | None = None
        self._searched = False
        self.threads, self._other_tracks, self._seekable = threads, other_tracks, seekable
        check_readable(path)
        self._open()

    def _open(self) -> None:
        self.error = None
        self.clock_restarts, self._offset, self._latest_pts = 0, 0, 0
        self._dts_before: int | None = None
        self._last_dts: int | None = None
        self._chained = self._begun = False
        self.container = open_container(self.path)
        try:
            self._choose_stream()
        except BaseException:
            self.container.close()
            raise

    def _choose_stream(self) -> None:
        streams = [stream for stream in self.container.streams.video if not stream.disposition.value & (_ATTACHED_PICTURE | _PART)]
        tiled = any(stream.disposition.value & _PART for stream in self.container.streams.video)
        if tiled and self.container.metadata.get("major_brand") in _PICTURE_BRANDS:  # a track without tiles is a preview
            raise SourceError(Notice("media.tiled_picture", path=self.path))
        if not streams:
            raise SourceError(Notice("media.no_video_track", path=self.path))
        self.tracks = len(streams)
        self.stream: VideoStream = next((stream for stream in streams if stream.disposition.value & _DEFAULT), streams[0])
        self.codec = self.stream.codec_context
        if self.codec is None:
            raise SourceError(Notice("media.no_decoder", path=self.path))
        if self.codec.width > MAX_SIDE or self.codec.height > MAX_SIDE:
            size = {"width": self.codec.width, "height": self.codec.height}
            raise SourceError(Notice("media.video_too_large", path=self.path, limit=MAX_SIDE, **size))
        self._unit = self.time_base.numerator, self.time_base.denominator  # PyAV 19 has a type of its own for it
        self._restart = math.floor(_RESTART_SECONDS / self.time_base)
        self.codec_name: str = self.codec.codec.canonical_name  # not the decoder's, such as libdav1d
        self.hidden = hidden_packets.HiddenPackets(self.codec)
        self._nal_length_size = hidden_packets.nal_length_size(self.codec.extradata) if self.codec.name == "h264" else None
        self.codec.thread_type = ThreadType.AUTO
        self.codec.thread_count = self.threads
        self.codec.flags |= Flags.unaligned  # else FFmpeg leaves out a part of the crop on the left, to align rows in memory
        self.codec.options = {"max_pixels": MAX_PIXELS}
        if self.codec.name == "mjpeg":
            self.codec.options |= {"err_detect": "explode"}  # report damaged pictures as errors
        self._is_ts = self.container.format.name == "mpegts"
        self._wraps = self.container.format.name in _WRAPPING
        self._one_clock = self.container.format.name not in _JOINABLE
        if not self._other_tracks:
            for stream in self.container.streams:
                if stream.index != self.stream.index:
                    stream.discard = Discard.all
        if self.container.format.name in _DTS_ONLY:
            self.container.flags &= ~_GENERATE_PTS

    @property
    def without_pts(self) -> bool:
        """Whether it is unknown when frames are shown: they are stored in another order, with decoding times only."""
        return self.container.format.name in _DTS_ONLY and bool(self.codec.has_b_frames)

    @property
    def time_base(self) -> Fraction:
        """The unit of every pts and dts, in seconds."""
        return self.stream.time_base or Fraction(1, 1000)

    def seconds(self, pts: int) -> float:
        """Convert a pts to seconds, ten times as fast as ``float(pts * time_base)``."""
        return pts * self._unit[0] / self._unit[1]

    @property
    def created(self) -> str | None:
        """When the video was recorded, as its metadata state it. QuickTime's own key has the time zone, the general one is in UTC."""
        metadata = {**self.stream.metadata, **self.container.metadata}
        texts = {key.lower(): value for key, value in metadata.items()}
        return next((texts[key] for key in _CREATED if texts.get(key)), None)

    @property
    def rate(self) -> Fraction:
        """Frames/s that the file or its codec states, 25 if neither does."""
        return self.stream.guessed_rate or self.stream.average_rate or Fraction(25)

    def packets(self) -> Iterator[VideoPacket]:
        """Yield the packets from the current position to the end. Skips empty packets and read errors; ``error`` holds the last error.

        If the clock of a file restarts, as in joined MPEG-TS, MPEG-PS, Ogg and Matroska files, later times are shifted so that they
        continue. After a seek, times are not shifted. Keyframes are those from which decoding can start.
        """
        streams: list[Any] = list(self.container.streams) if self._other_tracks else [self.stream]
        failures = 0
        while failures < _READ_ATTEMPTS:
            try:
                packets: Iterator[VideoPacket] = self.container.demux(*streams)
                if self.container.format.name in _DTS_ONLY:
                    packets = self._single_frames(packets)
                elif self.container.format.name == "ogg":
                    packets = self._ogg_packets(packets)
                for packet in packets:
                    failures = 0
                    if packet.size:  # an empty packet would end the decoding of the stream
                        if not self._one_clock:
                            self._continue_clock(packet)
                        if packet.is_keyframe and self._nal_length_size is not None and packet.stream_index == self.stream.index:
                            self._check_keyframe(packet, self._nal_length_size)
                        yield packet
                    elif packet.dts is not None and packet.stream_index == self.stream.index:
                        self.empty_packets += 1
            except IndexError:  # PyAV raises it at the end of a file in which another track begins later
                return
            except (av.FFmpegError, OSError) as error:
                self.error = reason(error)
                failures += 1
            else:
                return

    def _single_frames(self, packets: Iterator[VideoPacket]) -> Iterator[VideoPacket]:
        """Put one frame into each packet, and remove presentation times that FFmpeg guessed.

        In AVI, DivX and Xvid store a frame and the B-frame after it in one chunk, followed by a placeholder ("packed bitstream").
        """
        unpack = BitStreamFilterContext("mpeg4_unpack_bframes", self.stream) if self.codec.name == "mpeg4" else None
        for packet in packets:
            if packet.stream_index != self.stream.index or not packet.size:
                yield packet
                continue
            for part in unpack.filter(packet) if unpack else (packet,):
                if self.without_pts:
                    part.pts = None
                yield part

    def _ogg_packets(self, packets: Iterator[VideoPacket]) -> Iterator[VideoPacket]:
        """Recognise the headers of a further stream in joined ("chained") files, which FFmpeg returns as packets."""
        for packet in packets:
            head = bytes(packet)[:7] if packet.stream_index == self.stream.index and packet.size else b""
            kind = head[:1] if head[1:] == _THEORA_HEADER else b""
            if not kind and not head.startswith(_VP8_HEADER):
                yield packet
                continue
            self._chained = True
            packet.pts = packet.dts = None
            if kind in _THEORA_DECODED:
                yield packet

    def _continue_clock(self, packet: VideoPacket) -> None:
        """Shift the times of a packet so that they continue after restarts of the clock."""
        if packet.dts is None or packet.stream_index != self.stream.index:
            return
        dts, last = packet.dts, self._last_dts
        after = None if packet.pts is None else packet.pts - dts
        if self._wraps and last is not None:  # FFmpeg takes a restart for the clock's maximum, and adds its period
            dts = last + _nearest(dts - last)
            after = after and _nearest(after)
        wrong = self._dts_before is not None and self._dts_before <= dts  # the time between them, in a damaged file
        if last is not None and (self._chained or (last - dts > self._restart and not wrong)):
            self.clock_restarts += 1
            step = packet.duration or round(1 / (self.rate * self.time_base))
            # without the second one, a keyframe whose dts is as late as its pts would be shown before the last frames
            self._offset = max(self._offset + last - dts, self._latest_pts - dts - (after or 0)) + step
        self._dts_before, self._last_dts, self._chained = last, dts, False
        packet.dts = dts + self._offset
        packet.pts = None if after is None else packet.dts + after
        self._latest_pts = max(self._latest_pts, packet.pts if packet.pts is not None else packet.dts)

    def _check_keyframe(self, packet: VideoPacket, nal_length_size: int) -> None:
        """Unmark an H.264 keyframe if decoding cannot start there. The first one of a file stays marked: there is no better one."""
        if self._begun and hidden_packets.recovers_later(bytes(packet), nal_length_size):
            packet.is_keyframe = False
        self._begun = True

    def packets_at(self, timestamp: int, any_frame: bool = False) -> Iterator[VideoPacket]:
        """Seek near this pts and return the packets from there on. Returns no packets if the file cannot seek.

        any_frame: seek to any frame, not only to keyframes.
        """
        if not self._seekable:
            return iter(())
        try:
            self.container.seek(timestamp, stream=self.stream, any_frame=any_frame)
        except (av.FFmpegError, OSError) as error:
            self.error = reason(error)
            return iter(())
        self._one_clock = self._begun = True
        self.hidden = hidden_packets.HiddenPackets(self.codec)
        return self.packets()

    def seek(self, start: int) -> Iterator[VideoPacket] | None:
        """Return the packets from the keyframe with this pts on, None if seeking does not find it."""
        for seconds in SEEK_BACK:
            packets = self.packets_at(start - int(seconds / self.time_base))
            for packet in islice(packets, _SKIPPED):
                if packet.is_keyframe and packet.pts is not None and packet.pts >= start:
                    if packet.pts == start:
                        return chain((packet,), packets)
                    break
        return None

    def packets_from(self, start: int) -> Iterator[VideoPacket]:
        """Return the packets from the keyframe with this pts on, or all packets of the file if seeking does not find it."""
        packets = self.seek(start)
        if packets is None:
            self.reopen()
            packets = self.packets()
        return packets

    def shows(self, packet: VideoPacket) -> bool:
        """Whether the decoder should return a frame for this packet. Call it once for every packet, in decoding order."""
        return not (self.hidden.hides(packet) or packet.is_discard)

    def is_incomplete(self, packet: VideoPacket) -> bool:
        """Whether a part of this packet is missing in the file. Call it for every packet, in decoding order.

        In an MPEG-TS FFmpeg marks the frame before the one that is concerned. The file itself then shows which one that is.
        """
        if not self._is_ts:
            return packet.is_corrupt
        if packet.is_corrupt and not self._searched:
            self._searched = True
            self._incomplete = structure.incomplete_ts_frames(self.path, self.stream.id, decoder_reports=self.codec.name in _REPORTING)
        return packet.pos in self._incomplete if self._incomplete is not None else packet.is_corrupt

    def decode(self, packet: VideoPacket | None) -> list[VideoFrame]:
        """Decode a packet, or flush the decoder (None). Returns the frames that are now complete; ``error`` holds the last error."""
        try:
            return self.codec.decode(packet)
        except (av.FFmpegError, ValueError) as error:
            self.error = reason(error)
            return []

    def end_of(self, frame: VideoFrame, seconds: Fraction) -> Fraction:
        """When the last frame of the video, which begins at this time, is no longer shown; seconds."""
        if "mov" in self.container.format.name and self.stream.start_time is not None and self.stream.duration is not None:
            stated = (self.stream.start_time + self.stream.duration) * self.time_base  # an MP4 counts lengths in decoding order
            if stated > seconds:
                return stated
        return seconds + (frame.duration * self.time_base if frame.duration else 1 / self.rate)

    def reopen(self, threads: int | None = None) -> None:
        """Open the file again, at its start and with a new decoder. threads: number of decoder threads, None: as before."""
        self.close()
        self.threads = threads or self.threads
        self._open()

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        self.container.close()


def _nearest(ticks: int) -> int:
    """The smallest difference of two times of an MPEG clock that differ by this number of ticks or a multiple of its period."""
    return (ticks + _CLOCK_PERIOD // 2) % _CLOCK_PERIOD - _CLOCK_PERIOD // 2


_IDLE = 16

Identity: TypeAlias = tuple[str, int, int, int, int]
"""Path, device, inode, time of change and size of a file. They change if the file is replaced."""


def identity(path: Path) -> Identity:
    """Return the identity of the file at a path. All numbers are 0 if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0, 0, 0
    return str(path), found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


class OpenFiles:
    """A pool of open video files for several threads. Each file is used by one thread at a time."""

    def __init__(self) -> None:
        self._idle: deque[tuple[Identity, VideoFile]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, path: Path, segment: Segment) -> Iterator[VideoFile]:
        """Provide an open file for reading this segment, as a context manager.

        The file returns to the pool afterwards. It is closed instead if the caller raises an exception or reading failed.

        Raises SourceError as ``VideoFile``.
        """
        known = identity(path)
        # a segment without a start is read from the start of the file, so it needs a newly opened one
        file = (None if segment.start is None else self._take(known)) or VideoFile(path)
        try:
            yield file
        except BaseException:
            file.close()
            raise
        if file.error:
            file.close()
            return
        with self._lock:
            self._idle.append((known, file))
            if len(self._idle) > _IDLE:
                self._idle.popleft()[1].close()

    def close(self) -> None:
        """Close the files in the pool, not the ones in use."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()

    def _take(self, known: Identity) -> VideoFile | None:
        with self._lock:
            for entry in self._idle:
                if entry[0] == known:
                    self._idle.remove(entry)
                    return entry[1]
        return None
