"""JSON Lines: one line a frame, in order, frames without detections and failed frames included."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from engine.store.exporters.numbers import label_of, rounded_boxes, rounded_scores, to_json
from engine.store.session import SessionReader, StoredSource


def write(reader: SessionReader, source: StoredSource, file: TextIO) -> None:
    """Write one object a line.

    Keys: ``source`` (file name), ``frame``, ``name`` (the picture's file, where the source is a folder), ``pts`` (seconds),
    ``device``, ``detections``: ``class_id``, ``label``, ``confidence``, ``box`` (x, y, width, height in source pixels,
    origin top left). A frame that failed has no detections and says why in ``failed``.
    """
    name = Path(source.path).name
    for frame in reader.frames(source.number):
        line: dict[str, object] = {"source": name, "frame": frame.ref.index}
        if frame.name is not None:
            line["name"] = frame.name
        line |= {"pts": round(frame.ref.pts, 6), "device": str(frame.device), "detections": []}
        if frame.detections is None:
            line["failed"] = frame.failure
        else:
            found = frame.detections
            rows = zip(found.class_ids.tolist(), rounded_scores(found), rounded_boxes(found), strict=True)
            line["detections"] = [
                {"class_id": kind, "label": label_of(reader.labels, kind), "confidence": score, "box": box} for kind, score, box in rows
            ]
        file.write(to_json(line) + "\n")
