"""No export harms a file that Framefleet did not write for the same purpose."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from pathlib import Path

import pytest

from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store.destinations import Destinations, Outputs, Protected, Purpose, names_for, outputs_among
from framefleet.engine.store.export import export_session
from framefleet.engine.store.session import SessionReader
from tests.support.store import write_session

PURPOSE = Purpose("/videos/a.mp4", ".txt", complete=True)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_session(tmp_path / "out" / "s.sqlite", {str(tmp_path / "a.mp4"): 3})


def place(session: Path, content: str, purpose: Purpose = PURPOSE, protected: Protected | None = None, overwrite: bool = False) -> str:
    made = session.with_name("made")
    made.write_text(content)
    names = names_for("a", ".txt", purpose.complete)
    with Destinations(session, protected or Protected([]), overwrite) as destinations:
        return destinations.place(made, session.parent, names, purpose).name


def test_own_files_are_replaced_and_others_are_not(session: Path) -> None:
    other = Purpose("/videos/other/a.mp4", ".txt", complete=True)
    assert place(session, "one") == place(session, "two") == "a.txt"
    assert place(session, "other", other) == place(session, "other 2", other) == "a-2.txt"
    assert place(session, "three") == "a.txt"
    (session.parent / "a.txt").write_text("my notes")
    assert place(session, "four") == place(session, "five") == "a-3.txt"
    assert place(session, "six", overwrite=True) == "a.txt"
    assert {path.name: path.read_text() for path in session.parent.glob("*.txt")} == {
        "a.txt": "six",
        "a-2.txt": "other 2",
        "a-3.txt": "five",
    }


def test_an_incomplete_file_replaces_no_complete_one_and_is_deleted_with_it(session: Path) -> None:
    part = Purpose("/videos/a.mp4", ".txt", complete=False)
    assert place(session, "1", part) == place(session, "1 2", part) == place(session, "1 2 3") == "a.txt"
    assert place(session, "1", part, overwrite=True) == place(session, "1 2", part) == "a.partial.txt"
    assert place(session, "1 2 3 4") == "a.txt"
    assert [path.name for path in session.parent.glob("*.txt")] == ["a.txt"]


def test_the_same_content_needs_no_second_file(session: Path) -> None:
    (session.parent / "a.txt").write_text("the same")
    assert place(session, "the same") == "a.txt"


def test_a_session_and_its_files_can_be_moved_together(session: Path, tmp_path: Path) -> None:
    assert place(session, "one") == "a.txt"
    moved = shutil.copytree(session.parent, tmp_path / "moved")
    assert place(moved / session.name, "two") == "a.txt"


def test_a_session_that_cannot_be_changed_harms_nothing(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outputs, "store", lambda *_: None)
    assert [place(session, "one"), place(session, "two"), place(session, "two")] == ["a.txt", "a-2.txt", "a-2.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and devices are POSIX")
@pytest.mark.parametrize("overwrite", [False, True])
def test_sources_links_and_devices_are_never_replaced(session: Path, tmp_path: Path, overwrite: bool) -> None:
    folder, source = session.parent, tmp_path / "source"
    source.write_text("a source")
    os.link(source, folder / "a.txt")
    (folder / "a-2.txt").symlink_to(source)
    (folder / "a-3.txt").symlink_to("/dev/null")
    (folder / "a-4.txt").mkdir()
    os.mkfifo(folder / "a-5.txt")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "a-6.txt"))
        (folder / "a-7.txt").symlink_to("nowhere")
        assert place(session, "new", protected=Protected([source]), overwrite=overwrite) == "a-8.txt"
    assert source.read_text() == (folder / "a.txt").read_text() == "a source"
    assert (folder / "a-7.txt").is_symlink()
    for name in ("a.txt", "a-2.txt", "a-3.txt", "a-4.txt", "a-5.txt", "a-6.txt"):
        assert Protected([source]).why_not(folder / name), name
    assert Protected([source]).why_not(folder / "a-8.txt") is None


def test_the_pictures_of_a_folder_are_protected(tmp_path: Path) -> None:
    (tmp_path / "1.png").touch()
    (tmp_path / "1.txt").touch()
    assert Protected([tmp_path]).why_not(tmp_path / "1.png") == Notice("store.is_a_picture_of_a_source")
    assert Protected([tmp_path]).why_not(tmp_path / "1.txt") is None


def test_without_a_free_name_nothing_is_replaced(session: Path) -> None:
    made, taken = session.with_name("made"), session.with_name("a.txt")
    made.write_text("new")
    taken.write_text("mine")
    with (
        Destinations(session, Protected([])) as destinations,
        pytest.raises(ExportError, match=r"made finds no free name in .*: choose another folder"),
    ):
        destinations.place(made, session.parent, ["a.txt"], PURPOSE)
    assert taken.read_text() == "mine"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_kept(session: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """Between the check and the renaming, another program writes a file of this name."""
    add, appeared = Outputs.add, session.with_name("a.txt")

    def slow(self: Outputs, path: Path, purpose: Purpose, identity: tuple[int, int]) -> None:
        add(self, path, purpose, identity)
        if path == appeared and not appeared.exists():
            appeared.write_text("mine")

    def no_links(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(Outputs, "add", slow)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    assert place(session, "new") == "a-2.txt"
    assert appeared.read_text() == "mine"


def test_a_file_system_without_hard_links_works(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert [place(session, "one"), place(session, "two")] == ["a.txt", "a.txt"]


def test_folders_are_replaced_only_if_nothing_was_added(session: Path) -> None:
    def make(text: str) -> str:
        made = session.with_name("made")
        (made / "labels").mkdir(parents=True)
        (made / "labels" / "1.txt").write_text(text)
        purpose = Purpose("/videos/a.mp4", ".yolo", complete=True)
        with Destinations(session, Protected([])) as destinations:
            return destinations.place(made, session.parent, names_for("a", ".yolo", True), purpose).name

    assert [make("one"), make("two")] == ["a.yolo", "a.yolo"]
    assert (session.parent / "a.yolo" / "labels" / "1.txt").read_text() == "two"
    (session.parent / "a.yolo" / "labels" / "mine.txt").touch()
    assert make("three") == "a-2.yolo"
    assert (session.parent / "a.yolo" / "labels" / "mine.txt").exists()


def test_equal_stems_of_one_session_keep_their_files(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("not ours")
    (tmp_path / "y.jsonl").mkdir()
    session = write_session(tmp_path / "s.sqlite", {"a/x.mp4": 2, "b/x.mp4": 3, "Y.mp4": 1})
    for _ in range(2):
        with SessionReader(session) as reader:
            names = [item.path.name for item in export_session(reader, tmp_path, ["jsonl"])]
        assert names == ["x-3.jsonl", "x-2.jsonl", "Y.jsonl"]


def test_written_videos_are_known(session: Path, tmp_path: Path) -> None:
    place(session, "video")
    copy = shutil.copy(session.with_name("a.txt"), tmp_path / "copy.txt")
    paths = [session.with_name("a.txt"), Path(copy)]
    assert outputs_among(paths, lambda path: (path.with_name("none.sqlite"), path.with_name("s.sqlite"))) == {paths[0]}
    session.with_name("a.txt").write_text("changed")
    assert outputs_among(paths, lambda path: (path.with_name("s.sqlite"),)) == set()
