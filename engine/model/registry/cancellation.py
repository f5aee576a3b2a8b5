"""Cancels a download from another thread immediately, even while it waits for the server."""

import socket
import threading
from contextlib import suppress
from weakref import WeakSet

from framefleet.engine.errors import DownloadCancelledError
from framefleet.engine.notices import Notice


class Cancellation:
    """Cancels one download. ``cancel`` is thread-safe and may be called repeatedly. The downloading thread calls the other methods."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._lock = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()

    @property
    def asked(self) -> bool:
        """Whether ``cancel`` was called."""
        return self._asked.is_set()

    def cancel(self) -> None:
        """Cancel the download. Closes its connections, so that no thread waits for the network any longer."""
        with self._lock:
            self._asked.set()
            for connection in self._sockets:
                _close(connection)

    def watch(self, connection: socket.socket) -> None:
        """Close this connection when ``cancel`` is called, or now if it was called before."""
        with self._lock:
            self._sockets.add(connection)
            if self._asked.is_set():
                _close(connection)

    def check(self) -> None:
        """Raise an exception if the download is cancelled. Raises DownloadCancelledError if ``cancel`` was called."""
        if self._asked.is_set():
            raise DownloadCancelledError(Notice("model.download_cancelled"))

    def pause(self, seconds: float) -> None:
        """Wait for this time, or until ``cancel`` is called. Then raises like ``check``."""
        self._asked.wait(seconds)
        self.check()


def _close(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)
