"""Hardware decoders: a session decodes packets, and a pool keeps sessions for reuse."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import addressof, c_char
from typing import Any, TypeAlias

import numpy as np
from cuda.core import Device, Stream, StreamOptions

from framefleet.engine.cuda.graph import copy
from framefleet.engine.errors import DeviceError
from framefleet.engine.media.nvdec.bitstream import Writable
from framefleet.engine.media.nvdec.errors import DamagedError, UncertainEndError
from framefleet.engine.media.nvdec.messages import messages
from framefleet.engine.media.nvdec.surfaces import Surface

Kind: TypeAlias = tuple[str, bytes]
"""Codec and ``Bitstream.format``: a session decodes streams of one kind."""

_IDLE = 16
"""Most idle sessions, usually one per decode thread. Each holds reference frames in device memory."""

_PRIORITY = -1
"""Of the sessions' stream, above the network's: NVDEC's library copies each frame by a kernel, which would otherwise wait for whole layers
of the network.
"""

_PATIENCE_SECONDS = 2.0
"""Longest wait for another decode thread's session, which a slow engine or a long segment may keep busy."""

_LOOK_SECONDS = 0.02
"""Interval at which waiting threads check whether more frames are wanted."""


def session_stream(index: int) -> Stream:
    """A stream for all sessions of a process on the CUDA device of this index, which becomes current.

    With one stream for each session, a batch would wait for all of them. Each wait releases the interpreter's lock.
    """
    device = Device(index)
    device.set_current()
    return device.create_stream(options=StreamOptions(priority=_PRIORITY))


class Session:
    """A decoder for one format. Not thread-safe.

    library: PyNvVideoCodec. codec: FFmpeg's name. stream: of ``session_stream``. Addresses of frames are valid until the next call of
    ``decode`` or ``finish``, for work on this stream. damaged: whether one of the last call's frames may be damaged. begun: whether the
    hardware is open; the first packet opens it.
    """

    def __init__(self, library: Any, stream: Stream, codec: str, on_begun: Callable[[], None] = lambda: None) -> None:
        """Open a session on the stream's device, which must be current. on_begun: called when ``begun`` becomes true.

        Raises Exception: any error of the library, which documents none.
        """
        self.stream = stream
        kind = getattr(library.cudaVideoCodec, codec.upper())
        place = {"gpuid": stream.device.device_id, "cudastream": int(stream.handle)}
        self._decoder = library.CreateDecoder(codec=kind, usedevicememory=True, **place)
        self._packet = library.PacketData()
        self._messages = messages()
        self.damaged = False
        self.begun, self._on_begun = False, on_begun

    def decode(self, data: Writable, time: int) -> list[tuple[int, int]]:
        """Decode one packet with its ``decoder_time``. Returns the times and addresses of the frames that are ready, in display order.

        Raises DamagedError if the decoder fails.
        """
        return self._feed(addressof(c_char.from_buffer(data)), len(data), time)

    def finish(self) -> list[tuple[int, int]]:
        """The remaining frames. Afterwards the session can decode from another keyframe of the same format.

        Raises DamagedError: see ``decode``.
        """
        return self._feed(0, 0, 0)

    def copy(self, address: int, surface: Surface, nbytes: int) -> None:
        """Copy a frame into a surface, in stream order."""
        copy(surface.address, address, nbytes, self.stream)

    def download(self, address: int, nbytes: int) -> bytes:
        """Copy a frame to host memory, and wait."""
        content = bytearray(nbytes)
        copy(np.frombuffer(content, np.uint8).ctypes.data, address, nbytes, self.stream)
        self.stream.sync()
        return bytes(content)

    def size(self) -> tuple[int, int, int]:
        """Width and height in pixels, and bytes, of the decoder's frames; known after the first one."""
        return self._decoder.GetWidth(), self._decoder.GetHeight(), self._decoder.GetFrameSize()

    def _feed(self, address: int, size: int, time: int) -> list[tuple[int, int]]:
        packet = self._packet
        try:
            packet.bsl_data, packet.bsl, packet.pts = address, size, time
            frames = [(frame.timestamp, frame.GetPtrToPlane(0)) for frame in self._decoder.Decode(packet)]
        except Exception as problem:  # the library's exceptions have no common base
            raise DamagedError(str(problem)) from problem
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

        Raises:
            DamagedError: the decoder cannot be opened.
            DeviceError: the pool is closed.
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
        deadline = time.monotonic() + _PATIENCE_SECONDS
        with self._changed:
            while turn is not None and not (self._closed or self._served(key, turn)) and time.monotonic() < deadline:
                self._changed.wait(_LOOK_SECONDS)
            if self._closed:
                raise DeviceError("the decoder is closed")
            if turn is not None:
                self._waiting.remove(turn)
                self._changed.notify_all()
            session = self._idle_one(key)
            if session is None:
                try:
                    session = self._opening = self._open_session(key[0], self._look)
                except Exception as problem:  # the library's exceptions have no common base
                    raise DamagedError(f"its decoder cannot be opened: {problem}") from problem
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
