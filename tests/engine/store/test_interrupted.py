from __future__ import annotations

import os
from pathlib import Path

from framefleet.engine.store.files import Interrupted, find_interrupted
from framefleet.engine.store.session import SessionWriter
from tests.support.store import LABELS, make_frame, video_info, write_session


def test_only_runs_that_did_not_end_in_order_are_found(tmp_path: Path) -> None:
    write_session(tmp_path / "complete.sqlite", {"/v/a.mp4": 3})
    write_session(tmp_path / "cancelled.sqlite", {"/v/a.mp4": 3}, cancelled=True)
    (tmp_path / "other.sqlite").write_text("no session" * 1000)
    for number, name in enumerate(("older", "newer")):
        writer = SessionWriter(tmp_path / f"{name}.sqlite", LABELS, {})
        writer.add_queued([(0, "/v/a.mp4"), (1, "/v/b.mp4")])
        writer.add_source(0, "/v/a.mp4", video_info("/v/a.mp4", 3))
        writer.add_frames([make_frame(0, 0)])
        writer.close(complete=False)  # a crash leaves the same rows
        os.utime(writer.path, (number, number))
    running = SessionWriter(tmp_path / "running.sqlite", LABELS, {})
    running.add_queued([(0, "/v/a.mp4")])
    unfinished = {0: Path("/v/a.mp4"), 1: Path("/v/b.mp4")}
    assert find_interrupted(tmp_path) == [Interrupted(tmp_path / f"{name}.sqlite", 2, unfinished) for name in ("newer", "older")]
    running.close(complete=False)
    assert find_interrupted(tmp_path / "none") == []
