"""YOLO data set, as Ultralytics and datumaro read it: labels, ``data.yaml`` and, if wanted, the frames as pictures.

Pictures of a video are named by time (see ``exporters.pictures``), so frames need no number. Boxes are centre x, centre y, width, height as
shares of the picture. Class ids count from 0. The format has no place for confidences, tracks and what a person verified. If there are
tracks or corrections, ``objects.csv`` has the last two for each line of the labels.
"""

import re
from collections.abc import Iterator

from framefleet.engine.store import clock, schema
from framefleet.engine.store.exporters import csv, options
from framefleet.engine.store.exporters.base import Export, Exporter, Output, marks, new_folder, relative, to_json
from framefleet.engine.store.exporters.pictures import SUFFIXES, PictureNames, ffmpeg_command, select, write_pictures
from framefleet.engine.types import FrameResult

IMAGES, LABELS = "images", "labels"
LOOKED_FOR = "looked_for"
"""Key of ``data.yaml``: the labels that the run looked for, if these are not all. Other programs skip it."""

_NOT_YAML = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that end a comment of YAML, or that no YAML file may have."""

OBJECTS = "labels", "line", "track", "verified"


def write(export: Export) -> None:
    """Write a folder for the session, with ``images/STEM/NAME.jpg`` and ``labels/STEM/NAME.txt`` for each chosen frame.

    Frames without detections have an empty file of labels. Failed frames have none. Sources without a chosen frame have no folder.

    Raises ExportError if the folder cannot be written, or a source cannot be decoded again.
    """
    pictures = export.options.pictures is not None
    with schema.explained(export.path, "write"), new_folder(export.path) as folder:
        (folder / IMAGES).mkdir(parents=True)
        (folder / LABELS).mkdir(parents=True)
        drawn = export.reader.has_drawn
        objects = [csv.row((*OBJECTS, *["drawn"] * drawn))]
        for source, stem in zip(export.sources, export.stems, strict=True):
            labels, last, name_of = folder / LABELS / stem, None, PictureNames(source)
            # pictures take much longer than labels: if there are any, progress counts them only
            frames = export.reader.frames(source.number) if pictures else export.frames(source)
            for frame in select(frames, export.options):
                labels.mkdir(exist_ok=True)
                name = f"{name_of(frame)}.txt"
                (labels / name).write_text(_lines(frame), "utf-8", newline="")
                objects += _objects(frame, f"{LABELS}/{stem}/{name}", drawn)
                last = frame.ref.index
            if last is not None and pictures:
                write_pictures(export, source, folder / IMAGES / stem, last)
            if pictures:
                export.written += export.reader.count(source.number)
        (folder / "data.yaml").write_text(_description(export), "utf-8", newline="")
        if export.reader.has_tracks or export.reader.corrected:
            (folder / "objects.csv").write_text("\r\n".join([*objects, ""]), "utf-8", newline="")


def _lines(frame: FrameResult) -> str:
    return "".join(
        f"{class_id} {x + width / 2:.6f} {y + height / 2:.6f} {width:.6f} {height:.6f}\n"
        for _, class_id, _, (x, y, width, height) in relative(frame)
    )


def _objects(frame: FrameResult, labels: str, drawn: bool) -> Iterator[str]:
    """Yield track, ``verified`` and, if a person drew any box, ``drawn`` of each line in a file of labels."""
    known = [] if frame.detections is None else marks(frame.detections, tracked=True)
    for line, (place, *_) in enumerate(relative(frame), 1):
        mark = known[place]
        yield csv.row((labels, line, mark["track"], mark.get("verified", False), *[mark.get("drawn", False)] * drawn))


def _description(export: Export) -> str:
    """Return the content of ``data.yaml``: folders and labels; as comments, when videos began and how to make their pictures."""
    lines = [f"train: {IMAGES}", f"val: {IMAGES}  # choose pictures of other recordings for validation", "names:"]
    lines += [f"  {number}: {to_json(label)}" for number, label in enumerate(export.labels)]
    if export.looked_for is not None:
        labels = [export.labels[class_id] for class_id in sorted(export.looked_for) if class_id < len(export.labels)]
        lines.append(f"{LOOKED_FOR}: {to_json(labels)}")
    for source, stem in zip(export.sources, export.stems, strict=True):
        if start := clock.Clock.of(export.reader, source).start:
            lines.append(f"# {_NOT_YAML.sub(' ', stem)} began at {start}")
        command = ffmpeg_command(source, export.place / "yolo", f"{IMAGES}/{stem}", SUFFIXES[options.PictureFormat.JPEG])
        if command is not None and export.options.pictures is None:
            name = _NOT_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", source.name)
            unfit = f"# no command for {to_json(name)}: its name has a character that this file cannot have"
            lines.append(unfit if _NOT_YAML.search(command) else f"# {command}")
    return "\n".join(lines) + "\n"


EXPORTER = Exporter(
    "YOLO data set",
    "Labels and, if you like, pictures, to train a YOLO model with",
    (Output("yolo", write, per_session=True, folder=True),),
    options=("pictures", "every", "between"),
)
