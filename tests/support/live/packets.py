"""Packets of a video, as a capture process numbers them, and what a decoder makes of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from pathlib import Path
from weakref import WeakSet

import av
from av.codec.context import Flags

from framefleet.engine.media.live.decoding import CodecError, Decoded, LiveCodec, LiveDecoder, Lost, Outcome, RefusedError, open_codec
from framefleet.engine.media.live.messages import Format, LivePacket
from framefleet.engine.notices import Notice


def packets_of(path: Path) -> tuple[Format, list[LivePacket]]:
    """The format and the packets of a video, numbered as a capture process numbers them. They are never late."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        codec = stream.codec_context
        form = Format(codec.name, codec.extradata, codec.width, codec.height, codec.pix_fmt)
        found = [packet for packet in container.demux(stream) if packet.size]
        return form, [
            LivePacket(number, float(packet.pts * packet.time_base), math.inf, packet.is_keyframe, False, bytes(packet))
            for number, packet in enumerate(found)
            if packet.pts is not None
        ]


def decode(decoder: LiveDecoder, packets: Iterable[LivePacket]) -> Iterator[Outcome]:
    for packet in packets:
        yield from decoder.decode(packet)
    yield from decoder.flush()


def counts(outcomes: Iterable[Outcome]) -> Counter[str]:
    found: Counter[str] = Counter()
    for outcome in outcomes:
        found[outcome.reason.code if isinstance(outcome, Lost) else "shown"] += outcome.count if isinstance(outcome, Lost) else 1
    return found


class HostDevice:
    """Decodes for a device, by FFmpeg into host memory. Like NVDEC, it says nothing of missing pictures.

    opened: the kinds in the order in which decoders were opened. opening: called before each. codecs: that it decodes.
    alive: the decoders that are open.
    """

    def __init__(self, opening: Callable[[], object] = lambda: None, codecs: tuple[str, ...] = ("h264",)) -> None:
        self.threads, self.required = 2, False
        self.codecs = codecs
        self.opened: list[object] = []
        self.alive: WeakSet[HostCodec] = WeakSet()
        self.opening = opening

    def enter(self) -> None:
        pass

    def near(self) -> AbstractContextManager[None]:
        return nullcontext()

    def kind(self, form: Format, keyframe: LivePacket) -> object:
        return form.codec, form.width if form.extradata else len(keyframe.data[:4])

    def open(self, form: Format, keyframe: LivePacket) -> LiveCodec:
        if form.codec not in self.codecs:
            raise RefusedError(Notice("media.nvdec_codec", codec=form.codec, codecs=self.codecs))
        self.opening()
        codec = HostCodec(form)
        self.alive.add(codec)
        self.opened.append(self.kind(form, keyframe))
        return codec


class HostCodec:
    """A decoder of ``HostDevice``."""

    def __init__(self, form: Format) -> None:
        self._form = form
        self.restart(True)

    def restart(self, strict: bool) -> None:  # noqa: ARG002
        self._codec = open_codec(self._form)
        self._codec.flags |= Flags.output_corrupt

    def decode(self, packet: LivePacket) -> list[Decoded]:
        data = av.Packet(packet.data)
        data.pts, data.time_base = packet.number, Fraction(1)
        try:
            return [Decoded(frame.pts or 0, frame) for frame in self._codec.decode(data)]
        except av.FFmpegError as error:
            raise CodecError from error

    def finish(self) -> list[Decoded]:
        return [Decoded(frame.pts or 0, frame) for frame in self._codec.decode(None)]
