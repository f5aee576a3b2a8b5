"""Shared by ``detect`` and ``results``: what was found in each file, and the last line after several files."""

from collections import Counter
from collections.abc import Collection, Sequence

from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.blocks import read_blocks
from framefleet.engine.store.exporters.common.options import Least
from framefleet.engine.store.exporters.common.rounding import label_of
from framefleet.engine.store.exporters.common.tallies import is_empty, read_files
from framefleet.engine.store.session import SessionReader, StoredSource

MOST_LINES = 20
"""With more files than this, files without a problem get no line of their own, unless the user asks for it."""

MOST_NAMED = 3
"""The largest number of classes that the line of a file names, and of failed files in the last line."""


class Summary:
    """What was found in each file of a session. It reads the session once.

    least: see ``ExportOptions.least_seen``. only: numbers of sources, None = all.

    Attributes: found: what was found in each source, in words, by its number.

    Raises ExportError if the session cannot be read.
    """

    def __init__(self, reader: SessionReader, least: Least, only: Collection[int] | None = None) -> None:
        self._sources = [source for source in reader.sources() if only is None or source.number in only]
        self._files, self._failed, self._frames = Counter[str](), list[str](), 0
        self._errors = list[str]()  # videos that ended with an error, and in which objects were found before
        self.found: dict[int, str] = {}
        for source in self._sources:
            frames, empty = Counter[int](), list[bool | None]()
            for group in read_files(read_blocks(reader, source.number, boxes=False), source):
                empty.append(is_empty(source, group, least, reader.has_tracks))
                failed = source.error is not None or group.failed > 0
                unknown = "failed" if failed else "without frames" if source.complete else "incomplete"
                kind = "empty" if empty[-1] else "with objects" if empty[-1] is False else unknown
                self._files[kind] += 1
                if kind == "with objects" and source.error is not None and source.kind is SourceKind.VIDEO:
                    self._errors.append(source.name)
                if kind == "failed":
                    picture = group.last.name if group.last is not None else None
                    self._failed.append(source.name if picture is None else f"{source.name}/{picture}")
                self._frames += group.inferred
                frames.update({class_id: tally.frames for class_id, tally in group.seen(least, reader.has_tracks).items()})
            self.found[source.number] = _found(reader.labels, source, frames, all(empty))

    def line(self, seconds: float | None = None, before: int = 0) -> str:
        """How many files are empty, have objects or failed, and how many frames there are; "" for a single file.

        seconds: that the run took, None = unknown. before: number of frames that earlier runs inferred.
        """
        if self._files.total() < 2 or (len(self._sources) == 1 and self._sources[0].kind is not SourceKind.IMAGES):
            return ""
        kinds = [f"{self._files[kind]:,} {kind}" for kind in ("empty", "with objects", "failed", "incomplete", "without frames")]
        kinds = [words for words in kinds if words[:2] != "0 " or words == "0 empty"]
        kinds = [f"{words}{_named(self._failed)}" if words.endswith(" failed") else words for words in kinds]
        errors = f"; errors in {number_of(len(self._errors), 'other')}{_named(self._errors)}" if self._errors else ""
        line = f"{self._files.total():,} files: {', '.join(kinds)}{errors}; {number_of(self._frames, 'frame')}"
        if seconds is None:
            return line
        return f"{line}{f', {self._frames - before:,} of them new,' if before else ''} in {in_words(seconds)}"


def _named(files: Sequence[str]) -> str:
    return f" ({', '.join(files)})" if 0 < len(files) <= MOST_NAMED else ""


def _found(labels: Sequence[str], source: StoredSource, frames: Counter[int], empty: bool) -> str:
    """``empty``, or ``person in 5 frames, car in 2``; "" if that is unknown. frames: with each class, by its id."""
    if not frames:
        return "empty" if empty else ""
    unit = "frame" if source.kind is SourceKind.VIDEO else "picture"
    (first, most), *others = frames.most_common()
    named = [f"{label_of(labels, first)} in {number_of(most, unit)}"]
    named += [f"{label_of(labels, class_id)} in {count:,}" for class_id, count in others[: MOST_NAMED - 1]]
    more = len(others) - MOST_NAMED + 1
    return ", ".join([*named, *([number_of(more, "more class", "more classes")] if more > 0 else [])])


def number_of(count: int, what: str, several: str = "") -> str:
    """``1 frame``, ``1,394 frames``. several: the plural, "" = with an s."""
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def in_words(seconds: float) -> str:
    """A duration, such as ``21 min 4 s``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
