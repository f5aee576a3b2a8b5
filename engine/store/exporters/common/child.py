"""Runs the part of an export that decodes in a child process, so that the exporting process loads no media library."""

import time
from collections.abc import Callable
from importlib import import_module

from framefleet.engine.errors import ExportError, FramefleetError
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.processes.outcome import Failed
from framefleet.engine.processes.watchdog import Clock, start_clock
from framefleet.engine.store.exporters.common.base import Progress

REPORT_SECONDS = 0.2

STALL_SECONDS = 60.0
"""The time limit for one frame. A frame takes longer only if the decoder or the disk hangs."""


def run_child(name: str, words: str, module: str, job: object, progress: Progress) -> str | None:
    """Call ``main(connection, job)`` of a module in a child process. If ``progress`` raises, the process is killed.

    name: of the process. words: for messages, "the process that …". progress: called with each number that the process sends. Returns how
    the process crashed, None if it has done its job.

    Raises ExportError if the process ended with a message about what failed.
    """
    process = ChildProcess(name, _run, module, job, words=words, quiet=True)
    try:
        for written in process.messages():
            progress(written)
        outcome = process.end()
        if not outcome.crashed and not outcome.retry:
            raise ExportError(outcome.reason)
    except BaseException:
        process.kill()
        process.end()
        raise
    if outcome.crashed:
        return outcome.reason if outcome.exit_code else None
    return f"{words} ended: {outcome.reason}"


def _run(connection: AnyConnection, module: str, job: object) -> None:
    import_module(module).main(connection, job)  # only the child loads media libraries


def serve(connection: AnyConnection, opening: str, writing: str, work: Callable[[Callable[[int], None], Clock], int]) -> None:
    """Do the work of the child process. Sends the number of frames, regularly and at the end, or ``Failed``.

    work: takes a function that it calls with the number of finished frames, and the watchdog's clock; returns the number of frames.
    opening, writing: descriptions of what may hang.
    """
    clock = start_clock(connection, STALL_SECONDS)
    due = 0.0

    def report(frames: int) -> None:
        nonlocal due
        clock.stop()
        if time.monotonic() >= due:
            due = time.monotonic() + REPORT_SECONDS
            connection.send(frames)
        clock.start(writing, STALL_SECONDS)

    clock.start(opening, STALL_SECONDS)
    try:
        connection.send(work(report, clock))
    except FramefleetError as error:
        clock.stop()
        connection.send(Failed(str(error), retry=False))
