"""No run destroys results that nothing else holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.files import previous_sessions
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.notices import words
from tests.support.store import LABELS, make_frame, video_info, write_session


def held(folder: Path) -> dict[str, dict[str, int]]:
    """The number of frames by source, of each session in a folder."""
    found = {}
    for path in sorted(folder.glob("*.sqlite")):
        with SessionReader(path) as reader:
            found[path.name] = {source.path: reader.count(source.number) for source in reader.sources()}
    return found


def test_two_interrupted_runs_keep_the_complete_session(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    write_session(path, {"a.mp4": 50})
    write_session(path, {"a.mp4": 2}, cancelled=True)
    write_session(path, {"a.mp4": 1}, cancelled=True)
    assert held(tmp_path) == {"s.sqlite": {"a.mp4": 1}, "s.previous.sqlite": {"a.mp4": 50}, "s.previous-2.sqlite": {"a.mp4": 2}}
    write_session(path, {"a.mp4": 50})
    assert held(tmp_path) == {"s.sqlite": {"a.mp4": 50}, "s.previous.sqlite": {"a.mp4": 50}}, "one complete session before the last stays"
    write_session(path, {"a.mp4": 50})
    assert len(previous_sessions(path)) == 1


def test_a_session_of_other_sources_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    write_session(path, {"a.mp4": 5})
    write_session(path, {"b.mp4": 3})
    write_session(path, {"b.mp4": 3, "c.mp4": 3})
    assert held(tmp_path) == {
        "s.sqlite": {"b.mp4": 3, "c.mp4": 3},
        "s.previous.sqlite": {"a.mp4": 5},
        "s.previous-2.sqlite": {"b.mp4": 3},
    }


@pytest.mark.parametrize("error", [None, "b.mp4 is no video"])
def test_a_session_without_frames_replaces_none_and_is_not_kept(tmp_path: Path, error: str | None) -> None:
    path = tmp_path / "s.sqlite"
    write_session(path, {"a.mp4": 5})
    for _ in range(2):
        with SessionWriter(path, LABELS, {}) as writer:
            writer.finish_source(0, "a.mp4", Ledger(), 0.0, error and words(error))
    assert held(tmp_path) == {"s.sqlite": {"a.mp4": 0}, "s.previous.sqlite": {"a.mp4": 5}}


def test_a_source_with_an_error_is_not_complete(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    write_session(path, {"a.mp4": 5}, cancelled=True)
    with SessionWriter(path, LABELS, {}) as writer:
        writer.add_source(0, "a.mp4", video_info("a.mp4", 3))
        writer.add_frames(make_frame(0, index) for index in range(3))
        writer.finish_source(0, "a.mp4", Ledger(3, 3), 1.0, words("a.mp4 ends too early"))
    assert held(tmp_path) == {"s.sqlite": {"a.mp4": 3}, "s.previous.sqlite": {"a.mp4": 5}}


def test_the_same_name_in_another_folder_is_another_source(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    for folder in ("one", "two"):
        with SessionWriter(path, LABELS, {"folder": str(tmp_path / folder)}) as writer:
            writer.add_source(0, "a.mp4", video_info("a.mp4", 3))
            writer.add_frames([make_frame(0, 0)])
            writer.finish_source(0, "a.mp4", Ledger(1, 1), 1.0)
    write_session(path, {str(tmp_path / "two" / "a.mp4"): 3})
    assert len(previous_sessions(path)) == 2


def test_other_files_beside_a_session_are_left_alone(tmp_path: Path) -> None:
    diary = tmp_path / "s.previous-of-mine.sqlite"
    diary.write_bytes(b"dear diary, " * 500)
    for _ in range(3):
        write_session(tmp_path / "s.sqlite", {"a.mp4": 3})
    assert diary.read_bytes() == b"dear diary, " * 500


@pytest.mark.parametrize("fact", ["model_digest", "confidence", "every"])
def test_a_session_with_other_settings_is_kept(tmp_path: Path, fact: str) -> None:
    path = tmp_path / "s.sqlite"
    for value in ("1", "4", "5", "5"):
        write_session(path, {"a.mp4": 50}, facts={fact: value})
    kept = []
    for session in [path, *previous_sessions(path)]:
        with SessionReader(session) as reader:
            kept.append(reader.facts[fact])
    assert sorted(kept) == ["1", "4", "5", "5"]
