"""JSON Lines: one line per frame, in order, including failed frames and frames without detections."""

from typing import TextIO

from framefleet.engine.store import sources
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, marks, rounded, text_output, to_json


def write(export: Export, file: TextIO) -> None:
    """Write a source as one JSON object per line.

    Keys: ``source`` (see ``StoredSource.name``), ``frame`` (index, from 0), ``name`` (the picture's file name, if the source is a
    folder), ``pts`` (seconds), ``clock`` (ISO 8601, if known), ``device``, ``detections``: a list of objects with ``class_id``, ``label``,
    ``confidence`` and ``box`` (x, y, width, height in source pixels, origin top left). If the session has tracks, each detection has the
    key ``track``, null for none; if a person corrected the session, ``verified``. A failed frame has no detections and the reason in
    ``failed``.
    """
    source, clock, tracked = export.source, Clock.of(export.reader, export.source), export.reader.has_tracks
    for frame in export.frames(source):
        line: dict[str, object] = {"source": source.name, "frame": frame.ref.index}
        if frame.ref.name is not None:
            line["name"] = frame.ref.name
        line["pts"] = round(frame.ref.pts, 6)
        if moment := clock.text(frame.ref.pts):
            line["clock"] = moment
        line |= {"device": str(frame.device), "detections": []}
        if frame.failure is not None:
            line["failed"] = str(frame.failure)
        if frame.detections is not None:
            line["detections"] = [
                {"class_id": class_id, "label": sources.label_of(export.reader.labels, class_id), "confidence": score, "box": box, **mark}
                for (class_id, score, box), mark in zip(rounded(frame.detections), marks(frame.detections, tracked), strict=True)
            ]
        file.write(to_json(line) + "\n")


EXPORTER = Exporter("JSON Lines", "A line per frame, for programs of your own", (text_output(".jsonl", write),))
