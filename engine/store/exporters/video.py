"""An MP4 of the source with the detections drawn into it. A process of its own makes it: this one loads no media library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.errors import ExportError
from engine.media.types import SourceKind
from engine.processes.child import ChildProcess
from engine.store.session import SessionReader, StoredSource


@dataclass(frozen=True)
class Job:
    """What to draw, and where to write it: the source's number in the session, its file, and which detections to show."""

    database: str
    source: int
    video: str
    target: str
    confidence: float
    classes: frozenset[int] | None


def write(reader: SessionReader, source: StoredSource, part: Path, path: Path, progress: Callable[[int], None]) -> None:
    """Write the video to ``part``, which is to become ``path``. progress: gets the number of frames written so far.

    Given up (by an exception from ``progress``, say Ctrl-C), nothing stays. If the process itself dies, what it has
    written stays in ``part`` and can be played.

    Raises:
        ExportError: the source is no video or the target itself, the file cannot be written, or the process died.
        OSError: the process cannot be started.
    """
    video = source.file
    if source.kind != SourceKind.VIDEO:
        raise ExportError(f"{video} is no video: an annotated video can be made of videos only; choose another format")
    if path.exists() and video.exists() and path.samefile(video):
        raise ExportError(f"{path} is the video itself: choose another name for its annotated copy")
    job = Job(str(reader.path), source.number, str(video), str(part), reader.confidence, reader.classes)
    try:
        _run(job, part, progress)
    finally:
        part.with_name(f"{part.name}.plain").unlink(missing_ok=True)


def _run(job: Job, part: Path, progress: Callable[[int], None]) -> None:
    process = ChildProcess("annotated video", _main, job, words="the process that writes annotated videos", quiet=True)
    try:
        for written in process.messages():
            progress(written)
        outcome = process.end()
        if not outcome.crashed and not outcome.retry:
            raise ExportError(outcome.reason)
    except BaseException:
        process.kill()
        process.end()
        part.unlink(missing_ok=True)
        raise
    if outcome.exit_code != 0 or not outcome.crashed:
        how = outcome.reason if outcome.crashed else f"{process.words} ended: {outcome.reason}"
        kept = f"; what it had written is in {part}" if part.exists() else ""
        raise ExportError(f"{how}{kept}")


def _main(connection: Connection[Any, Any], job: Job) -> None:
    from engine.store.exporters.video_process import main

    main(connection, job)
