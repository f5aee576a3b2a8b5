"""Label Studio JSON (https://labelstud.io/guide/predictions): tasks with predictions, and the labelling configuration that fits them.

Frames count from 1: number = frame index + 1. Boxes are in percent of the picture, origin top left.
"""

from array import array
from collections.abc import Iterator
from html import escape
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.store import sources
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, relative, text_output, to_json, write_list
from framefleet.engine.types import FrameResult

_BOX = ("x", "y", "width", "height")


def write(export: Export, file: TextIO) -> None:
    """Write a video as one task, or a task for each picture.

    A track is one region of a video, with a keyframe for each detection and the highest confidence. A detection without a track is a region
    of one frame. The paths in ``data`` are those of the session: replace them by addresses from which your
    Label Studio loads the files, such as ``/data/local-files/?d=a.mp4``.
    """
    if not export.source.timed:
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
    info, frames = export.source.info, export.reader.length(export.source.number)
    shown = {"framesCount": frames, "duration": None if info is None else info.duration}
    classes = {track: class_id for track, class_id, *_ in export.reader.tracks(export.source.number)}
    followed: dict[int, array[float]] = {
        track: array("d") for track in classes
    }  # rows of position, time, frame, verified (2: drawn), score, box

    def region(name: str, label: str, rows: NDArray[np.float64]) -> str:
        ends = np.append(np.diff(rows[:, 0]) > 1, True)  # not enabled: the box is not shown between this frame and the next one
        sequence = [
            {"frame": int(frame), "enabled": not end, "rotation": 0, **dict(zip(_BOX, box, strict=True)), "time": pts}
            for (_, pts, frame, _, _, *box), end in zip(rows.tolist(), ends.tolist(), strict=True)
        ]
        value = {**shown, "sequence": sequence, "labels": [label]}
        head = {
            "id": name,
            "type": "videorectangle",
            "from_name": "box",
            "to_name": "video",
            **_meta(bool(rows[:, 3].all()), bool((rows[:, 3] > 1).any())),
        }
        return to_json({**head, "score": float(rows[:, 4].max()), "value": value})

    for position, frame in enumerate(export.frames(export.source)):
        for order, (place, label, score, box) in enumerate(_regions(export, frame)):
            row = (
                position,
                round(frame.ref.pts, 6),
                frame.ref.index + 1,
                _verified(frame, place) + _drawn(frame, place),
                score,
                *box.values(),
            )
            tracks = None if frame.detections is None else frame.detections.tracks
            if tracks is not None and int(tracks[place]) in followed:
                followed[int(tracks[place])].extend(row)
            else:
                yield region(f"{frame.ref.index + 1}-{order + 1}", label, np.array([row]))
    for track, values in followed.items():
        if values:
            yield region(f"track-{track}", sources.label_of(export.labels, classes[track]), np.array(values).reshape(-1, 9))


def _picture_tasks(export: Export) -> Iterator[str]:
    source, clock = export.source, Clock.of(export.reader, export.source)
    model = export.reader.facts.get("model", "Framefleet")
    for frame in export.frames(source):
        result = [
            {
                "id": str(position + 1),
                "type": "rectanglelabels",
                "from_name": "label",
                "to_name": "image",
                **_meta(_verified(frame, place), _drawn(frame, place)),
                "score": score,
                "original_width": frame.width,
                "original_height": frame.height,
                "image_rotation": 0,
                "value": {"rotation": 0, **box, "rectanglelabels": [label]},
            }
            for position, (place, label, score, box) in enumerate(_regions(export, frame))
        ]
        image = source.path if frame.ref.name is None else f"{source.path.rstrip('/')}/{frame.ref.name}"
        moment = clock.text(frame.ref.pts)
        data = {"image": image, **({"taken": moment} if moment else {})}
        yield to_json({"data": data, "predictions": [{"model_version": model, "result": result}]})


def _regions(export: Export, frame: FrameResult) -> Iterator[tuple[int, str, float, dict[str, float]]]:
    """Yield place in the frame, label, confidence, and box in percent of each detection."""
    labels = export.labels
    for place, class_id, score, box in relative(frame):
        percent = dict(zip(_BOX, (round(100 * part, 4) for part in box), strict=True))
        yield place, labels[class_id], score, percent


def _verified(frame: FrameResult, place: int) -> bool:
    return frame.detections is not None and frame.detections.verified is not None and bool(frame.detections.verified[place])


def _drawn(frame: FrameResult, place: int) -> bool:
    return frame.detections is not None and frame.detections.drawn is not None and bool(frame.detections.drawn[place])


def _meta(verified: bool, drawn: bool = False) -> dict[str, object]:
    """The note that Label Studio shows with a verified region, and with one whose box a person drew."""
    text = [*["verified"] * verified, *["drawn"] * drawn]
    return {"meta": {"text": text}} if text else {}


def write_configuration(export: Export, file: TextIO) -> None:
    """Write the labelling configuration of a project for these tasks."""
    labels = "\n".join(f'    <Label value="{escape(label)}"/>' for label in export.labels)
    if export.source.timed:
        rate = export.source.info.rate if export.source.info is not None else None
        frame_rate = f' frameRate="{rate:g}"' if rate else ""
        body = f'  <Video name="video" value="$video"{frame_rate}/>\n  <VideoRectangle name="box" toName="video"/>\n'
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
