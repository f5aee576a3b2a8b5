"""Reads the encoded sound of a video, to copy it into an annotated video without encoding it again."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.bitstream import BitStreamFilterContext
from av.packet import Packet

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.types import Closing

COPIED = frozenset(("aac", "ac3", "alac", "eac3", "flac", "mp2", "mp3", "opus"))
"""Codecs that players accept in an MP4."""


class Sound(Closing):
    """The first sound track of a video.

    start: the time in the video, in seconds, that becomes time 0 of the copy.
    stream: None if the video has no sound, or sound in a codec outside ``COPIED``.
    """

    def __init__(self, path: Path, start: Fraction) -> None:
        self._file = VideoFile(path, other_tracks=True)
        self._start = start
        tracks = self._file.container.streams.audio
        # the decoder's own name may be another one, such as mp3float
        codec = tracks[0].codec_context.codec.canonical_name if tracks and tracks[0].codec_context is not None else ""
        self.stream: AudioStream | None = tracks[0] if codec in COPIED else None
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
