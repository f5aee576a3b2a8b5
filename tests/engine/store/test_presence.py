from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from framefleet.engine.notices import ExportError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.store import LABELS, make_frame, video_info

COMMITTED, ADDED = 40, 50


def _writer(path: Path) -> SessionWriter:
    """A writer with COMMITTED frames."""
    writer = SessionWriter(path, LABELS, {"model": "tiny"})
    writer.add_source(0, "a.mp4", video_info("a.mp4", ADDED))
    writer.add_frames(make_frame(0, index) for index in range(COMMITTED))
    writer.commit()
    return writer


def _add_and_wait(writer: SessionWriter) -> None:
    """Add frames up to ADDED, then wait for the next check as a session does while no results come."""
    writer.add_frames(make_frame(0, index) for index in range(COMMITTED, ADDED))
    while True:
        writer.commit_due()


def _check_saved(path: Path) -> None:
    with SessionReader(path) as reader:
        assert reader.labels == LABELS
        assert [frame.ref.index for frame in reader.frames(0)] == list(range(ADDED))


def test_a_removed_session_is_noticed_and_saved_with_all_its_frames(tmp_path: Path) -> None:
    path = tmp_path / "out" / "session.sqlite"
    with _writer(path) as writer:
        shutil.rmtree(path.parent)
        with pytest.raises(ExportError, match=r"session.sqlite was removed or moved while the run wrote it"):
            _add_and_wait(writer)
    _check_saved(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["session.sqlite"]


def test_a_session_that_is_moved_just_before_its_end_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "session.sqlite"
    writer = _writer(path)
    writer.add_frames(make_frame(0, index) for index in range(COMMITTED, ADDED))
    path.rename(tmp_path / "moved.sqlite")
    with pytest.raises(ExportError, match=r"its results so far are in .*session.sqlite"):
        writer.close(complete=True)
    _check_saved(path)


def test_a_file_that_has_taken_the_place_stays(tmp_path: Path) -> None:
    path = tmp_path / "session.sqlite"
    with _writer(path) as writer:
        path.unlink()
        path.write_text("mine")
        with pytest.raises(ExportError, match=r"its results so far are in .*session.saved.sqlite"):
            _add_and_wait(writer)
    assert path.read_text() == "mine"
    _check_saved(tmp_path / "session.saved.sqlite")


def test_results_that_cannot_be_saved_are_said_to_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "out" / "session.sqlite"
    with _writer(path) as writer:
        shutil.rmtree(path.parent)
        path.parent.write_text("a file in the way")
        with pytest.raises(ExportError, match=r"its results are lost: cannot write .*out/session.sqlite: "):
            _add_and_wait(writer)


def test_a_reader_says_that_another_run_has_replaced_its_session(tmp_path: Path) -> None:
    path = tmp_path / "session.sqlite"
    with _writer(path) as writer:
        writer.finish_source(0, "a.mp4", Ledger(COMMITTED, COMMITTED), 1.0)
    with SessionReader(path) as reader:
        assert reader.count(0) == COMMITTED
        with SessionWriter(path, LABELS, {"model": "another one"}) as writer:
            writer.add_queued([(0, "b.mp4")])
            writer.commit()
            with pytest.raises(ExportError, match="another run has replaced it"):
                reader.count(0)
            with pytest.raises(ExportError, match="another run has replaced it"):
                next(reader.blocks(0))
