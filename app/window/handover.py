"""Hands the files of a second start to the window that is open already: over a local socket, one for each user and folder of sessions."""

import getpass
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from platformdirs import user_data_path
from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

CONNECT_MS, ANSWER_MS = 500, 5000
"""Time to reach an open window, and until it has taken the files."""
_TAKEN = b"taken\n"


def address_of(sessions: Path) -> str | None:
    """The name of the socket of the window that keeps its sessions in this folder; None if there is no folder that only the user writes."""
    number = hashlib.sha256(os.fsencode(sessions.absolute())).hexdigest()[:16]
    if sys.platform == "win32":
        return f"framefleet-{getpass.getuser()}-{number}"
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or user_data_path("framefleet", appauthor=False))
    return str(folder / f"framefleet-{number}") if folder.is_dir() and folder.stat().st_uid == os.getuid() else None


def hand_over(paths: Sequence[Path], sessions: Path) -> bool:
    """Let the open window open these files; return False if there is none, or if it does not answer."""
    address, socket = address_of(sessions), QLocalSocket()
    if address is None:
        return False
    socket.connectToServer(address)
    if not socket.waitForConnected(CONNECT_MS):
        return False
    socket.write(json.dumps([os.fspath(path.absolute()) for path in paths]).encode("utf-8", "surrogateescape") + b"\n")
    return socket.waitForReadyRead(ANSWER_MS) and socket.readAll().data() == _TAKEN


class Listener(QObject):
    """Takes the files of further starts, unless another window does. opened: list of Path."""

    opened = Signal(object)

    def __init__(self, sessions: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        with suppress(OSError):
            user_data_path("framefleet", appauthor=False).mkdir(parents=True, exist_ok=True)  # a first start has none
        address = address_of(sessions)
        if address is None or self._server.listen(address):
            return
        other = QLocalSocket()
        other.connectToServer(address)
        if not other.waitForConnected(CONNECT_MS):  # a killed window has left it
            QLocalServer.removeServer(address)
            self._server.listen(address)

    def stop(self) -> None:
        """Take no more files."""
        self._server.close()

    def _connected(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(socket.deleteLater)

    def _read(self) -> None:
        socket = self.sender()
        if not isinstance(socket, QLocalSocket) or not socket.canReadLine():
            return
        try:
            paths = [Path(path) for path in json.loads(bytes(socket.readLine().data()).decode("utf-8", "surrogateescape"))]
        except (ValueError, TypeError):
            socket.abort()
            return
        socket.write(_TAKEN)
        socket.flush()
        self.opened.emit(paths)
