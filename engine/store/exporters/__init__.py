"""The export formats. Each module defines one format as an ``Exporter``."""

from framefleet.engine.store.exporters import (
    base,
    coco,
    csv,
    cvat,
    events,
    jsonl,
    labelstudio,
    megadetector,
    mot,
    parquet,
    video,
    yolo,
    zones,
)

EXPORTERS: dict[str, base.Exporter] = {
    "jsonl": jsonl.EXPORTER,
    "csv": csv.EXPORTER,
    "parquet": parquet.EXPORTER,
    "coco": coco.EXPORTER,
    "yolo": yolo.EXPORTER,
    "mot": mot.EXPORTER,
    "cvat": cvat.EXPORTER,
    "labelstudio": labelstudio.EXPORTER,
    "megadetector": megadetector.EXPORTER,
    "zones": zones.EXPORTER,
    "events": events.EXPORTER,
    "video": video.EXPORTER,
}
"""The formats by their names in the settings. To add a format, add a module with an ``EXPORTER`` and an entry here."""
