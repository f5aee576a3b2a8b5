"""Finds a source of a session by the name that the user gave."""

from collections.abc import Sequence
from pathlib import Path

from framefleet.engine.errors import UsageError
from framefleet.engine.store.stored_source import StoredSource


def named_source(sources: Sequence[StoredSource], name: str | None) -> StoredSource:
    """Return the source with this name, path or file name. name: None = the session's only source.

    Raises UsageError if there is none or more than one.
    """
    found = [source for source in sources if name is None or name in (source.name, source.path, str(source.file), Path(source.path).name)]
    names = ", ".join(source.name for source in sources[:8]) + (", …" if len(sources) > 8 else "")
    if len(found) == 1:
        return found[0]
    if name is None:
        raise UsageError(
            f"the session has {len(sources)} sources: give --source and one of {names}" if sources else "the session has no source"
        )
    raise UsageError(f"{'several sources are' if found else 'no source is'} named '{name}': the session has {names}")
