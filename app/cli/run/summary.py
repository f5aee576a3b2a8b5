"""Shared by ``detect`` and ``results``: the last line after several files, and how much is printed about each of them."""

from collections import Counter
from collections.abc import Collection

from engine.media.types import SourceKind
from engine.store.blocks import read_blocks
from engine.store.exporters.common.options import Least
from engine.store.exporters.common.tallies import is_empty, read_files
from engine.store.session import SessionReader

MOST_LINES = 20
"""With more files than this, files without a problem get no line of their own, unless the user asks for it."""


def summary(reader: SessionReader, least: Least, only: Collection[int] | None = None, seconds: float | None = None, before: int = 0) -> str:
    """How many files are empty, have objects or failed, and how many frames there are; "" for a single file.

    least: see ``ExportOptions.least_seen``. only: numbers of sources, None = all. seconds: that the run took, None = unknown.
    before: number of frames that earlier runs inferred.

    Raises ExportError if the session cannot be read.
    """
    files, frames = Counter[str](), 0
    sources = [source for source in reader.sources() if only is None or source.number in only]
    if len(sources) == 1 and sources[0].kind is not SourceKind.IMAGES:
        return ""
    for source in sources:
        for group in read_files(read_blocks(reader, source.number, boxes=False), source):
            empty = is_empty(source, group, least, reader.has_tracks)
            failed = source.error is not None or group.failed > 0
            files["empty" if empty else "with objects" if empty is False else "failed" if failed else "stopped early"] += 1
            frames += group.inferred
    if files.total() < 2:
        return ""
    kinds = [f"{files[kind]:,} {kind}" for kind in ("empty", "with objects", "failed", "stopped early") if files[kind] or kind == "empty"]
    line = f"{files.total():,} files: {', '.join(kinds)}; {frames:,} frames"
    if seconds is None:
        return line
    return f"{line}{f', {frames - before:,} of them new,' if before else ''} in {in_words(seconds)}"


def in_words(seconds: float) -> str:
    """A duration, such as ``21 min 4 s``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
