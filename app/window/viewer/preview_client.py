"""The window's end of the preview process: one thread that asks for pictures and pairs each with its detections.

Nothing here waits in the window's thread. A picture and the detections of exactly that frame arrive together, so the boxes
on the screen always belong to the picture under them.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import wait

from PySide6.QtCore import QObject

from app.window.viewer.preview_conversation import Look, PreviewSignals, PreviewTalk, Shown
from engine.media.preview.process import Fetch

__all__ = ["Look", "PreviewClient", "Shown"]


class PreviewClient(PreviewSignals):
    """Asks the preview process for pictures; at most two requests are under way, and a jump replaces those not yet sent."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._commands: deque[Callable[[PreviewTalk], None]] = deque()
        self._alarm_out, self._alarm_in = multiprocessing.Pipe(duplex=False)
        self._waking = threading.Lock()
        self._awake = False
        self._talk = PreviewTalk(self)
        self._thread = threading.Thread(target=self._run, name="framefleet preview")
        self._thread.start()

    def jump(self, fetch: Fetch, look: Look) -> None:
        """Go elsewhere: replaces everything asked for before. Tickets only grow; answers to older ones are dropped."""
        self._send(lambda talk: talk.jump(fetch, look))

    def more(self, fetch: Fetch) -> None:
        """Ask for the picture after those under way."""
        self._send(lambda talk: talk.more(fetch))

    def look(self, look: Look) -> None:
        """Look detections up elsewhere, or stop or start holding pictures, from now on."""
        self._send(lambda talk: talk.set_look(look))

    def look_up(self, ticket: int, pts: float) -> None:
        """Look the detections of one frame up again; ``found`` follows if there are some."""
        self._send(lambda talk: talk.look_up(ticket, pts))

    def fetch_still(self, path: str, size: tuple[int, int]) -> None:
        """Get a small picture of a source, when nothing else is under way; ``still`` follows."""
        self._send(lambda talk: talk.stills.append(Fetch(0, path, size, still=True)))

    def stop(self) -> None:
        """End the thread and the process; waits for both, about as long as one picture takes to decode."""
        if self._thread.is_alive():
            self._send(lambda talk: talk.close())
            self._thread.join()
        self._alarm_in.close()
        self._alarm_out.close()

    @property
    def process_id(self) -> int | None:
        """Of the preview process, once it was needed."""
        return self._talk.process_id

    def _send(self, command: Callable[[PreviewTalk], None]) -> None:
        self._commands.append(command)
        with self._waking:
            if not self._awake:
                self._awake = True
                self._alarm_in.send_bytes(b"!")

    def _run(self) -> None:
        talk = self._talk
        try:
            while not talk.closed:
                talk.pump()
                ready = wait([self._alarm_out, *talk.awaited], talk.patience)
                if self._alarm_out in ready:
                    with self._waking:
                        self._alarm_out.recv_bytes()
                        self._awake = False
                while self._commands and not talk.closed:
                    self._commands.popleft()(talk)
                if not talk.closed and any(thing in ready for thing in talk.awaited):
                    talk.receive()
                elif not talk.closed:
                    talk.look_after_process()
        finally:
            talk.close()
