"""The child process that writes a copy of a video with the detections of a session drawn into it."""

from collections.abc import Callable, Iterator
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path

import av
from av.video.frame import VideoFrame

from framefleet.engine.media import cpu_decoding, segment
from framefleet.engine.media.annotation.drawing import Annotator, CountChart, HeatDrawing, TrackDrawing, YuvPlanes, paste
from framefleet.engine.media.annotation.layout import Rect
from framefleet.engine.media.annotation.writer import COPIED, Sound, VideoWriter, make_plain
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.picture import Converter
from framefleet.engine.media.types import Chapter
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.processes import AnyConnection, child_main, watchdog
from framefleet.engine.settings.kinds import Moments
from framefleet.engine.store import appearances, schema, zones
from framefleet.engine.store.exporters.base import serve
from framefleet.engine.store.exporters.options import Part
from framefleet.engine.store.exporters.video import Job
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.types import FrameResult

_LATE_START = 10
"""Seconds. A video whose first frame is later than this, as in broadcasts, starts at 0 in the copy."""


def write_annotated(job: Job, tell: Callable[[Notice], None], report: Callable[[int], None], clock: watchdog.Clock) -> int:
    """Write the annotated copy. Returns its number of frames.

    Frames keep their times. A frame that cannot be decoded is left out, so the picture before it is shown longer. The copy of an
    incomplete source ends with its last stored frame.

    tell: called with what is missing in the copy. report: called with the number of written frames.
    clock: the watchdog's clock, stopped when all frames are written.

    Raises SourceError: the video cannot be opened any more. Raises ExportError: the session cannot be read, or the file cannot be written.
    """
    target = Path(job.target)
    with schema.explained(target, "write"):
        try:
            frames, chapters, began, end = _encode(job, target, report, tell)
        except ExportError:  # usually it is the sound that an MP4 cannot hold
            frames, chapters, began, end = _encode(job, target, report, tell, with_sound=False)
        clock.stop()  # converting the file has no time limit: it depends on the size
        make_plain(target, chapters, began, end)
    return frames


def _encode(
    job: Job, target: Path, report: Callable[[int], None], tell: Callable[[Notice], None], with_sound: bool = True
) -> tuple[int, list[Chapter], datetime | None, Fraction]:
    """Write the fragmented video. Returns its number of frames, chapters, the clock time of its first frame, and its length in seconds."""
    video = Path(job.video)
    written = 0
    with SessionReader.of(job.view) as reader, VideoFile(video, cpu_decoding.THREADS) as file:
        frames = _frames(file, reader, job.source)
        first = next(frames, None)
        if first is None:
            raise ExportError(Notice("store.no_frame_to_draw_on", path=video))
        start = Fraction(0) if 0 <= first[0] < _LATE_START and job.view.span is None else first[0]
        picture = AnnotatedPicture(file, first[2], reader, job)
        second = ends = first[1]
        with (
            Sound(video, start, COPIED if with_sound else frozenset()) as sound,
            VideoWriter(target, picture.size, file.rate, file.time_base, sound.stream) as writer,
        ):
            if sound.left_out:
                tell(Notice("store.sound_left_out", path=video, codec=sound.left_out))
            for seconds, ends, frame in chain((first,), frames):
                planes = picture.planes(frame, float(seconds))
                if planes is None:
                    continue
                writer.write(planes, seconds - start)
                written += 1
                for packet in sound.until(ends):
                    writer.copy(packet)
                report(written)
        chapters = appearances.chapters_of(reader, job.source, float(ends), picture.counts, float(second))
    moved = [Chapter(each.title, max(each.start - float(start), 0.0), each.end - float(start)) for each in chapters]
    return written, moved, job.clock.at(float(first[0])), ends - start


def _frames(file: VideoFile, reader: SessionReader, source: int) -> Iterator[tuple[Fraction, Fraction, VideoFrame]]:
    """Yield the stored frames that can be decoded, with the times at which they begin and end, seconds."""
    whole = _is_whole(reader, reader.source(source))
    last, sampled = None if whole else reader.last_pts(source), reader.is_sampled
    first = reader.first_shown(source) if reader.span is not None else None
    for seconds, ends, frame in segment.timed_frames(file):
        if last is not None and float(seconds) > last:
            return
        if first is not None and float(seconds) < first:
            continue
        if not whole and not sampled and reader.frame_at(source, float(seconds)) is None:
            continue  # an interrupted run may lack frames before others that it has
        yield seconds, ends, frame


