"""Probes sources: determines kind, picture size, number of frames and segments."""

from itertools import chain, islice
from pathlib import Path

import av  # as a whole: `from av.video ...` does not wait while another thread imports av, and fails

from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.scan import scan
from framefleet.engine.media.container.structure import joined_mp4_files
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.images import probe_images
from framefleet.engine.media.picture import Converter
from framefleet.engine.media.sampling.segments import sampled
from framefleet.engine.media.sampling.wanted import Sampling
from framefleet.engine.media.sources import is_folder, is_picture
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice

_TRIED_PACKETS = 500


def probe(path: Path, sampling: Sampling | None = None) -> SourceInfo:
    """Probe a video, a picture or a folder of pictures. sampling: which of its frames are wanted; None: all.

    Raises SourceError if the source is missing, empty or unreadable, contains no picture, or its pictures are larger than 16384×16384.
    """
    info = probe_images(path) if is_folder(path) or is_picture(path) else _probe_video(path)
    return info if sampling is None else sampled(info, sampling)


def _probe_video(path: Path) -> SourceInfo:
    width, height, origin, codec, created = _first_picture(path)
    frames, seconds, segments, seekable = scan(path)
    rate = round(frames / seconds, 6) if seconds else None
    joined = joined_mp4_files(path)
    note = Notice("media.joined_mp4", path=path, count=joined) if joined > 1 else None
    facts = codec, width, height, frames, seconds, rate, segments, seekable
    return SourceInfo(str(path), SourceKind.VIDEO, *facts, created=created, origin=origin, note=note)


def _first_picture(path: Path) -> tuple[int, int, float | None, str, str | None]:
    """Return width and height of a video's first picture, the time (seconds) of its first frame, its codec, and ``VideoFile.created``.

    The first frame may be without a picture: some recordings begin between two keyframes. Decodes one frame.
    """
    with VideoFile(path) as file:
        times: list[int] = []
        for packet in chain(islice(file.packets(), _TRIED_PACKETS), (None,)):
            if packet is not None and file.shows(packet) and packet.pts is not None:
                times.append(packet.pts)
            for frame in file.decode(packet):
                if isinstance(frame, av.VideoFrame):
                    time = None if frame.pts is None else float(min([frame.pts, *times]) * file.time_base)
                    return *Converter(file.stream.sample_aspect_ratio).size(frame), time, file.codec.name, file.created
        cause = file.error or "no frame in it can be decoded"
    raise SourceError(f"{path} is not a video that can be decoded ({cause}): it is damaged, unfinished or of another kind")
