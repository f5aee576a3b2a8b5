"""The border to PyNvVideoCodec: loads the library, reads what it prints, asks what the GPU can decode, and keeps decoders for reuse."""

import ctypes
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import addressof, c_char
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from cuda.core import Device, Stream, StreamOptions

from framefleet.engine.cuda.graph import copy, copy_all
from framefleet.engine.detection.frame_format import FrameFormat
from framefleet.engine.media.nvdec.bitstream import DamagedError, UncertainEndError, UnsupportedError, Writable
from framefleet.engine.media.nvdec.surfaces import Surface
from framefleet.engine.notices import DeviceError, Notice, Option

# Reads the decoder library's messages on C's standard output, where alone it reports damaged pictures.
#
# PyNvVideoCodec (2.2) prints "Decode Error occurred for picture N" during the decoding call, and then returns the concealed picture
# without an error. This module therefore redirects C's standard output to a function. The function notes the printing thread and passes
# other output on.

_DAMAGE = b"Decode Error"
_LINES = 1  # _IOLBF: the call that ends a line writes it, so the printing thread is known
_BUFFER = 4096
_OUTPUT = 1

_Write: Any = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Functions(ctypes.Structure):
    """``cookie_io_functions_t`` of glibc and musl."""

    _fields_ = (("read", ctypes.c_void_p), ("write", _Write), ("seek", ctypes.c_void_p), ("close", ctypes.c_void_p))


class Messages:
    """Receives C's standard output of this process."""

    def __init__(self) -> None:
        """Redirect the output to this object. Raises OSError if this system's C library cannot redirect it."""
        try:
            library = ctypes.CDLL(None)
            output = ctypes.c_void_p.in_dll(library, "stdout")
            library.fopencookie.argtypes = (ctypes.c_void_p, ctypes.c_char_p, _Functions)
            library.fopencookie.restype = ctypes.c_void_p
        except (OSError, TypeError, ValueError, AttributeError) as problem:
            raise OSError(f"the C library's output cannot be redirected ({problem})") from problem
        library.setvbuf.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t)
        self._damaged: set[int] = set()
        self._functions = _Functions(write=_Write(self._write))  # kept alive: C calls it until the process ends
        stream = library.fopencookie(None, b"w", self._functions)
        if not stream:
            raise OSError("the C library's output cannot be redirected")
        library.setvbuf(stream, None, _LINES, _BUFFER)
        library.fflush(output)
        output.value = stream

    def damage_reported(self) -> bool:
        """Whether this thread's decoding calls reported a damaged picture since the last call."""
        thread = threading.get_ident()
        if thread not in self._damaged:
            return False
        self._damaged.discard(thread)
        return True

    def _write(self, _cookie: int, address: int, size: int) -> int:
        text = ctypes.string_at(address, size)
        if _DAMAGE in text:
            self._damaged.add(threading.get_ident())
        else:
            os.write(_OUTPUT, text)
        return size


@cache
def messages() -> Messages:
    """The one ``Messages`` of this process, never released. Raises OSError: see ``Messages``."""
    return Messages()


# Queries what a GPU's NVDEC can decode, in the current CUDA context.
#
# PyNvVideoCodec has a query, too, but creates a CUDA context for each call: 0.25 s on an H200, twice that for two calls at once.

_CHROMA_420 = 1


class Limits(ctypes.Structure):
    """``CUVIDDECODECAPS`` of cuviddec.h. The query: codec, chroma, depth_minus_8. Sizes in pixels, blocks of 16 × 16."""

    _fields_ = (
        ("codec", ctypes.c_int),
        ("chroma", ctypes.c_int),
        ("depth_minus_8", ctypes.c_uint),
        ("_reserved", ctypes.c_uint * 3),
        ("supported", ctypes.c_ubyte),
        ("engines", ctypes.c_ubyte),
        ("output_formats", ctypes.c_ushort),
        ("max_width", ctypes.c_uint),
        ("max_height", ctypes.c_uint),
        ("max_blocks", ctypes.c_uint),
        ("min_width", ctypes.c_ushort),
        ("min_height", ctypes.c_ushort),
        ("_more", ctypes.c_uint * 11),
    )


@cache
def question() -> Any:
    """The library's function ``cuvidGetDecoderCaps``. Raises OSError if the library is missing."""
    function = ctypes.CDLL("libnvcuvid.so.1").cuvidGetDecoderCaps
    function.argtypes, function.restype = (ctypes.POINTER(Limits),), ctypes.c_int
    return function


def limits(codec: int, depth: int) -> Limits:
    """The limits of the current device for 4:2:0 samples. codec: PyNvVideoCodec's ``cudaVideoCodec``. depth: bits of a sample.

    Raises UnsupportedError if the query fails.
    """
    found = Limits(codec=codec, chroma=_CHROMA_420, depth_minus_8=depth - 8)
    if status := question()(ctypes.byref(found)):
        raise UnsupportedError(Notice("media.nvdec_not_asked", status=status))
    return found


_H264 = 4


def hardware_decoders() -> int:
    """Number of NVDEC engines of the current device. Raises UnsupportedError if the query fails."""
    return int(limits(_H264, 8).engines)


