"""MOTChallenge (https://motchallenge.net/instructions): a folder for each video, for trackers, TrackEval, datumaro and CVAT.

Frames count from 1: number = frame index + 1. Boxes are in source pixels, origin top left at (0, 0); in videos in which the size of the
pictures changes, they are scaled to the first one, which ``seqinfo.ini`` states. The id of a detection without a track is -1. The class is
class id + 1, a line of ``labels.txt``. ``seqinfo.ini`` also has the clock time at which the video began, if known.
"""

from collections.abc import Iterator

from framefleet.engine.media.types import SourceKind
from framefleet.engine.store import clock, schema
from framefleet.engine.store.exporters.base import Export, Exporter, Output, new_folder


def write(export: Export) -> None:
    """Write a video as a folder with ``det/det.txt``, ``gt/gt.txt``, ``gt/labels.txt`` and ``seqinfo.ini``.

    Lines of ``det.txt`` are: frame, id, left, top, width, height, confidence, class, visibility, -1. ``gt.txt`` has those that belong to a
    track as annotations to be corrected: the flag 1 (use it) in place of the confidence. Annotation tools read this file. If a person
    corrected the session, ``verified.txt`` repeats the beginnings of the lines of ``det.txt`` that a person verified, and
    ``drawn.txt`` of those whose boxes a person drew or moved.
    """
    with schema.explained(export.path, "write"), new_folder(export.path) as folder:
        (folder / "det").mkdir()
        (folder / "gt").mkdir()
        with (folder / "det" / "det.txt").open("w", newline="") as found, (folder / "gt" / "gt.txt").open("w", newline="") as truth:
            verified, drawn = [], []
            for place, is_tracked, confidence, class_id, confirmed, by_hand in _rows(export):
                found.write(f"{place},{confidence},{class_id},1,-1\n")
                if is_tracked:
                    truth.write(f"{place},1,{class_id},1\n")
                verified += [f"{place}\n"] * confirmed
                drawn += [f"{place}\n"] * by_hand
        if export.reader.corrected:
            (folder / "verified.txt").write_text("".join(verified), "utf-8", newline="")
        if export.reader.has_drawn:
            (folder / "drawn.txt").write_text("".join(drawn), "utf-8", newline="")
        labels = "".join(f"{label}\n" for label in export.labels)
        (folder / "gt" / "labels.txt").write_text(labels, "utf-8", newline="")
        (folder / "seqinfo.ini").write_text(_sequence(export), "utf-8", newline="")


def _rows(export: Export) -> Iterator[tuple[str, bool, float, int, bool, bool]]:
    for block in export.blocks(export.source):
        numbers = (block.numbers + 1).tolist()
        boxes = block.boxes_in(export.source.size)
        columns = (block.frame, block.class_ids, block.tracks, block.scores, block.verified, block.drawn, boxes)
        for frame, class_id, track, score, verified, drawn, (x, y, width, height) in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            yield f"{numbers[frame]},{track},{x},{y},{width},{height}", track >= 0, score, class_id + 1, verified, drawn


def _sequence(export: Export) -> str:
    info, frames = export.source.info, export.reader.length(export.source.number)
    assert info is not None, "only sources that were opened are exported"
    facts = {
        "name": " ".join(export.stems[0].split()),
        "imDir": "img1",
        "frameRate": max(1, round(info.rate or 25)),
        "seqLength": frames,
        "imWidth": info.width,
        "imHeight": info.height,
        "imExt": ".jpg",
    }
    if start := clock.Clock.of(export.reader, export.source).start:
        facts["started"] = start  # no key of the format: programs skip it
    return "[Sequence]\n" + "".join(f"{name}={value}\n" for name, value in facts.items())


EXPORTER = Exporter(
    "MOTChallenge",
    "Boxes per video, for trackers and TrackEval",
    (Output(".mot", write, folder=True),),
    frozenset((SourceKind.VIDEO, SourceKind.LIVE)),
)
