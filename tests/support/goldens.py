"""Compares outputs of the program with goldens, the recorded outputs of an earlier version."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from difflib import unified_diff
from pathlib import Path
from typing import Any

from framefleet.engine.pool.events import Event
from framefleet.resources import DEMO
from tests.support.events import describe_events
from tests.support.paths import PROJECT, PYTHONPATH

FOLDER = PROJECT / "tests" / "goldens"
CLIP = FOLDER / "street.mp4"
MODEL = ("--model", str(DEMO.cfg), "--weights", str(DEMO.weights), "--labels", str(DEMO.labels), "--precision", "fp32")

CONFIDENCE = 0.25
"""The default of ``--confidence``."""
CONFIDENCE_TOLERANCE = 2e-3
BOX_TOLERANCE = 0.05
"""Pixels."""
MARGIN = 0.01
"""Detections with less than CONFIDENCE + MARGIN may be missing on another processor."""

Line = dict[str, Any]


def write_stored(target: Path) -> None:
    """Write the recorded session of CLIP."""
    target.write_bytes(gzip.decompress((FOLDER / "stored.sqlite.gz").read_bytes()))


class Goldens:
    """The recorded files. recording: the first ``expect`` of each file replaces it; later calls return the new one."""

    def __init__(self, recording: bool) -> None:
        self._recording = recording
        self._recorded: set[str] = set()

    def expect(self, name: str, actual: bytes | Callable[[], bytes]) -> bytes:
        """The content of the golden with this name, that of a .gz unpacked.

        actual: the output of the current program, or what makes it, which is called only to record it.
        """
        path = FOLDER / name
        packed = path.suffix == ".gz"
        if self._recording and name not in self._recorded:
            self._recorded.add(name)
            content = actual if isinstance(actual, bytes) else actual()
            path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
        return gzip.decompress(path.read_bytes()) if packed else path.read_bytes()

    def compare_text(self, name: str, actual: str) -> None:
        """Compare line by line. Fails with the lines that differ."""
        golden = self.expect(name, actual.encode()).decode()
        difference = list(unified_diff(golden.splitlines(), actual.splitlines(), name, "now", lineterm=""))
        assert not difference, "\n".join(difference)

    def compare_events(self, name: str, events: Iterable[Event]) -> None:
        """Compare the events of a run with ``events.NAME.txt``."""
        self.compare_text(f"events.{name}.txt", "\n".join(describe_events(events)) + "\n")


def framefleet(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run ``framefleet ARGUMENTS`` in a separate process, with ``folder`` as its working folder."""
    return subprocess.run(
        [sys.executable, "-m", "framefleet.app", *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        check=False,
    )


def read_lines(content: bytes) -> list[Line]:
    """The objects of JSON Lines."""
    return [json.loads(line) for line in content.decode().splitlines()]


def compare_frames(actual: list[Line], golden: list[Line], devices: set[str]) -> None:
    """Compare JSON Lines of one source: confidences and boxes with a tolerance, everything else exactly.

    devices: the possible values of ``device``, which depends on timing.
    """
    assert len(actual) == len(golden), f"{len(actual)} frames, {len(golden)} in the golden"
    for ours, theirs in zip(actual, golden, strict=True):
        frame = f"frame {theirs['frame']}"
        assert list(ours) == list(theirs), f"{frame}: the keys are {list(ours)}, in the golden {list(theirs)}"
        assert ours["device"] in devices, f"{frame}: on {ours['device']}"
        for key in set(ours) - {"device", "detections"}:
            assert ours[key] == theirs[key], f"{frame}: {key} is {ours[key]}, in the golden {theirs[key]}"
        _compare_detections(ours["detections"], theirs["detections"], frame)


def _compare_detections(actual: list[Line], golden: list[Line], frame: str) -> None:
    confidences = [detection["confidence"] for detection in actual]
    assert confidences == sorted(confidences, reverse=True), f"{frame}: the strongest detection comes first"
    assert all(confidence >= CONFIDENCE for confidence in confidences), frame
    left = list(golden)
    for detection in actual:
        match = next((other for other in left if _same(detection, other)), None)
        if match is not None:
            left.remove(match)
        assert match is not None or _weak(detection), f"{frame}: not in the golden: {detection}"
    missing = [detection for detection in left if not _weak(detection)]
    assert not missing, f"{frame}: missing: {missing}"


def _weak(detection: Line) -> bool:
    return bool(detection["confidence"] < CONFIDENCE + MARGIN)


def _same(one: Line, other: Line) -> bool:
    return (
        list(one) == list(other)
        and all(one[key] == other[key] for key in set(one) - {"confidence", "box"})
        and abs(one["confidence"] - other["confidence"]) <= CONFIDENCE_TOLERANCE
        and all(abs(a - b) <= BOX_TOLERANCE for a, b in zip(one["box"], other["box"], strict=True))
    )
