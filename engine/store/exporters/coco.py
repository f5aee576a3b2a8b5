"""COCO object-detection JSON (https://cocodataset.org/#format-data), for pycocotools and labelling tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from engine.store.exporters.base import text_exporter
from engine.store.exporters.rounding import rounded, to_json
from engine.store.session import SessionReader, StoredSource


def write(reader: SessionReader, source: StoredSource, file: TextIO) -> None:
    """Write a source as one data set, frame by frame.

    Ids start at 1, as in COCO: image id = frame index + 1, category id = class id + 1. An image of a video is named
    ``STEM/000012.jpg``, the file that ``ffmpeg -i VIDEO -fps_mode passthrough -start_number 0 STEM/%06d.jpg`` makes; ``frame``
    and ``pts`` (seconds) identify it. Additional keys: ``score`` in annotations, ``failed`` (the reason) in images of failed frames.
    """
    info = {"description": Path(source.path).name, "version": "1.0", "date_created": reader.facts.get("created", "")}
    file.write(f'{{"info": {to_json(info)},\n"licenses": [],\n"images": ')
    _write_list(file, _images(reader, source))
    file.write(',\n"annotations": ')
    _write_list(file, _annotations(reader, source))
    file.write(',\n"categories": ')
    _write_list(file, ({"id": number + 1, "name": label} for number, label in enumerate(reader.labels)))
    file.write("}\n")


def _images(reader: SessionReader, source: StoredSource) -> Iterator[dict[str, object]]:
    stem = Path(source.path).stem
    for frame in reader.frames(source.number):
        index = frame.ref.index
        name = frame.name or (Path(source.path).name if source.kind == "images" else f"{stem}/{index:06d}.jpg")
        image: dict[str, object] = {"id": index + 1, "file_name": name, "width": frame.width, "height": frame.height, "frame": index}
        image["pts"] = round(frame.ref.pts, 6)
        if frame.failure is not None:
            image["failed"] = frame.failure
        yield image


def _annotations(reader: SessionReader, source: StoredSource) -> Iterator[dict[str, object]]:
    number = 0
    for frame in reader.frames(source.number):
        if frame.detections is None:
            continue
        for class_id, score, box in rounded(frame.detections):
            number += 1
            yield {
                "id": number,
                "image_id": frame.ref.index + 1,
                "category_id": class_id + 1,
                "bbox": box,
                "area": round(box[2] * box[3], 2),
                "iscrowd": 0,
                "score": score,
            }


def _write_list(file: TextIO, items: Iterable[object]) -> None:
    separator = "[\n"
    for item in items:
        file.write(separator + to_json(item))
        separator = ",\n"
    file.write("[]" if separator == "[\n" else "\n]")


EXPORTER = text_exporter("detections as COCO", ".coco.json", write)
