"""The session database: one SQLite file with all frames of a run, for one writer and any number of readers."""

from engine.store.reading.reader import SessionReader
from engine.store.stored_source import StoredSource
from engine.store.writing.writer import SessionWriter

__all__ = ["SessionReader", "SessionWriter", "StoredSource"]
