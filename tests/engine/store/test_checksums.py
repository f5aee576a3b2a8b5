import os
import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from framefleet.engine.notices import ExportError
from framefleet.engine.store import schema
from framefleet.engine.store.checksums import Footer
from framefleet.engine.store.export import export_session
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from tests.support.store import LABELS, write_session

PAGE = 4096


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_session(tmp_path / "s.sqlite", {"a.mp4": 900, "b.mp4": 300})


def has_checksums(path: Path) -> bool:
    with path.open("rb") as file:
        return Footer.of(file) is not None


def page_of(path: Path, table: str, skip: int = 1) -> int:
    """The number of a page of a table, from 0, found by what SQLite cannot read without it."""
    content = path.read_bytes()
    for page in range(1, len(content) // PAGE):
        with closing(sqlite3.connect(":memory:")) as copy:
            copy.deserialize(content[: page * PAGE] + bytes(PAGE) + content[(page + 1) * PAGE :])
            try:
                copy.execute(f"SELECT * FROM {table}").fetchall()
            except sqlite3.Error:
                skip -= 1
                if skip < 0:
                    return page
    raise AssertionError(table)


def flip(path: Path, position: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1 << bit
    path.write_bytes(content)


def test_a_flipped_bit_in_the_detections_names_source_and_frames(session: Path) -> None:
    flip(session, PAGE * page_of(session, "frames WHERE source = 1", 3) + 2000)
    with pytest.raises(ExportError, match=r"s\.sqlite.*b\.mp4 \(frames \d+ to \d+\).*[Mm]ove it away or delete it") as error:
        SessionReader(session)
    assert "a.mp4" not in str(error.value)


def test_a_flipped_bit_among_the_sources_or_in_the_header_is_refused(session: Path) -> None:
    whole = session.read_bytes()
    for position in (PAGE * page_of(session, "sources", 0) + 4000, 40, 26, len(whole) - 40, len(whole) - 12):
        flip(session, position)
        with pytest.raises(ExportError, match="checksum"):
            SessionReader(session)
        session.write_bytes(whole)
    SessionReader(session).close()


def test_every_writer_leaves_checksums(session: Path, tmp_path: Path) -> None:
    def export() -> None:
        with SessionReader(session) as reader:
            export_session(reader, tmp_path / "out", ["csv"])

    def go_on() -> None:
        SessionWriter(session, LABELS, {"model_digest": "x"}, go_on=True).close(complete=False)

    for write in (export, lambda: track_session(session, "bytetrack"), go_on):
        before = session.read_bytes()
        write()  # type: ignore[operator]
        assert has_checksums(session)
        assert session.read_bytes() != before, "nothing was written"


def test_a_session_that_another_program_has_changed_is_read(session: Path) -> None:
    with closing(sqlite3.connect(session)) as connection:
        connection.execute("UPDATE labels SET label = 'lorry' WHERE class_id = 0")
        connection.commit()
    with SessionReader(session) as reader:
        assert reader.labels[0] == "lorry"
    assert has_checksums(session)  # outdated ones, which the next writer replaces
    SessionWriter(session, LABELS, {"model_digest": "y"}, go_on=True).close(complete=False)
    SessionReader(session).close()


def test_a_session_without_checksums_is_read_and_gets_them(session: Path) -> None:
    with session.open("rb") as file:
        footer = Footer.of(file)
    assert footer is not None
    os.truncate(session, footer.database_size)
    with SessionReader(session) as reader:
        assert [reader.count(source) for source in (0, 1)] == [900, 300]
    track_session(session, "bytetrack")
    assert has_checksums(session)


def test_a_session_that_is_being_written_has_none_until_its_last_connection_closes(session: Path) -> None:
    writer = schema.open_existing(session, "rw")
    schema.prepare_writing(writer)
    assert not has_checksums(session)
    with SessionReader(session) as reader:
        writer.execute("UPDATE labels SET label = 'lorry' WHERE class_id = 0")
        assert reader.count(0) == 900
        writer.close()
        assert not has_checksums(session)
    assert has_checksums(session)


def test_a_read_only_session_keeps_its_checksums(session: Path) -> None:
    whole = session.read_bytes()
    session.chmod(0o444)
    session.parent.chmod(0o555)
    try:
        with SessionReader(session) as reader:
            assert reader.count(0) == 900
    finally:
        session.parent.chmod(0o755)
    assert session.read_bytes() == whole


def test_a_full_disk_leaves_the_session_without_checksums(session: Path) -> None:
    writer = schema.open_existing(session, "rw")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (session.stat().st_size + 10, before[1]))
    try:
        writer.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert session.stat().st_size % PAGE == 0
    assert not has_checksums(session)
    SessionReader(session).close()


def test_a_header_without_a_page_size_is_refused_at_once(session: Path) -> None:
    content = bytearray(session.read_bytes())[:-1]  # no footer
    content[16:18] = bytes(2)
    content[28:32] = b"\xff" * 4
    session.write_bytes(content)
    with pytest.raises(ExportError, match=r"not a session database|damaged"):
        SessionReader(session)


def test_of_many_damaged_sources_some_are_named(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.sqlite", {f"{number}.mp4": 300 for number in range(8)})
    for number in range(8):
        flip(session, PAGE * page_of(session, f"frames WHERE source = {number}", 3) + 2000)
    with pytest.raises(ExportError, match=r"the results of 0\.mp4 \(.*\) and \d more sources?") as error:
        SessionReader(session)
    assert "7.mp4" not in str(error.value)
