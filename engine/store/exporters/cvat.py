"""CVAT XML 1.1 (https://docs.cvat.ai/docs/dataset_management/formats/format-cvat): for video tasks, and for tasks of pictures.

Frames count from 0. Boxes are in source pixels, origin top left; in videos in which the size of the pictures changes, they are scaled to
the first one, which ``original_size`` states. A track of a video has a keyframe for each detection; a detection without a track is a track
of one frame. The source of what a person verified is ``manual``. CVAT counts the frames that its own decoder returns: after frames that
cannot be decoded, its numbers may differ. A comment has the clock time at which the video began, if it is known.
"""

import re
from array import array
from collections.abc import Iterable, Mapping
from html import escape
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.store import clock, sources
from framefleet.engine.store.exporters.base import Export, Exporter, text_output


def write(export: Export, file: TextIO) -> None:
    """Write a video as "CVAT for video 1.1", pictures as "CVAT for images 1.1"."""
    file.write('<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n<version>1.1</version>\n')
    if start := clock.Clock.of(export.reader, export.source).start:
        file.write(f"<!-- began at {start} -->\n")
    classes = export.track_classes(export.source)
    _write_meta(export, file, classes.values())
    if export.source.timed:
        _write_tracks(export, file, classes)
    else:
        _write_images(export, file)
    file.write("</annotations>\n")


def _write_meta(export: Export, file: TextIO, tracked: Iterable[int]) -> None:
    """Write what the file is about. tracked: the classes of tracks: a filter of classes may show others of their detections only."""
    info, frames = export.source.info, export.reader.length(export.source.number)
    mode = "interpolation" if export.source.timed else "annotation"
    file.write(f"<meta><task><name>{_text(export.stems[0])}</name><size>{frames}</size><mode>{mode}</mode><overlap>0</overlap>\n")
    file.write(f"<start_frame>0</start_frame><stop_frame>{max(frames - 1, 0)}</stop_frame><labels>\n")
    listed = None if export.listed is None else export.listed.union(tracked)
    labels = (label for class_id, label in enumerate(export.labels) if listed is None or class_id in listed)
    file.writelines(f"<label><name>{_text(label)}</name><attributes></attributes></label>\n" for label in labels)
    file.write("</labels>")
    if info is not None:
        file.write(f"<original_size><width>{info.width}</width><height>{info.height}</height></original_size>")
    file.write("</task></meta>\n")


def _write_tracks(export: Export, file: TextIO, classes: Mapping[int, int]) -> None:
    """Write the tracks. classes: of each track."""
    labels, last, before = export.labels, export.reader.length(export.source.number) - 1, 0
    followed: dict[int, array[float]] = {track: array("d") for track in classes}  # rows of position, frame, verified and box
    single = max(classes, default=-1) + 1
    for block in export.blocks(export.source):
        numbers = block.numbers.tolist()
        columns = (block.frame, block.class_ids, block.tracks, block.verified, block.boxes_in(export.source.size))
        for position, class_id, track, verified, box in zip(*(column.tolist() for column in columns), strict=True):
            row = (before + position, numbers[position], verified, *box)
            if track in followed:
                followed[track].extend(row)
            else:
                _write_track(file, single, labels[class_id], np.array([row]), last)
                single += 1
        before += len(block.frames)
    for track, values in followed.items():
        if values:
            _write_track(file, track, sources.label_of(labels, classes[track]), np.array(values).reshape(-1, 7), last)


def _write_track(file: TextIO, number: int, label: str, rows: NDArray[np.float64], last: int) -> None:
    """Write a track. rows: position among the stored frames, frame, verified, box. last: the video's last frame."""
    source = "manual" if rows[:, 2].all() else "auto"
    ends = np.append(np.diff(rows[:, 0]) > 1, True)
    file.write(f'<track id="{number}" label={_attribute(label)} source="{source}">\n')
    for (_, frame, _, *box), ended in zip(rows.tolist(), ends.tolist(), strict=True):
        file.write(_track_box(int(frame), 0, box))
        if ended and frame < last:
            file.write(_track_box(int(frame) + 1, 1, box))
    file.write("</track>\n")


def _track_box(frame: int, outside: int, box: list[float]) -> str:
    return f'<box frame="{frame}" outside="{outside}" occluded="0" keyframe="1" {_place(box)} z_order="0"></box>\n'


def _write_images(export: Export, file: TextIO) -> None:
    labels, single = export.labels, export.source.file.name
    for block in export.blocks(export.source):
        columns = (block.frame, block.class_ids, block.verified, block.boxes)
        boxes: list[list[str]] = [[] for _ in block.frames]
        for position, class_id, verified, box in zip(*(column.tolist() for column in columns), strict=True):
            label, origin = _attribute(labels[class_id]), "manual" if verified else "auto"
            boxes[position].append(f'<box label={label} source="{origin}" occluded="0" {_place(box)} z_order="0"></box>\n')
        for frame, lines in zip(block.frames, boxes, strict=True):
            name = _attribute(frame.name or single)
            file.write(f'<image id="{frame.number}" name={name} width="{frame.width}" height="{frame.height}">\n')
            file.writelines(lines)
            file.write("</image>\n")


def _place(box: list[float]) -> str:
    x, y, width, height = box
    return f'xtl="{x}" ytl="{y}" xbr="{round(x + width, 2)}" ybr="{round(y + height, 2)}"'


def _text(text: str) -> str:
    return escape(_printable(text), quote=False)


def _attribute(text: str) -> str:
    return f'"{escape(_printable(text))}"'


def _printable(text: str) -> str:
    """Replace characters that XML cannot hold: control characters, and bytes of file names that are not valid text."""
    return _NO_XML.sub("?", text)


_NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 forbids, and carriage returns, which readers replace."""


EXPORTER = Exporter("CVAT", "Annotations to correct in CVAT", (text_output(".cvat.xml", write),))
