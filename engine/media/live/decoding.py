"""Decodes the packets of a live source. Each packet becomes a frame or is counted as lost, with the reason.

After a damaged frame, nothing is decoded before the next keyframe: frames that depend on a damaged one look damaged, and have no mark.
Lost whole frames of H.264 are found by their numbers, those of HEVC by what later frames refer to. Otherwise FFmpeg's strictest error
detection is used, because a wrong alarm costs a few frames, and a grey picture costs wrong boxes. Some cameras send streams that it always
refuses: after ``_STRICT_KEYFRAMES`` refused keyframes in a row, it is switched off.

On a GPU, a ``DeviceDecoder`` decodes the formats that it can, and FFmpeg the others. Each keyframe is asked for its format.
"""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import av
from av.codec.context import CodecContext, Flags, ThreadType
from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.container.hevc_references import References
from framefleet.engine.media.container.hidden_packets import FrameNumbers
from framefleet.engine.media.container.video_file import MAX_PIXELS, reason
from framefleet.engine.media.live.messages import EpochBegan, Format, LivePacket
from framefleet.engine.media.picture import Converter, PlaneReader
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.notices import Notice, Option, SourceError
from framefleet.engine.types import Image

_STRICT_KEYFRAMES = 3

MAX_AGE, FRESH_AGE = 0.5, 0.1
"""Seconds after its arrival in which a device has to decode a packet. Otherwise it goes on with the next keyframe that is fresh. Else all
streams would become late together when there are too many of them."""

_UNIT = Fraction(1, 1)

BEFORE_KEYFRAME = Notice("live.before_keyframe")
DAMAGED = Notice("live.damaged")
BEHIND = Notice("live.decoder_behind")
BUSY = Notice("live.device_busy")

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Shown:
    """A decoded frame. packet: the one that held it. frame: its user must release a ``DeviceFrame``."""

    packet: LivePacket
    frame: VideoFrame | DeviceFrame

    @property
    def size(self) -> tuple[int, int]:
        """Width and height as stored, pixels."""
        if isinstance(self.frame, DeviceFrame):
            return self.frame.format.stored_width, self.frame.format.stored_height
        return self.frame.width, self.frame.height

    def release(self) -> None:
        """Give back the frame's memory on a device: nobody takes it."""
        if isinstance(self.frame, DeviceFrame):
            self.frame.release()


@dataclass(frozen=True)
class Lost:
    """Frames that are not decoded. reason: why."""

    count: int
    reason: Notice


Outcome: TypeAlias = Shown | Lost


class CodecError(Exception):
    """A decoder failed with the packet that it was given."""


