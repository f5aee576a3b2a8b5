"""What NVDEC decodes: the format of a video's frames as FFmpeg and NVDEC give it, and the frames that its packets contain."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice
from typing import TypeAlias

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.nvdec.bitstream import Bitstream, DamagedError, UncertainEndError, UnsupportedError, said
from framefleet.engine.media.nvdec.library import Session
from framefleet.engine.media.picture import DEPTHS, Converter, frame_format, samples_of, transfer_name
from framefleet.engine.media.segment import covers, packets_of
from framefleet.engine.media.types import Segment
from framefleet.engine.notices import Notice

_OPEN_ENDED = ("mpegts", "mpeg")
"""Containers that do not store the end of a packet: it ends where the next one begins."""

_ORIGIN = 1 << 40


def decoder_time(pts: int) -> int:
    """The positive time that represents a pts in the hardware decoder."""
    return pts + _ORIGIN


def leads(segment: Segment, pts: int) -> bool:
    """Whether a frame is shown before the segment's first keyframe and so belongs to the previous segment."""
    return segment.start is not None and pts < segment.start


class AwaitedFrames:
    """The frames that the decoder still has to return.

    counted: the decoder gets several packets at once, so that its frames have no times. They come in ascending order of the packets' times.
    This class only detects damaged streams; ``SegmentDecoder`` decodes them. NVDEC's parser assigns the packets' times to frames in
    ascending order. If it silently drops a damaged frame, later frames get wrong times, and one frame is missing at the segment's end.
    """

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._order: list[int] = []  # heap of pts: expected frames that have not arrived
        self._unwanted: set[int] = set()  # pts of frames that the container marks as not to be shown
        self._expected = 0
        self._fed: list[int] = []  # heap of pts: all frames that the decoder has got and not returned
        self._returned = False  # whether it has returned a frame
        self._regular = True  # whether it has returned all frames in ascending order of their times
        self.counted = False

    @property
    def countable(self) -> bool:
        """Whether the next frames can be recognised by counting them: those before came as expected."""
        return self._returned and self._regular

    def feed(self, pts: int) -> None:
        """Note that the decoder gets a frame. Raises DamagedError if frames cannot be counted any more."""
        if leads(self._segment, pts):  # the decoder may be unable to decode it
            if self.counted:
                raise DamagedError(Notice("media.frame_out_of_order"))
            self._regular = False
        if self._regular:
            heappush(self._fed, pts)

    def packets(self, chosen: Iterator[VideoPacket] | None = None) -> Iterator[VideoPacket]:
        """The segment's packets, or only the chosen ones, in decoding order.

        Raises DamagedError if the next packet is damaged or incomplete.
        """
        uncertain = self._segment.end is None and self._file.container.format.name in _OPEN_ENDED
        waiting: VideoPacket | None = None
        for packet in packets_of(self._file, self._segment) if chosen is None else chosen:
            self._expect(packet)
            if waiting is not None:
                yield waiting
            if uncertain:
                waiting = packet
            else:
                yield packet
        if waiting is not None:
            raise UncertainEndError(Notice("media.uncertain_end"))

    def _expect(self, packet: VideoPacket) -> None:
        shown, pts = self._file.shows(packet), packet.pts
        if packet.is_corrupt or self._file.error:
            raise DamagedError(said(self._file.error) or Notice("media.incomplete_data"))
        if pts is None:
            raise DamagedError(Notice("media.packet_without_time"))
        # a stream can change its format at keyframes only; asking for every packet would take 5 µs each
        changes = packet.is_keyframe and packet.has_sidedata("new_extradata")
        if changes and bytes(packet.get_sidedata("new_extradata")) != self._file.codec.extradata:
            raise DamagedError(Notice("media.format_changes"))
        if packet.is_discard:
            self._unwanted.add(pts)
        elif shown and covers(self._segment, pts):
            self._expected += 1
            heappush(self._order, pts)

    def matched(self, frames: list[tuple[int, int]], damaged: bool) -> Iterator[list[tuple[int, int]]]:
        """Yield the expected ones of the decoder's next frames (``decoder_time``, address): a list of pts and address, unless it is empty.

        damaged: whether one of the frames is damaged, unknown which. Other frames may be damaged, such as the first ones of an open GOP.

        Raises DamagedError if the next frame is damaged, or is not the expected one.
        """
        problem: Notice | None = None
        found: list[tuple[int, int]] = []
        order, fed = self._order, self._fed
        for time, address in frames:
            pts = time - _ORIGIN
            if self._regular:
                first = heappop(fed) if fed else None
                if not self.counted:
                    self._returned, self._regular = True, first == pts
                elif first is None:
                    problem = Notice("media.frame_out_of_order")
                    break
                else:
                    pts = first
            if order and order[0] == pts:
                if damaged:
                    problem = Notice("media.incomplete_data")
                    break
                heappop(order)
                found.append((pts, address))
            elif covers(self._segment, pts) and pts not in self._unwanted:
                problem = Notice("media.frame_out_of_order")
                break
        if found:
            yield found
        if problem is not None:
            raise DamagedError(problem)

    def end(self) -> None:
        """Check that all frames have arrived. Raises DamagedError if frames are missing."""
        if self._order or self._file.error or self._expected < self._segment.frames:
            raise DamagedError(said(self._file.error) or Notice("media.frames_missing"))


