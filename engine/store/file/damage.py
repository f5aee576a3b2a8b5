"""Finds out what the damaged pages of a session hold."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from framefleet.engine.store.file.page_sums import DamagedError

_STEP = 100
"""Frames that are tried at once."""
_MOST = 5
"""Most sources that are named."""


def describe_damage(path: Path, damage: DamagedError) -> str:
    """The sources and frames whose results the damaged pages hold, in words.

    A copy of the session in memory gets empty pages in their places. SQLite refuses to read these, which shows what they hold.
    """
    content = bytearray(path.read_bytes())
    if not damage.pages or 0 in damage.pages:
        return "the part that describes the whole file"
    size = damage.page_size
    for page in damage.pages:
        content[page * size : (page + 1) * size] = bytes(size)
    with closing(sqlite3.connect(":memory:")) as copy:
        copy.deserialize(bytes(content))
        try:
            sources = copy.execute("SELECT source, path, max(frames, decoded) FROM sources ORDER BY source").fetchall()
        except sqlite3.Error:
            return "the list of sources"
        parts = [(os.fsdecode(name), [*_damaged_frames(copy, number, frames or 0)]) for number, name, frames in sources]
    found = [f"{name} ({', '.join(ranges)})" for name, ranges in parts if ranges]
    more = f" and {len(found) - _MOST} more sources" if len(found) > _MOST else ""
    return f"the results of {', '.join(found[:_MOST])}{more}" if found else "the facts about the run, or an index"


def _damaged_frames(copy: sqlite3.Connection, source: int, frames: int) -> Iterator[str]:
    """The frames of a source that cannot be read, as ranges. frames: their number."""
    begin: int | None = None
    for first in range(0, frames + _STEP, _STEP):
        readable = first >= frames or all(_is_readable(copy, table, source, first) for table in ("frames NOT INDEXED", "detections"))
        if not readable and begin is None:
            begin = first
        if readable and begin is not None:
            yield f"frames {begin} to {min(first, frames) - 1}"
            begin = None


def _is_readable(copy: sqlite3.Connection, table: str, source: int, first: int) -> bool:
    try:
        copy.execute(f"SELECT * FROM {table} WHERE source = ? AND frame BETWEEN ? AND ?", (source, first, first + _STEP - 1)).fetchall()
    except sqlite3.Error:
        return False
    return True
