"""Plans clips and pictures of the moments at which objects appear, and writes them in a child process (``clips_process``)."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store import export, facts, schema
from framefleet.engine.store.appearances import By, end_of, read_appearances
from framefleet.engine.store.destinations import Destinations, Protected, Purpose, names_for
from framefleet.engine.store.exporters.base import Progress, run_child
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.sources import label_of
from framefleet.engine.tracking.appearances import GAP

_LONGEST = 40  # letters of a label in a file name


@dataclass(frozen=True)
class ClipPlan:
    """A clip. start, end: seconds. name: of the file, without the source's stem and suffix. best: most confident moments, seconds."""

    start: float
    end: float
    name: str
    best: tuple[float, ...]


def plan_clips(reader: SessionReader, source: StoredSource, by: By, padding: float, gap: float = GAP) -> list[ClipPlan]:
    """Plan a clip for each appearance in a video, ordered by start. Clips by class that overlap are joined.

    Only detections that pass the reader's filter count. padding: seconds before and after each appearance. gap: see ``GAP``.

    Raises ExportError if the session cannot be read.
    """
    first, last, info = reader.first_pts(source.number) or 0.0, end_of(reader, source.number), source.info
    if info is not None and info.duration is not None:
        last = max(last, info.begin + info.duration)
    plans: list[ClipPlan] = []
    for row in read_appearances(reader, source.number, by, gap):
        class_id, track = int(row["class_id"]), int(row["track"])
        label = label_of(reader.labels, class_id)
        start, end = max(float(row["start"]) - padding, first), min(float(row["end"]) + padding, last)
        name = f"{_safe(label)}{f'-{track}' if track >= 0 else ''}"
        if by is By.CLASS and plans and start <= plans[-1].end:
            before = plans[-1]
            names = before.name if name in before.name.split("+") or len(before.name) > _LONGEST else f"{before.name}+{name}"
            plans[-1] = ClipPlan(before.start, max(before.end, end), names, (*before.best, float(row["best"])))
        else:
            plans.append(ClipPlan(start, end, name, (float(row["best"]),)))
    return plans


def stamp(seconds: float) -> str:
    """Return a time as part of a file name: ``01-02-03.45``, hours, minutes, seconds."""
    hundredths = max(round(seconds * 100), 0)
    minutes, rest = divmod(hundredths, 6000)
    return f"{minutes // 60:02d}-{minutes % 60:02d}-{rest // 100:02d}.{rest % 100:02d}"


def _safe(label: str) -> str:
    return re.sub(r"[^\w-]+", "-", label).strip("-")[:_LONGEST] or "object"


_IN_MP4 = frozenset(("h264", "hevc", "av1", "mpeg4", "vp9"))
"""Codecs that players accept in an MP4. Others are copied into Matroska."""


@dataclass(frozen=True)
class Cut:
    """A file to write. start, end: of a clip, seconds; a picture has no end. shown: the path that messages name, "" = the target.

    near: whether a picture may be the next one after its time.
    """

    target: str
    start: float
    end: float | None = None
    shown: str = ""
    near: bool = False


@dataclass(frozen=True)
class CutsJob:
    """The task of the child process. video: file to read. exact: encode the clips, so that they begin and end exactly."""

    video: str
    cuts: tuple[Cut, ...]
    exact: bool


@dataclass(frozen=True)
class ClipNaming:
    """What the names of the clips of all videos depend on. It takes time proportional to their number.

    stems: of the files of each source, by its number. protected: the files that no clip may replace.
    """

    stems: Mapping[int, str]
    protected: Protected

    @classmethod
    def of(cls, reader: SessionReader) -> Self:
        """Read all sources of a session."""
        sources = reader.sources()
        return cls(dict(zip((each.number for each in sources), export.source_stems(sources), strict=True)), Protected.of(reader))


