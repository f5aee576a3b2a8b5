"""Decodes the packets of a live source. Each packet becomes a frame or is counted as lost, with the reason.

After a damaged frame, nothing is decoded before the next keyframe: frames that depend on a damaged one look damaged, and have no mark.
Lost whole frames of H.264 are found by their numbers. Otherwise FFmpeg's strictest error detection is used, because a wrong alarm costs a
few frames, and a grey picture costs wrong boxes. Some cameras send streams that it always refuses: after ``_STRICT_KEYFRAMES`` refused
keyframes in a row, it is switched off.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import av
from av.codec.context import CodecContext, Flags, ThreadType
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.hidden_packets import FrameNumbers
from framefleet.engine.media.container.video_file import MAX_PIXELS, reason
from framefleet.engine.media.live.messages import EpochBegan, Format, LivePacket
from framefleet.engine.media.picture import Converter, PlaneReader
from framefleet.engine.notices import Notice

_STRICT_KEYFRAMES = 3

_UNIT = Fraction(1, 1)

BEFORE_KEYFRAME = Notice("live.before_keyframe")
DAMAGED = Notice("live.damaged")
BEHIND = Notice("live.decoder_behind")


@dataclass(frozen=True, eq=False)
class Shown:
    """A decoded frame. packet: that it was received in, without its data."""

    packet: LivePacket
    frame: VideoFrame


@dataclass(frozen=True)
class Lost:
    """Frames that are not decoded. reason: why."""

    count: int
    reason: Notice


Outcome: TypeAlias = Shown | Lost


class LiveDecoder:
    """Decodes one live source, on the calling thread. Call ``begin`` first.

    Every received packet is in exactly one outcome, after ``flush`` at the latest.
    """

    def __init__(self) -> None:
        self._codec: VideoCodecContext | None = None
        self._format: Format | None = None
        self._strict = True
        self._refused = 0
        self._waiting: Notice | None = BEFORE_KEYFRAME  # why packets before the next keyframe are not decoded
        self._pending: dict[int, LivePacket] = {}
        self._next: int | None = None
        self._numbers: FrameNumbers | None = None  # of H.264
        self.decoded = 0

    def begin(self, epoch: EpochBegan) -> list[Outcome]:
        """Begin an epoch. Returns the remaining frames of the one before.

        Raises
        ------
        SourceError
            There is no decoder for its codec.
        """
        outcomes = self.flush()
        if self._next is None:
            self._next = epoch.number
        if self._format is None or self._format.codec != epoch.format.codec:
            self._strict, self._refused = True, 0
        self._format, self._waiting = epoch.format, BEFORE_KEYFRAME
        self._numbers = FrameNumbers(epoch.format.extradata) if epoch.format.codec == "h264" else None
        self._open()
        return outcomes

    def decode(self, packet: LivePacket) -> list[Outcome]:
        """Decode a packet. Returns the frames that are now complete, in display order, and what was lost."""
        assert self._next is not None
        outcomes: list[Outcome] = []
        if packet.number > self._next:
            outcomes += [*self.flush(), Lost(packet.number - self._next, BEHIND)]
            self._waiting = BEHIND
        self._next = packet.number + 1
        if self._waiting is not None:
            if not packet.keyframe:
                return [*outcomes, Lost(1, self._waiting)]
            self._waiting = None
        if self._numbers is not None:
            if packet.keyframe:
                self._numbers.reset()
            if self._numbers.is_gap(packet.data):
                self._waiting = DAMAGED
                return [*outcomes, *self.flush(), Lost(1, DAMAGED)]
        self._pending[packet.number] = packet
        return outcomes + self._feed(packet)

    def flush(self) -> list[Outcome]:
        """End decoding, before another epoch or at the end."""
        if self._codec is None or not self._pending:
            return []
        try:
            outcomes = self._match(self._codec.decode(None))
        except av.FFmpegError:
            outcomes = []
        outcomes += self._give_up()
        self._open()
        return outcomes

    def _feed(self, packet: LivePacket) -> list[Outcome]:
        assert self._codec is not None
        data = Packet(packet.data)
        # the number instead of the time: a source may repeat times
        data.pts, data.dts, data.time_base, data.is_keyframe = packet.number, None, _UNIT, packet.keyframe
        try:
            frames = self._codec.decode(data)
        except av.FFmpegError:
            return self._broken(packet)
        outcomes = self._match(frames)
        if packet.damaged or any(frame.is_corrupt for frame in frames):
            return outcomes + self._broken(packet)
        if packet.keyframe:
            self._refused = 0
        overdue = len(self._pending) > 32
        return outcomes + self._broken(packet) if overdue else outcomes

    def _broken(self, packet: LivePacket) -> list[Outcome]:
        """Wait for the next keyframe. packet: the one with which decoding failed."""
        outcomes = self._give_up()
        self._waiting = DAMAGED
        self._refused += packet.keyframe
        if self._strict and self._refused >= _STRICT_KEYFRAMES:
            self._strict = False
        self._open()
        return outcomes

    def _give_up(self) -> list[Outcome]:
        count = len(self._pending)
        self._pending.clear()
        return [Lost(count, DAMAGED)] if count else []

    def _match(self, frames: list[VideoFrame]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for frame in frames:
            packet = self._pending.pop(frame.pts, None) if frame.pts is not None else None
            if packet is None:  # a second picture of a packet
                continue
            if frame.is_corrupt or packet.damaged:
                outcomes.append(Lost(1, DAMAGED))
                continue
            self.decoded += 1
            outcomes.append(Shown(packet, frame))
        return outcomes

    def _open(self) -> None:
        """Open a new decoder: one that has met damage may keep parts of it."""
        form = self._format
        assert form is not None
        try:
            codec = CodecContext.create(form.codec, "r")
        except (av.FFmpegError, ValueError) as error:
            raise SourceError(Notice("live.no_decoder", codec=form.codec)) from error
        if not isinstance(codec, VideoCodecContext):
            raise SourceError(Notice("live.no_decoder", codec=form.codec))
        codec.extradata = form.extradata
        if form.codec == "rawvideo":
            codec.width, codec.height, codec.pix_fmt = form.width, form.height, form.pixel_format
        codec.thread_type, codec.thread_count = ThreadType.NONE, 1
        codec.flags |= Flags.unaligned | Flags.low_delay
        codec.options = {"max_pixels": MAX_PIXELS} | ({"err_detect": "explode"} if self._strict else {})
        self._codec = codec


def converter(form: Format, planes: bool, address: str) -> Callable[[Shown], HostImage]:
    """Return a function that converts the frames of one epoch. planes: see ``FfmpegDecoder``. address: named in errors.

    The function raises SourceError if the frame cannot be converted.
    """
    convert = PlaneReader(Converter(None if form.aspect is None else Fraction(*form.aspect)), oblong_only=not planes)

    def converted(shown: Shown) -> HostImage:
        try:
            return convert(shown.frame)
        except (av.FFmpegError, ValueError) as error:
            seconds = shown.packet.seconds
            raise SourceError(Notice("media.frame_not_converted", path=address, seconds=seconds, detail=reason(error))) from error

    return converted
