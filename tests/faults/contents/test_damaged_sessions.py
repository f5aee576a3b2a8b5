"""Must hold: a damaged session is refused with its name and what to do, or is used as far as it is intact; it never crashes the program.

Long form: ``pytest tests/faults/contents/test_damaged_sessions.py -m slow -s`` (1,000 damaged files, 5,000 flipped bits, 1,000 changes by
SQL, about 5 minutes).
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from framefleet.engine.notices import ExportError
from framefleet.engine.run.resume import ResumePlan
from framefleet.engine.store.export import export_session
from framefleet.engine.store.session import SessionReader, SessionWriter
from tests.support.faults.counts import short_and_long
from tests.support.faults.seeds import seeded
from tests.support.store import LABELS, write_session

PAGE = 4096
ZEROS = 5000
FACTS = {"model_digest": "x"}


def damage(content: bytes, choice: random.Random) -> bytes:
    """Truncate a file, flip bits, overwrite a part by zeros, or swap two pages."""
    changed = bytearray(content)
    match choice.randrange(4):
        case 0:
            del changed[choice.randrange(len(changed)) :]
        case 1:
            for _ in range(choice.choice((1, 1, 3, 20))):
                changed[choice.randrange(choice.choice((len(changed), 2 * PAGE)))] ^= 1 << choice.randrange(8)
        case 2:
            start = choice.randrange(len(changed))
            changed[start : start + ZEROS] = bytes(len(changed[start : start + ZEROS]))
        case _:
            one, other = (PAGE * choice.randrange(len(changed) // PAGE) for _ in range(2))
            changed[one : one + PAGE], changed[other : other + PAGE] = changed[other : other + PAGE], changed[one : one + PAGE]
    return bytes(changed)


def export(path: Path) -> None:
    with SessionReader(path) as reader:
        export_session(reader, path.parent / "out", ["jsonl", "coco"])


def read_for_going_on(path: Path) -> None:
    ResumePlan(path).start(Path("a.mp4"))


def go_on(path: Path) -> None:
    SessionWriter(path, LABELS, FACTS, go_on=True).close(complete=False)


def begin_again(path: Path) -> None:
    SessionWriter(path, LABELS, FACTS).close(complete=False)


@short_and_long(12, 1000, "count")
def test_damaged_sessions_are_refused_in_words(tmp_path: Path, count: int) -> None:
    content, choice = write_session(tmp_path / "good.sqlite", {"a.mp4": 300, "b.mp4": 20}).read_bytes(), seeded()
    refused: list[str] = []
    for number in range(count):
        spoiled = damage(content, choice)
        for use in (export, read_for_going_on, go_on, begin_again):
            path = tmp_path / f"{number}-{use.__name__}" / "s.sqlite"
            path.parent.mkdir()
            path.write_bytes(spoiled)
            try:
                use(path)
            except ExportError as error:
                refused.append(str(error))  # some damage is harmless
    print(f"{len(refused)} of {4 * count} uses were refused")
    assert refused
    assert all("s.sqlite" in message for message in refused)


def content_of(path: Path, out: Path) -> dict[str, bytes]:
    """All that a session gives: its export, and what the window and a later run read."""
    with SessionReader(path) as reader:
        written = export_session(reader, out, ["jsonl"])
        rest = repr(
            (reader.labels, reader.facts, reader.sources(), [(reader.position(n), reader.last_pts(n), reader.tracks(n)) for n in (0, 1)])
        )
    return {item.path.name: item.path.read_bytes() for item in written} | {"": rest.encode()}


@short_and_long(50, 5000, "count")
def test_no_flipped_bit_changes_results_unnoticed(tmp_path: Path, count: int) -> None:
    content, choice = bytearray(write_session(tmp_path / "s.sqlite", {"a.mp4": 60, "b.mp4": 20}).read_bytes()), seeded()
    expected = content_of(tmp_path / "s.sqlite", tmp_path / "expected")
    refused = 0
    for number in range(count):
        position, bit = choice.randrange(len(content)), 1 << choice.randrange(8)
        path = tmp_path / str(number) / "s.sqlite"
        path.parent.mkdir()
        content[position] ^= bit
        path.write_bytes(content)
        content[position] ^= bit
        try:
            found = content_of(path, path.parent / "out")
        except ExportError:
            refused += 1
        else:
            assert found == expected, f"bit {bit} of byte {position}"
        shutil.rmtree(path.parent)
    print(f"{refused} of {count} were refused, the others read rightly")
    assert refused > 0.95 * count


VALUES = (
    *("NULL", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "9e999", "-9e999", "0.5", "''", "'noon'", "x''", "x'00'"),
    *("CAST(x'610062' AS TEXT)", "CAST(x'ff' AS TEXT)", "'[1'", "'{}'", "'[[]]'", "'../a.mp4'", "'cuda:-1'", "zeroblob(1 << 20)"),
    *(
        "replace(hex(zeroblob(50000)), '0', '[')",
        "randomblob(24)",
        "x'ffffffff0000c07f0000803f00000000000000000000807f'",
        "hex(zeroblob(9))",
    ),
)
"""Values in SQL that a hostile session may hold anywhere."""


def changes(path: Path, choice: random.Random) -> str:
    """Change a session by a random statement. Returns the statement."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = choice.choice(tables)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column, value, event = choice.choice(columns), choice.choice(VALUES), choice.choice(("INSERT", "UPDATE", "DELETE"))
        numbers = ", ".join(f"i {each}" for each in columns)
        endless = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)"
        statement = choice.choice(
            (
                *[f"UPDATE {table} SET {column} = {value} WHERE rowid % {choice.randrange(1, 4)} = 0"] * 12,
                *[f"INSERT OR REPLACE INTO {table} VALUES ({', '.join(choice.choice(VALUES) for _ in columns)})"] * 4,
                f"DELETE FROM {table} WHERE rowid % {choice.randrange(1, 4)} = 0",
                f"ALTER TABLE {table} RENAME TO h; CREATE VIEW {table} AS {endless} SELECT {numbers} FROM n",
                f"ALTER TABLE {table} RENAME TO h; CREATE VIEW {table} AS SELECT * FROM h",
                f"CREATE TRIGGER t AFTER {event} ON {table} BEGIN DELETE FROM {choice.choice(tables)}; END",
                f"CREATE TEMP TABLE x (i); DROP TABLE {table}",
                f"ALTER TABLE {table} ADD COLUMN more AS (zeroblob(1 << 29))",
                f"CREATE INDEX more ON {table} ({column})",
                f"PRAGMA user_version = {choice.randrange(-5, 100)}",
            )
        )
        with suppress(sqlite3.Error):  # a rule of the table forbids the value
            connection.executescript(statement)
    return statement


@short_and_long(12, 1000, "count")
def test_sessions_changed_by_sql_are_refused_or_used(tmp_path: Path, count: int) -> None:
    choice, refused, unnamed = seeded(), 0, list[str]()
    good = write_session(tmp_path / "good.sqlite", {"a.mp4": 60, "b.mp4": 20}, facts=FACTS)
    for number in range(count):
        for use in (export, read_for_going_on, go_on, begin_again):
            path = tmp_path / f"{number}-{use.__name__}" / "s.sqlite"
            path.parent.mkdir()
            shutil.copyfile(good, path)
            statement = changes(path, choice)
            try:
                use(path)
            except ExportError as error:
                if "s.sqlite" in str(error):
                    refused += 1
                else:
                    unnamed.append(f"{statement}: {error}")
            except Exception as error:
                error.add_note(statement)
                raise
            shutil.rmtree(path.parent)
    print(f"{refused} of {4 * count} uses were refused, the others went on")
    assert refused
    assert not unnamed
