"""Runs on a cluster of a test, and what they have to give."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from framefleet.app.cli.sessions import DATABASE
from framefleet.engine.pool.events import Event, FramesDone
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.types import DeviceId
from tests.support.clusters.ray import facts
from tests.support.pool import Seen, slow_main, with_worker

FRAMES = 230
SLOW_MAIN = partial(slow_main, seconds=0.02)
"""Makes a run long enough for what happens in it."""

SLOW = with_worker(SLOW_MAIN)
FORMATS = "jsonl,csv,coco,mot"


def check(seen: Seen, local: list[tuple[Any, ...]]) -> None:
    """The run is complete, each frame came once, and all equals the local run."""
    assert [seen.finished[source].error for source in (0, 1)] == [None, None]
    assert [seen.finished[source].ledger.inferred for source in (0, 1)] == [FRAMES, FRAMES]
    assert facts(seen.frames[0] + seen.frames[1]) == local


class Once:
    """Does something when the first frames are there. device: whose frames, None = any."""

    def __init__(self, do: Callable[[], object], device: DeviceId | None = None) -> None:
        self._do, self._device, self.done = do, device, False

    def __call__(self, _: EnginePool, event: Event, __: Seen) -> None:
        if self.done or not isinstance(event, FramesDone):
            return
        if self._device is None or any(frame.device == self._device for frame in event.frames):
            self.done = True
            self._do()


def exported(folder: Path) -> dict[str, bytes]:
    """The exports in a folder by name, without the session and the names of nodes."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != DATABASE]
    changing = re.compile(rb"(alpha|beta|gamma)/(?=cpu:0)")
    return {str(path.relative_to(folder)): changing.sub(b"", path.read_bytes()) for path in paths}
