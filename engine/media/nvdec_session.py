"""One hardware decoder on a stream of its own, fed packet by packet; and those that wait to be used again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from cuda.core import Device

from engine.backends.cuda_graph import copy
from engine.media.awaited import DamagedError, UncertainEndError
from engine.media.bitstream import Writable
from engine.media.nvdec_messages import messages
from engine.media.surfaces import Surface

_IDLE = 16
"""Sessions kept for streams to come: as many as there are lanes, usually. Each holds its reference frames in the device's memory."""


class Session:
    """A decoder for one format. Not thread-safe.

    library: PyNvVideoCodec. codec: FFmpeg's name. The addresses it gives are valid until the next call of ``decode`` or ``finish``,
    for work on its stream. damaged: whether one of the frames that the last call gave was patched up, or has to be taken for it.
    """

    def __init__(self, library: Any, index: int, codec: str) -> None:
        """Open it on the CUDA device of this index, which is this thread's current one.

        Raises:
            Exception: of the library, which documents none.
        """
        self.stream = Device(index).create_stream()
        kind = getattr(library.cudaVideoCodec, codec.upper())
        stream = int(self.stream.handle)
        self._decoder = library.CreateDecoder(gpuid=index, codec=kind, cudastream=stream, usedevicememory=True)
        self._packet = library.PacketData()
        self._messages = messages()
        self.damaged = False

    def decode(self, data: Writable, time: int) -> list[tuple[int, int]]:
        """Feed one packet with its ``stamp``: the stamps and addresses of the frames that are there now, in display order.

        Raises:
            DamagedError: the decoder fails.
        """
        content = np.frombuffer(data, np.uint8)
        return self._feed(content.ctypes.data, len(content), time)

    def finish(self) -> list[tuple[int, int]]:
        """The remaining frames. After that the session can begin with another keyframe of the same format.

        Raises:
            DamagedError: as ``decode``.
        """
        return self._feed(0, 0, 0)

    def copy(self, address: int, surface: Surface, nbytes: int) -> None:
        """Put a frame into a surface, in stream order, and record its event behind that."""
        copy(surface.address, address, nbytes, self.stream)
        self.stream.record(surface.ready)

    def download(self, address: int, nbytes: int) -> bytes:
        """A frame in host memory; waits for it."""
        content = bytearray(nbytes)
        copy(np.frombuffer(content, np.uint8).ctypes.data, address, nbytes, self.stream)
        self.stream.sync()
        return bytes(content)

    def size(self) -> tuple[int, int, int]:
        """Width, height and bytes of the decoder's frames, once there was one."""
        return self._decoder.GetWidth(), self._decoder.GetHeight(), self._decoder.GetFrameSize()

    def _feed(self, address: int, size: int, time: int) -> list[tuple[int, int]]:
        packet = self._packet
        try:
            packet.bsl_data, packet.bsl, packet.pts = address, size, time
            frames = [(frame.timestamp, frame.GetPtrToPlane(0)) for frame in self._decoder.Decode(packet)]
        except Exception as problem:  # the library has exceptions of its own, which share no base with others
            raise DamagedError(str(problem)) from problem
        self.damaged = self._messages.told_damage()
        return frames


class SessionPool:
    """Sessions that are used again: opening one takes as long as decoding many frames. From any thread."""

    def __init__(self, library: Any, index: int) -> None:
        self._library, self._index = library, index
        self._idle: deque[tuple[tuple[str, bytes], Session]] = deque()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, codec: str, kind: bytes) -> Iterator[Session]:
        """A session for streams of this ``Bitstream.format``. It is not used again after an error.

        Raises:
            DamagedError: the decoder cannot be opened.
        """
        session = self._take((codec, kind))
        try:
            yield session
        except (GeneratorExit, UncertainEndError):  # nobody wants the rest
            with suppress(DamagedError):
                session.finish()
                self._give((codec, kind), session)
            raise
        self._give((codec, kind), session)

    def _take(self, kind: tuple[str, bytes]) -> Session:
        with self._lock:
            for entry in self._idle:
                if entry[0] == kind:
                    self._idle.remove(entry)
                    return entry[1]
        try:
            return Session(self._library, self._index, kind[0])
        except Exception as problem:  # as in ``Session.decode``
            raise DamagedError(f"its decoder cannot be opened: {problem}") from problem

    def _give(self, kind: tuple[str, bytes], session: Session) -> None:
        with self._lock:
            self._idle.append((kind, session))
            while len(self._idle) > _IDLE:
                self._idle.popleft()

    def close(self) -> None:
        """Let go of all."""
        with self._lock:
            self._idle.clear()
