"""COCO object-detection JSON (https://cocodataset.org/#format-data), for pycocotools and labelling tools."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from engine.media.types import SourceKind
from engine.store.exporters.base import text_exporter
from engine.store.exporters.rounding import rounded, to_json
from engine.store.session import SessionReader, StoredSource


def write(reader: SessionReader, source: StoredSource, file: TextIO) -> None:
    """Write a source as one data set, frame by frame.

    Ids start at 1, as in COCO: image id = frame index + 1, category id = class id + 1. ``frame`` and ``pts`` (seconds) identify the frame
    of a video. The command in ``info.images`` extracts the frames to pictures, in the size that boxes refer to; ``file_name`` is the
    name of such a picture. The command skips frames that cannot be decoded, so the numbers in the names do not count failed frames.
    Additional keys: ``score`` in annotations, ``failed`` (the reason) in images of failed frames.
    """
    info = {"description": Path(source.path).name, "version": "1.0", "date_created": reader.facts.get("created", "")}
    if source.info is not None and source.kind is SourceKind.VIDEO:
        size, stem = f"scale={source.info.width}:{source.info.height}", Path(source.path).stem
        names = shlex.quote(f"{stem.replace('%', '%%')}/%06d.jpg")
        info["images"] = f"ffmpeg -i {shlex.quote(source.path)} -vf {size} -fps_mode passthrough -start_number 0 {names}"
    file.write(f'{{"info": {to_json(info)},\n"licenses": [],\n"images": ')
    _write_list(file, _images(reader, source))
    file.write(',\n"annotations": ')
    _write_list(file, _annotations(reader, source))
    file.write(',\n"categories": ')
    _write_list(file, ({"id": number + 1, "name": label} for number, label in enumerate(reader.labels)))
    file.write("}\n")


def _images(reader: SessionReader, source: StoredSource) -> Iterator[dict[str, object]]:
    path, pictures = Path(source.path), 0
    for frame in reader.frames(source.number):
        index = frame.ref.index
        name = frame.name or path.name
        if source.kind is SourceKind.VIDEO:
            name = f"{path.stem}/{pictures:06d}.jpg" if frame.failure is None else f"{path.stem}/failed-{index:06d}.jpg"
            pictures += frame.failure is None
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
            x, y, width, height = box
            right, bottom = round(x + width, 2), round(y + height, 2)
            yield {
                "id": number,
                "image_id": frame.ref.index + 1,
                "category_id": class_id + 1,
                "bbox": box,
                "area": round(width * height, 2),
                "segmentation": [[x, y, right, y, right, bottom, x, bottom]],
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
