"""Opens a video file safely, reads its packets in spite of damage, and seeks exactly.

Opening a file opens no other file and no network connection. The list of allowed formats leaves out playlists, concat scripts, image
sequences and devices, and the only allowed protocol is ``file``.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import av
from av.codec.context import ThreadType
from av.container import InputContainer
from av.packet import Packet
from av.stream import Discard
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from engine.errors import SourceError
from engine.media.container.hidden_packets import HiddenPackets
from engine.media.sources import PLAYLIST_SUFFIXES
from engine.types import Closing

av.logging.set_level(None)  # a log call from a decoder thread can wait for the interpreter lock for ever

VideoPacket: TypeAlias = "Packet[VideoStream]"

MAX_SIDE = 16384
"""Pixels. Larger pictures are refused, so that a forged header cannot make the decoder use all memory."""

_DEMUXERS = (
    "mov,matroska,webm,avi,asf,flv,mpegts,mpeg,mpegvideo,m4v,h264,hevc,vvc,obu,av1,ivf,mjpeg,mxf,nut,ogg,gif,apng,dv,rm,wtv,gxf,pva,dhav,"
    "vc1,vc1test,h261,h263,dirac,cavsvideo,avs2,avs3,yuv4mpegpipe,"
    "aac,ac3,eac3,aiff,amr,ape,au,caf,dts,flac,mp3,tta,w64,wav,wv"  # sound: only for a clear message
)
_OPTIONS = {"protocol_whitelist": "file", "format_whitelist": _DEMUXERS, "max_pixels": str(MAX_SIDE * MAX_SIDE)}
_METADATA: Any = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}  # gone with PyAV 19
_GENERATE_PTS = 0x1  # AVFMT_FLAG_GENPTS, which PyAV sets
_ATTACHED_PICTURE = 0x400  # AV_DISPOSITION_ATTACHED_PIC: an album cover
_READ_ATTEMPTS = 16
_RESTART_SECONDS = 1  # if times in an MPEG-TS jump back by more, its clock has restarted
_SEEK_BACK = (0, 1, 4, 16)  # seconds before the wanted keyframe, tried in turn: in MPEG-TS the first seek often ends after it
_SKIPPED = 2000  # packets read until the keyframe comes; if that is not enough, reading the whole file is as fast


def open_local(url: str) -> InputContainer:
    """Open a video for reading, if it is a local file of an allowed format that refers to nothing else.

    Raises:
        av.FFmpegError, ValueError, OSError: the URL is not of a local file, or FFmpeg cannot read it or must not.
    """
    container: InputContainer = av.open(url, options=_OPTIONS, **_METADATA)
    return container


def _is_playlist(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    return path.suffix.lower() in PLAYLIST_SUFFIXES or head.startswith((b"#EXTM3U", b"ffconcat", b"[playlist]", b"v=0"))


class VideoFile(Closing):
    """The first video track of a file, its packets and its decoder. Not thread-safe.

    threads: of the decoder. other_tracks: whether ``packets`` gives the packets of all tracks.
    error: the last error of reading or decoding, None if there was none. empty_packets: packets without data read so far.
    clock_restarts: how often the clock of an MPEG-TS has restarted so far, as in recordings of an interrupted broadcast.
    """

    def __init__(self, path: Path, threads: int = 1, other_tracks: bool = False) -> None:
        """Open the file.

        Raises:
            SourceError: the file is missing, empty, unreadable or not a video, or its pictures are too large.
        """
        self.path = path
        self.error: str | None = None
        self.empty_packets = 0
        self.threads, self._other_tracks = threads, other_tracks
        self._check()
        self._open()

    def _check(self) -> None:
        path = self.path
        try:
            if not path.exists():
                raise SourceError(f"{path} does not exist: check the name and the folder")
            if not path.is_file():
                raise SourceError(f"{path} is not a regular file: give a video, a picture or a folder of them")
            with path.open("rb") as file:
                empty = not file.read(1)
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror or error}; check the file's permissions") from error
        if empty:
            raise SourceError(f"{path} is empty: nothing was written to it, or a download did not finish")

    def _open(self) -> None:
        self.error = None
        self.clock_restarts, self._offset = 0, 0
        self._last_dts: int | None = None
        try:
            # an absolute path cannot be taken for a protocol ("concat:…", "pipe:0")
            self.container = open_local(str(self.path.absolute()))
        except (av.FFmpegError, ValueError, OSError) as error:
            if _is_playlist(self.path):
                raise SourceError(f"{self.path} is a playlist or a text, not a video: give the videos themselves") from error
            raise SourceError(
                f"{self.path} is no video that can be read ({reason(error)}): it may be damaged, unfinished or of another kind"
            ) from error
        try:
            self._choose_stream()
        except BaseException:
            self.container.close()
            raise

    def _choose_stream(self) -> None:
        streams = [stream for stream in self.container.streams.video if not stream.disposition.value & _ATTACHED_PICTURE]
        if not streams:
            raise SourceError(f"{self.path} has no video track: sound alone cannot be searched for objects")
        self.stream: VideoStream = streams[0]
        self.codec = self.stream.codec_context
        if self.codec is None:
            raise SourceError(f"{self.path}: there is no decoder for its video track; convert it to H.264")
        if self.codec.width > MAX_SIDE or self.codec.height > MAX_SIDE:
            raise SourceError(
                f"{self.path} claims pictures of {self.codec.width}×{self.codec.height}: at most {MAX_SIDE}×{MAX_SIDE} can be used"
            )
        self._unit = self.time_base.numerator, self.time_base.denominator  # PyAV 19 has a type of its own for it
        self.hidden = HiddenPackets(self.codec)
        self.codec.thread_type = ThreadType.AUTO
        self.codec.thread_count = self.threads
        self.codec.options = {"max_pixels": _OPTIONS["max_pixels"]}
        if self.codec.name == "mjpeg":
            self.codec.options |= {"err_detect": "explode"}  # report a damaged picture instead of showing it
        self._one_clock = self.container.format.name != "mpegts"
        if not self._other_tracks:
            for stream in self.container.streams:
                if stream.index != self.stream.index:
                    stream.discard = Discard.all
        if self.container.format.name == "avi":
            # AVI stores decoding times only; the presentation times FFmpeg guesses from them are wrong with B-frames
            self.container.flags &= ~_GENERATE_PTS

    @property
    def time_base(self) -> Fraction:
        """Seconds of one unit of a pts."""
        return self.stream.time_base or Fraction(1, 1000)

    def seconds(self, pts: int) -> float:
        """The time of a pts: ``float(pts * time_base)``, ten times as fast."""
        return pts * self._unit[0] / self._unit[1]

    @property
    def rate(self) -> Fraction:
        """Frames/s as the file or its codec states, 25 if neither does."""
        return self.stream.guessed_rate or self.stream.average_rate or Fraction(25)

    def packets(self) -> Iterator[VideoPacket]:
        """The packets from the current position to the end. Skips empty packets and read errors; ``error`` keeps the last one.

        Where the clock of an MPEG-TS restarts, the times continue. After seeking they are those of the file.
        """
        streams: list[Any] = list(self.container.streams) if self._other_tracks else [self.stream]
        failures = 0
        while failures < _READ_ATTEMPTS:
            try:
                for packet in self.container.demux(*streams):
                    failures = 0
                    if packet.size:  # decoding an empty one would end the stream
                        if not self._one_clock:
                            self._continue_clock(packet)
                        yield packet
                    elif packet.dts is not None and packet.stream_index == self.stream.index:
                        self.empty_packets += 1
            except IndexError:  # PyAV, at the end of a file in which another track began later
                return
            except (av.FFmpegError, OSError) as error:
                self.error = reason(error)
                failures += 1
            else:
                return

    def _continue_clock(self, packet: VideoPacket) -> None:
        """Shift the times of a packet by the restarts of the clock before it."""
        if packet.dts is None or packet.stream_index != self.stream.index:
            return
        dts = packet.dts
        if self._last_dts is not None and dts < self._last_dts - _RESTART_SECONDS / self.time_base:
            self.clock_restarts += 1
            self._offset += self._last_dts - dts + (packet.duration or round(1 / (self.rate * self.time_base)))
        self._last_dts = dts
        packet.dts = dts + self._offset
        packet.pts = None if packet.pts is None else packet.pts + self._offset

    def packets_at(self, timestamp: int, any_frame: bool = False) -> Iterator[VideoPacket]:
        """Seek to a keyframe, or any frame, near this pts and give the packets from there. Gives none if the file cannot seek."""
        try:
            self.container.seek(timestamp, stream=self.stream, any_frame=any_frame)
        except (av.FFmpegError, OSError) as error:
            self.error = reason(error)
            return iter(())
        self._one_clock = True
        self.hidden = HiddenPackets(self.codec)
        return self.packets()

    def seek(self, start: int) -> Iterator[VideoPacket] | None:
        """The packets from the keyframe with this pts on, None if seeking does not find it."""
        for seconds in _SEEK_BACK:
            packets = self.packets_at(start - int(seconds / self.time_base))
            for packet in islice(packets, _SKIPPED):
                if packet.is_keyframe and packet.pts is not None and packet.pts >= start:
                    if packet.pts == start:
                        return chain((packet,), packets)
                    break
        return None

    def packets_from(self, start: int) -> Iterator[VideoPacket]:
        """The packets from the keyframe with this pts on, or all packets of the file if seeking does not find it."""
        packets = self.seek(start)
        if packets is None:
            self.reopen()
            packets = self.packets()
        return packets

    def shows(self, packet: VideoPacket) -> bool:
        """Whether the decoder should give a frame for this packet. Pass it every packet once, in decoding order."""
        return not (self.hidden.hides(packet) or packet.is_discard)

    def decode(self, packet: VideoPacket | None) -> list[VideoFrame]:
        """Decode a packet; None: empty the decoder. Gives the frames that became complete; ``error`` keeps an error."""
        try:
            return self.codec.decode(packet)
        except (av.FFmpegError, ValueError) as error:
            self.error = reason(error)
            return []

    def reopen(self, threads: int | None = None) -> None:
        """Open the file again, at its start and with a new decoder. threads: of the decoder, None: as before."""
        self.close()
        self.threads = threads or self.threads
        self._open()

    def close(self) -> None:
        """Release the file; harmless when repeated."""
        self.container.close()


def reason(error: BaseException) -> str:
    """The text of an FFmpeg error, without its number and function."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
