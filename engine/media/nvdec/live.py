"""Decodes live sources on an NVIDIA GPU: packets go to NVDEC, and frames stay in the device's memory.

NVDEC's library is told that each packet holds one whole frame, and returns that frame at once, in the order of decoding. A packet
without a frame is damaged. Frames are put in the order of display here: NVDEC's parser would hold frames of most cameras back, because
their streams do not state that no frame is reordered.
"""

import heapq
import math
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeAlias

from cuda.core import Device, Stream

from framefleet.engine.detection.frame_format import FrameFormat
from framefleet.engine.devices.affinity import bound_to
from framefleet.engine.media.container.hidden_packets import FrameNumbers
from framefleet.engine.media.live.decoding import BEFORE_KEYFRAME, BUSY, CodecError, Decoded, RefusedError, decode_keyframe
from framefleet.engine.media.live.messages import Format, LivePacket
from framefleet.engine.media.nvdec.bitstream import Bitstream, DamagedError, UnsupportedError
from framefleet.engine.media.nvdec.format import compare, decoder_time, layout_of
from framefleet.engine.media.nvdec.library import Session, check
from framefleet.engine.media.nvdec.surfaces import SurfaceRing, device_surfaces
from framefleet.engine.media.types import DeviceFrame
from framefleet.engine.notices import Notice

CODECS = ("h264", "hevc")
"""What NVDEC decodes of live sources. Others are rare there."""

_SURFACES, _SURFACE_BYTES = 4096, 8 * 2**30
"""The most frames in memory: one that waits for each source, and those in the engine. Memory is allocated when it is needed."""

_MAX_DEPTH = 16
"""The most frames that are decoded before one that is shown earlier (ITU-T H.264 and H.265)."""

_TIMES = 2
"""Factor of threads compared with files: a thread waits for each frame, while for files NVDEC works on the next frames meanwhile."""

_GROUPS = 4
"""A source whose times were out of order once, by mistake, is fast again after this many keyframes."""

Kind: TypeAlias = tuple[str, bytes, tuple[int, int] | None]
"""Codec, parameter sets, and shape of a pixel."""


class LiveNvdec:
    """Opens decoders for the live sources of one device. Thread-safe.

    Opening one takes 65 ms on an H200 and delays others, so that one is opened at a time. library: PyNvVideoCodec. index: of the CUDA
    device. streams: yields one of ``session_streams`` for each session. threads: of the decoder for files. processors: for the threads,
    empty: all. required: see ``NvdecDecoder``.
    """

    def __init__(
        self,
        library: Any,
        index: int,
        streams: Iterator[Stream],
        threads: int,
        processors: frozenset[int] = frozenset(),
        required: bool = False,
    ) -> None:
        self.threads, self.required, self._processors = _TIMES * threads, required, processors
        self._library, self._streams = library, streams
        self._device = Device(index)
        self._surfaces = device_surfaces(self._device.device_id, _SURFACES, _SURFACE_BYTES)
        self._formats: dict[Kind, FrameFormat | RefusedError] = {}
        self._opening = threading.Lock()

    def enter(self) -> None:
        """Prepare the calling thread for decoding."""
        self._device.set_current()

    def near(self) -> AbstractContextManager[None]:
        """Return a context in which the calling thread runs on the processors near the GPU."""
        return bound_to(self._processors)

    def kind(self, form: Format, keyframe: LivePacket) -> Kind | None:
        """Return what tells formats apart; None if the keyframe does not show its format, or NVDEC never decodes this codec."""
        if form.codec not in CODECS:
            return form.codec, b"", None
        bitstream = Bitstream(form.codec, form.extradata)
        try:
            bitstream.first(bytearray(keyframe.data))
        except DamagedError:
            return None
        return form.codec, bitstream.format, form.aspect

    def open(self, form: Format, keyframe: LivePacket) -> "NvdecCodec":
        """Open a decoder. FFmpeg decodes the keyframe, too: the pixels of the first stream of a kind are compared."""
        if form.codec not in CODECS:
            raise RefusedError(Notice("media.nvdec_codec", codec=form.codec, codecs=CODECS))
        kind = self.kind(form, keyframe)
        if kind is None:
            raise CodecError
        with self._opening:
            known = self._formats.get(kind)
            if isinstance(known, RefusedError):
                raise known
            try:
                session = Session(self._library, next(self._streams), form.codec, at_once=True)
            except Exception as problem:  # the library's exceptions have no common base
                raise RefusedError(Notice("media.decoder_not_opened", detail=str(problem))) from problem
            try:
                layout = self._examine(form, keyframe, session) if known is None else known
            except UnsupportedError as problem:
                self._formats[kind] = refused = RefusedError(problem.notice)
                raise refused from problem
            self._formats[kind] = layout
            codec = NvdecCodec(form, layout, session, self._surfaces)
            if known is not None:  # the first packet opens the hardware
                codec.probe(keyframe)
            return codec

    def _examine(self, form: Format, keyframe: LivePacket, session: Session) -> FrameFormat:
        if form.codec == "h264":
            numbers = FrameNumbers(form.extradata)
            numbers.is_gap(keyframe.data)
            if numbers.fields_possible:
                raise UnsupportedError(Notice("media.maybe_interlaced"))
        frame = decode_keyframe(form, keyframe)
        layout = layout_of(frame, None if form.aspect is None else Fraction(*form.aspect))
        check(form.codec, int(getattr(self._library.cudaVideoCodec, form.codec.upper())), layout)
        data = Bitstream(form.codec, form.extradata).first(bytearray(keyframe.data))
        try:
            frames = session.decode(data, decoder_time(0))
            if not frames:
                raise UnsupportedError(Notice("media.nvdec_without_first_frame"))
            compare(session, frames[0][1], layout, frame)
            session.finish()
        except DamagedError as problem:  # FFmpeg has decoded it
            raise RefusedError(Notice("media.decoder_not_opened", detail=problem.notice)) from problem
        return layout

    def close(self) -> None:
        """Wait until all frames are released, and free the memory. No thread may decode afterwards."""
        self._surfaces.close()


