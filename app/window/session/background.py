"""Runs short tasks in background threads: finding devices, checking a model, searching folders, exporting."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal, Slot

from app.window.widgets.engine_text import of_engine
from engine.errors import FramefleetError

T = TypeVar("T")
_log = logging.getLogger(__name__)


class Background(QObject):
    """Runs functions in background threads and delivers their results in this object's thread."""

    _ended = Signal(int, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._number = 0
        self._waiting: dict[int, tuple[threading.Thread, Callable[[Any], None], Callable[[str], None], Event]] = {}
        self._ended.connect(self._deliver)

    @property
    def busy(self) -> bool:
        """Whether a function still runs, or its result is not delivered yet."""
        return bool(self._waiting)

    def start(self, work: Callable[[], T], done: Callable[[T], None], failed: Callable[[str], None], stop: Event | None = None) -> None:
        """Run ``work``, then call ``done`` with its value, or ``failed`` with the message of its FramefleetError.

        stop: is set when the window closes, so that work of seconds can end early.
        """
        self._number += 1
        number = self._number

        def run() -> None:
            value: T | None = None
            error: Exception | None = None
            try:
                value = work()
            except Exception as caught:
                error = caught
            with suppress(RuntimeError):  # the window is gone
                self._ended.emit(number, value, error)

        thread = threading.Thread(target=run, name=f"framefleet background {number}", daemon=True)
        self._waiting[number] = thread, done, failed, stop or Event()
        thread.start()

    @Slot(int, object, object)
    def _deliver(self, number: int, value: Any, error: Exception | None) -> None:
        if number not in self._waiting:
            return  # stopped before the result arrived
        thread, done, failed, _ = self._waiting.pop(number)
        thread.join()
        if error is None:
            done(value)
        elif isinstance(error, FramefleetError):
            failed(of_engine(str(error)))
        else:
            failed(f"{type(error).__name__}: {error}")
            raise error  # a bug: the handler of unexpected errors shows and logs it

    def stop(self, seconds: float = 2.0) -> None:
        """Deliver no further results, and wait for the threads for at most this time."""
        deadline = time.monotonic() + seconds
        waiting, self._waiting = self._waiting, {}
        self._ended.disconnect(self._deliver)
        for _, _, _, stop in waiting.values():
            stop.set()
        for thread, *_ in waiting.values():
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                _log.warning("%s has not ended; it ends with the program", thread.name)
