"""Takes clips and single pictures out of videos, into files."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path

import av
from av.audio.stream import AudioStream
from av.container import OutputContainer
from av.video.frame import VideoFrame

from framefleet.engine.media import cpu_decoding, images, picture, segment
from framefleet.engine.media.annotation.writer import COPIED, IN_MATROSKA, Sound, VideoWriter, explained_encoding, make_plain
from framefleet.engine.media.container.video_file import SEEK_BACK, VideoFile, VideoPacket, reason
from framefleet.engine.notices import ExportError, Notice

_MAX_PACKETS = 20_000  # packets read in search of a keyframe

_SAME = 1e-6
"""Times that differ by less are equal, seconds."""

_ROUNDED = 0.002
"""Times of a recording differ by at most so much from those of the source, seconds: Matroska counts milliseconds."""


def copy_clip(
    video: Path, start: float, end: float, target: Path, alive: Callable[[], object] = lambda: None, *, seekable: bool = True
) -> str:
    """Copy a part of a video, without encoding, from the last keyframe at or before ``start`` to ``end`` (seconds).

    alive: called for each packet or frame; what it raises ends the work. seekable: see ``is_seekable``. Returns the codec of the sound that
    the clip cannot hold, "" if nothing is left out.

    Raises
    ------
    SourceError
        The video cannot be opened.
    ExportError, OSError
        The clip cannot be written.
    """
    with VideoFile(video, seekable=seekable) as file, explained_encoding("media.not_copied", path=video):
        if file.without_pts:
            raise ExportError(Notice("media.avi_not_copied", path=video))
        keyframe, packets = _packets_before(file, round(start / file.time_base))
        origin = keyframe * file.time_base
        form, options = ("mp4", {"movflags": "+faststart"}) if target.suffix == ".mp4" else ("matroska", {})
        with (
            Sound(video, origin, COPIED if form == "mp4" else IN_MATROSKA) as sound,
            av.open(str(target.absolute()), "w", format=form, options=options) as output,
        ):
            not_held = {"path": video, "container": target.suffix[1:].upper(), "codec": file.codec.codec.canonical_name}
            try:
                pictures = output.add_stream_from_template(file.stream, opaque=True)  # also without an encoder of its codec
            except ValueError as error:
                raise ExportError(Notice("media.codec_not_held", detail=str(error), **not_held)) from error
            track = output.add_stream_from_template(sound.stream) if sound.stream is not None else None
            with explained_encoding("media.codec_not_held", **not_held):
                output.start_encoding()
            last: int | None = None  # the first frame after the end, from which frames before it are decoded
            for packet in packets:
                alive()
                time = packet.dts if packet.dts is not None else packet.pts
                if time is None:
                    continue
                seconds = time * file.time_base
                shown = packet.pts if packet.pts is not None else time
                if shown > last if last is not None else seconds >= end:
                    break
                if last is None and shown * file.time_base >= end:
                    last = shown
                packet.pts = None if packet.pts is None else packet.pts - keyframe
                packet.dts = None if packet.dts is None else packet.dts - keyframe
                packet.stream = pictures
                output.mux(packet)
                if track is not None:
                    _copy(sound, track, seconds, output)
            if track is not None:
                _copy(sound, track, Fraction(end), output)
            return sound.left_out


def encode_clip(
    video: Path, start: float, end: float, target: Path, alive: Callable[[], object] = lambda: None, *, seekable: bool = True
) -> str:
    """Encode the frames of a video from ``start`` to before ``end`` (seconds) as an MP4.

    Other parameters, result and errors: as in ``copy_clip``.
    """
    with VideoFile(video, cpu_decoding.THREADS, seekable=seekable) as file:
        frames = _frames(file, start, end)
        first = next(frames, None)
        if first is None:
            raise ExportError(Notice("media.no_frame_in_clip", path=video, start=start, end=end))
        convert = picture.Converter(file.stream.sample_aspect_ratio)
        width, height = convert.size(first[2])
        size = max(width // 2 * 2, 2), max(height // 2 * 2, 2)
        with (
            Sound(video, first[0]) as sound,
            VideoWriter(target, size, file.rate, file.time_base, sound.stream) as writer,
        ):
            ends = first[1]
            for seconds, ends, frame in chain((first,), frames):
                alive()
                writer.write(convert.planes(frame, size), seconds - first[0])
                for packet in sound.until(ends):
                    writer.copy(packet)
    make_plain(target, end=ends - first[0])
    return sound.left_out


def write_still(video: Path, moment: float, target: Path, *, seekable: bool = True, exact: bool = True) -> None:
    """Write the frame of a video at this time (seconds) as JPEG. ``seekable`` and errors as in ``copy_clip``.

    exact: fail if no frame has exactly this time. Otherwise take the next one within a second.
    """
    with VideoFile(video, cpu_decoding.THREADS, seekable=seekable) as file:
        for seconds, _, frame in _frames(file, moment if exact else moment - _ROUNDED, moment + 1):
            if exact and float(seconds) > moment + _SAME:
                break
            try:
                image = picture.Converter(file.stream.sample_aspect_ratio)(frame)
            except (av.FFmpegError, ValueError) as error:
                raise ExportError(Notice("media.frame_not_converted", path=video, seconds=moment, detail=reason(error))) from error
            images.write_picture(image, target)
            return
    raise ExportError(Notice("media.frame_not_found", path=video, seconds=moment))


def is_seekable(video: Path, alive: Callable[[], object]) -> bool:
    """Whether seeking finds all times of a video: not if the clock of an MPEG-TS or Ogg file restarts. Reads these to the end.

    alive: called often.

    Raises SourceError if the video cannot be opened.
    """
    with VideoFile(video) as file:
        if file.container.format.name in ("mpegts", "ogg"):
            for _ in file.packets():
                alive()
        return not file.clock_restarts


def _frames(file: VideoFile, start: float, end: float) -> Iterator[tuple[Fraction, Fraction, VideoFrame]]:
    """Yield the frames that can be decoded, with the times at which they begin and end, seconds, from ``start`` to before ``end``."""
    keyframe, _ = _packets_before(file, round(start / file.time_base))
    for seconds, ends, frame in segment.timed_frames(file, keyframe):
        if seconds >= end - _SAME:
            return
        if seconds >= start - _SAME:
            yield seconds, min(ends, Fraction(end)), frame


def _copy(sound: Sound, track: AudioStream, until: Fraction, output: OutputContainer) -> None:
    for packet in sound.until(until):
        packet.stream = track
        output.mux(packet)


def _packets_before(file: VideoFile, pts: int) -> tuple[int, Iterator[VideoPacket]]:
    """Return the pts of the last keyframe at or before a pts, and the packets from there on. If there is none, from the first keyframe on.

    Raises ExportError if the file has no keyframe, or its packets have no times.
    """
    for seconds in SEEK_BACK:
        found = _search(file.packets_at(pts - int(seconds / file.time_base)), pts)
        if found is not None and found[0] <= pts:
            return found
    file.reopen()
    found = _search(file.packets(), pts, None)
    if found is None:
        file.reopen()
        if all(packet.pts is None and packet.dts is None for packet in islice(file.packets(), _MAX_PACKETS)):
            raise ExportError(Notice("media.no_times_for_clips", path=file.path))
        raise ExportError(Notice("media.no_keyframe_for_clips", path=file.path))
    return found


def _search(packets: Iterator[VideoPacket], pts: int, most: int | None = _MAX_PACKETS) -> tuple[int, Iterator[VideoPacket]] | None:
    keyframe, kept = None, list[VideoPacket]()
    for packet in islice(packets, most):
        time = packet.pts if packet.pts is not None else packet.dts
        if time is None:
            continue
        if packet.is_keyframe and (keyframe is None or time <= pts):
            keyframe, kept = time, []
        kept.append(packet)
        if keyframe is not None and time > pts:
            break
    return None if keyframe is None else (keyframe, _with_dts(chain(kept, packets)))


def _with_dts(packets: Iterator[VideoPacket]) -> Iterator[VideoPacket]:
    """Give the first packets the decoding times that FFmpeg does not know after a seek in Matroska."""
    first: list[VideoPacket] = []
    for packet in packets:
        first.append(packet)
        if packet.dts is not None:
            break
    for packet, after in zip(first[-2::-1], first[:0:-1], strict=True):
        if after.dts is not None:
            packet.dts = after.dts - max(packet.duration or 0, 1)
    return chain(first, packets)
