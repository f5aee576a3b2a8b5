"""The window's side of the preview: a thread requests pictures from the preview process and pairs each with its detections.

Nothing here blocks the window's thread, except ``stop``. A picture and the detections of the same frame arrive together, so the
boxes on the screen always belong to the picture.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import wait

from PySide6.QtCore import QObject

from app.window.results.lookup import Lookup
from app.window.viewer.preview_conversation import PreviewConversation, PreviewSignals
from engine.media.preview.process import Fetch


class PreviewClient(PreviewSignals):
    """Requests pictures from the preview process. At most two requests are under way; a jump replaces those not yet sent."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands: deque[Callable[[PreviewConversation], None]] = deque()
        self._wake_receiver, self._wake_sender = multiprocessing.Pipe(duplex=False)
        self._wake_lock = threading.Lock()
        self._awake = False
        self._conversation = PreviewConversation(self)
        self._thread = threading.Thread(target=self._run, name="framefleet preview")
        self._thread.start()

    def jump(self, fetch: Fetch, lookup: Lookup) -> None:
        """Request a picture in place of all earlier requests. Tickets increase; answers with an older ticket are ignored."""
        self._send(lambda conversation: conversation.jump(fetch, lookup))

    def more(self, fetch: Fetch) -> None:
        """Request the picture after those already requested."""
        self._send(lambda conversation: conversation.more(fetch))

    def set_lookup(self, lookup: Lookup) -> None:
        """Change where detections are looked up, and whether pictures wait for theirs."""
        self._send(lambda conversation: conversation.detections.set(lookup))

    def reread(self) -> None:
        """Look up corrected detections from now on."""
        self._send(lambda conversation: conversation.detections.close())

    def look_up(self, ticket: int, pts: float) -> None:
        """Look up the detections of one frame again; ``found`` follows if there are any."""
        self._send(lambda conversation: conversation.look_up(ticket, pts))

    def fetch_still(self, path: str, size: tuple[int, int]) -> None:
        """Request a small picture of a source, sent when nothing else is under way; ``still`` follows."""
        self._send(lambda conversation: conversation.stills.append(Fetch(0, path, size, still=True)))

    def glimpse(self, path: str, pts: float, size: tuple[int, int]) -> None:
        """Request a small picture near a time in place of the last such request; ``glimpsed`` follows."""
        self._send(lambda conversation: conversation.glimpse(Fetch(0, path, size, at=pts, still=True)))

    def stop(self) -> None:
        """End the thread and the process, and wait for both. This takes about as long as decoding one picture."""
        if self._thread.is_alive():
            self._send(lambda conversation: conversation.close())
            self._thread.join()
        self._wake_sender.close()
        self._wake_receiver.close()

    @property
    def process_id(self) -> int | None:
        """The id of the preview process, None if it does not run."""
        return self._conversation.process_id

    def _send(self, command: Callable[[PreviewConversation], None]) -> None:
        self._commands.append(command)
        with self._wake_lock:
            if not self._awake:
                self._awake = True
                self._wake_sender.send_bytes(b"!")

    def _run(self) -> None:
        conversation = self._conversation
        try:
            while not conversation.closed:
                conversation.pump()
                ready = wait([self._wake_receiver, *conversation.connections], conversation.timeout)
                if self._wake_receiver in ready:
                    with self._wake_lock:
                        self._wake_receiver.recv_bytes()
                        self._awake = False
                while self._commands and not conversation.closed:
                    self._commands.popleft()(conversation)
                if not conversation.closed and any(connection in ready for connection in conversation.connections):
                    conversation.receive()
        finally:
            conversation.close()
