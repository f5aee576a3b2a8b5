"""A worker gets the run's first source for trials of precisions, but not after a crash, which the file may have caused."""

from __future__ import annotations

import os
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from engine.pool.protocol import Setup
from engine.pool.worker import worker
from tests.support.media import make_video
from tests.support.pool import run_pool, with_worker


def noting_main(connection: Connection[Any, Any], setup: Setup, *, path: Path) -> None:
    """A worker that notes its example, and crashes at its first start."""
    with path.open("a") as file:
        file.write(f"{setup.example}\n")
    if path.read_text().count("\n") == 1:
        os._exit(3)
    worker.main(connection, setup)


def test_the_first_source_is_the_example(tmp_path: Path) -> None:
    videos = [make_video(tmp_path / name, 12, (96, 64)) for name in ("a.mp4", "b.mp4")]
    notes = tmp_path / "notes.txt"
    seen = run_pool(videos, pool_type=with_worker(partial(noting_main, path=notes)))
    assert notes.read_text().splitlines() == [str(videos[0]), "None"]
    assert sum(map(len, seen.frames.values())) == 24
