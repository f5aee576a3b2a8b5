"""COCO object-detection JSON (https://cocodataset.org/#format-data), for pycocotools and labelling tools."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.common.base import Export, Exporter, text_output, write_list
from framefleet.engine.store.exporters.common.coco_ids import COCO_IDS, check_coco_labels
from framefleet.engine.store.exporters.common.rounding import marks, rounded, to_json
from framefleet.engine.store.exporters.pictures.names import ffmpeg_command, picture_name


def write(export: Export, file: TextIO) -> None:
    """Write a source as one data set, frame by frame.

    Ids start at 1, as in COCO: image id = frame index + 1, category id = class id + 1, or COCO's own with the option ``coco_ids``.
    ``frame`` (index, from 0) and ``pts`` (seconds) identify the frame of a video. The command in ``info.images``, run in the folder of this
    file, extracts the frames of a video to pictures with the names in ``file_name`` (see ``pictures.names``), in the size that boxes refer
    to. Additional keys: ``score`` in annotations, ``failed`` (the reason) in images of failed frames, which have no picture. If the session
    has tracks, annotations with a track have ``track_id``, also in ``attributes``, where CVAT and datumaro expect it. If a person corrected
    the session, ``attributes`` has ``verified``.
    """
    source = export.source
    info = {"description": source.name, "version": "1.0"}  # no date: two runs would differ
    if command := ffmpeg_command(source, export.place, export.stems[0]):
        info["images"] = command
    file.write(f'{{"info": {to_json(info)},\n"licenses": [],\n"images": ')
    write_list(file, map(to_json, _images(export)))
    file.write(',\n"annotations": ')
    write_list(file, map(to_json, _annotations(export)))
    file.write(',\n"categories": ')
    write_list(file, map(to_json, _described_categories(export)))
    file.write("}\n")


def _images(export: Export) -> Iterator[dict[str, object]]:
    clock = Clock.of(export.reader, export.source)
    for frame in export.frames(export.source):
        index, pts = frame.ref.index, frame.ref.pts
        name = frame.ref.name or export.source.name
        if export.source.kind is SourceKind.VIDEO:
            name = f"{export.stems[0]}/{'' if frame.failure is None else 'failed-'}{picture_name(pts)}.jpg"
        image: dict[str, object] = {"id": index + 1, "file_name": name, "width": frame.width, "height": frame.height, "frame": index}
        image["pts"] = round(pts, 6)
        if moment := clock.text(pts):
            image["date_captured"] = moment
        if frame.failure is not None:
            image["failed"] = frame.failure
        yield image


def _annotations(export: Export) -> Iterator[dict[str, object]]:
    number, categories, tracked = 0, _categories(export), export.reader.has_tracks
    for frame in export.frames(export.source):
        if frame.detections is None:
            continue
        found = zip(rounded(frame.detections), marks(frame.detections, tracked), strict=True)
        for (class_id, score, box), mark in found:
            number += 1
            x, y, width, height = box
            right, bottom = round(x + width, 2), round(y + height, 2)
            track = {} if mark.get("track") is None else {"track_id": mark["track"]}
            attributes = track | {name: value for name, value in mark.items() if name == "verified"}
            yield {
                "id": number,
                "image_id": frame.ref.index + 1,
                "category_id": categories[class_id],
                "bbox": box,
                "area": round(width * height, 2),
                "segmentation": [[x, y, right, y, right, bottom, x, bottom]],
                "iscrowd": 0,
                "score": score,
                **track,
                **({"attributes": attributes} if attributes else {}),
            }


def _described_categories(export: Export) -> Iterator[dict[str, object]]:
    """Yield the categories that were looked for. An image without objects of another category may show some."""
    for class_id, (category, label) in enumerate(zip(_categories(export), export.reader.labels, strict=True)):
        if export.looked_for is None or class_id in export.looked_for:
            yield {"id": category, "name": label}


def _categories(export: Export) -> Sequence[int]:
    """The category id of each class."""
    labels = export.reader.labels
    if not export.options.coco_ids:
        return range(1, len(labels) + 1)
    check_coco_labels(labels)
    return COCO_IDS


EXPORTER = Exporter(
    "COCO",
    "Boxes as COCO, for pycocotools and labelling tools",
    (text_output(".coco.json", write, passes=2),),
    options=("coco_ids",),
)
