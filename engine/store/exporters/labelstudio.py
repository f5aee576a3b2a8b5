"""Label Studio JSON (https://labelstud.io/guide/predictions): tasks with predictions, and the labelling configuration that fits them.

Frames count from 1: number = frame index + 1. Boxes are in percent of the picture, origin top left.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TextIO

from engine.media.types import SourceKind
from engine.store.clock import Clock
from engine.store.exporters.common.base import Export, Exporter, text_output, write_list
from engine.store.exporters.common.rounding import relative, to_json
from engine.types import FrameResult


def write(export: Export, file: TextIO) -> None:
    """Write a video as one task, or a task for each picture.

    A region of a video is shown in one frame. The paths in ``data`` are those of the session: replace them by addresses from which your
    Label Studio loads the files, such as ``/data/local-files/?d=a.mp4``.
    """
    if export.source.kind is not SourceKind.VIDEO:
        write_list(file, _picture_tasks(export))
        return
    model = to_json(export.reader.facts.get("model", "Framefleet"))
    data = {"video": export.source.path}
    if start := Clock.of(export.reader, export.source).start:
        data["started"] = start
    file.write(f'[{{"data": {to_json(data)}, "predictions": [{{"model_version": {model}, "result": ')
    write_list(file, _video_regions(export))
    file.write("}]}]\n")


def _video_regions(export: Export) -> Iterator[str]:
    info, frames = export.source.info, export.reader.count(export.source.number)
    shown = {"framesCount": frames, "duration": None if info is None else info.duration}
    for frame in export.frames(export.source):
        for position, (label, score, box) in enumerate(_regions(export, frame)):
            place = {"frame": frame.ref.index + 1, "enabled": False, "rotation": 0, **box, "time": round(frame.ref.pts, 6)}
            value = {**shown, "sequence": [place], "labels": [label]}
            region = {"id": f"{frame.ref.index + 1}-{position + 1}", "type": "videorectangle", "from_name": "box", "to_name": "video"}
            yield to_json({**region, "score": score, "value": value})


def _picture_tasks(export: Export) -> Iterator[str]:
    source = export.source
    model = export.reader.facts.get("model", "Framefleet")
    for frame in export.frames(source):
        result = [
            {
                "id": str(position + 1),
                "type": "rectanglelabels",
                "from_name": "label",
                "to_name": "image",
                "score": score,
                "original_width": frame.width,
                "original_height": frame.height,
                "image_rotation": 0,
                "value": {"rotation": 0, **box, "rectanglelabels": [label]},
            }
            for position, (label, score, box) in enumerate(_regions(export, frame))
        ]
        image = source.path if frame.name is None else f"{source.path.rstrip('/')}/{frame.name}"
        yield to_json({"data": {"image": image}, "predictions": [{"model_version": model, "result": result}]})


def _regions(export: Export, frame: FrameResult) -> Iterator[tuple[str, float, dict[str, float]]]:
    """Yield label, confidence, and box in percent of each detection."""
    labels = export.labels
    for class_id, score, box in relative(frame):
        percent = dict(zip(("x", "y", "width", "height"), (round(100 * part, 4) for part in box), strict=True))
        yield labels[class_id], score, percent


def write_configuration(export: Export, file: TextIO) -> None:
    """Write the labelling configuration of a project for these tasks."""
    labels = "\n".join(f'    <Label value="{escape(label)}"/>' for label in export.labels)
    if export.source.kind is SourceKind.VIDEO:
        rate = export.source.info.rate if export.source.info is not None else None
        given = f' frameRate="{rate:g}"' if rate else ""
        body = f'  <Video name="video" value="$video"{given}/>\n  <VideoRectangle name="box" toName="video"/>\n'
        body += f'  <Labels name="labels" toName="video">\n{labels}\n  </Labels>\n'
    else:
        body = '  <Image name="image" value="$image"/>\n'
        body += f'  <RectangleLabels name="label" toName="image">\n{labels}\n  </RectangleLabels>\n'
    file.write(f"<View>\n{body}</View>\n")


EXPORTER = Exporter(
    "Label Studio",
    "Predictions to correct in Label Studio",
    (text_output(".labelstudio.json", write), text_output(".labelstudio.xml", write_configuration)),
)
