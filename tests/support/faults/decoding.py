"""Decodes files in another process, which may crash or hang: ``python -m tests.support.faults.decoding`` reads paths and prints results."""

from __future__ import annotations

import json
import resource
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from framefleet.engine.types import Closing
from tests.support.paths import PROJECT

EXPECTED = 150
"""Number of frames below which hidden packets are counted."""
HANG_SECONDS = 90.0
"""More than the 30 s that a file may take, because the machine may have other work. The process measures its own time."""


@dataclass(frozen=True)
class Result:
    """What became of one file.

    error: why it was refused, "" if it was not. frames, failed: numbers of frames. announced: by ``probe``. numbers: read in the
    pictures. hidden: the number of packets that say that they show no frame; known if frames are missing. seconds: of processor time.
    peak: most memory of the process so far, MiB.
    """

    error: str
    frames: int = 0
    failed: int = 0
    announced: int = 0
    hidden: int = 0
    numbers: tuple[int, ...] = ()
    seconds: float = 0.0
    peak: int = 0


class Decoding(Closing):
    """The process. It is started again after a crash."""

    def __init__(self) -> None:
        self._start()

    def decode(self, path: Path) -> Result:
        """Decode all frames of a file.

        Raises
        ------
        AssertionError
            The process crashed or hangs.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(str(path)), file=self._process.stdin, flush=True)
        ready, _, _ = select.select([self._process.stdout], [], [], HANG_SECONDS)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            status = self._process.poll()
            self.close()
            self._start()
            raise AssertionError(f"{path}: {'hangs' if not ready else f'the process ended with {status}'}")
        values = json.loads(line)
        return Result(**values | {"numbers": tuple(values["numbers"])})

    def close(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.communicate()

    def _start(self) -> None:
        command = [sys.executable, "-m", "tests.support.faults.decoding"]
        self._process = subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self


def _decode(path: Path) -> Result:
    from framefleet.engine.media.container.video_file import VideoFile
    from framefleet.engine.media.cpu_decoding import decode
    from framefleet.engine.media.probe import probe
    from framefleet.engine.media.types import DecodedFrame, SourceKind
    from framefleet.engine.notices import SourceError
    from tests.support.media import number_of

    began = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    numbers: list[int] = []
    failed = announced = hidden = 0
    error = ""
    try:
        info = probe(path)
        announced = info.frames
        for segment in info.segments:
            for outcome in decode(info, segment, threads=2):
                if isinstance(outcome, DecodedFrame):
                    numbers.append(number_of(outcome.image))
                else:
                    failed += outcome.count
        if len(numbers) < EXPECTED and info.kind is SourceKind.VIDEO:
            with VideoFile(path) as file:
                hidden = sum(not file.shows(packet) for packet in file.packets())
    except SourceError as problem:
        error = str(problem)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return Result(error, len(numbers), failed, announced, hidden, tuple(numbers), sum(usage[:2]) - began, _peak() >> 10)


def _peak() -> int:
    """The most memory of this process so far, KiB. ``ru_maxrss`` would include the memory of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def main() -> None:
    """Decode the files whose paths come as JSON strings, one a line."""
    for line in sys.stdin:
        print(json.dumps(vars(_decode(Path(json.loads(line))))), flush=True)


if __name__ == "__main__":
    main()
