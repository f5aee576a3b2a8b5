"""Writes MP4 files that stay playable if the writing process dies, with encoded sound copied from a video.

They are fragmented during writing, and converted to plain MP4 at the end.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import av
import numpy as np
from av.audio.stream import AudioStream
from av.bitstream import BitStreamFilterContext
from av.container import InputContainer
from av.packet import Packet
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream

from framefleet.engine.media.container.video_file import VideoFile, reason
from framefleet.engine.media.picture import Plane
from framefleet.engine.media.types import Chapter
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.types import Closing

COPIED = frozenset(("aac", "ac3", "alac", "eac3", "flac", "mp2", "mp3", "opus"))
"""Codecs that players accept in an MP4."""

IN_MATROSKA = COPIED | {"dts", "pcm_f32le", "pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_u8", "truehd", "vorbis"}
"""Codecs that Matroska holds, too."""


class Sound(Closing):
    """The first sound track of a video.

    start: the time in the video, in seconds, that becomes time 0 of the copy. codecs: that the copy can hold.
    stream: None if the video has no sound, or sound in another codec. left_out: that codec, "" without one.
    """

    def __init__(self, path: Path, start: Fraction, codecs: frozenset[str] = COPIED) -> None:
        self._file = VideoFile(path, other_tracks=True)
        self._start = start
        tracks = self._file.container.streams.audio
        # the decoder's own name may be another one, such as mp3float
        codec = tracks[0].codec_context.codec.canonical_name if tracks and tracks[0].codec_context is not None else ""
        self.stream: AudioStream | None = tracks[0] if codec in codecs else None
        self.left_out = "" if self.stream is not None else codec
        self._has_headers = codec == "aac"
        self._packets = self._read()
        self._next: Packet[AudioStream] | None = next(self._packets, None)

    def until(self, seconds: Fraction) -> Iterator[Packet[AudioStream]]:
        """Yield the packets that begin before this time of the video (seconds). The next call continues after them."""
        while self._next is not None and self._time(self._next) < seconds - self._start:
            yield self._next
            self._next = next(self._packets, None)

    def _read(self) -> Iterator[Packet[AudioStream]]:
        """Yield all packets. Damage or a restarted clock ends the sound without an error, since the pictures continue."""
        if self.stream is None:
            return
        last: int | None = None
        try:
            for packet in self._packets_for_mp4(self.stream):
                if not packet.size or packet.pts is None or packet.dts is None or packet.time_base is None:
                    continue
                shift = round(self._start / packet.time_base)
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                if last is not None and packet.dts < last:
                    return
                last = packet.dts
                if packet.dts >= 0:
                    yield packet
        except (av.FFmpegError, IndexError):
            return

    def _packets_for_mp4(self, stream: AudioStream) -> Iterator[Packet[AudioStream]]:
        if not self._has_headers:
            yield from self._file.container.demux(stream)
            return
        header_filter = BitStreamFilterContext("aac_adtstoasc", stream)  # removes the headers that broadcasts have in every packet
        for packet in self._file.container.demux(stream):
            if packet.size:
                yield from header_filter.filter(packet)

    def _time(self, packet: Packet[AudioStream]) -> Fraction:
        return (packet.pts or 0) * (packet.time_base or Fraction(1))

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        self._file.close()


ENCODERS = ("libx264", "mpeg4")
"""The first that FFmpeg has is used."""
# delay_moov: the parameters of some sound are in its packets only. flush_packets: write to the file at once, not to a buffer
_FRAGMENTED = {"movflags": "frag_keyframe+delay_moov+default_base_moof", "flush_packets": "1"}
_SYSTEM = {
    number
    for name in ("EACCES", "EDQUOT", "EFBIG", "EIO", "EISDIR", "ENAMETOOLONG", "ENOENT", "ENOSPC", "ENOTDIR", "EROFS")
    if (number := getattr(errno, name, None))
}  # FFmpeg errors with these numbers come from the file system
_MPEG4_UNITS = 65535  # MPEG-4 Part 2 divides a second into at most this number of time units
_BT709 = 1
_KEYFRAME_SECONDS = 2
_REORDERED = 1000
"""Packets of all tracks among which the last picture is."""


class VideoWriter:
    """Writes pictures of one size and copies sound into a new file.

    size: even width and height, pixels. rate: average frames/s. time_base: unit of the pictures' times, in seconds. sound: the stream
    that the sound packets come from. encoder: FFmpeg's name; empty: the first of ``ENCODERS`` that FFmpeg has.

    Raises (all methods):
        OSError: the file cannot be written.
        ExportError: the encoder or the container rejects the pictures or the sound.
    """

    def __init__(
        self, path: Path, size: tuple[int, int], rate: Fraction, time_base: Fraction, sound: AudioStream | None = None, encoder: str = ""
    ) -> None:
        encoder = encoder or next(name for name in ENCODERS if name in av.codecs_available)
        if encoder == "mpeg4" and time_base.denominator > _MPEG4_UNITS:
            time_base = Fraction(1, 60000)
        self._size, self._time_base = size, time_base
        self._last = -1 << 62
        with explained_encoding():
            self._container = av.open(str(path.absolute()), "w", format="mp4", options=_FRAGMENTED)
            stream = self._container.add_stream(encoder, rate if 1 <= rate <= 240 else 25)
            assert isinstance(stream, VideoStream)
            self._video = stream
            stream.width, stream.height = size
            stream.pix_fmt = "yuv420p"
            context = stream.codec_context
            context.time_base = time_base
            context.gop_size = round(_KEYFRAME_SECONDS * (rate if 1 <= rate <= 240 else 25))
            context.color_primaries, context.color_trc, context.colorspace, context.color_range = _BT709, _BT709, _BT709, ColorRange.MPEG
            if encoder == "libx264":
                context.options = {"preset": "superfast", "crf": "22"}
            else:
                context.bit_rate = int(0.2 * size[0] * size[1] * min(float(rate), 60.0))
            self._sound = self._container.add_stream_from_template(sound) if sound is not None else None

    def write(self, planes: tuple[Plane, Plane, Plane], seconds: Fraction) -> None:
        """Add a picture. planes: as returned by ``Converter.planes``. seconds: when the picture appears."""
        whole = np.concatenate([plane.reshape(-1) for plane in planes]).reshape(-1, self._size[0])
        frame = av.VideoFrame.from_ndarray(whole, "yuv420p")
        frame.colorspace, frame.color_range = Colorspace.ITU709, ColorRange.MPEG
        self._last = max(round(seconds / self._time_base), self._last + 1)  # an MP4 cannot hold two pictures with the same time
        frame.pts, frame.time_base = self._last, self._time_base
        with explained_encoding():
            self._container.mux(self._video.encode(frame))

    def copy(self, packet: Packet[AudioStream]) -> None:
        """Add a packet of sound."""
        assert self._sound is not None
        packet.stream = self._sound
        with explained_encoding():
            self._container.mux(packet)

    def close(self) -> None:
        """Encode the remaining pictures and close the file."""
        try:
            with explained_encoding():
                self._container.mux(self._video.encode(None))
        finally:
            with explained_encoding():
                self._container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with suppress(ExportError, OSError) if kind else nullcontext():
            self.close()


def make_plain(path: Path, chapters: Sequence[Chapter] = (), began: datetime | None = None, end: Fraction | None = None) -> None:
    """Convert a fragmented MP4 to a plain one with the index at its start, as some players and editors require.

    chapters: in order, without overlaps. began: the clock time of its first frame, with time zone. end: when the last picture ends,
    seconds; None: it is shown as long as the one before.

    Raises
    ------
    OSError
        The plain file cannot be written; the fragmented one is unchanged.
    ExportError
        The file cannot be read.
    """
    plain = path.with_name(f"{path.name}.plain")
    try:
        with (
            explained_encoding(),
            av.open(str(path.absolute()), format="mp4") as fragmented,
            av.open(str(plain.absolute()), "w", format="mp4", options={"movflags": "+faststart"}) as output,
        ):
            if began is not None:
                output.metadata["creation_time"] = began.astimezone(UTC).isoformat()
            output.set_chapters(
                [
                    {
                        "id": number,
                        "start": round(chapter.start * 1000),
                        "end": round(chapter.end * 1000),
                        "time_base": Fraction(1, 1000),
                        "metadata": {"title": chapter.title},
                    }
                    for number, chapter in enumerate(chapters)
                ]
            )
            copies = {stream.index: output.add_stream_from_template(stream) for stream in fragmented.streams}
            for packet in _until(end, fragmented) if end is not None else fragmented.demux():
                if packet.size:
                    packet.stream = copies[packet.stream_index]
                    output.mux(packet)
        plain.replace(path)
    except BaseException:
        plain.unlink(missing_ok=True)
        raise


def _until(end: Fraction, container: InputContainer) -> Iterator[Packet[Any]]:
    """Yield all packets, so that the last picture ends at this time, seconds: FFmpeg takes the end from the lengths of the packets."""
    (video,) = container.streams.video
    first: int | None = None
    waiting: deque[Packet[Any]] = deque()  # the last picture may be encoded before others
    for packet in container.demux():
        if not packet.size:
            continue
        if packet.stream_index == video.index:
            first = packet.dts if first is None else first
        waiting.append(packet)
        if len(waiting) > _REORDERED:
            yield waiting.popleft()
    pictures = [packet for packet in waiting if packet.stream_index == video.index]
    if pictures and video.time_base is not None:
        last, ends = pictures[-1], round(end / video.time_base)
        shown = max(pictures, key=lambda packet: packet.pts or 0)
        shown.duration = max(ends - (shown.pts or 0), 1)
        last.duration = max(ends - (last.dts or 0) + (first or 0), 1)
    yield from waiting


@contextmanager
def explained_encoding(code: str = "media.not_encoded", **fields: object) -> Iterator[None]:
    """Raise FFmpeg errors of the file system as OSError, all others as ExportError with this notice and FFmpeg's words as ``detail``."""
    try:
        yield
    except av.FFmpegError as error:
        if error.errno in _SYSTEM:
            raise OSError(error.errno, reason(error)) from error
        raise ExportError(Notice(code, detail=reason(error), **fields)) from error
