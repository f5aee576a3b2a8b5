"""CVAT XML 1.1 (https://docs.cvat.ai/docs/dataset_management/formats/format-cvat): for video tasks, and for tasks of pictures.

Frames count from 0. Boxes are in source pixels, origin top left. Each detection of a video is a track of one frame. CVAT counts the
frames that its own decoder returns: after frames that cannot be decoded, its numbers may differ.
"""

from __future__ import annotations

from html import escape
from typing import TextIO

from engine.media.types import SourceKind
from engine.store.exporters.common.base import Export, Exporter, text_output


def write(export: Export, file: TextIO) -> None:
    """Write a video as "CVAT for video 1.1", pictures as "CVAT for images 1.1"."""
    file.write('<?xml version="1.0" encoding="utf-8"?>\n<annotations>\n<version>1.1</version>\n')
    _write_meta(export, file)
    if export.source.kind is SourceKind.VIDEO:
        _write_tracks(export, file)
    else:
        _write_images(export, file)
    file.write("</annotations>\n")


def _write_meta(export: Export, file: TextIO) -> None:
    info, frames = export.source.info, export.reader.count(export.source.number)
    mode = "interpolation" if export.source.kind is SourceKind.VIDEO else "annotation"
    file.write(f"<meta><task><name>{_text(export.stems[0])}</name><size>{frames}</size><mode>{mode}</mode><overlap>0</overlap>\n")
    file.write(f"<start_frame>0</start_frame><stop_frame>{max(frames - 1, 0)}</stop_frame><labels>\n")
    file.writelines(f"<label><name>{_text(label)}</name><attributes></attributes></label>\n" for label in export.labels)
    file.write("</labels>")
    if info is not None:
        file.write(f"<original_size><width>{info.width}</width><height>{info.height}</height></original_size>")
    file.write("</task></meta>\n")


def _write_tracks(export: Export, file: TextIO) -> None:
    labels, track, last = export.labels, 0, export.reader.count(export.source.number) - 1
    for block in export.blocks(export.source):
        numbers = [frame.number for frame in block.frames]
        for position, class_id, box in zip(block.frame.tolist(), block.class_ids.tolist(), block.boxes.tolist(), strict=True):
            number, place = numbers[position], _place(box)
            file.write(f'<track id="{track}" label={_attribute(labels[class_id])} source="auto">\n')
            file.write(f'<box frame="{number}" outside="0" occluded="0" keyframe="1" {place} z_order="0"></box>\n')
            if number < last:
                file.write(f'<box frame="{number + 1}" outside="1" occluded="0" keyframe="1" {place} z_order="0"></box>\n')
            file.write("</track>\n")
            track += 1


def _write_images(export: Export, file: TextIO) -> None:
    labels, single = export.labels, export.source.file.name
    for block in export.blocks(export.source):
        found = zip(block.frame.tolist(), block.class_ids.tolist(), block.boxes.tolist(), strict=True)
        boxes: list[list[str]] = [[] for _ in block.frames]
        for position, class_id, box in found:
            label = _attribute(labels[class_id])
            boxes[position].append(f'<box label={label} source="auto" occluded="0" {_place(box)} z_order="0"></box>\n')
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
    return "".join(character if character.isprintable() or character in "\t\n" else "?" for character in text)


EXPORTER = Exporter("CVAT", "Annotations to correct in CVAT", (text_output(".cvat.xml", write),))
