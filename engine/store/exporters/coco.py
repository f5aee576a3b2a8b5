"""COCO object-detection JSON (https://cocodataset.org/#format-data), for pycocotools and labelling tools."""

from collections.abc import Iterator, Sequence
from typing import TextIO

from framefleet.engine.model.files import coco_labels
from framefleet.engine.notices import Notice, Option, UsageError
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, marks, rounded, text_output, to_json, write_list
from framefleet.engine.store.exporters.pictures import ffmpeg_command, picture_name
from framefleet.engine.types import FrameResult

_UNUSED = {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}
"""The ids of categories that COCO planned and then left out."""

COCO_IDS = tuple(number for number in range(1, 91) if number not in _UNUSED)
"""The category id of each class of a model with COCO's labels."""

_OTHER_NAMES = {
    "aeroplane": "airplane",
    "diningtable": "dining table",
    "motorbike": "motorcycle",
    "pottedplant": "potted plant",
    "sofa": "couch",
    "tvmonitor": "tv",
}
"""Labels of Darknet's ``coco.names`` that COCO spells differently."""


def coco_name(label: str) -> str:
    """COCO's name of a class that Darknet spells differently; any other label as it is."""
    return _OTHER_NAMES.get(label, label)


def has_coco_labels(labels: Sequence[str]) -> bool:
    """Whether these are COCO's labels in COCO's order, spelled as by COCO or by Darknet."""
    return tuple(coco_name(label) for label in labels) == coco_labels()


def check_coco_labels(labels: Sequence[str]) -> None:
    """Check that a model has COCO's labels in COCO's order. Raises UsageError if it has others; the message names the first one."""
    wanted = coco_labels()
    found = [coco_name(label) for label in labels]
    if len(found) != len(wanted):
        counts = {"number": len(wanted), "found": len(found)}
        raise UsageError(Notice("store.other_number_of_labels", option=Option("coco-ids"), **counts))
    for number, (label, name) in enumerate(zip(found, wanted, strict=True)):
        if label != name:
            raise UsageError(Notice("store.other_labels", option=Option("coco-ids"), number=number, label=label, name=name))


def write(export: Export, file: TextIO) -> None:
    """Write a source as one data set, frame by frame.

    Ids start at 1, as in COCO: image id = frame index + 1, category id = class id + 1, or COCO's own with the option ``coco_ids``.
    ``frame`` (index, from 0) and ``pts`` (seconds) identify the frame of a video. The command in ``info.images``, run in the folder of this
    file, extracts the frames of a video to pictures with the names in ``file_name`` (see ``pictures``), in the size that boxes refer
    to: that of the first frame, also if the size of the pictures changes. Additional keys: ``score`` in annotations, ``failed`` (the
    reason) in images of failed frames, which have no picture. If the session has tracks, annotations with a track have ``track_id``, also
    in ``attributes``, where CVAT and datumaro expect it. If a person corrected the session, ``attributes`` has ``verified``.
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


def _frames(export: Export) -> Iterator[FrameResult]:
    """Yield the frames; those of a video all in the same size."""
    source = export.source
    return (frame.scaled_to(source.size) if source.timed else frame for frame in export.frames(source))


def _images(export: Export) -> Iterator[dict[str, object]]:
    clock = Clock.of(export.reader, export.source)
    for frame in _frames(export):
        index, pts = frame.ref.index, frame.ref.pts
        name = frame.ref.name or export.source.name
        if export.source.timed:
            name = f"{export.stems[0]}/{'' if frame.failure is None else 'failed-'}{picture_name(pts)}.jpg"
        image: dict[str, object] = {"id": index + 1, "file_name": name, "width": frame.width, "height": frame.height, "frame": index}
        image["pts"] = round(pts, 6)
        if moment := clock.text(pts):
            image["date_captured"] = moment
        if frame.failure is not None:
            image["failed"] = str(frame.failure)
        yield image


def _annotations(export: Export) -> Iterator[dict[str, object]]:
    number, categories, tracked = 0, _categories(export), export.reader.has_tracks
    for frame in _frames(export):
        if frame.detections is None:
            continue
        found = zip(rounded(frame.detections), marks(frame.detections, tracked), strict=True)
        for (class_id, score, box), mark in found:
            number += 1
            x, y, width, height = box
            right, bottom = round(x + width, 2), round(y + height, 2)
            track = {} if mark.get("track") is None else {"track_id": mark["track"]}
            attributes = track | {name: value for name, value in mark.items() if name in ("verified", "drawn")}
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
    """Yield the categories that were looked for or occur. An image without objects of another category may show some."""
    for class_id, (category, label) in enumerate(zip(_categories(export), export.labels, strict=True)):
        if export.listed is None or class_id in export.listed:
            yield {"id": category, "name": label}


def _categories(export: Export) -> Sequence[int]:
    """The category id of each class."""
    labels = export.labels
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
