"""Runs short tasks in background threads: finding devices, checking a model, searching folders, exporting."""

import logging
import threading
import time
from collections.abc import Callable
from threading import Event
from typing import Any, NamedTuple, TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from shiboken6 import isValid

from framefleet.engine.notices import FramefleetError, Notice, unexpected

T = TypeVar("T")
_log = logging.getLogger(__name__)


class _Waiting(NamedTuple):
    """A function that runs in its thread, and who gets its result."""

    owner: QObject
    thread: threading.Thread
    done: Callable[[Any], None]
    failed: Callable[[Notice], None]
    stop: Event


class _Results(QObject):
    """Tells results from any thread. It has no parent, so that it lives as long as a thread needs it, longer than its receiver."""

    ended = Signal(int, object, object)


class Background(QObject):
    """Runs functions in background threads and delivers their results in this object's thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._number = 0
        self._waiting: dict[int, _Waiting] = {}
        self._results = _Results()
        self._results.ended.connect(self._deliver)

    @property
    def busy(self) -> bool:
        """Whether a function still runs, or its result is not delivered yet."""
        return bool(self._waiting)

    def start(
        self, owner: QObject, work: Callable[[], T], done: Callable[[T], None], failed: Callable[[Notice], None], stop: Event | None = None
    ) -> None:
        """Run a function in a thread of its own, and deliver its result in this object's thread.

        Parameters
        ----------
        owner : QObject
            What ``done`` and ``failed`` use. If Qt has deleted it, neither is called: a dialog can close before its work ends.
        work : callable
            Called in the thread, without arguments.
        done : callable
            Called with the value of ``work``.
        failed : callable
            Called with the Notice of a FramefleetError of ``work``. Other errors go to the handler of unexpected errors, too.
        stop : threading.Event, optional
            Set when the window closes, so that work of seconds can end early.
        """
        self._number += 1
        number, results = self._number, self._results

        def run() -> None:
            value: T | None = None
            error: Exception | None = None
            try:
                value = work()
            except Exception as caught:
                error = caught
            results.ended.emit(number, value, error)

        thread = threading.Thread(target=run, name=f"framefleet background {number}", daemon=True)
        self._waiting[number] = _Waiting(owner, thread, done, failed, stop or Event())
        thread.start()

    @Slot(int, object, object)
    def _deliver(self, number: int, value: Any, error: Exception | None) -> None:
        if number not in self._waiting:
            return  # stopped before the result arrived
        ended = self._waiting.pop(number)
        ended.thread.join()
        wanted = isValid(ended.owner)
        if error is None:
            if wanted:
                ended.done(value)
            return
        if isinstance(error, FramefleetError):
            if wanted:
                ended.failed(error.notice)
            else:
                _log.warning("failed after its dialog had closed: %s", error)
            return
        if wanted:
            ended.failed(unexpected(error))
        raise error  # a bug: the handler of unexpected errors shows and logs it

    def stop(self, seconds: float = 2.0) -> None:
        """Deliver no further results, and wait for the threads for at most this time."""
        deadline = time.monotonic() + seconds
        waiting, self._waiting = self._waiting, {}
        self._results.ended.disconnect(self._deliver)
        for each in waiting.values():
            each.stop.set()
        for each in waiting.values():
            each.thread.join(max(0.0, deadline - time.monotonic()))
            if each.thread.is_alive():
                _log.warning("%s has not ended; it ends with the program", each.thread.name)
