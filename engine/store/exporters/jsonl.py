"""JSON Lines: one line per frame, in order, including failed frames and frames without detections."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from engine.store.exporters.base import Export, Exporter, text_output
from engine.store.exporters.rounding import label_of, rounded, to_json


def write(export: Export, file: TextIO) -> None:
    """Write a source as one JSON object per line.

    Keys: ``source`` (file name), ``frame`` (index, from 0), ``name`` (the picture's file name, if the source is a folder), ``pts``
    (seconds), ``device``, ``detections``: a list of objects with ``class_id``, ``label``, ``confidence`` and ``box`` (x, y, width, height
    in source pixels, origin top left). A failed frame has no detections and the reason in ``failed``.
    """
    name = Path(export.source.path).name
    for frame in export.frames(export.source):
        line: dict[str, object] = {"source": name, "frame": frame.ref.index}
        if frame.name is not None:
            line["name"] = frame.name
        line |= {"pts": round(frame.ref.pts, 6), "device": str(frame.device), "detections": []}
        if frame.detections is None:
            line["failed"] = frame.failure
        else:
            line["detections"] = [
                {"class_id": class_id, "label": label_of(export.reader.labels, class_id), "confidence": score, "box": box}
                for class_id, score, box in rounded(frame.detections)
            ]
        file.write(to_json(line) + "\n")


EXPORTER = Exporter("JSON Lines", (text_output(".jsonl", write),))
