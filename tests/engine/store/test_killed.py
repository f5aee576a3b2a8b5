from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from framefleet.app.main import main
from framefleet.engine.store import schema
from framefleet.engine.store.session import SessionReader
from tests.support.store import same_frame, write_session


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A session as a process leaves it that is killed while it changes boxes: some are changed in the file, and the journal is there."""
    changing = write_session(tmp_path / "changing" / "session.sqlite", {"/v/a.mp4": 3000})
    (tmp_path / "killed").mkdir()
    with closing(schema.open_existing(changing, "rw")) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("UPDATE frames SET boxes = zeroblob(length(boxes))")
        for name in ("session.sqlite", "session.sqlite-journal"):
            shutil.copy(tmp_path / "changing" / name, tmp_path / "killed" / name)
    return tmp_path / "killed" / "session.sqlite"


def test_a_change_during_which_its_process_was_killed_is_undone(killed: Path, tmp_path: Path) -> None:
    whole = write_session(tmp_path / "whole.sqlite", {"/v/a.mp4": 3000})
    with SessionReader(killed) as reader, SessionReader(whole) as expected:
        assert all(same_frame(*frames) for frames in zip(reader.frames(0), expected.frames(0), strict=True))
    assert [path.name for path in killed.parent.iterdir()] == ["session.sqlite"]


def test_commands_use_such_a_session(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["correct", str(killed), "delete", "--frame", "3", "--object", "1"]) == 0
    assert main(["correct", str(killed), "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
