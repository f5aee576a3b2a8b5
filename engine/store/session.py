"""The session database: one SQLite file with all frames of a run, for one writer and any number of readers."""

from framefleet.engine.store.reading.reader import SessionReader
from framefleet.engine.store.stored_source import StoredSource
from framefleet.engine.store.writing.writer import SessionWriter

__all__ = ["SessionReader", "SessionWriter", "StoredSource"]
