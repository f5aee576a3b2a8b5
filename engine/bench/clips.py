"""Makes the videos for measurements of a pool, in a separate process, which loads FFmpeg."""

import sys
from pathlib import Path

from framefleet.engine.errors import SourceError
from framefleet.engine.processes.program import run_program

MADE_FRAMES = 600


class Clips:
    """Videos of any length. source: the video to repeat, None = a generated 1080p H.264 clip. folder: keeps the files.

    name: a description of the source for a report.
    """

    def __init__(self, folder: Path, source: Path | None = None) -> None:
        # absolute: the other process has another working folder
        self._folder, self._source = folder, source and source.absolute()
        self.name = "a generated clip, 1920×1080 H.264 at 6 Mbit/s, a keyframe every 2 s" if source is None else source.name
        self._made: dict[int, Path] = {}

    def of(self, frames: int) -> Path:
        """The path of a video with at least this number of frames, which is made at the first call.

        Raises SourceError if the source cannot be repeated, or the file cannot be written.
        """
        if self._source is None:
            self._source = self._folder / "clip.mp4"
            _run(self._source, MADE_FRAMES)
        if frames not in self._made:
            path = self._folder / f"{frames}.mp4"
            _run(path, frames, self._source)
            self._made[frames] = path
        return self._made[frames]


def _run(target: Path, frames: int, *video: Path) -> None:
    values, problem = run_program((sys.executable, "-m", "framefleet.engine.bench.clip_process", *map(str, (target, frames, *video))))
    if problem is not None:
        raise SourceError(f"no video to measure with: {values[-1]['error'] if values else problem}")
