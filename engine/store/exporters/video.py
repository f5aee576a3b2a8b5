"""An MP4 of the source with the detections drawn into it. A process of its own makes it: this one loads no media library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from engine.errors import ExportError
from engine.media.types import SourceKind
from engine.store.session import SessionReader, StoredSource

_PROGRAM = (sys.executable, "-P", "-m", "engine.store.exporters.video_process")


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
    job = {
        "database": str(reader.path),
        "source": source.number,
        "video": str(video),
        "target": str(part),
        "confidence": reader.confidence,
        "classes": None if reader.classes is None else sorted(reader.classes),
    }
    try:
        _run(json.dumps(job), part, progress)
    finally:
        part.with_name(f"{part.name}.plain").unlink(missing_ok=True)


def _run(job: str, part: Path, progress: Callable[[int], None]) -> None:
    exit_message = "it said nothing"
    # a session of its own: Ctrl-C is for this process, which ends that one
    with subprocess.Popen(
        _PROGRAM,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(job + "\n")
            process.stdin.close()
            for line in process.stdout:
                match _message(line):
                    case {"frames": int(frames)} | {"written": int(frames)}:
                        progress(frames)
                    case {"error": str(problem)}:
                        raise ExportError(problem)
                    case _:
                        exit_message = line.strip() or exit_message
            status = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            part.unlink(missing_ok=True)
            raise
    if status:
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}: {exit_message}"
        kept = f"; what it had written is in {part}" if part.exists() else ""
        raise ExportError(f"the process that writes annotated videos {how}{kept}")


def _message(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None