def _is_whole(reader: SessionReader, source: StoredSource) -> bool:
    """Whether the copy has all frames of the video."""
    return reader.span is None and source.complete


class _Results:
    """Finds the results of the frames of a source, which are asked for in order. rate: frames per second.

    In a sampled run, a frame without results has those of the last frame before it that was taken, because boxes would flicker otherwise.
    Behind the last frame that was taken, this holds for one distance between samples.
    """

    def __init__(self, reader: SessionReader, source: int, rate: float) -> None:
        self._reader, self._source = reader, source
        self._held: FrameResult | None = None
        self._until = -1.0
        if reader.is_sampled:
            every = Moments().read(reader.facts["every"])
            distance = (every.frames or 0) / rate if every.seconds is None else float(every.seconds)
            self._until = (reader.last_pts(source) or 0.0) + distance

    def at(self, seconds: float) -> FrameResult | None:
        """Return the results to draw at this time."""
        result = self._reader.frame_at(self._source, seconds)
        if result is not None or seconds >= self._until:
            self._held = result
        return self._held


class AnnotatedPicture:
    """Converts the frames of a video to pictures with their detections. size: of all pictures: the first frame's, made even. counts: at
    lines and in zones, None without them.
    """

    def __init__(self, file: VideoFile, first: VideoFrame, reader: SessionReader, job: Job) -> None:
        self._convert = Converter(file.stream.sample_aspect_ratio)
        width, height = self._convert.size(first)
        self.size = max(width // 2 * 2, 2), max(height // 2 * 2, 2)
        self._parts = job.parts
        self._annotator = Annotator(self.size, reader.labels)
        self._tracks = TrackDrawing(self._annotator, self.size)
        self._results = _Results(reader, job.source, float(file.rate))
        source = reader.source(job.source)
        self.counts = zones.read_counts(reader, source, job.zones) if job.zones is not None else None
        self._places = job.zones.resized(self.size).shapes if job.zones is not None else ()
        self._heat = HeatDrawing(zones.read_heat(reader, source).shares(), self.size) if Part.HEAT in job.parts else None
        # the copy of a whole video continues behind a part that was detected
        end = (source.info.duration or 0.0) if source.info is not None and source.ledger.skipped and _is_whole(reader, source) else 0.0
        self._chart = (
            CountChart(self._annotator, self.size, *appearances.mean_counts(reader, job.source, end)) if Part.CHART in job.parts else None
        )
        if self._chart is not None:
            self._annotator.kept_free = self._chart.height

    def planes(self, frame: VideoFrame, seconds: float) -> YuvPlanes | None:
        """The planes of a frame with what is drawn on it; None: it cannot be converted."""
        try:
            planes = self._convert.planes(frame, self.size)
        except (av.FFmpegError, ValueError):
            return None
        if self._heat is not None:
            self._heat.draw(planes)
        result = self._results.at(seconds)
        if result is not None and result.detections is not None and Part.TRAILS in self._parts:
            self._tracks.draw_trails(planes, result.detections, (result.width, result.height), seconds)
        texts: list[tuple[YuvPlanes, Rect]] = []
        if self.counts is not None:
            now = self.counts.until(seconds)
            texts = self._tracks.draw_places(planes, [(shape, now.short(number, seconds)) for number, shape in enumerate(self._places)])
        if result is not None and result.detections is not None and Part.BOXES in self._parts:
            reserved = [place for _, place in texts]
            self._annotator.draw(planes, result.detections, (result.width, result.height), Part.IDS in self._parts, reserved)
        for patch, place in texts:
            paste(planes, patch, place)
        if self._chart is not None:
            self._chart.draw(planes, seconds)
        return planes


def main(connection: AnyConnection, job: Job) -> None:
    """Run one job: the main function of the process."""
    target = Path(job.target)
    for path in (target, target.with_name(f"{target.name}.plain")):
        child_main.when_parent_ends(partial(path.unlink, missing_ok=True))
    serve(
        connection,
        Notice("general.opening", path=Path(job.video)),
        Notice("store.writing_frame", path=Path(job.target)),
        partial(write_annotated, job, connection.send),
    )
