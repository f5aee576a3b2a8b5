"""The session database: one SQLite file with all frames of a run, for one writer and any number of readers.

Other parts import these names from here.
"""

from framefleet.engine.store.blocks import Block, StoredFrame
from framefleet.engine.store.reader import DeviceUse, SessionReader, Span, View
from framefleet.engine.store.sources import StoredSource
from framefleet.engine.store.writer import SessionWriter

__all__ = ["Block", "DeviceUse", "SessionReader", "SessionWriter", "Span", "StoredFrame", "StoredSource", "View"]
