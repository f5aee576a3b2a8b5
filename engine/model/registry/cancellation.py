"""Ending a download from another thread at once, also while the server says nothing."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from weakref import WeakSet

from engine.errors import DownloadCancelledError


class Cancellation:
    """``cancel`` may be called from any thread, any number of times; the rest belongs to whoever downloads."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()

    @property
    def asked(self) -> bool:
        """Whether somebody has cancelled."""
        return self._asked.is_set()

    def cancel(self) -> None:
        """Give the download up: whoever waits for the network stops waiting."""
        with self._lock:
            self._asked.set()
            for connection in self._sockets:
                _break_off(connection)

    def watch(self, connection: socket.socket) -> None:
        """A connection that a download depends on."""
        with self._lock:
            self._sockets.add(connection)
            if self._asked.is_set():
                _break_off(connection)

    def check(self) -> None:
        """Go on only if nobody has cancelled.

        Raises:
            DownloadCancelledError: somebody has.
        """
        if self._asked.is_set():
            raise DownloadCancelledError("the download was cancelled")

    def pause(self, seconds: float) -> None:
        """Wait, unless cancelled; the same error."""
        self._asked.wait(seconds)
        self.check()


def _break_off(connection: socket.socket) -> None:
    with suppress(OSError):  # it has ended by itself
        connection.shutdown(socket.SHUT_RDWR)