# Finds the format of a stream's frames from the first one, which FFmpeg and the hardware both decode for comparison.
#
# H.264, HEVC, VP8 and VP9 are specified bit by bit, so both decoders return the same frames. If the first frames are equal, the hardware's
# frames have the expected layout: they are not cropped differently, scaled or deinterlaced.

Samples: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16]
"""A plane of a picture."""

_TRIED_PACKETS = 64


@dataclass(frozen=True, eq=False)
class FirstFrame:
    """A segment's first frame. packets: the converted packets up to this frame, with their pts. frame: decoded by FFmpeg."""

    bitstream: Bitstream
    packets: list[tuple[bytearray, int]]
    frame: VideoFrame
    format: FrameFormat

    def compare(self, session: Session) -> None:
        """Decode the frame with the hardware, and compare.

        Raises
        ------
        DamagedError
            The hardware cannot decode the frame.
        UnsupportedError
            The two frames differ.
        """
        seen = False
        for packet in (*self.packets, None):
            for time, address in session.finish() if packet is None else session.decode(packet[0], decoder_time(packet[1])):
                if time == decoder_time(self.frame.pts or 0):
                    compare(session, address, self.format, self.frame)
                    seen = True
        if not seen:
            raise DamagedError(Notice("media.nvdec_without_first_frame"))


def compare(session: Session, address: int, layout: FrameFormat, frame: VideoFrame) -> None:
    """Compare a frame in the hardware's memory with FFmpeg's. Raises UnsupportedError if they differ."""
    width, height, nbytes = session.size()
    if (width, height, nbytes) != (-(-layout.stored_width // 2) * 2, layout.stored_height, layout.nbytes):
        right = {"right_width": layout.stored_width, "right_height": layout.stored_height}
        raise UnsupportedError(Notice("media.nvdec_other_size", width=width, height=height, **right))
    found = layout.planes(np.frombuffer(session.download(address, nbytes), np.uint8))
    if not all(np.array_equal(*pair) for pair in zip(found, planes(frame, layout.depth), strict=True)):
        raise UnsupportedError(Notice("media.nvdec_other_pixels"))


def first_frame(file: VideoFile, segment: Segment) -> FirstFrame:
    """The first undamaged frame of a segment.

    Raises
    ------
    UnsupportedError
        NVDEC cannot decode this kind of stream.
    DamagedError
        No frame at the segment's start can be decoded.
    """
    bitstream = Bitstream(file.codec_name, file.codec.extradata)
    if file.codec_name not in Bitstream.CODECS:
        raise UnsupportedError(Notice("media.nvdec_codec", codec=file.codec_name, codecs=tuple(Bitstream.CODECS)))
    if file.codec_name == "h264" and file.hidden.possible:
        raise UnsupportedError(Notice("media.maybe_interlaced"))
    packets: list[tuple[bytearray, int]] = []
    for packet in (*islice(packets_of(file, segment), _TRIED_PACKETS), None):
        if packet is not None:
            data = bytearray(packet)
            content, time = bytearray(bitstream.convert(data) if packets else bitstream.first(data)), _time(packet)
            if not (leads(segment, time) and bitstream.is_skippable_leading(content)):
                packets.append((content, time))
        for frame in file.decode(packet):
            if frame.pts is not None and covers(segment, frame.pts) and not frame.is_corrupt:
                return FirstFrame(bitstream, packets, frame, layout_of(frame, file.stream.sample_aspect_ratio))
    raise DamagedError(said(file.error) or Notice("media.no_frame_decoded"))


def _time(packet: VideoPacket) -> int:
    if packet.pts is None:
        raise UnsupportedError(Notice("media.container_without_times"))
    return packet.pts


def layout_of(frame: VideoFrame, aspect: Fraction | None) -> FrameFormat:
    """Describe NVDEC's frames of a stream. frame: by FFmpeg. aspect: width and height of a pixel, by the container.

    Raises UnsupportedError if NVDEC, or what follows, cannot process such frames.
    """
    name = frame.format.name
    if name not in DEPTHS:
        raise UnsupportedError(Notice("media.nvdec_pixel_format", format=name, formats=tuple(DEPTHS)))
    if frame.interlaced_frame:
        raise UnsupportedError(Notice("media.interlaced"))
    if transfer := transfer_name(frame):
        raise UnsupportedError(Notice("media.hdr", transfer=transfer))
    depth = DEPTHS[name]
    kind = PixelFormat.NV12 if depth == 8 else PixelFormat.P016
    return frame_format(frame, Converter(aspect), kind, depth)


def planes(frame: VideoFrame, depth: int) -> list[Samples]:
    """Luma, U and V of a 4:2:0 frame, (height, width) each. Samples of more than 8 bits are the upper bits of 16."""
    return [samples if depth == 8 else samples.view(np.uint16) << np.uint16(16 - depth) for samples in samples_of(frame)]
