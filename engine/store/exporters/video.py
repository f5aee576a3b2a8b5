"""An MP4 of the source with its detections drawn into it. Another process decodes and encodes, so this one loads no media library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from engine.errors import ExportError
from engine.media.types import SourceKind
from engine.store.exporters.base import Exporter, Progress, complete_file
from engine.store.schema import explained
from engine.store.session import SessionReader, StoredSource

_PROGRAM = (sys.executable, "-P", "-m", "engine.store.exporters.video_process")


def write(reader: SessionReader, source: StoredSource, path: Path, progress: Progress) -> None:
    """Write the annotated video. If the process that writes it dies, the frames written so far stay in ``part_of(path)``, playable.

    Raises:
        ExportError: the source is not a video or is the target, the file cannot be written, or the process died.
    """
    video = source.file
    if source.kind != SourceKind.VIDEO:
        raise ExportError(f"{video} is no video: an annotated video can be made of videos only; choose another format")
    if path.exists() and video.exists() and path.samefile(video):
        raise ExportError(f"{path} is the video itself: choose another name for its annotated copy")
    with explained(path, "write"), complete_file(path, keep_part=True) as part:
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


def _run(job: str, part: Path, progress: Progress) -> None:
    exit_message = "it said nothing"
    # a session of its own: Ctrl-C reaches only this process, which then ends the other one
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


# the suffix differs from the source's, which may lie in the same folder
EXPORTER = Exporter("annotated video", ".annotated.mp4", write, frozenset((SourceKind.VIDEO,)), slow=True)