def check(name: str, codec: int, layout: FrameFormat) -> None:
    """Check that the current device decodes such frames. name: the codec's name.

    Raises UnsupportedError if the device does not decode them.
    """
    found = limits(codec, layout.depth)
    width, height = layout.stored_width, layout.stored_height
    if not found.supported:
        raise UnsupportedError(Notice("media.nvdec_depth", codec=name, depth=layout.depth))
    blocks = -(-width // 16) * -(-height // 16)
    fits = found.min_width <= width <= found.max_width and found.min_height <= height <= found.max_height
    if not fits or blocks > found.max_blocks:
        limit = {name: getattr(found, name) for name in ("min_width", "min_height", "max_width", "max_height")}
        raise UnsupportedError(Notice("media.nvdec_size", codec=name, width=width, height=height, **limit))


def load_library() -> Any:
    """The module ``PyNvVideoCodec``. Raises DeviceError if it, or the driver, is missing."""
    try:
        import PyNvVideoCodec

        question()
    except Exception as problem:  # without a driver the import raises various errors
        first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
        raise DeviceError(Notice("media.no_nvdec", detail=first, option=Option("decode", "cpu"))) from problem
    try:
        messages()
    except OSError as problem:
        raise DeviceError(Notice("media.nvdec_messages_unread", detail=str(problem), option=Option("decode", "cpu"))) from problem
    return PyNvVideoCodec


Kind: TypeAlias = tuple[str, bytes]
"""Codec and ``Bitstream.format``: a session decodes streams of one kind."""

_IDLE = 32
"""Most idle sessions, usually one per decode thread. Each holds reference frames in device memory."""

_PRIORITY = -1
"""Of the sessions' streams, above the network's: NVDEC's library copies each frame by a kernel, which would otherwise wait for whole layers
of the network.
"""

_STREAMS = 12
"""Of a process's sessions. With two sessions each, an H100 and an H200 decode more than with one stream for all."""

PATIENCE_SECONDS = 2.0
"""Longest wait for another decode thread's session, which a slow engine or a long segment may keep busy."""

_LOOK_SECONDS = 0.02
"""Interval at which waiting threads check whether more frames are wanted."""


def session_streams(index: int) -> tuple[Stream, ...]:
    """The streams that the sessions of a process share on the CUDA device of this index, which becomes current.

    There are few, because a batch waits for each stream that its frames are on, and each wait releases the interpreter's lock.
    """
    device = Device(index)
    device.set_current()
    return tuple(device.create_stream(options=StreamOptions(priority=_PRIORITY)) for _ in range(_STREAMS))


class Session:
    """A decoder for one format. Not thread-safe.

    library: PyNvVideoCodec. codec: FFmpeg's name. stream: one of ``session_streams``. Addresses of frames are valid until the next call of
    ``decode`` or ``finish``, for work on this stream. damaged: whether one of the last call's frames may be damaged. begun: whether the
    hardware is open; the first packet opens it. at_once: return the frame of each packet, in the order of decoding and without its time.
    Otherwise the library waits for the order of display, and holds four more frames back.
    """

    def __init__(
        self, library: Any, stream: Stream, codec: str, on_begun: Callable[[], None] = lambda: None, at_once: bool = False
    ) -> None:
        """Open a session on the stream's device, which must be current. on_begun: called when ``begun`` becomes true.

        Raises Exception: any error of the library, which documents none.
        """
        self.stream = stream
        kind = getattr(library.cudaVideoCodec, codec.upper())
        place = {"gpuid": stream.device.device_id, "cudastream": int(stream.handle)}
        latency = library.DisplayDecodeLatencyType.ZERO if at_once else library.DisplayDecodeLatencyType.NATIVE
        self._decoder = library.CreateDecoder(codec=kind, usedevicememory=True, latency=latency, **place)
        self._packet, self._end = library.PacketData(), library.PacketData()
        if at_once:  # each packet holds a whole frame: the parser does not wait for the next one's start
            self._packet.decode_flag = library.VideoPacketFlag.ENDOFPICTURE
        self._messages = messages()
        self.damaged = False
        self.begun, self._on_begun = False, on_begun

    def decode(self, data: Writable, time: int) -> list[tuple[int, int]]:
        """Decode one packet with its ``decoder_time``. Returns the times and addresses of the frames that are ready, in display order.

        Raises DamagedError if the decoder fails.
        """
        packet = self._packet
        packet.bsl_data, packet.bsl, packet.pts = addressof(c_char.from_buffer(data)), len(data), time
        return self._feed(packet)

    def finish(self) -> list[tuple[int, int]]:
        """The remaining frames. Afterwards the session can decode from another keyframe of the same format.

        Raises DamagedError: see ``decode``.
        """
        self._end.bsl_data, self._end.bsl, self._end.pts = 0, 0, 0
        return self._feed(self._end)

    def copy(self, address: int, surface: Surface, nbytes: int) -> None:
        """Copy a frame into a surface, in stream order."""
        copy(surface.address, address, nbytes, self.stream)

    def copy_all(self, addresses: Sequence[int], surfaces: Sequence[Surface], nbytes: int) -> None:
        """Copy frames of the last call into surfaces, in stream order, by one call."""
        if len(addresses) == 1:
            self.copy(addresses[0], surfaces[0], nbytes)
        else:
            copy_all([surface.address for surface in surfaces], addresses, [nbytes] * len(addresses), self.stream)

    def download(self, address: int, nbytes: int) -> bytes:
        """Copy a frame to host memory, and wait."""
        content = bytearray(nbytes)
        copy(np.frombuffer(content, np.uint8).ctypes.data, address, nbytes, self.stream)
        self.stream.sync()
        return bytes(content)

    def size(self) -> tuple[int, int, int]:
        """Width and height in pixels, and bytes, of the decoder's frames; known after the first one."""
        return self._decoder.GetWidth(), self._decoder.GetHeight(), self._decoder.GetFrameSize()

    def _feed(self, packet: Any) -> list[tuple[int, int]]:
        try:
            frames = [(frame.timestamp, frame.GetPtrToPlane(0)) for frame in self._decoder.Decode(packet)]
        except Exception as problem:  # the library's exceptions have no common base
            raise DamagedError(Notice("general.detail", detail=str(problem))) from problem
        finally:
            if not self.begun:
                self.begun = True
                self._on_begun()
        self.damaged = self._messages.damage_reported()
        return frames


class SessionPool:
    """Shares sessions among decode threads. Thread-safe.

    Opening a session takes 65 ms on an H200 and blocks opening others on all GPUs of the machine. A session is therefore opened only if
    more frames are ``wanted``. Otherwise a decode thread waits a limited time for another thread's session.
    open_session: opens a session for a codec, and calls its second argument when the session has begun. wanted: whether the engine could
    use more frames than are decoded.
    """

    def __init__(self, open_session: Callable[[str, Callable[[], None]], Session], wanted: Callable[[], bool]) -> None:
        self._open_session, self._wanted = open_session, wanted
        self._idle: deque[tuple[Kind, Session]] = deque()
        self._used: Counter[Kind] = Counter()
        self._waiting: list[object] = []
        self._opening: Session | None = None
        self._closed = False
        self._changed = threading.Condition()

    @contextmanager
    def turn(self) -> Iterator[object]:
        """Reserve a place in the queue for ``use``, before the decode thread knows which kind it needs."""
        with self._changed:
            self._waiting.append(turn := object())
        try:
            yield turn
        finally:
            with self._changed:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                    self._changed.notify_all()

    @contextmanager
    def use(self, codec: str, kind: bytes, turn: object = None) -> Iterator[Session]:
        """Use a session for streams of one ``Bitstream.format``. Drops the session after an error. Does not wait without a turn.

        Raises
        ------
        DamagedError
            The decoder cannot be opened.
        DeviceError
            The pool is closed.
        """
        key = codec, kind
        session = self._take(key, turn)
        sound = False
        try:
            yield session
            sound = True
        except (GeneratorExit, UncertainEndError):  # the remaining frames are not needed
            with suppress(DamagedError):
                session.finish()
                sound = True
            raise
        finally:
            self._leave(key, session, sound)

    def _take(self, key: Kind, turn: object) -> Session:
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self._changed:
            while turn is not None and not (self._closed or self._served(key, turn)) and time.monotonic() < deadline:
                self._changed.wait(_LOOK_SECONDS)
            if self._closed:
                raise DeviceError(Notice("media.decoder_closed"))
            if turn is not None:
                self._waiting.remove(turn)
                self._changed.notify_all()
            session = self._idle_one(key)
            if session is None:
                try:
                    session = self._opening = self._open_session(key[0], self._look)
                except Exception as problem:  # the library's exceptions have no common base
                    raise DamagedError(Notice("media.decoder_not_opened", detail=str(problem))) from problem
            self._used[key] += 1
            return session

    def _look(self) -> None:
        """Let waiting threads check whether it is their turn."""
        with self._changed:
            self._changed.notify_all()

    def _served(self, key: Kind, turn: object) -> bool:
        """Whether this turn gets an idle session that no earlier turn needs, or may open one."""
        before = self._waiting.index(turn)
        if sum(kind == key for kind, _ in self._idle) > before:
            return True
        if before or (self._opening is not None and not self._opening.begun):
            return False
        return not self._used[key] or self._wanted()

    def _idle_one(self, key: Kind) -> Session | None:
        for entry in self._idle:
            if entry[0] == key:
                self._idle.remove(entry)
                return entry[1]
        return None

    def _leave(self, key: Kind, session: Session, sound: bool) -> None:
        with self._changed:
            self._used[key] -= 1
            if self._opening is session:
                self._opening = None
            if sound and not self._closed:  # else the session would be freed with this pool, maybe in a thread of another GPU
                self._idle.append((key, session))
            while len(self._idle) > _IDLE:
                self._idle.popleft()
            self._changed.notify_all()

    def stop(self) -> None:
        """Lend and open no more sessions, and wake waiting threads: their ``use`` raises DeviceError."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Drop all idle sessions. Call this in a thread whose current device is that of the sessions."""
        self.stop()
        with self._changed:
            self._idle.clear()