class RefusedError(Exception):
    """A device does not decode this format. notice: why."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)
        self.notice = notice


@dataclass(frozen=True, eq=False)
class Decoded:
    """A frame from a decoder. number: of its packet. frame: or why it is not shown. damaged: whether a part of it may be wrong."""

    number: int
    frame: VideoFrame | DeviceFrame | Notice
    damaged: bool = False


class LiveCodec(Protocol):
    """Decodes one format, from a keyframe on. Frames come in display order."""

    def decode(self, packet: LivePacket) -> list[Decoded]:
        """Decode a packet. Raises CodecError."""

    def finish(self) -> list[Decoded]:
        """Return the remaining frames. Raises CodecError."""

    def restart(self, strict: bool) -> None:
        """Forget everything: a keyframe follows. strict: whether the smallest irregularity is an error."""


class DeviceDecoder(Protocol):
    """Decodes live sources into the memory of a device. Thread-safe.

    threads: to decode with, all sources together. required: a format that it does not decode is an error.
    """

    threads: int
    required: bool

    def enter(self) -> None:
        """Prepare the calling thread for decoding."""

    def near(self) -> AbstractContextManager[None]:
        """Return a context in which the calling thread runs on the processors that are best for decoding."""

    def kind(self, form: Format, keyframe: LivePacket) -> object:
        """Return what tells formats apart; None if the keyframe does not show its format, or the device never decodes this codec."""

    def open(self, form: Format, keyframe: LivePacket) -> LiveCodec:
        """Open a decoder for the format of a keyframe. This takes some time.

        Raises RefusedError, or CodecError if the keyframe is damaged.
        """


class LiveDecoder:
    """Decodes one live source. Call ``begin`` first.

    Every received packet is in exactly one outcome, after ``flush`` at the latest.

    Parameters
    ----------
    device
        What decodes on the device, if there is something. FFmpeg decodes the rest.
    address
        Of the source, for messages.
    """

    def __init__(self, device: DeviceDecoder | None = None, address: str = "") -> None:
        self._device, self._address = device, address
        self._codec: LiveCodec | None = None
        self._kind: object = None  # of the format that the device was asked for
        self._format: Format | None = None
        self._strict = True
        self._refused = 0
        self._waits = False
        self._waiting: Notice | None = BEFORE_KEYFRAME  # why packets before the next keyframe are not decoded
        self._pending: dict[int, LivePacket] = {}
        self._next: int | None = None
        self._numbers: FrameNumbers | References | None = None
        self._gaps = 0  # groups of pictures in a row in which pictures were missing
        self.decoded = 0
        self.refusal: Notice | None = None

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
        if self._codec is None or self._format != epoch.format:
            self._codec, self._kind = _FfmpegCodec(epoch.format, self._strict), None
        self._format, self._waiting, self._waits = epoch.format, BEFORE_KEYFRAME, epoch.waits
        self._numbers, self._gaps = None, 0
        if epoch.format.codec == "h264":
            self._numbers = FrameNumbers(epoch.format.extradata)
        elif epoch.format.codec == "hevc" and self._device is not None:  # FFmpeg itself notices missing pictures of HEVC
            self._numbers = References(epoch.format.extradata)
        return outcomes

    def opens(self, packet: LivePacket) -> bool:
        """Whether ``decode`` will open a decoder of the device for this packet, which takes some time."""
        return self._new_kind(packet) is not None

    def decode(self, packet: LivePacket) -> list[Outcome]:
        """Decode a packet. Returns the frames that are now complete, in display order, and what was lost."""
        assert self._next is not None
        outcomes: list[Outcome] = []
        if packet.number > self._next:
            outcomes += [*self.flush(), Lost(packet.number - self._next, BEHIND)]
            self._waiting = BEHIND
        self._next = packet.number + 1
        if (kind := self._new_kind(packet)) is not None:  # also for a late keyframe: where many are opened, each would be late
            outcomes += self.flush()
            self._choose(packet, kind)
        if self._is_late(packet):
            self._waiting = BEHIND
            return [*outcomes, *self.flush(), Lost(1, BEHIND)]
        if self._waiting is not None and not packet.keyframe:
            return [*outcomes, Lost(1, self._waiting)]
        if self._is_gap(packet):
            self._waiting = DAMAGED
            return [*outcomes, *self.flush(), Lost(1, DAMAGED)]
        self._waiting = None
        self._pending[packet.number] = packet
        return outcomes + self._feed(packet)

    def _is_gap(self, packet: LivePacket) -> bool:
        """Whether pictures that this one refers to are missing."""
        if self._numbers is None:
            return False
        if packet.keyframe:
            self._gaps = self._gaps if self._waiting == DAMAGED else 0
            self._numbers.reset()
        if not self._numbers.is_gap(packet.data):
            return False
        self._gaps += 1
        if self._gaps >= _STRICT_KEYFRAMES and isinstance(self._numbers, References):  # rather an encoder that names too many pictures
            self._numbers = None
        return True

    def _is_late(self, packet: LivePacket) -> bool:
        if self._device is None or self._waits:
            return False
        return time.perf_counter() - packet.arrival > (FRESH_AGE if self._waiting == BEHIND else MAX_AGE)

    def flush(self) -> list[Outcome]:
        """End decoding, before another epoch or at the end."""
        if self._codec is None or not self._pending:
            return []
        try:
            outcomes = self._match(self._codec.finish())
        except CodecError:
            outcomes = []
        outcomes += self._give_up()
        self._restart()
        return outcomes

    def close(self) -> None:
        """Free the codec: a GPU has room for about 300 of them."""
        self._codec = None

    def _new_kind(self, packet: LivePacket) -> object:
        """The format of a keyframe, if the device was not asked for it yet."""
        if self._device is None or not packet.keyframe or packet.damaged or self._format is None:
            return None
        kind = self._device.kind(self._format, packet)
        return None if kind == self._kind else kind

    def _choose(self, keyframe: LivePacket, kind: object) -> None:
        """Let the device decode from this keyframe on, if it can."""
        assert self._device is not None
        assert self._format is not None
        try:
            self._codec = self._device.open(self._format, keyframe)
            self._kind, self.refusal = kind, None
        except CodecError:  # FFmpeg is asked for this keyframe, and the device for the next one
            self._by_cpu(None)
        except RefusedError as refused:
            if self._device.required:
                option = Option("decode", "auto")
                raise SourceError(Notice("media.nvdec_refuses", path=self._address, problem=refused.notice, option=option)) from refused
            self._by_cpu(kind)
            if refused.notice != self.refusal:
                _LOG.warning("%s: NVDEC cannot decode this stream, so the CPU decodes it: %s", self._address, refused.notice)
            self.refusal = refused.notice

    def _feed(self, packet: LivePacket) -> list[Outcome]:
        assert self._codec is not None
        try:
            frames = self._codec.decode(packet)
        except CodecError:
            return self._broken(packet)
        outcomes = self._match(frames)
        if packet.damaged or any(frame.damaged for frame in frames):
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
        self._restart()
        return outcomes

    def _restart(self) -> None:
        assert self._codec is not None
        try:
            self._codec.restart(self._strict)
        except CodecError:
            self._by_cpu(None)

    def _by_cpu(self, kind: object) -> None:
        assert self._format is not None
        self._codec, self._kind = _FfmpegCodec(self._format, self._strict), kind

    def _give_up(self) -> list[Outcome]:
        count = len(self._pending)
        self._pending.clear()
        return [Lost(count, DAMAGED)] if count else []

    def _match(self, frames: list[Decoded]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for decoded in frames:
            packet = self._pending.pop(decoded.number, None)
            if isinstance(decoded.frame, Notice):
                outcomes += [Lost(1, decoded.frame)] if packet is not None else []
                continue
            if packet is not None and not decoded.damaged and not packet.damaged:
                self.decoded += 1
                outcomes.append(Shown(packet, decoded.frame))
                continue
            if isinstance(decoded.frame, DeviceFrame):
                decoded.frame.release()
            if packet is not None:  # else it is a second picture of a packet
                outcomes.append(Lost(1, DAMAGED))
        return outcomes


class _FfmpegCodec:
    """Decodes on the calling thread, into host memory."""

    def __init__(self, form: Format, strict: bool) -> None:
        """Open a decoder. Raises SourceError if there is none for the codec."""
        self._format = form
        self.restart(strict)

    def restart(self, strict: bool) -> None:
        """Open a new decoder: one that has met damage may keep parts of it."""
        form = self._format
        codec = open_codec(form)
        codec.options = {"max_pixels": MAX_PIXELS} | ({"err_detect": "explode"} if strict else {})
        self._codec = codec

    def decode(self, packet: LivePacket) -> list[Decoded]:
        """Decode a packet. Raises CodecError."""
        data = Packet(packet.data)
        # the number instead of the time: a source may repeat times
        data.pts, data.dts, data.time_base, data.is_keyframe = packet.number, None, _UNIT, packet.keyframe
        return self._decode(data)

    def finish(self) -> list[Decoded]:
        """Return the remaining frames. Raises CodecError."""
        return self._decode(None)

    def _decode(self, data: Any) -> list[Decoded]:
        try:
            frames = self._codec.decode(data)
        except av.FFmpegError as error:
            raise CodecError from error
        return [Decoded(frame.pts, frame, frame.is_corrupt) for frame in frames if frame.pts is not None]


def open_codec(form: Format) -> VideoCodecContext:
    """Open FFmpeg's decoder for a stream, on the calling thread.

    Raises SourceError: there is none for its codec.
    """
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
    return codec


def converter(form: Format, planes: bool, address: str) -> Callable[[Shown], HostImage | DeviceFrame]:
    """Return a function that converts the frames of one epoch. planes: see ``FfmpegDecoder``. address: named in errors.

    Frames on a device stay as they are. The function raises SourceError if the frame cannot be converted.
    """
    convert = PlaneReader(Converter(None if form.aspect is None else Fraction(*form.aspect)), oblong_only=not planes)

    def converted(shown: Shown) -> HostImage | DeviceFrame:
        if isinstance(shown.frame, DeviceFrame):
            return shown.frame
        try:
            return convert(shown.frame)
        except (av.FFmpegError, ValueError) as error:
            seconds = shown.packet.seconds
            raise SourceError(Notice("media.frame_not_converted", path=address, seconds=seconds, detail=reason(error))) from error

    return converted


def decode_keyframe(form: Format, keyframe: LivePacket) -> VideoFrame:
    """Decode a keyframe alone. Raises CodecError if it is damaged, and SourceError if FFmpeg has no decoder for it."""
    codec = open_codec(form)
    try:
        frames = [*codec.decode(Packet(keyframe.data)), *codec.decode(None)]
    except av.FFmpegError as error:
        raise CodecError from error
    if not frames or frames[0].is_corrupt:
        raise CodecError
    return frames[0]


def screen_converter(form: Format, size: tuple[int, int]) -> Callable[[Shown], Image | None]:
    """Return a function that converts frames for the screen, to pictures not larger than ``size``.

    A keyframe in a GPU's memory is decoded again, by FFmpeg. Other frames there cannot be converted. The function returns uint8
    (height, width, 4): blue, green, red, 255; None if the frame cannot be converted.
    """
    convert = Converter(None if form.aspect is None else Fraction(*form.aspect), size, for_screen=True)

    def converted(shown: Shown) -> Image | None:
        try:
            frame = decode_keyframe(form, shown.packet) if isinstance(shown.frame, DeviceFrame) else shown.frame
            return convert(frame)
        except (av.FFmpegError, ValueError, SourceError, CodecError):  # detection reports it
            return None

    return converted
