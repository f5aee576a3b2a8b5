"""The session database: one SQLite file with all frames of a run, for one writer and any number of readers."""

from framefleet.engine.store.reader import SessionReader
from framefleet.engine.store.sources import StoredSource
from framefleet.engine.store.writer import SessionWriter

__all__ = ["SessionReader", "SessionWriter", "StoredSource"]