def write_clips(
    reader: SessionReader,
    source: StoredSource,
    plans: Sequence[ClipPlan],
    folder: Path,
    *,
    naming: ClipNaming | None = None,
    exact: bool = False,
    stills: bool = False,
    overwrite: bool = False,
    progress: Progress = lambda _: None,
    waiting: Callable[[Notice], None] = lambda _: None,
    notes: list[Notice] | None = None,
) -> list[Path]:
    """Write the clips of one video, or of the recording of a live source, into a folder. Returns their paths.

    A file replaces only one of an earlier call with the same content. exact: encode instead of copying from keyframe to keyframe.
    naming: of this session, for callers that write clips of many videos. stills: also write each appearance's most confident frame.
    overwrite: also replace files that Framefleet did not write.
    progress: called with the number of written files. waiting: called once with the process for which this one waits. notes: gets what is
    missing in the clips.

    Raises ExportError if the video is missing or has changed, or a file cannot be written.
    """
    naming = naming or ClipNaming.of(reader)
    stem = naming.stems[source.number]
    if source.kind is SourceKind.LIVE:
        wanted = _recorded(facts.RecordedFiles.of(reader.facts, source.number), source, stem, plans, exact, stills)
    else:
        if not source.file.exists():
            raise ExportError(Notice("store.clips_without_video", path=source.file))
        if source.changed():
            raise ExportError(Notice("store.clips_of_changed_video", path=source.file))
        copied = ".mp4" if source.info is not None and source.info.codec in _IN_MP4 else ".mkv"
        clips = [_Wanted(f"{stem}.{plan.name}.{stamp(plan.start)}", ".mp4" if exact else copied, plan.start, plan.end) for plan in plans]
        moments = [(plan.name, best) for plan in plans for best in dict.fromkeys(plan.best)] if stills else []
        wanted = {source.file: clips + [_Wanted(f"{stem}.{name}.{stamp(best)}", ".jpg", best) for name, best in moments]}
    written: list[Path] = []
    with export.stage(folder, waiting) as place, Destinations(reader.path, naming.protected, overwrite, place) as destinations:
        for video, files in wanted.items():
            before = len(written)
            made = [place / f"{before + number}{file.suffix}" for number, file in enumerate(files)]
            cuts = tuple(
                Cut(str(path), file.start, file.end, str(folder / f"{file.name}{file.suffix}"), source.kind is SourceKind.LIVE)
                for path, file in zip(made, files, strict=True)
            )
            job = CutsJob(str(video), cuts, exact)
            process = "framefleet.engine.store.clips_process"
            crash = run_child("clips", Notice("store.writes_clips"), process, job, partial(_add, progress, before), notes)
            if crash is not None:
                raise ExportError(Notice("store.no_clip_written", crash=crash, path=video))
            with schema.explained(folder, "write"):
                for path, file in zip(made, files, strict=True):
                    kind = f"clip {file.name} {file.start:.6f} {file.end} {exact} {file.suffix}"
                    purpose = Purpose(os.path.normpath(video), kind, source.complete)
                    written.append(destinations.place(path, folder, names_for(file.name, file.suffix, complete=True), purpose))
    return written


def _add(progress: Progress, before: int, done: int) -> None:
    progress(before + done)


@dataclass(frozen=True)
class _Wanted:
    """A file to write. start, end: times in the video, seconds; a picture has no end."""

    name: str
    suffix: str
    start: float
    end: float | None = None


def _recorded(
    recorded: facts.RecordedFiles, source: StoredSource, stem: str, plans: Sequence[ClipPlan], exact: bool, stills: bool
) -> dict[Path, list[_Wanted]]:
    """What to take out of which file of a recording. A clip ends where its file ends, and goes on in another one.

    Raises ExportError if the recording has none of it.
    """
    wanted = defaultdict[Path, list[_Wanted]](list)
    for plan in plans:
        for file, start, end in recorded.between(plan.start, plan.end):
            name = f"{stem}.{plan.name}.{stamp(max(plan.start, file.begin))}"
            wanted[Path(file.path)].append(_Wanted(name, ".mp4" if exact else ".mkv", start, end))
        for best in dict.fromkeys(plan.best) if stills else ():
            if (found := recorded.at(best)) is not None:
                wanted[Path(found[0].path)].append(_Wanted(f"{stem}.{plan.name}.{stamp(best)}", ".jpg", found[1]))
    there = {video: files for video, files in wanted.items() if video.exists()}
    if plans and not there:
        raise ExportError(Notice("store.not_recorded", name=source.name))
    return there
