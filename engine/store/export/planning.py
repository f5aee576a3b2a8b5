"""Plans an export: which files it writes, from which sources, under which names."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from framefleet.engine.errors import UsageError
from framefleet.engine.media.sources import is_folder
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store.exporters import EXPORTERS
from framefleet.engine.store.exporters.common.base import Exporter, Output
from framefleet.engine.store.exporters.common.options import ExportOptions
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.sources import name_key, readable_name

LONGEST_STEM = 200
"""Maximum length of a stem, bytes. Most file systems allow 255 in all: a number, ``.partial``, the suffix and ``part_of`` add to it."""


@dataclass(frozen=True)
class Planned:
    """A file or folder that an export writes.

    stem: its name without suffix. suffix: ends its name. stems: a different name for each source. frames: number of stored frames of all
    sources. steps: number of frames that writing it goes through.
    """

    stem: str
    suffix: str
    output: Output
    sources: Sequence[StoredSource]
    stems: Sequence[str]
    frames: int
    steps: int

    @property
    def name(self) -> str:
        """The name that it gets if no other file has it."""
        return f"{self.stem}{self.suffix}"

    @property
    def complete(self) -> bool:
        """Whether it contains all frames of its sources."""
        return all(source.complete for source in self.sources)


def plan_export(
    reader: SessionReader,
    formats: Sequence[str],
    options: ExportOptions,
    only: Collection[int] | None,
    whole: bool,
) -> list[Planned]:
    """Return the files that ``export_session`` writes, in this order: those of each source, then those of the session.

    only: numbers of the sources to export; None: all. whole: whether files of the whole session contain all sources even then.

    Raises:
        UsageError: a format does not exist.
        ExportError: the session cannot be read.
    """
    for name in formats:
        if name not in EXPORTERS:
            raise UsageError(Notice("store.no_such_format", name=name, formats=tuple(EXPORTERS)))
    sources = [_with_clock(source, options.clock) for source in reader.sources()]
    stems = dict(zip((source.number for source in sources), source_stems(sources), strict=True))
    frames = {source.number: reader.count(source.number) for source in sources}
    chosen = [source for source in sources if only is None or source.number in only]
    planned = []
    for output, group in _outputs([_wanted(EXPORTERS[name], options) for name in formats], chosen, sources if whole else chosen, frames):
        numbers = [source.number for source in group]
        whole_name = Path(output.suffix)
        stem, suffix = (whole_name.stem, whole_name.suffix) if output.per_session else (stems[numbers[0]], output.suffix)
        total = sum(frames[number] for number in numbers)
        steps = sum(_frames_of_video(reader, source) for source in group) if output.slow else total
        planned.append(Planned(stem, suffix, output, group, [stems[number] for number in numbers], total, steps))
    return planned


def _wanted(exporter: Exporter, options: ExportOptions) -> Exporter:
    """Return the format with the outputs that these options ask for."""
    outputs = [output for output in exporter.outputs if not output.needs or options.zones is None or getattr(options.zones, output.needs)]
    if options.one_table:
        outputs = [replace(each, suffix=each.suffix.lstrip("."), per_session=True) if each.joins else each for each in outputs]
    return replace(exporter, outputs=tuple(outputs))


def _frames_of_video(reader: SessionReader, source: StoredSource) -> int:
    """The number of frames of an annotated video: it also shows those that a sampled run left out, but no failed ones."""
    whole = reader.span is None and source.complete
    count = reader.length if whole else reader.extent if reader.is_sampled else reader.count
    return count(source.number) - reader.failed(source.number)


def _with_clock(source: StoredSource, clock: ClockSettings | None) -> StoredSource:
    """Return a source with the clock time that these settings give it."""
    if clock is None:
        return source
    if source.kind is SourceKind.IMAGES:
        return replace(source, picture_clock=clock.for_pictures)
    return replace(source, started=clock.started(source.file, source.created))


def _outputs(
    exporters: Sequence[Exporter], chosen: Sequence[StoredSource], together: Sequence[StoredSource], frames: Mapping[int, int]
) -> Iterator[tuple[Output, list[StoredSource]]]:
    """Yield the files to write with their sources: first those of each chosen source, then those of all sources together.

    frames: by source.
    """
    for source in chosen:
        if source.kind is None or not (frames[source.number] or source.complete):
            continue
        for exporter in exporters:
            if source.kind not in exporter.kinds or (exporter.slow and source.complete and not source.ledger.inferred):
                continue  # if no frame of a video could be decoded, there are no pictures to draw on
            yield from ((output, [source]) for output in exporter.outputs if not output.per_session)
    for exporter in exporters:
        fitting = [source for source in together if source.kind is None or source.kind in exporter.kinds]
        if any(source.kind is not None for source in fitting):
            yield from ((output, fitting) for output in exporter.outputs if output.per_session)


def source_stems(sources: Sequence[StoredSource]) -> list[str]:
    """Return a different file stem for each source: see ``file_stems``. A path such as ``.`` refers to the folder of the run."""
    return file_stems([readable_name(str(source.file)) for source in sources])


def file_stems(paths: Sequence[str]) -> list[str]:
    """Return a different file stem for each path: x, x-2, x-3, … for paths with the same stem. A path named x-2 keeps its stem.

    Stems that some file systems take for the same count as the same: see ``name_key``. Long stems are shortened to leave room for a suffix.
    """
    natural = [_stem(Path(path)) for path in paths]
    taken = {name_key(stem) for stem in natural}
    stems: list[str] = []
    last: dict[str, int] = {}  # by the key of the stem, the number of the last name that was tried
    for stem in natural:
        name, key = stem, name_key(stem)
        if key in last:
            while name_key(name) in taken:
                last[key] += 1
                name = f"{stem}-{last[key]}"
            taken.add(name_key(name))
        last.setdefault(key, 1)
        stems.append(name)
    return stems


def _stem(path: Path) -> str:
    path = path if path.name not in ("", "..") else path.resolve()
    stem = (path.name if is_folder(path) else path.stem) or "source"
    stem = re.sub(r"\\x[0-9A-F]{2}", "_", stem)  # bytes that are not text: not every file system accepts a backslash
    return stem.encode("utf-8", "replace")[:LONGEST_STEM].decode("utf-8", "ignore")