class NvdecCodec:
    """A ``LiveCodec``: a session of NVDEC for one source. The thread that uses it has called ``LiveNvdec.enter``."""

    def __init__(self, form: Format, layout: FrameFormat, session: Session, surfaces: SurfaceRing) -> None:
        self._layout, self._session, self._surfaces = layout, session, surfaces
        self._bitstream = Bitstream(form.codec, form.extradata)
        self._order = _DisplayOrder()
        self._begin: float | None = None  # time of the keyframe that decoding began with

    def probe(self, keyframe: LivePacket) -> None:
        """Open the hardware. Raises CodecError or RefusedError."""
        try:
            self._session.decode(self._bitstream.first(bytearray(keyframe.data)), decoder_time(0))
            self._session.finish()
        except DamagedError as problem:
            raise RefusedError(Notice("media.decoder_not_opened", detail=problem.notice)) from problem

    def decode(self, packet: LivePacket) -> list[Decoded]:
        """Decode a packet. Raises CodecError."""
        session = self._session
        if packet.keyframe and self._begin is None:
            self._begin = packet.seconds
        try:
            data = bytearray(packet.data)
            data = self._bitstream.first(data) if packet.keyframe else self._bitstream.convert(data)  # type: ignore[assignment]
            if self._leads(packet) and self._bitstream.is_skippable_leading(data):
                return [Decoded(packet.number, BEFORE_KEYFRAME)]
            frames = session.decode(data, decoder_time(packet.number))
        except DamagedError as problem:
            raise CodecError from problem
        if not frames:
            raise CodecError
        layout = self._layout
        if session.damaged:
            raise CodecError
        surface, release = self._surfaces.acquire(layout.nbytes)
        try:
            session.copy(frames[0][1], surface, layout.nbytes)
        except BaseException:
            release()
            raise
        return self._order.put(packet, DeviceFrame(layout, surface.address, session.stream, release))

    def _leads(self, packet: LivePacket) -> bool:
        """Whether a packet is shown before the keyframe that decoding began with."""
        return self._begin is not None and packet.seconds < self._begin

    def finish(self) -> list[Decoded]:
        """Return the remaining frames. Raises CodecError."""
        return self._order.rest()

    def restart(self, strict: bool) -> None:  # noqa: ARG002
        """Forget everything: a keyframe follows. The hardware stays open."""
        for decoded in self._order.rest():
            assert isinstance(decoded.frame, DeviceFrame)
            decoded.frame.release()
        self._begin = None
        try:
            self._session.finish()
        except DamagedError as problem:
            raise CodecError from problem


class _DisplayOrder:
    """Puts frames in the order in which they are shown. It learns how many have to wait; until then, a late frame is not shown."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, DeviceFrame]] = []
        self._depth = 0
        self._needed: deque[int] = deque([0] * _GROUPS, maxlen=_GROUPS)  # depths of the last groups of pictures
        self._recent: deque[float] = deque(maxlen=_MAX_DEPTH)
        self._shown = -math.inf

    def put(self, packet: LivePacket, frame: DeviceFrame) -> list[Decoded]:
        """Take the next frame in the order of decoding. Returns the frames that are shown now."""
        if packet.keyframe:
            self._needed.append(0)
        self._needed[-1] = max(self._needed[-1], sum(time > packet.seconds for time in self._recent))
        self._depth = max(self._needed)
        self._recent.append(packet.seconds)
        if packet.seconds < self._shown:
            frame.release()
            return [Decoded(packet.number, BUSY)]
        heapq.heappush(self._waiting, (packet.seconds, packet.number, frame))
        return [self._next() for _ in range(len(self._waiting) - self._depth)]

    def rest(self) -> list[Decoded]:
        """Return the waiting frames; a keyframe follows."""
        found = [self._next() for _ in range(len(self._waiting))]
        self._recent.clear()
        return found

    def _next(self) -> Decoded:
        self._shown, number, frame = heapq.heappop(self._waiting)
        return Decoded(number, frame)
