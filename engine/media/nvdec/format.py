"""Finds the format of a stream's frames from the first one, which FFmpeg and the hardware both decode for comparison.

H.264, HEVC, VP8 and VP9 are specified bit by bit, so both decoders return the same frames. If the first frames are equal, the hardware's
frames have the expected layout: they are not cropped differently, scaled or deinterlaced.
"""

from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat
from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.nvdec.awaited_frames import decoder_time, leads
from framefleet.engine.media.nvdec.bitstream import Bitstream
from framefleet.engine.media.nvdec.errors import DamagedError, UnsupportedError
from framefleet.engine.media.nvdec.session import Session
from framefleet.engine.media.picture import Converter
from framefleet.engine.media.planes import frame_format
from framefleet.engine.media.segment import covers, packets_of
from framefleet.engine.media.tone_mapping import transfer_name
from framefleet.engine.media.types import Segment
from framefleet.engine.media.yuv import DEPTHS, samples_of

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

        Raises:
            DamagedError: the hardware cannot decode the frame.
            UnsupportedError: the two frames differ.
        """
        seen = False
        for packet in (*self.packets, None):
            for time, address in session.finish() if packet is None else session.decode(packet[0], decoder_time(packet[1])):
                if time == decoder_time(self.frame.pts or 0):
                    self._compare(session, address)
                    seen = True
        if not seen:
            raise DamagedError("NVDEC does not return its first frame")

    def _compare(self, session: Session, address: int) -> None:
        layout = self.format
        width, height, nbytes = session.size()
        if (width, height, nbytes) != (-(-layout.stored_width // 2) * 2, layout.stored_height, layout.nbytes):
            raise UnsupportedError(f"NVDEC's frames are {width}×{height}, FFmpeg's {layout.stored_width}×{layout.stored_height}")
        found = layout.planes(np.frombuffer(session.download(address, nbytes), np.uint8))
        if not all(np.array_equal(*pair) for pair in zip(found, planes(self.frame, layout.depth), strict=True)):
            raise UnsupportedError("NVDEC's first frame differs from FFmpeg's")


def first_frame(file: VideoFile, segment: Segment) -> FirstFrame:
    """The first undamaged frame of a segment.

    Raises:
        UnsupportedError: NVDEC cannot decode this kind of stream.
        DamagedError: no frame at the segment's start can be decoded.
    """
    bitstream = Bitstream(file.codec.name, file.codec.extradata)
    if file.codec.name not in Bitstream.CODECS:
        raise UnsupportedError(f"its codec is {file.codec.name}; NVDEC is used for {', '.join(Bitstream.CODECS)}")
    if file.codec.name == "h264" and file.hidden.possible:
        raise UnsupportedError("the video may be interlaced, which NVDEC shows deinterlaced")
    packets: list[tuple[bytearray, int]] = []
    for packet in (*islice(packets_of(file, segment), _TRIED_PACKETS), None):
        if packet is not None:
            data = bytearray(packet)
            content, time = bytearray(bitstream.convert(data) if packets else bitstream.first(data)), _time(packet)
            if not (leads(segment, time) and bitstream.is_spare(content)):
                packets.append((content, time))
        for frame in file.decode(packet):
            if frame.pts is not None and covers(segment, frame.pts) and not frame.is_corrupt:
                return FirstFrame(bitstream, packets, frame, _format(file, frame))
    raise DamagedError(file.error or "no frame at its beginning can be decoded")


def _time(packet: VideoPacket) -> int:
    if packet.pts is None:
        raise UnsupportedError("its container does not say when a frame is shown")
    return packet.pts


def _format(file: VideoFile, frame: VideoFrame) -> FrameFormat:
    name = frame.format.name
    if name not in DEPTHS:
        raise UnsupportedError(f"its pixel format is {name}; NVDEC is used for {', '.join(DEPTHS)}")
    if frame.interlaced_frame:
        raise UnsupportedError("the video is interlaced, which NVDEC shows deinterlaced")
    if transfer := transfer_name(frame):
        raise UnsupportedError(f"it is HDR video ({transfer}), which the CPU converts to standard dynamic range")
    depth = DEPTHS[name]
    kind = PixelFormat.NV12 if depth == 8 else PixelFormat.P016
    return frame_format(frame, Converter(file.stream.sample_aspect_ratio), kind, depth)


def planes(frame: VideoFrame, depth: int) -> list[Samples]:
    """Luma, U and V of a 4:2:0 frame, (height, width) each. Samples of more than 8 bits are the upper bits of 16."""
    return [samples if depth == 8 else samples.view(np.uint16) << np.uint16(16 - depth) for samples in samples_of(frame)]
