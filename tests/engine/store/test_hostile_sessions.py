"""A session may come from anybody: whatever it holds, every use ends with an error that names the file and the place, and soon."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from framefleet.engine.notices import ExportError
from framefleet.engine.run.resume import ResumePlan
from framefleet.engine.store import schema
from framefleet.engine.store.appearances import read_events
from framefleet.engine.store.corrections import edits, undoable
from framefleet.engine.store.export import export_session
from framefleet.engine.store.files import find_interrupted
from framefleet.engine.store.merge import merge_sessions
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import track_session
from tests.support.store import write_session

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)"
BOX = struct.Struct("<ifffff")


def box(class_id: int = 0, confidence: float = 0.9, x: float = 1.0) -> bytes:
    return BOX.pack(class_id, confidence, x, 1.0, 9.0, 9.0)


def instead(table: str, query: str) -> str:
    """Put a view in the place of a table."""
    return f"ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS {query};"


FRAME = "source, frame, pts, width, height, device, name, failure, created, clock, boxes"
REFUSED_WHEN_OPENED = {
    "frames are an endless view": instead(
        "frames",
        f"{ENDLESS} SELECT 0 source, i frame, 0.0 pts, 1 width, 1 height, 0 device, 0 name, 0 failure, 0 created, 0 clock,"
        " x'' boxes FROM n",
    ),
    "sources are an endless view": instead("sources", f"{ENDLESS} SELECT i source, 'a.mp4' path FROM n"),
    "labels are an endless view": instead("labels", f"{ENDLESS} SELECT i class_id, 'a' label FROM n"),
    "facts are an endless view": instead("session", f"{ENDLESS} SELECT i key, 'a' value FROM n"),
    "tracks are an endless view": instead("tracks", f"{ENDLESS} SELECT 0 source, i track FROM n"),
    "corrections are an endless view": instead("corrections", f"{ENDLESS} SELECT 0 source, i frame FROM n"),
    "written files are an endless view": instead("outputs", f"{ENDLESS} SELECT i path FROM n"),
    "a trigger that writes": "CREATE TRIGGER t AFTER DELETE ON tracks BEGIN INSERT INTO labels SELECT 1, randomblob(1 << 29); END;",
    "a trigger that deletes frames": "CREATE TRIGGER t AFTER INSERT ON trackers BEGIN DELETE FROM frames; END;",
    "a further table": "CREATE TABLE more (i);",
    "a further view": "CREATE VIEW more AS SELECT 1;",
    "a further index": "CREATE INDEX more ON frames (width);",
    "no frames": "DROP TABLE frames;",
    "a further column": "ALTER TABLE sources ADD COLUMN more;",
    "a generated column": "ALTER TABLE frames ADD COLUMN more AS (zeroblob(1 << 29));",
    "another order of columns": f"CREATE TABLE f AS SELECT boxes, {FRAME.removesuffix(', boxes')} FROM frames; DROP TABLE frames;"
    " ALTER TABLE f RENAME TO frames;",
    "a newer format": "PRAGMA user_version = 99;",
    "an older format": "PRAGMA user_version = 4;",
    "another program's file": "PRAGMA application_id = 7;",
}
REFUSED_WHEN_READ = {
    "an infinite time": "UPDATE frames SET pts = 9e999 WHERE frame = 3;",
    "a time beyond centuries": "UPDATE frames SET pts = 1e300 WHERE frame = 3;",
    "a start in the last year": "UPDATE sources SET started = '9999-12-31T23:59:59+00:00';",
    "a picture without width that has boxes": "UPDATE frames SET width = 0 WHERE frame = 3;",
    "a time that is a text": "UPDATE frames SET pts = 'noon' WHERE frame = 3;",
    "an infinite duration": "UPDATE sources SET duration = 9e999;",
    "an infinite origin": "UPDATE sources SET origin = -9e999;",
    "a negative number of frames": "UPDATE sources SET decoded = -5;",
    "a number of frames beyond all": "UPDATE sources SET decoded = 9223372036854775807;",
    "a path with NUL": "UPDATE sources SET path = CAST(x'61006d7034' AS TEXT);",
    "counts in JSON of great depth": f"UPDATE sources SET failed = '{'[' * 200_000}';",
    "counts that are a list": "UPDATE sources SET failed = '[1, 2]';",
    "a kind that does not exist": "UPDATE sources SET kind = 'hologram';",
    "a start that is no time": "UPDATE sources SET started = 'yesterday';",
    "an error that is no notice": "UPDATE sources SET error = '{';",
    "a failure that is no notice": "UPDATE frames SET failure = '[1]' WHERE frame = 3;",
    "a device that is not listed": "UPDATE frames SET device = 1000 WHERE frame = 3;",
    "a device of another kind": "UPDATE devices SET device = 'toaster:1';",
    "a part of a box": "UPDATE frames SET boxes = x'0011223344' WHERE frame = 3;",
    "boxes that are a text": "UPDATE frames SET boxes = 'left' WHERE frame = 3;",
    "a class id below 0": f"UPDATE frames SET boxes = x'{box(-1).hex()}' WHERE frame = 3;",
    "a class id beyond all": f"UPDATE frames SET boxes = x'{box(2**31 - 1).hex()}' WHERE frame = 3;",
    "a confidence that is no number": f"UPDATE frames SET boxes = x'{box(confidence=float('nan')).hex()}' WHERE frame = 3;",
    "a name of bytes": "UPDATE frames SET name = x'00ff' WHERE frame = 3;",
    "a codec of bytes": "UPDATE sources SET codec = x'00ff';",
    "a width of bytes": "UPDATE frames SET width = x'' WHERE frame = 3;",
    "a label less": "DELETE FROM labels WHERE class_id = 1;",
    "a time of bytes that are no text": "UPDATE frames SET pts = CAST(x'ff' AS TEXT) WHERE frame = 3;",
    "an infinite box": f"UPDATE frames SET boxes = x'{box(x=float('inf')).hex()}' WHERE frame = 3;",
    "another number of tracks": "INSERT INTO frame_tracks VALUES (0, 3, x'00000000');",
}


def use(path: Path, out: Path) -> None:
    """All that a user can do with a session without changing it."""
    with SessionReader(path) as reader:
        for source in reader.sources():
            reader.position(source.number)
            reader.tracks(source.number)
            read_events(reader, source, None)
        export_session(reader, out, ["jsonl", "csv", "parquet", "coco"])
    edits(path)
    undoable(path)
    ResumePlan(path).start(Path("a.mp4"))
    find_interrupted(path.parent)


def spoiled(folder: Path, change: str) -> Path:
    path = write_session(folder / "s.sqlite", {"/v/a.mp4": 20})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(change)
    return path


@pytest.mark.parametrize("name", REFUSED_WHEN_OPENED)
def test_a_file_that_is_no_session_of_ours_is_refused_when_it_is_opened(tmp_path: Path, name: str) -> None:
    path = spoiled(tmp_path, REFUSED_WHEN_OPENED[name])
    uses: tuple[Callable[[], object], ...] = (
        lambda: SessionReader(path),
        lambda: edits(path),
        lambda: ResumePlan(path),
        lambda: track_session(path),
        lambda: merge_sessions([path], tmp_path / "merged" / "session.sqlite"),
        lambda: schema.open_existing(path, "rw"),
    )
    for each in uses:
        with pytest.raises(ExportError, match=r"cannot (open|read) .*s\.sqlite"):
            each()
    assert find_interrupted(tmp_path) == []


@pytest.mark.parametrize("name", REFUSED_WHEN_READ)
def test_a_value_that_no_run_writes_is_refused_when_it_is_read(tmp_path: Path, name: str) -> None:
    path = spoiled(tmp_path, REFUSED_WHEN_READ[name])
    with pytest.raises(ExportError, match=r"s\.sqlite"):
        use(path, tmp_path / "out")


def test_the_message_says_which_value_is_wrong_where(tmp_path: Path) -> None:
    path = spoiled(tmp_path, REFUSED_WHEN_READ["a class id below 0"])
    with (
        pytest.raises(ExportError, match=r"s\.sqlite: frames, source 0, frame 3 holds -1, which no run writes"),
        SessionReader(path) as reader,
    ):
        [*reader.blocks(0)]


@pytest.mark.parametrize("text", ["much", "nan", "2"])
def test_a_confidence_that_no_run_writes_is_refused(tmp_path: Path, text: str) -> None:
    path = spoiled(tmp_path, f"INSERT INTO session VALUES ('shown_confidence', '{text}');")
    with SessionReader(path) as reader, pytest.raises(ExportError, match=f"s.sqlite: session, shown_confidence holds '{text}'"):
        _ = reader.shown_confidence


@pytest.mark.parametrize("form", ["cvat", "labelstudio"])
def test_a_track_of_a_class_without_a_label_has_its_number(tmp_path: Path, form: str) -> None:
    path = write_session(tmp_path / "s.sqlite", {"/v/a.mp4": 20})
    track_session(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute("UPDATE tracks SET class_id = 77").rowcount
    with SessionReader(path) as reader:
        written, *_ = export_session(reader, tmp_path / "out", [form])
    assert '"77"' in written.path.read_text("utf-8")


def test_a_class_without_a_label_has_its_number(tmp_path: Path) -> None:
    path = spoiled(tmp_path, f"UPDATE frames SET boxes = x'{box(5).hex()}' WHERE frame = 3;")
    with SessionReader(path) as reader:
        (written,) = export_session(reader, tmp_path / "out", ["coco"])
    found = json.loads(written.path.read_text())
    assert [(each["id"], each["name"]) for each in found["categories"]][3:] == [(4, "3"), (5, "4"), (6, "5")]
    assert [each["image_id"] for each in found["annotations"] if each["category_id"] == 6] == [4]


def test_a_label_of_900_megabytes_is_not_read(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.sqlite", {"/v/a.mp4": 20})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE labels SET label = CAST(zeroblob(?) AS TEXT) WHERE class_id = 1", (schema.MAX_VALUE + 1,))
    with pytest.raises(ExportError, match=r"cannot read .*s\.sqlite: the file is damaged"):
        SessionReader(path)


@pytest.mark.parametrize("query", ["SELECT count(*) FROM frames a, frames b, frames c, frames d", f"{ENDLESS} SELECT count(*) FROM n"])
def test_a_statement_that_takes_more_steps_than_the_file_can_need_is_ended(tmp_path: Path, query: str) -> None:
    path = write_session(tmp_path / "s.sqlite", {"/v/a.mp4": 200})
    with closing(schema.open_existing(path, "ro")) as connection:
        with pytest.raises(ExportError, match="damaged"), schema.explained(path, "read"):
            connection.execute(query).fetchall()
        assert connection.execute("SELECT count(*) FROM frames").fetchone() == (200,)


def test_pages_that_form_a_loop_end(tmp_path: Path) -> None:
    """Every inner page of the table of frames points to one child only, as often as it has room."""
    path = write_session(tmp_path / "s.sqlite", {"/v/a.mp4": 2000})
    content, size = bytearray(path.read_bytes()), 4096
    with closing(sqlite3.connect(path)) as connection:
        roots = [root for (root,) in connection.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 0")]
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    inner = [page for page in range(2, pages + 1) if content[(page - 1) * size] in (2, 5) and page in roots]
    assert inner
    for page in inner:
        begin = (page - 1) * size
        cells = struct.unpack_from(">H", content, begin + 3)[0]
        first = struct.unpack_from(">H", content, begin + 12)[0]
        child = content[begin + first : begin + first + 4]
        for cell in range(cells):
            place = struct.unpack_from(">H", content, begin + 12 + 2 * cell)[0]
            content[begin + place : begin + place + 4] = child
        content[begin + 8 : begin + 12] = struct.pack(">I", page)  # the last child is the page itself
    path.write_bytes(content[: pages * size])  # without checksums
    with pytest.raises(ExportError, match=r"s\.sqlite"):
        use(path, tmp_path / "out")


def test_facts_that_are_no_text_or_json_are_refused(tmp_path: Path) -> None:
    path = spoiled(tmp_path, "INSERT INTO edits VALUES (1, 'now', 'confirmed');")
    with pytest.raises(ExportError, match=r"cannot read .*s\.sqlite"):
        edits(path)
    deep = spoiled(tmp_path / "deep", f"INSERT INTO edits VALUES (1, 'now', '{'[' * 100_000}');")
    with pytest.raises(ExportError, match=r"cannot read .*s\.sqlite"):
        edits(deep)
